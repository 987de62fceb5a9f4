"""A process of a bench: `python start_desk.py MODULE:CLASS ADDRESS` makes a desk, and obeys what comes from the parent.

A command is JSON, {"do": method, "limit": seconds or null, ...arguments}; so is its answer. This file needs the
standard library alone. It imports course_lib and course_tools from the very folders that it lies in, and puts nothing
else of this Python on the path: PyTorch may live in another one. COURSE_BENCH_CLONE names another clone of the
course, whose course_lib is measured instead.

A rank that is blocked in MPI hears nothing: where the system has alarms, one ends it soon after its deadline, also if
the parent is no more.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback
from multiprocessing.connection import Client
from pathlib import Path

SPARE = 5  # seconds after which a rank ends itself, if nobody else has


def main(desk, address):
    """Serve until the parent leaves. address: the name of a socket's file, or the number of a port."""
    with Client(("127.0.0.1", int(address)) if address.isdigit() else address) as parent:
        made, hello = introduce(desk)
        tell(parent, {"token": os.environ["COURSE_BENCH_TOKEN"], **hello})
        with contextlib.suppress(EOFError, OSError):
            while made:
                tell(parent, reply(made, json.loads(parent.recv_bytes())))
        if hasattr(made, "close"):
            made.close()


def introduce(desk):
    """(the desk, who it is), or (None, what is wrong)."""
    try:
        for name in ("course_lib", "course_tools"):
            load(name)
        module, _, name = desk.partition(":")
        made = getattr(importlib.import_module(module), name)()
        rank, size = getattr(made, "rank", 0), getattr(made, "size", 1)
        return made, {"rank": rank, "size": size, "answer": made.hello()}
    except Exception as error:
        return None, problem(error)


def load(name):
    """Import a package from beside this one, wherever this Python might find another."""
    clone = os.environ.get("COURSE_BENCH_CLONE") if name == "course_lib" else None
    folder = Path(clone or Path(__file__).resolve().parents[3]) / name
    file, inside = folder / "__init__.py", [str(folder)]
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    assert spec and spec.loader
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def tell(parent, what):
    """A message as JSON."""
    parent.send_bytes(json.dumps(what).encode())


def reply(desk, command):
    """Obey: {"answer": ...} or {"error": ..., "kind": ...}."""
    limit = command.pop("limit")
    alarm(int(limit) + SPARE if limit else 0)
    try:
        return {"answer": getattr(desk, command.pop("do"))(**command)}
    except Exception as error:
        return problem(error)
    finally:
        alarm(0)


def problem(error):
    """What is said of an exception."""
    traceback.print_exc()
    kind = type(error).__name__
    return {"error": f"{kind}: {error}", "kind": kind}


def alarm(seconds):
    """SIGALRM, which ends the process even in C code, after that many seconds; 0: none."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose files would hide modules of the same names
    main(*sys.argv[1:])
