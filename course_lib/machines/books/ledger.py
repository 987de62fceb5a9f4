"""A rank's book of what it sent, received and entered in a cell: where all ranks' books agree, nothing is under way.

mpi4py's own methods are wrapped in place, so that cells go on to say `from mpi4py import MPI`. `balance.py` compares.
Not in the book: MPI.Win and MPI.File, which have communicators of their own.
"""

import contextlib
import functools
import gc
import sys
import threading
from ctypes import py_object, pythonapi
from typing import Any

from course_lib.machines.books import short, story

SENDS = {f"{i}{way}send" for i in ("", "i") for way in ("", "b", "s", "r")}
SENDS |= {name.capitalize() for name in SENDS}
RECEIVES = {"Recv", "Irecv", "recv", "irecv"}
BOTH = "Sendrecv Isendrecv sendrecv Sendrecv_replace Isendrecv_replace"
PROBES = "Probe Mprobe probe mprobe Iprobe iprobe Improbe improbe"
MAKES = "Clone Dup Dup_with_info Idup Idup_with_info Create Split Split_type Create_group Create_cart Create_graph "
MAKES += "Create_dist_graph_adjacent Create_dist_graph Create_intercomm Sub Merge"
# where the root stands among the arguments, and which argument must be as long on all ranks
ROOTS = {"Bcast": 1, "Gather": 2, "Gatherv": 2, "Scatter": 2, "Scatterv": 2, "Reduce": 3}
ROOTS |= {"bcast": 1, "gather": 1, "scatter": 1, "reduce": 2}
LENGTHS = {"Bcast": 0, "Allreduce": 1, "Scan": 1, "Exscan": 1, "Allgather": 1, "Alltoall": 1}
LENGTHS |= {"Reduce": 0, "Gather": 0, "Scatter": 1}
# where the operation stands
WAYS = {"Reduce": 2, "Allreduce": 2, "Scan": 2, "Exscan": 2, "Reduce_scatter": 3}
WAYS |= {"Reduce_scatter_block": 2, "reduce": 1, "allreduce": 1, "scan": 1, "exscan": 1}
OPERATIONS = "SUM PROD MAX MIN LAND BAND LOR BOR LXOR BXOR MAXLOC MINLOC REPLACE NO_OP"
ALSO = "Barrier Allgatherv Alltoallv Alltoallw Reduce_scatter Reduce_scatter_block Neighbor_allgather Cart_map "
ALSO += "Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw Graph_map Free Disconnect"
ENDS = ("Free", "Disconnect")
UNKNOWN = "Psend_init Precv_init Spawn Spawn_multiple Accept Connect Shrink Ishrink"
# classes of errors by which MPI refuses a call before it has begun it
REFUSED = "BUFFER COUNT TYPE TAG COMM RANK ROOT GROUP OP TOPOLOGY DIMS ARG"
MOST = 1000  # requests that are remembered before those that have ended are counted and forgotten


class Book:
    """What this rank did in one communicator in this cell.

    name: the same on all its ranks and no other's. members: their ranks in COMM_WORLD; peers: those that a message
    can be sent to. log: the collectives entered, [(signature, operation)]. sent: {(rank, pickled?): n},
    got: {pickled?: n}. sends: {(rank, tag): operation}, the last; longest: {(rank, tag): (bytes or None, operation)}.
    An operation is (call, code, line), an entry in the log's signature what must be the same on all ranks.
    """

    def __init__(self, name, comm, members, peers):
        self.name, self.comm, self.members, self.peers, self.made = name, comm, members, peers, 0
        self.clear()

    def clear(self):
        self.log, self.sent, self.sends, self.got = [], {}, {}, {False: 0, True: 0}
        self.longest: dict = {}
        self.receives = {}  # {pickled?: the operation that received last}


books: dict = {}  # handle of a communicator -> Book
closed: list = []  # books of communicators freed in this cell
active: dict = {}  # operations that have begun and not ended
entering: dict = {}  # id of an operation in `active` -> (Book, signature, operation) of a collective
others: dict = {}  # threads beside the main one -> the operation that they began last
broken: list = []  # (operation, error): nobody knows what state it left
begun: dict = {}  # id of a request -> (request, operation, and what to do when it has ended)
probed: dict = {}  # id of a message that mprobe took -> (message, Book)
groups: dict = {}  # ranks -> how many communicators they made that others do not know of
prepared: dict = {}  # handle of a persistent request -> (what to note at its start, and with what)
lock = threading.RLock()
_ways: dict = {}  # handle of an operation -> its name
_cells: list = []  # {file name: number} of the cells, which grows with each of them
MAIN = threading.main_thread().ident


def install():
    """Wrap the methods; called once in each rank."""
    from mpi4py import MPI

    _cells.append(story.cells())
    everyone, me = tuple(range(MPI.COMM_WORLD.size)), (MPI.COMM_WORLD.rank,)
    for comm, who, name in (
        (MPI.COMM_WORLD, everyone, "COMM_WORLD"),
        (MPI.COMM_SELF, me, f"COMM_SELF {me[0]}"),
    ):
        books[comm.handle] = Book(name, comm, who, who)
    for kind in (MPI.Comm, MPI.Intracomm, MPI.Topocomm, MPI.Cartcomm, MPI.Intercomm):
        _wrap(kind, lambda name: NOTES.get(name) or (_prepare if name.endswith("_init") else None))
    _wrap(MPI.Message, lambda name: _taken if name in RECEIVES else None)
    _wrap(MPI.Prequest, {"Start": _started}.get)
    _wrap(MPI.Request, dict.fromkeys(("Cancel", "cancel", "Free"), _given_up).get)
    short.install(replace, begun)
    replace(MPI.Comm, {"free": lambda comm: comm.Free() if comm.handle in books else None})
    start_all = classmethod(lambda _, requests: [request.Start() for request in requests] and None)
    replace(MPI.Prequest, {"Startall": start_all})


def replace(kind, methods):
    """Set methods of a class made by Cython, which lets no one set an attribute."""
    gc.get_referents(kind.__dict__)[0].update(methods)
    pythonapi.PyType_Modified(py_object(kind))


def _wrap(kind, note_of):
    """Each method of the class that has a note is counted."""
    found = {n: f for n, f in dict(vars(kind)).items() if not isinstance(f, classmethod)}
    replace(kind, {n: _counted(n, f, note_of(n)) for n, f in found.items() if note_of(n)})


def _counted(name, method, note):
    """The method, which notes what it did when it has ended."""

    @functools.wraps(method)
    def counted(*args, **named):
        op = (name, *_line())
        active[id(op)] = op
        if threading.get_ident() != MAIN:
            others[threading.current_thread()] = op
        if note is _entered:
            _enters(op, args[0], args[1:], named)
        if name == "Free":  # what has ended by now is known now, and not afterwards
            with lock:
                _settle()
        try:
            # a communicator that is freed is no longer known afterwards
            book = books.get(getattr(args[0], "handle", None)) if name in ENDS else None
            result = method(*args, **named)
        except BaseException as error:
            _failed(note, op, error, args, named)
            raise
        finally:
            del active[id(op)]
            entering.pop(id(op), None)
        _note(note, op, args, named, book or result)
        return result

    return counted


def _note(note, op, args, named, result):
    """A call that cannot be booked must not fail for that: its cell is then one that nothing is known of."""
    try:
        with lock:
            note(op, args[0], args[1:], named, result)
    except Exception as error:
        broken.append((op, f"a call that is not counted ({type(error).__name__})"))


def _line():
    """(code, line) of the student's line that calls; of the caller where there is none."""
    cells = _cells[0]
    first = sys._getframe(2)
    frame: Any = first
    while frame is not None and frame.f_code.co_filename not in cells:
        frame = frame.f_back
    frame = frame or first
    return frame.f_code, frame.f_lineno


def _failed(note, op, error, args, named):
    """Was it refused before anything was begun? Then there is nothing to book, else nobody knows what is left."""
    from mpi4py import MPI

    if isinstance(error, MPI.Exception):
        refused = {getattr(MPI, f"ERR_{name}") for name in REFUSED.split()}
        if error.Get_error_class() in refused:
            return
        if (
            truncated := note in (_received, _taken, _both)
            and error.Get_error_class() == MPI.ERR_TRUNCATE
        ):
            book = probed[id(args[0])][1] if note is _taken else _book(args[0])
            short.tell(error, op, book, short.room_of(op, args[1:], named, _bytes))
        # of what is cut the message is taken, its rest is dropped; a collective was entered
        if truncated or (note is _entered and op[0] not in ENDS):
            _note(note, op, args, named, None)
        if not truncated or note is _both:
            broken.append((op, "MPI's error"))
    elif op[0] in RECEIVES and type(error).__name__ == "UnpicklingError":
        error.add_note(
            f"{op[0]} receives an object, which send() sends; an array sent by Send() is received by Recv()"
        )
        broken.append((op, "a message that is no object"))
    elif not isinstance(error, Exception) or (op[0].islower() and op[0] not in SENDS):
        broken.append((op, type(error).__name__))


def _argument(args, named, at, name, default=None):
    return args[at] if len(args) > at else named.get(name, default)


def _book(comm):
    return books[comm.handle]


def _pickled(op):
    return op[0][0].islower()


def _send(op, comm, dest, tag, buffer):
    book = _book(comm)
    if dest >= 0:  # not PROC_NULL
        key = (book.peers[dest], _pickled(op))
        book.sent[key] = book.sent.get(key, 0) + 1
        book.sends[key[0], tag] = op
        size = None if key[1] else _bytes(buffer)
        if (size or 0) >= (book.longest.get((key[0], tag), (0,))[0] or 0):
            book.longest[key[0], tag] = size, op


def _receive(op, book, pickled, room=None):
    """room: a function that gives the bytes for which it had room."""
    book.got[pickled] += 1
    book.receives[pickled] = op


def _later(op, request, then):
    """A call that returned a request: `then` is noted when that has ended."""
    if len(begun) > MOST:
        _settle()
    # a persistent one that is started anew had ended
    if (ended := begun.pop(id(request), None)) and ended[2]:
        ended[2]()
    begun[id(request)] = (request, op, then)


def _settle():
    from mpi4py import MPI

    for key, (request, _, then) in list(begun.items()):
        lives_on = isinstance(request, MPI.Prequest) or not then
        if request == MPI.REQUEST_NULL or (lives_on and request.Get_status()):
            del begun[key]
            if then:
                then()


def _sent(op, comm, args, named, result):
    tag = _argument(args, named, 2, "tag", 0)
    name = "obj" if _pickled(op) else "buf"
    _send(op, comm, _argument(args, named, 1, "dest"), tag, _argument(args, named, 0, name))
    if result is not None:
        _later(op, result, None)


def _received(op, comm, args, named, result):
    if _argument(args, named, 1, "source", -2) == _proc_null():
        return
    _take(op, _book(comm), args, named, result)


def _take(op, book, args, named, result):
    """A receive: of recv, the result is the object; of irecv, Irecv, a request."""
    room = functools.partial(short.room_of, op, args, named, _bytes)
    note = functools.partial(_receive, op, book, _pickled(op), room)
    if op[0][0] in "Ii":
        _later(op, result, note)
    else:
        note()


def _taken(op, message, args, named, result):
    """A message that mprobe took is received."""
    _take(op, probed.pop(id(message))[1], args, named, result)


def _probed(op, comm, args, named, message):
    if message:
        probed[id(message)] = (message, _book(comm))


def _both(op, comm, args, named, result):
    replaces = "replace" in op[0]
    tag = _argument(args, named, 2, "sendtag", 0)
    first = _argument(args, named, 0, "buf" if replaces else "sendbuf")
    _send(op, comm, _argument(args, named, 1, "dest"), tag, first)
    source = _argument(args, named, 3 if replaces else 4, "source", -2)
    room = functools.partial(short.room_of, op, args, named, _bytes)
    note = functools.partial(_receive, op, _book(comm), _pickled(op), room)
    if op[0].startswith("I"):
        _later(op, result, note if source != _proc_null() else None)
    elif source != _proc_null():
        note()


def _entered(op, comm, args, named, result):
    """A collective. Its request ends as that of a send does."""
    call = op[0]
    if call in ENDS:
        closed.append(result)
        books.pop(next(handle for handle, known in books.items() if known is result))
        result.log.append(((call, None), op))
        return
    _book(comm).log.append((_signature(call, comm, args, named), op))
    if call[0] == "I" and result is not None:
        _later(op, result, None)


def _enters(op, comm, args, named):
    """It may never end: what it is, is noted before."""
    with contextlib.suppress(Exception):  # what it is called with may be wrong in any way
        signature = _signature(op[0], comm, args, named)
        entering[id(op)] = _book(comm), signature, op


def _signature(call, comm, args, named):
    plain = call[1:].capitalize() if call[0] == "I" else call
    one_root = plain in ROOTS and not comm.Is_inter()
    root = _argument(args, named, ROOTS[plain], "root", 0) if one_root else None
    buffer, bytes_of_it = _compared(plain, comm, args, named, root)
    way = _way(_argument(args, named, WAYS[plain], "op")) if plain in WAYS else None
    name = "Barrier" if call == "barrier" else call
    return name, root, getattr(buffer, "dtype", None), way, bytes_of_it


def _compared(plain, comm, args, named, root):
    """(the buffer of a collective that must be alike on all ranks or None, its bytes or None)."""
    at = None if comm.Is_inter() else LENGTHS.get(plain)
    if at is None:
        return None, None
    names = ("buf",) if plain == "Bcast" else ("sendbuf", "recvbuf")
    buffer = _argument(args, named, at, names[at])
    if plain == "Reduce" and _bytes(buffer) is None:  # IN_PLACE
        buffer = _argument(args, named, 1, "recvbuf")
    size = _bytes(buffer)
    if plain in ("Gather", "Scatter") and comm.rank == root:  # as much as each has in its table
        table = _bytes(_argument(args, named, 1 - at, names[1 - at]))
        size = size if table is None else table // comm.size
    return buffer, size


def _way(op):
    """The name of an operation; one that was made by the program has none that others would know."""
    if not _ways:
        from mpi4py import MPI

        _ways.update({vars(MPI)[name].handle: name for name in OPERATIONS.split()})
    return (
        "SUM" if op is None else _ways.get(getattr(op, "handle", None), "an operation of its own")
    )


def _bytes(buffer):
    """How many bytes of a buffer an operation works on; None where that is not plain to see."""
    try:
        if type(buffer).__name__ == "InPlaceType":  # a buffer of no bytes, as it looks
            return None
        if not isinstance(buffer, list | tuple):
            return memoryview(buffer).nbytes
        if len(buffer) == 2 and not isinstance(buffer[1], int):
            return None
        return int(buffer[1]) * buffer[2].Get_size() if len(buffer) == 3 else None
    except Exception:
        return None


def _made(op, comm, args, named, result):
    """A new communicator: its name is made of its parent's, so that it is the same on all ranks."""
    book, request = _book(comm), None
    if isinstance(result, tuple):
        result, request = result
        _later(op, request, None)
    if op[0] != "Create_group":
        book.made += 1
        book.log.append(((op[0], None), op))
    if not result:
        return
    ids = _members(result.Get_group()) if request is None else book.members
    peers = ids
    if result.Is_inter():
        peers = _members(result.Get_remote_group())
        ids = tuple(sorted({*ids, *peers}))
    number = book.made
    if op[0] in ("Create_group", "Create_intercomm"):  # not all ranks of the parent know of it
        number = groups[ids] = groups.get(ids, 0) + 1
    name = f"{book.name}/{op[0]} {number} {ids}" if peers is ids else f"inter {number} {ids}"
    books[result.handle] = Book(name, result, ids, peers)


def _members(group):
    everyone = _world().Get_group()
    return tuple(group.Translate_ranks(list(range(group.size)), everyone))


def _unknown(op, *_):
    broken.append((op, "a call that is not counted"))


def _prepare(op, comm, args, named, request):
    """Send_init and the like: what it does at each start."""
    call = op[0].removesuffix("_init")
    if note := NOTES.get(call):
        prepared[request.handle] = (note, call, comm, args, named)


def _started(op, request, *_):
    if request.handle in prepared:
        note, call, comm, args, named = prepared[request.handle]
        # as a request that is begun: it ends when it is inactive, though it lives on
        name = call if call.startswith("I") else f"I{call.lower()}"
        note((name, *op[1:]), comm, args, named, request)


def _given_up(op, request, *_):
    """Cancel, Free: it has ended, and nobody knows how, where it was a receive."""
    for key, (known, begin, then) in list(begun.items()):
        if known is request:
            del begun[key]
            if then and op[0] == "Free":
                broken.append((begin, "a request that was freed"))


def _world():
    from mpi4py import MPI

    return MPI.COMM_WORLD


def _proc_null():
    from mpi4py import MPI

    return MPI.PROC_NULL


_COLLECTIVES = {*ROOTS, *LENGTHS, *ALSO.split()}
_COLLECTIVES |= {f"I{n.lower()}" for n in _COLLECTIVES} | {n.lower() for n in _COLLECTIVES}
NOTES = (
    dict.fromkeys(_COLLECTIVES - {"free", "disconnect"}, _entered)
    | dict.fromkeys(SENDS, _sent)
    | dict.fromkeys(RECEIVES, _received)
    | dict.fromkeys(BOTH.split(), _both)
    | dict.fromkeys(PROBES.split(), _probed)
    | dict.fromkeys(["Probe", "Iprobe", "probe", "iprobe"], lambda *_: None)
    | dict.fromkeys(MAKES.split(), _made)
    | dict.fromkeys(UNKNOWN.split(), _unknown)
)
