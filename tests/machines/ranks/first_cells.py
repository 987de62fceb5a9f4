"""First cells that fail or leave something behind, and the right cell that comes after each of them."""

NAMES = """
from mpi4py import MPI
import numpy as np
import threading, os, sys, time
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
"""

# what the cell does: (the cell, words that the error must hold; () where nothing is wrong with the cell)
FIRST = {
    "a rank raises before a bcast": (
        "if rank == 1: raise ValueError('mine')\nw = comm.bcast('weights of the first try' if rank == 0 else None)",
        ("rank 1 raised ValueError: mine", "bcast"),
    ),
    "a rank raises before a Reduce": (
        "a, s = np.full(1, 300.0), np.zeros(1)\nif rank == 0: 1 / 0\ncomm.Reduce(a, s)",
        ("rank 0 raised ZeroDivisionError", "Reduce"),
    ),
    "a rank raises before a large Bcast": (
        "a = np.zeros(10**6)\nif rank == 1: {}['w']\ncomm.Bcast(a)",
        ("rank 1 raised KeyError",),
    ),
    "a rank raises before a gather": (
        "if rank == 0: 1 / 0\ncomm.gather(rank)",
        ("rank 0 raised ZeroDivisionError", "gather"),
    ),
    "a rank raises after a message was sent": (
        "if rank == 0: comm.send('old', dest=1)\nelse: 1 / 0",
        ("rank 1 raised ZeroDivisionError", "send"),
    ),
    "the same on a communicator of its own": (
        "mine = comm.Dup()\nif rank == 0: mine.send('old', dest=1)\nelse: 1 / 0",
        ("rank 1 raised ZeroDivisionError", "send"),
    ),
    "a bcast on a communicator of its own": (
        "mine = comm.Dup()\nif rank == 1: 1 / 0\nmine.bcast('old')",
        ("rank 1 raised ZeroDivisionError", "bcast"),
    ),
    "a Send that nobody receives": (
        "if rank == 0: comm.Send(np.full(1, 7.0), dest=1)",
        ("rank 0", "Send", "rank 1", "line"),
    ),
    "a send that nobody receives, from rank 1": (
        "if rank == 1: comm.send('old', dest=0, tag=3)",
        ("rank 1", "send", "tag 3"),
    ),
    "a second Send by mistake": (
        "a = np.zeros(1)\nif rank == 0:\n    comm.Send(a, 1)\n    comm.Send(a, 1, 5)\nelse: comm.Recv(a)",
        ("rank 0", "Send", "tag 5"),
    ),
    "an Isend that nobody receives": (
        "if rank == 0: comm.Isend(np.full(1, 7.0), dest=1).Wait()",
        ("rank 0", "Isend"),
    ),
    "a message to itself": ("comm.send('old', dest=rank)", ("rank 0", "send")),
    "a bcast by its root alone": ("if rank == 0: comm.bcast('old')", ("rank 0", "bcast")),
    "a Bcast by its root alone": (
        "if rank == 0: comm.Bcast(np.full(4, 7.0))",
        ("rank 0", "Bcast"),
    ),
    "a gather without its root": ("if rank == 1: comm.gather('old')", ("rank 1", "gather")),
    "a Reduce without its root": (
        "if rank == 1: comm.Reduce(np.full(1, 300.0), None)",
        ("rank 1", "Reduce"),
    ),
    "an Irecv never waited for": (
        "a = np.zeros(1)\nr = comm.Irecv(a, source=1 - rank)",
        ("Irecv", "rank 0"),
    ),
    "an irecv never waited for on one rank": (
        "if rank == 1: r = comm.irecv(source=0)",
        ("irecv", "rank 1"),
    ),
    "an Ibcast never waited for": (
        "r = comm.Ibcast(np.zeros(4)) if rank == 0 else None",
        ("Ibcast", "rank 0"),
    ),
    "an Iallreduce on one rank": (
        "a, s = np.ones(1), np.zeros(1)\nif rank == 1: r = comm.Iallreduce(a, s)",
        ("Iallreduce", "rank 1"),
    ),
    "a thread left in recv": (
        "if rank == 1: threading.Thread(target=comm.recv, daemon=True).start()",
        ("recv", "rank 1"),
    ),
    "a thread left in Recv": (
        "if rank == 0:\n    t = threading.Thread(target=lambda: comm.Recv(np.zeros(1)), daemon=True)\n    t.start()",
        ("Recv", "rank 0"),
    ),
    "Reduces with other roots": (
        "a, s = np.full(1, 300.0), np.zeros(1)\ncomm.Reduce(a, s, root=1 - rank)",
        ("Reduce",),
    ),
    "bcasts from two roots": ("w = comm.bcast(f'old {rank}', root=rank)", ("bcast",)),
    "a buffer that is too small": (
        "if rank == 0: comm.Send(np.zeros(8), dest=1)\nelse: comm.Recv(np.zeros(4))",
        (
            "rank 1 raised Exception: Message truncated\n",
            "Recv (line 7: else: comm.Recv(np.zeros(4))) has room for 32 bytes: the message from rank 0 is longer",
            "rank 0 sent rank 1 64 bytes: Send (line 6: if rank == 0: comm.Send(np.zeros(8), dest=1))",
        ),
    ),
    "one of two Irecvs that is too small, waited for later": (
        "if rank == 0:\n    comm.Send(np.zeros(2), 1, 4)\n    comm.Send(np.zeros(8), 1, 5)\nelse:\n"
        "    a = comm.Irecv(np.zeros(2), 0, 4)\n    b = comm.Irecv(np.zeros(4), 0, 5)\n    MPI.Request.Waitall([a, b])",
        (
            "Irecv (line 11: b = comm.Irecv(np.zeros(4), 0, 5)) has room for 32 bytes: "
            "the message from rank 0 with tag 5 is longer",
            "rank 0 sent rank 1 64 bytes: Send (line 8: comm.Send(np.zeros(8), 1, 5))",
        ),
    ),
    "an Irecv that is too small for a long message": (
        "if rank == 0: comm.Send(np.zeros(10**6), dest=1)\nelse:\n    r = comm.Irecv(np.zeros(4))\n"
        "    while not r.Test(): pass",
        ("Irecv (line 8: ", "has room for 32 bytes", "8,000,000 bytes: Send (line 6: "),
    ),
    "an object too long for irecv": (
        "if rank == 0: comm.send(np.zeros(10**5), dest=1)\nelse:\n    r = comm.irecv(source=0)\n    r.wait()",
        (
            "irecv (line 8: ",
            "has room for 32,768 bytes",
            "irecv(bytearray(10**6)) has more",
            "rank 0 sent rank 1 an object: send (line 6: ",
        ),
    ),
    "a Sendrecv with too little room on one rank": (
        "comm.Sendrecv(np.zeros(8 - 4 * rank), 1 - rank, recvbuf=np.zeros(4))",
        (
            "Sendrecv (line 6: ",
            "has room for 32 bytes",
            "rank 0 sent rank 1 64 bytes: Sendrecv (line 6: ",
        ),
    ),
    "a message that Mprobe took and Recv has no room for": (
        "if rank == 0: comm.Send(np.zeros(8), dest=1)\nelse: comm.Mprobe().Recv(np.zeros(4))",
        ("Recv (line 7: ", "has room for 32 bytes", "rank 0 sent rank 1 64 bytes: Send (line 6: "),
    ),
    "a buffer that is too small for a long message": (
        "if rank == 0: comm.Send(np.zeros(10**6), dest=1)\nelse: comm.Recv(np.zeros(4))",
        ("truncated", "rank 1"),
    ),
    "Bcasts of different length": (
        "comm.Bcast(np.zeros(4 if rank == 0 else 2))",
        ("rank 0 entered Bcast (line 6: ", "rank 1 Bcast (line 6: ", ": 32 and 16 bytes"),
    ),
    "Allreduces of different length": (
        "n = 4 if rank == 0 else 100_000\ncomm.Allreduce(np.ones(n), np.zeros(n))",
        ("rank",),
    ),
    "Allreduces with other operations": (
        "comm.Allreduce(np.ones(2), np.empty(2), op=MPI.MAX if rank else MPI.SUM)",
        ("rank 0 entered Allreduce (line 6: ", "rank 1 Allreduce (line 6: ", ": SUM and MAX"),
    ),
    "allreduces with other operations": (
        "x = comm.allreduce(1, max) if rank else comm.allreduce(1, op=MPI.PROD)",
        ("rank 0 entered allreduce", "rank 1 allreduce", ": PROD and an operation of its own"),
    ),
    "Iallreduces with other operations": (
        "r = comm.Iallreduce(np.ones(2), np.empty(2), MPI.MIN if rank else MPI.MAX)\nr.Wait()",
        ("rank 0 entered Iallreduce (line 6: ", ": MAX and MIN"),
    ),
    "Reduces with other operations": (
        "s = np.empty(2)\ncomm.Reduce(np.ones(2), s, MPI.SUM) if rank else comm.Reduce(np.ones(2), s, op=MPI.MAX)",
        ("rank 0 entered Reduce (line 7: ", "rank 1 Reduce (line 7: ", ": MAX and SUM"),
    ),
    "Allreduces of other types": (
        "kind = int if rank else float\ncomm.Allreduce(np.ones(2, kind), np.empty(2, kind))",
        ("rank 0 entered Allreduce (line 7: ", ": float64 and int64"),
    ),
    "a Bcast into another type": (
        "comm.Bcast(np.zeros(4, int if rank else float))",
        ("rank 0 entered Bcast (line 6: ", "rank 1 Bcast (line 6: ", ": float64 and int64"),
    ),
    "a Gather of uneven parts": (
        "comm.Gather(np.ones(4 - rank), np.zeros((2, 4)))",
        ("rank 0 entered Gather (line 6: ", "rank 1 Gather (line 6: ", ": 32 and 24 bytes"),
    ),
    "a Gather into a table that is too large": (
        "comm.Gather(np.ones(3), np.zeros((2, 4)))",
        ("rank 0 entered Gather (line 6: ", ": 32 and 24 bytes"),
    ),
    "a Scatter into arrays of different length": (
        "comm.Scatter(np.ones((2, 4)), np.zeros(4 + rank))",
        ("rank 0 entered Scatter (line 6: ", ": 32 and 40 bytes"),
    ),
    "Send to recv": (
        "if rank == 0: comm.Send(np.ones(4), dest=1)\nelse: comm.recv(source=0)",
        ("rank 1", "Send", "recv"),
    ),
    "send to Recv": (
        "if rank == 0: comm.send(1, dest=1)\nelse: comm.Recv(np.zeros(8), source=0)",
        ("rank 1", "send", "Recv"),
    ),
    "MPI.Finalize": ("MPI.Finalize()", ("line 6", "Finalize")),
    "IN_PLACE off the root": (
        "a = np.full(1, 5.0)\ncomm.Reduce(MPI.IN_PLACE, a)",
        ("rank 1", "IN_PLACE"),
    ),
    "an error caught, and a bcast missed": (
        "try:\n    if rank == 1: 1 / 0\n    comm.bcast('old')\nexcept ZeroDivisionError: pass",
        ("rank 0", "bcast"),
    ),
    "a message that mprobe took": (
        "if rank == 0: comm.send('old', dest=1)\nelse: m = comm.mprobe()",
        ("rank 0", "send"),
    ),
    "a name that is not known, on all ranks": ("w = wieghts + 1", ("ranks 0, 1 raised NameError",)),
    "an error after all was received": (
        "x = comm.sendrecv(rank, dest=1 - rank)\ncomm.Barrier()\nif rank: 1 / 0",
        ("rank 1 raised ZeroDivisionError",),
    ),
}

RIGHT = """
from mpi4py import MPI
import numpy as np
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
w = comm.bcast("new" if rank == 0 else None)
assert w == "new", w
a = np.arange(4.0) if rank == 0 else np.zeros(4)
comm.Bcast(a)
assert a.tolist() == [0, 1, 2, 3], a
s = np.zeros(1)
comm.Reduce(np.full(1, 2.0), s)
assert rank or s[0] == 2 * size, s
comm.Allreduce(np.full(1, rank + 1.0), s)
assert s[0] == 3, s
got = comm.gather(("new", rank))
assert rank or got == [("new", 0), ("new", 1)], got
x = comm.sendrecv(("new", rank), dest=(rank + 1) % size)
assert x == ("new", (rank - 1) % size), x
b = np.zeros(1)
request = comm.Irecv(b)
comm.Send(np.full(1, 10.0 + rank), dest=(rank + 1) % size)
request.Wait()
assert b[0] == 10 + (rank - 1) % size, b
comm.Barrier()
print("right")
"""
