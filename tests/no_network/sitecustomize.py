"""No test touches the network: every Python that finds this folder on its path refuses to leave this machine.

An audit hook cannot be taken off again and sees C code's sockets too, so a notebook cannot get round it by accident.
"""

import ipaddress
import socket
import sys

LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
SENDS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


class NetworkRefused(ConnectionRefusedError):
    """A test tried to reach the network. It is an OSError, as a machine without network would raise."""


def is_here(host):
    """Is this host (name, address or None) this very machine?"""
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(str(host).split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def refuse(event, args):
    """The audit hook."""
    if event in LOOK_UPS and not is_here(args[0]):
        raise NetworkRefused(f"no network in tests: look-up of {args[0]!r} refused")
    if event in SENDS and isinstance(args[1], tuple) and not is_here(args[1][0]):
        raise NetworkRefused(f"no network in tests: {event.split('.')[1]} to {args[1]!r} refused")


if not getattr(sys, "_course_network_refused", False):
    sys._course_network_refused = True
    sys.addaudithook(refuse)

# jsonschema, and with it nbformat, would build a grammar of web addresses at each import: two seconds of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
