"""The address and the ports under which the nodes of a site reach this machine."""

import contextlib
import random
import re
import socket

from course_lib.errors import BadInput


def port_range(text):
    """range(50000, 50101) of "50000-50100"; None of None. Raises BadInput."""
    if text is None:
        return None
    first, _, last = text.partition("-")
    ends = (int(first), int(last)) if first.isdecimal() and last.isdecimal() else (0, 0)
    if not (1024 <= ends[0] < ends[1] - 18 and ends[1] < 65536):
        wanted = "give the first and the last of at least 20 ports, such as 50000-50100"
        raise BadInput(f"ports = {text!r}: {wanted}")
    return range(ends[0], ends[1] + 1)


def bind(host):
    """The address to listen on: `host` itself where it is one, else all of this machine's."""
    return host if re.fullmatch(r"[\d.]+", host) else "0.0.0.0"


def free_ports(ports):
    """Those ports on which nobody listens now, in random order: students on one machine share the range."""
    return [port for port in random.sample(ports, len(ports)) if _is_free(port)]


def _is_free(port):
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the controller does
        with contextlib.suppress(OSError):
            trial.bind(("", port))
            return True
    return False
