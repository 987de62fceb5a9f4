"""One rank of `bench mpi`: it waits at its socket, without polling, for a command; obeys; answers in one line.

A rank that is blocked in MPI hears nothing: where the system has alarms, one ends it soon after its deadline, also if
the parent is no more.
"""

import importlib
import json
import os
import signal
import socket
import sys
import traceback

SPARE = 5  # seconds after which a rank ends itself, if nobody else has


def main(address):
    """Serve until the parent leaves."""
    name = "desk_ddp" if "COURSE_BENCH_RANK" in os.environ else "desk_mpi"
    desk = importlib.import_module(f"course_lib.bench.{name}").Desk()
    with connect(address) as parent, parent.makefile("r", encoding="utf-8") as lines:
        hello = {"token": os.environ["COURSE_BENCH_TOKEN"], "versions": desk.versions()}
        tell(parent, {**hello, "rank": desk.rank, "size": desk.size})
        for line in lines:
            tell(parent, reply(desk, json.loads(line)))


def connect(address):
    """A socket to the parent: a file's name, or the number of a port."""
    if address.isdigit():
        return socket.create_connection(("127.0.0.1", int(address)))
    one = socket.socket(socket.AF_UNIX)
    one.connect(address)
    return one


def tell(parent, what):
    """One line of JSON."""
    parent.sendall(json.dumps(what).encode() + b"\n")


def reply(desk, command):
    """Obey: {"answer": ...} or {"error": ..., "kind": ...}."""
    alarm(int(command.pop("limit")) + SPARE)
    try:
        return {"answer": getattr(desk, command.pop("do"))(**command)}
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}", "kind": type(error).__name__}
    finally:
        alarm(0)


def alarm(seconds):
    """SIGALRM, which ends the process even in C code, after that many seconds; 0: none."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    main(sys.argv[1])
