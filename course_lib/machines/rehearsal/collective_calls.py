"""The collectives of the pretend communicator: what a rank gives and where it lands, as mpi4py reads its arguments."""

import pickle
from typing import Any

import numpy as np

from course_lib.machines.rehearsal.buffers import Buffer, describe
from course_lib.machines.rehearsal.calls import cart
from course_lib.machines.rehearsal.calls.persistent import begins
from course_lib.machines.rehearsal.collectives import Call, Collecting, complete
from course_lib.machines.rehearsal.memory.pending import Piece

MAKERS = ("Split", "Split_type", "Dup", "Clone", "Create", "Create_cart")  # of communicators
BITS = ("BAND", "BOR", "BXOR")
NAMED = 60  # collectives of a communicator whose arrays are looked up by name


class Plans:
    """What Bcast, bcast and their like make of their arguments: a Call. self: a communicator."""

    _rank: int
    _size: int
    _enter: Any
    _cart: Any
    _world: Any
    _owner: Any
    _ranks: list
    _key: tuple
    _calls: int
    _peer: Any
    _made: Any  # the class of communicators

    def Barrier(self):
        return Call("Barrier", "Barrier", {}, [])

    def barrier(self):
        return Call("barrier", "Barrier", {}, [])

    def Bcast(self, buf, root=0):
        root, mine = self._peer("root", root), Buffer(buf, write=self._rank != root)
        terms = {"root": root, "size": describe(mine.data.nbytes, mine.dtype)}
        if self._rank != root:
            return Call("Bcast", "Bcast", terms, [], [mine], buffers=(None, mine))
        return Call("Bcast", "Bcast", terms, _typed(mine), sent=[mine], buffers=(mine, None))

    def Scatter(self, sendbuf, recvbuf, root=0, vector=False):
        root = self._peer("root", root)
        send: Any = (
            Buffer(sendbuf, blocks=self._size, vector=vector) if self._rank == root else None
        )
        land: Any = None if send and _in_place(recvbuf) else Buffer(recvbuf, write=True)
        return self._moved(
            "Scatter", send, land, {"root": root, "type": (send or land).dtype.name}, vector
        )

    def Gather(self, sendbuf, recvbuf, root=0, vector=False):
        root = self._peer("root", root)
        land = Buffer(recvbuf, True, self._size, vector) if self._rank == root else None
        send = self._own(sendbuf, land)
        return self._moved(
            "Gather", send, land, {"root": root, "type": (land or send).dtype.name}, vector
        )

    def Allgather(self, sendbuf, recvbuf, vector=False):
        land = Buffer(recvbuf, True, self._size, vector)
        return self._moved(
            "Allgather", self._own(sendbuf, land), land, {"type": land.dtype.name}, vector
        )

    def Alltoall(self, sendbuf, recvbuf, vector=False):
        land = Buffer(recvbuf, True, self._size, vector)
        send = land if _in_place(sendbuf) else Buffer(sendbuf, False, self._size, vector)
        return self._moved("Alltoall", send, land, {"type": land.dtype.name}, vector)

    def Scatterv(self, sendbuf, recvbuf, root=0):
        return Plans.Scatter(self, sendbuf, recvbuf, root, vector=True)

    def Gatherv(self, sendbuf, recvbuf, root=0):
        return Plans.Gather(self, sendbuf, recvbuf, root, vector=True)

    def Allgatherv(self, sendbuf, recvbuf):
        return Plans.Allgather(self, sendbuf, recvbuf, vector=True)

    def Alltoallv(self, sendbuf, recvbuf):
        return Plans.Alltoall(self, sendbuf, recvbuf, vector=True)

    def Reduce(self, sendbuf, recvbuf, op=None, root=0):
        root = self._peer("root", root)
        return self._summed(
            "Reduce", sendbuf, recvbuf, op, {"root": root}, lands=self._rank == root
        )

    def Allreduce(self, sendbuf, recvbuf, op=None):
        return self._summed("Allreduce", sendbuf, recvbuf, op, {})

    def Scan(self, sendbuf, recvbuf, op=None):
        return self._summed("Scan", sendbuf, recvbuf, op, {})

    def Exscan(self, sendbuf, recvbuf, op=None):
        return self._summed("Exscan", sendbuf, recvbuf, op, {})

    def Reduce_scatter_block(self, sendbuf, recvbuf, op=None):
        land = Buffer(recvbuf, write=True, blocks=self._size if _in_place(sendbuf) else 1)
        return self._shared_out(
            "Reduce_scatter_block", sendbuf, land, [len(land.blocks[0])] * self._size, op
        )

    def Reduce_scatter(self, sendbuf, recvbuf, recvcounts=None, op=None):
        land = Buffer(recvbuf, write=True)
        if recvcounts is None and _in_place(sendbuf):
            raise ValueError("recvcounts: IN_PLACE needs them")
        counts = None if recvcounts is None else [n * land.dtype.itemsize for n in recvcounts]
        return self._shared_out("Reduce_scatter", sendbuf, land, counts, op)

    def bcast(self, obj, root=0):
        root = self._peer("root", root)
        give = [pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)] if self._rank == root else []
        return Call(
            "bcast",
            "Bcast",
            {"root": root},
            give,
            result=(lambda got: obj) if give else lambda got: pickle.loads(got[0]),
        )

    def scatter(self, sendobj, root=0):
        root = self._peer("root", root)
        give = self._each(sendobj) if self._rank == root else []
        return Call(
            "scatter", "Scatter", {"root": root}, give, result=lambda got: pickle.loads(got[0])
        )

    def gather(self, sendobj, root=0):
        root = self._peer("root", root)
        return Call(
            "gather",
            "Gather",
            {"root": root},
            _dumped(sendobj),
            result=lambda got: list(map(pickle.loads, got)) if self._rank == root else None,
        )

    def allgather(self, sendobj):
        return Call(
            "allgather",
            "Allgather",
            {},
            _dumped(sendobj),
            result=lambda got: list(map(pickle.loads, got)),
        )

    def alltoall(self, sendobj):
        return Call(
            "alltoall",
            "Alltoall",
            {},
            self._each(sendobj),
            result=lambda got: list(map(pickle.loads, got)),
        )

    def reduce(self, sendobj, op=None, root=0):
        return self._combined("reduce", "Reduce", sendobj, op, {"root": self._peer("root", root)})

    def allreduce(self, sendobj, op=None):
        return self._combined("allreduce", "Allreduce", sendobj, op, {})

    def scan(self, sendobj, op=None):
        return self._combined("scan", "Scan", sendobj, op, {})

    def exscan(self, sendobj, op=None):
        return self._combined("exscan", "Exscan", sendobj, op, {})

    def Split(self, color=0, key=0):
        return self._plan_of_split(color, key)

    def _plan_of_split(self, color, key):
        number = self._calls
        if color < 0 and color != _mpi().UNDEFINED:
            self._world.raise_mpi("ERR_ARG", f"color={color}: a colour is 0 or more, or UNDEFINED")

        def made(got):
            pairs = [pickle.loads(value) for value in got]
            if color < 0:
                return _mpi().COMM_NULL
            places = sorted((k, r) for r, (c, k) in enumerate(pairs) if c == color)
            ranks = [self._ranks[r] for _, r in places]
            return self._made(self._world, self._owner, ranks, (*self._key, number, color))

        return Call("Split", "Allgather", {}, _dumped((color, key)), result=made)

    def Split_type(self, split_type, key=0, info=None):
        """All ranks of a rehearsal are on one machine."""
        return self._plan_of_split(0, key)

    def Dup(self, info=None):
        return self._plan_of_split(0, self._rank)

    def Clone(self):
        return self._plan_of_split(0, self._rank)

    def Create(self, group):
        """Of a group that all ranks name."""
        mine = group.Get_rank() >= 0
        call = self._plan_of_split(0 if mine else _mpi().UNDEFINED, group.Get_rank())
        call.name, call.terms = "Create", {"group": tuple(group.ranks)}
        return call

    def Create_cart(self, dims, periods=None, reorder=False):
        return cart.plan(self, dims, periods)

    def _moved(self, name, send, land, terms, vector):
        if (
            send
            and land
            and send is not land
            and send.flat is not land.flat
            and send.overlaps(land)
        ):
            self._aliased(name)
        return Call(
            name + "v" * vector,
            name,
            terms,
            _typed(send) if send else [],
            _pieces(land),
            _pieces(send) if send is not land else (),
            (send, land),
        )

    def _own(self, sendbuf, land):
        """What a rank gives to a gather: IN_PLACE stands for its own part of what it gets."""
        if land is None or not _in_place(sendbuf):
            return Buffer(sendbuf)
        own = Buffer(
            [
                land.blocks[self._rank].view(land.dtype),
                land.blocks[self._rank].nbytes // land.dtype.itemsize,
            ]
        )
        own.flat, own.layout = land.flat, None
        return own

    def _summed(self, name, sendbuf, recvbuf, op, terms, lands=True):
        op = self._op(op)
        land: Any = Buffer(recvbuf, write=True) if lands else None
        send = land if lands and _in_place(sendbuf) else Buffer(sendbuf)
        if land and send is not land:
            self._check_sum(name, send, land)
        terms |= {"op": _name(op), "size": describe(send.data.nbytes, send.dtype)}
        return Call(
            name,
            name,
            terms,
            _typed(send),
            _pieces(land),
            _pieces(send) if send is not land else (),
            (None if send is land else send, land),
            combine=self._combining(op, send),
        )

    def _check_sum(self, name, send, land):
        if send.dtype != land.dtype:
            raise ValueError("mismatch in send and receive MPI datatypes")
        if len(send.data) != len(land.data):
            size = send.dtype.itemsize
            raise ValueError(
                f"mismatch in send count {len(send.data) // size} and receive count "
                f"{len(land.data) // size}"
            )
        if send.overlaps(land):
            self._aliased(name)

    def _op(self, op):
        """SUM where none is given; one that was freed is none."""
        MPI = _mpi()
        if op is not None and op == MPI.OP_NULL:
            self._world.raise_mpi("ERR_OP", "the operation is MPI.OP_NULL: was it freed?")
        return MPI.SUM if op is None else op

    def _combining(self, op, buffer):
        """What puts two arrays of a buffer's type together; raises what MPI raises for a type that the op has not."""
        name = _name(op)
        if OPS.get(name) is not None and buffer.dtype.kind in "biuf":
            ufunc = OPS[name]
            if name in BITS and buffer.dtype.kind == "f":
                text = f"{name} takes whole numbers, but this is an array of {buffer.dtype}"
                self._world.raise_mpi("ERR_OP", text)
            return lambda a, b: ufunc(a, b).astype(a.dtype, copy=False)
        return lambda a, b: _by_mpi(op, a, b, buffer.kind)

    def _shared_out(self, name, sendbuf, land, counts, op):
        """A sum whose parts, of `counts` bytes, go to the ranks in turn; None: each is as long as its recvbuf."""
        op = self._op(op)
        send = land if _in_place(sendbuf) else Buffer(sendbuf)
        if counts and len(send.flat) != sum(counts):
            size = send.dtype.itemsize
            raise ValueError(
                f"mismatch in send count {len(send.flat) // size} and sum(counts) {sum(counts) // size}"
            )
        piece = land.flat[: counts[self._rank]] if send is land else land.data
        terms = {"op": _name(op), "size": describe(len(send.flat), send.dtype)}
        terms["counts"] = counts and tuple(count // send.dtype.itemsize for count in counts)
        return Call(
            name,
            "Reduce_scatter",
            terms,
            [send.flat.copy().view(send.dtype)],
            [Piece(piece, land.dtype)],
            [Piece(send.flat, send.dtype)] if send is not land else (),
            (None if send is land else send, land),
            combine=self._combining(op, send),
        )

    def _combined(self, name, rule, obj, op, terms):
        op = self._op(op)

        def combine(a, b):
            return pickle.dumps(op(pickle.loads(a), pickle.loads(b)), pickle.HIGHEST_PROTOCOL)

        return Call(
            name,
            rule,
            terms | {"op": _name(op)},
            _dumped(obj),
            combine=combine,
            result=lambda got: pickle.loads(got[0]) if got else None,
        )

    def _each(self, objects):
        objects = list(objects)
        if len(objects) != self._size:
            raise ValueError(f"expecting {self._size} items, got {len(objects)}")
        return [pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in objects]

    def _aliased(self, name):
        self._world.raise_mpi(
            "ERR_BUFFER",
            f"{name}: sendbuf and recvbuf are the same memory: pass MPI.IN_PLACE as sendbuf",
        )


class CollectiveCalls(Plans):
    """The methods themselves, made from the plans: Bcast, and Ibcast, which does not wait."""

    def _collective(self, name, held, args, named):
        rank, world, plan = self._owner, self._world, getattr(Plans, name)
        self._enter()
        call = plan(self, *args, **named)
        if name in MAKERS:
            call.name = name
        else:
            call.name = f"I{name.lower()}" if held else call.name
            world.collectives[rank.index][call.name] += 1
        if self._size > 1 and self._calls < NAMED and any(call.buffers):
            call.names = rank.names.of(call.arrays)
        key = (self._key, self._calls)
        slot = world.slots.setdefault(key, {})
        self._calls += 1
        call.request = Collecting(
            rank, world, call, lambda: [r for r in self._ranks if r not in slot], held
        )
        slot[rank.index] = call
        if len(slot) == self._size:
            complete(world, self._key, self._ranks, [slot[r] for r in self._ranks])
        return call.request if held else call.request.finish()


def _method(name, held):
    return lambda self, *args, **named: self._collective(name, held, args, named)


for _name_of in [name for name in vars(Plans) if name[0] != "_"]:
    getattr(Plans, _name_of).__qualname__ = _name_of  # as Python's errors say it
    setattr(CollectiveCalls, _name_of, _method(_name_of, False))
    if _name_of[0].isupper() and _name_of not in MAKERS:
        setattr(CollectiveCalls, f"I{_name_of.lower()}", _method(_name_of, True))
        setattr(CollectiveCalls, f"{_name_of}_init", begins(f"I{_name_of.lower()}"))


def _pieces(buffer):
    if buffer is None or buffer.made is not None:
        return [buffer] if buffer else []
    return [Piece(block, buffer.dtype) for block in buffer.blocks]


def _typed(buffer):
    return [block.copy().view(buffer.dtype) for block in buffer.blocks]


def _dumped(obj):
    return [pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)]


def _in_place(spec):
    return spec is _mpi().IN_PLACE


def _name(op):
    MPI = _mpi()
    return next(
        (name for name in OPS if op == getattr(MPI, name)),
        getattr(op, "__name__", "a user-defined op"),
    )


def _by_mpi(op, a, b, kind):
    """MPI's own work on two arrays: ops of the program's own, pairs, complex numbers."""
    total = np.array(b)
    if kind is None:
        op.Reduce_local(np.array(a), total)
    else:
        op.Reduce_local([np.array(a).view(np.uint8), kind], [total.view(np.uint8), kind])
    return total


OPS: dict[str, Any] = {
    "SUM": np.add,
    "PROD": np.multiply,
    "MAX": np.maximum,
    "MIN": np.minimum,
    "LAND": np.logical_and,
    "LOR": np.logical_or,
    "LXOR": np.logical_xor,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
    "MAXLOC": None,
    "MINLOC": None,
}


def _mpi():
    from mpi4py import MPI

    return MPI
