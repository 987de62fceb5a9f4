"""Checks of MPI ranks while grading: each rank has a process of its own, the rehearsal runs with the checks.

The student's function is called in as many processes as there are ranks; the communicator that it gets there
(`rank_client`) sends every call here, with the bytes of the memory that it names, and the rehearsal of course_lib.mpi
goes on in the process of the checks as it does in a notebook. So messages, bytes and collectives are counted where no
student can reach, and a rank knows nothing of another but what came through the communicator: sandboxes share nothing.

What a hostile process can still say as it likes: which line it is in, and that a buffer was not touched while it was
MPI's. What it pickles travels as bytes, and is never read here.
"""

import copy
import math
import pickle
import threading
from typing import Any

import numpy as np

from course_lib.machines.rehearsal import collective_calls, comm, requests
from course_lib.machines.rehearsal.report import Report
from course_lib.machines.rehearsal.requests import Request
from course_lib.machines.rehearsal.turns import Rank, Turns, place
from course_lib.machines.rehearsal.verdict import verdict
from course_lib.machines.rehearsal.world import World
from course_tools.grading.rpc import codec
from course_tools.grading.rpc.framing import ConnectionLost
from course_tools.grading.rpc.rank_client import OBJECTS, OPS

COMM = {name for name in dir(comm.Comm) if name[0] != "_"} - {"compute", *comm.HERE_ALONE} | {
    "Wtime"
}
REQUEST = ("Wait", "wait", "Test", "test", "Free")
# that a rank may make: a Split costs no message, and tells a bit of each rank's colour
MOST_COMMS = 32
REQUESTS = ("Waitall", "waitall", "Waitany", "waitany", "Testall", "testall")


class Ranks:
    """Stands for the student's function in a RankCheck. parts: that function in each process; stuck: one goes on."""

    def __init__(self, name, parts, peers):
        self.parts, self.peers, self.stuck = parts, peers, False
        self.__name__ = getattr(parts[0], "__name__", name)
        self.__signature__ = getattr(parts[0], "__signature__", None)

    def __call__(self, *args, **named):
        """Without ranks it is rank 0's function."""
        return self.parts[0](*args, **named)

    def rehearse_each(self, args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0):
        """As `rehearsal.run.rehearse_each`, in the processes. Raises ConnectionLost where one has ended."""
        n, given = len(args), [copy.deepcopy(part) for part in args]
        world, ends = World(n, eager, alpha, beta), list[RankEndpoint]()

        def call(rank):
            ends.append(end := RankEndpoint(world, rank, n))
            part, args = self.parts[rank.index], given[rank.index]
            return part(end, rank.index, n, bool(alpha or beta), *args)

        turns = Turns(n, call, None, schedule, timeout)
        turns.ranks = [RemoteRank(turns, index, call) for index in range(n)]
        errors = turns.run(lambda: verdict(world, turns))
        self.stuck = self.stuck or any(rank.thread.is_alive() for rank in turns.ranks)
        for rank in turns.ranks:
            if isinstance(rank.error, ConnectionLost):
                raise rank.error
        return _report(world, turns, errors), given


def _report(world, turns, errors):
    results, clock = [rank.result for rank in turns.ranks], max(rank.clock for rank in turns.ranks)
    counts = world.messages, world.bytes, world.collectives
    return Report(results, errors, *counts, world.events, [""] * len(results), clock)


class RemoteRank(Rank):
    """A rank that says itself where it is."""

    told: Any = None

    def place(self, frame=None):
        """What it said in its last call."""
        return self.told or place([], None)


class RankEndpoint:
    """One rank's end of the rehearsal: does what `rank_client` asks, to a communicator (by number) or to requests."""

    def __init__(self, world, owner, n):
        self._comms = [comm.Comm(world, owner, list(range(n)))]
        self._requests, self._memory = list[Request](), {}
        self._owner, self.rank, self.size, self._statuses = owner, owner.index, n, list[Any]()

    def compute(self, seconds):
        """Work on the model's clock, never less than none. A clock that is no number would beat every limit."""
        if not math.isfinite(seconds):
            raise ValueError(f"compute takes a number of seconds, not {seconds!r:.40}")
        self._comms[0].compute(max(float(seconds), 0.0))

    def __call__(self, target, name, args, named, memory, where):
        """(value, {number: bytes} of memory that is not what it was, [(source, tag, bytes)], requests that ended)."""
        from mpi4py import MPI

        if threading.current_thread() is not self._owner.thread:
            raise RuntimeError("a rank talks from the thread that its function was called in")
        self._owner.told, self._statuses = _where(where), []
        self._take(memory)
        more = {key: self._read(part) for key, part in named.items()}
        value = self._said(self._method(target, name)(*map(self._read, args), **more))
        now = {number: self._memory[number].tobytes() for number in memory}
        changed = {number: data for number, data in now.items() if data != memory[number]}
        told = [(s.Get_source(), s.Get_tag(), s.Get_elements(MPI.BYTE)) for s in self._statuses]
        ended = [number for number, request in enumerate(self._requests) if request.finished]
        return value, changed, told, ended

    def _method(self, target, name):
        if target == "requests" and name in REQUESTS:
            return lambda numbers, *status: getattr(Request, name)(
                [self._requests[i] for i in numbers], *status
            )
        if target == "request" and name in REQUEST:
            return lambda number, *status: getattr(self._requests[number], name)(*status)
        if type(target) is int and name == "compute":
            return self.compute
        if type(target) is int and name == "Wtime":
            return lambda: self._owner.clock
        if type(target) is int and name in COMM:
            return getattr(self._comms[target], name)
        raise AttributeError(
            f"the communicator of a rehearsal has no {name!r}: it may exist on real ranks, which "
            "run the same function"
        )

    def _take(self, memory):
        """The memory that calls name, as it is now; that of requests under way as well."""
        for number, data in memory.items():
            if number not in self._memory or self._memory[number].nbytes != len(data):
                self._memory[number] = np.empty(len(data), np.uint8)
            self._memory[number][...] = np.frombuffer(data, np.uint8)
        self._memory = {number: self._memory[number] for number in memory}

    def _read(self, given):
        """An argument, from (kind, ...) of plain values."""
        kind, *parts = given
        if kind == "array":
            number, offset, shape, strides, dtype, fixed = parts
            data = self._memory[number].data
            made = np.ndarray(shape, codec.dtype_of(dtype), data, offset, strides)
            made.flags.writeable = not fixed
            return made
        if kind in ("list", "tuple"):
            return (list if kind == "list" else tuple)(map(self._read, parts[0]))
        if kind == "pickle":
            return Parcel(parts[0])
        if kind == "combine":
            return _combining(*parts)
        return parts[0] if kind == "plain" else self._of_mpi(kind, *parts)

    def _of_mpi(self, kind, name=""):
        """What mpi4py has a name for."""
        from mpi4py import MPI

        if kind == "type":
            return MPI.Datatype.fromcode(name)
        if kind == "status":
            self._statuses.append(MPI.Status())
            return self._statuses[-1]
        if kind == "mpi" and name in ("IN_PLACE", *OPS):
            return getattr(MPI, name)
        raise codec.NotData(f"{kind!r:.40} is no argument of a communicator")

    def _said(self, value):
        """A result, as (kind, ...)."""
        if isinstance(value, Parcel):
            return "pickle", value.data
        if isinstance(value, list | tuple):
            return "list" if isinstance(value, list) else "tuple", [
                self._said(part) for part in value
            ]
        if isinstance(value, Request):
            self._requests.append(value)
            return "request", len(self._requests) - 1
        if isinstance(value, comm.Comm):
            if len(self._comms) > MOST_COMMS:
                raise RuntimeError(
                    f"more than {MOST_COMMS} communicators from one rank: keep what Split gave"
                )
            self._comms.append(value)
            return "comm", len(self._comms) - 1, value.rank, value.size
        if value is None or isinstance(value, bool | int | float):
            return "plain", value
        return "mpi", "COMM_NULL"


class Parcel:
    """What a rank has pickled."""

    def __init__(self, data):
        if not isinstance(data, bytes):
            raise codec.NotData("a parcel holds bytes")
        self.data = data


class Ours(bytes):
    """Pickled here: by a Split, of two whole numbers."""


class Parcels:
    """In the place of the module pickle in the rehearsal: what came pickled stays so."""

    HIGHEST_PROTOCOL = pickle.HIGHEST_PROTOCOL

    @staticmethod
    def dumps(value, protocol=None):
        """The bytes of a Parcel, or of numbers of ours."""
        return value.data if isinstance(value, Parcel) else Ours(pickle.dumps(value, protocol))

    @staticmethod
    def loads(data):
        """A Parcel, or numbers of ours."""
        return pickle.loads(data) if isinstance(data, Ours) else Parcel(bytes(data))


def install():
    """Once in a check process for ranks: from now on rehearsals here pickle nothing that is not ours."""
    for module in (collective_calls, comm, requests):
        module.pickle = Parcels  # type: ignore[attr-defined]


def _combining(name, combine):
    """An op for pickled objects, done in the rank's own process."""

    def op(a, b):
        return Parcel(combine(a.data, b.data))

    op.__name__ = str(name)[:40]
    return op


def _where(given):
    """A place {"line", "code", "function"} from what a process said of it."""
    line, code, function = given
    return {
        "line": line if type(line) is int else None,
        "code": str(code)[:200],
        "function": str(function)[:80],
    }


assert set(OBJECTS) < COMM
