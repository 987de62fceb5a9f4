"""After a cell that failed or left something behind, the next cell is right; and right cells are never blamed."""

import os

import pytest
from first_cells import FIRST, NAMES, RIGHT

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.books import balance
from course_lib.machines.ranks import ranks as machinery

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
pytestmark = pytest.mark.timeout(900 * SLOW)
# the others are for --all: most of them have the ranks started anew
QUICK = ["a rank raises before a bcast", "a Send that nobody receives", "a bcast by its root alone"]
QUICK += [
    "MPI.Finalize",
    "a name that is not known, on all ranks",
    "an error after all was received",
]
QUICK += ["a buffer that is too small", "a buffer that is too small for a long message"]
QUICK += ["one of two Irecvs that is too small, waited for later", "an object too long for irecv"]
QUICK += ["Allreduces with other operations"]


@pytest.fixture(scope="module")
def two():
    with mpi.cluster(2, timeout=60 * SLOW, progress=False) as ranks:
        yield ranks


@pytest.mark.parametrize(
    "first", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FIRST]
)
def test_the_next_cell_is_right(two, first, capsys):
    cell, words = FIRST[first]
    with pytest.raises(mpi.RankError) as caught:
        two.execute(NAMES.strip("\n") + "\n" + cell, timeout=10 * SLOW)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    capsys.readouterr()
    two.execute(RIGHT)
    assert capsys.readouterr().out == "[rank 0] right\n[rank 1] right\n"


# Programs in which nothing is wrong: the ranks, and x, live on
HARMLESS = {
    "requests": (
        "a = np.zeros(3)\nr = [comm.Irecv(a[i:i+1], 1 - rank, i) for i in range(3)]\n"
        "r += [comm.Isend(np.ones(1), 1 - rank, i) for i in range(3)]\nMPI.Request.Waitall(r)"
    ),
    "pickled requests": "r = comm.irecv(source=1 - rank)\ncomm.isend('x', 1 - rank).wait()\nassert r.wait() == 'x'",
    "an isend that nobody waits for": "r = comm.isend('x', 1 - rank)\nassert comm.recv() == 'x'",
    "no neighbour": "comm.send(1, MPI.PROC_NULL)\ncomm.recv(source=MPI.PROC_NULL)\ncomm.sendrecv(1, -1, source=-1)",
    "probes": "if rank: comm.Send(np.ones(2), 0, 7)\nelse: comm.Mprobe().Recv(np.zeros(2))",
    "persistent": (
        "a = np.zeros(2)\nr = comm.Recv_init(a, 1 - rank)\ns = comm.Send_init(np.ones(2), 1 - rank)\n"
        "for _ in range(3):\n    MPI.Prequest.Startall([r, s])\n    MPI.Request.Waitall([r, s])\nr.Free()\ns.Free()"
    ),
    "communicators": (
        "half = comm.Split(rank)\nhalf.Barrier()\nhalf.Free()\nall = comm.Dup()\nall.bcast(1)\n"
        "line = comm.Create_cart([2])\nline.Sub([True]).Barrier()\nline.sendrecv(1, 1 - rank)"
    ),
    "groups": (
        "one = comm.Create_group(comm.Get_group().Incl([1])) if rank == 1 else None\n"
        "if one: one.Barrier()\nboth = comm.Split(rank).Create_intercomm(0, comm, 1 - rank)\n"
        "assert both.sendrecv(rank, 0, source=0) == 1 - rank\nboth.Merge().Barrier()"
    ),
    "collectives of all kinds": (
        "s = np.zeros(1)\ncomm.Reduce(MPI.IN_PLACE if rank == 0 else np.ones(1), s if rank == 0 else None)\n"
        "comm.Allreduce(MPI.IN_PLACE, s)\ncomm.Iallreduce(np.ones(1), s).Wait()\ncomm.scan(1)\n"
        "comm.Scatter(np.zeros(4) if rank == 0 else None, np.zeros(2))\ncomm.alltoall([1, 2])\n"
        "comm.Allgatherv(np.ones(1 + rank), [np.zeros(3), [1, 2]])\ncomm.barrier() if rank else comm.Barrier()"
    ),
    "the same collectives in other words": (
        "a, s = np.ones(2), np.zeros(2)\nif rank: comm.Allreduce(a.view(), s, MPI.MAX)\n"
        "else: comm.Allreduce(sendbuf=[a, MPI.DOUBLE], recvbuf=[s, 2, MPI.DOUBLE], op=MPI.MAX)\n"
        "kind = np.longlong if rank else np.int64\ncomm.Allreduce(np.ones(2, kind), np.zeros(2, kind))\n"
        "comm.allreduce(1, op=MPI.SUM) if rank else comm.allreduce(1)\n"
        "comm.Gather(MPI.IN_PLACE if rank == 0 else a, np.ones(4) if rank == 0 else None)\n"
        "comm.Scatter(np.ones(4) if rank == 0 else None, MPI.IN_PLACE if rank == 0 else a)\n"
        "comm.Gather(sendbuf=a, recvbuf=np.ones((2, 2)) if rank else None, root=1)\n"
        "mine = MPI.Op.Create(lambda x, y, kind: None, commute=True)\ncomm.Allreduce(a, s, op=mine)\nmine.Free()"
    ),
    "a message cut, and the error caught": (
        "if rank == 0: comm.Send(np.zeros(8), 1)\nelse:\n    try: comm.Recv(np.zeros(4))\n"
        "    except MPI.Exception: pass"
    ),
    "refused by MPI": "try: comm.send(1, dest=9)\nexcept MPI.Exception: pass",
    "a thread that has ended": (
        "t = threading.Thread(target=lambda: comm.sendrecv(1, 1 - rank))\nt.start()\nt.join()"
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", HARMLESS)
def test_right_cells_are_not_blamed(two, program, capsys):
    two.execute(NAMES + "x = 1\n" + HARMLESS[program])
    two.execute("assert x == 1\n" + RIGHT)


def test_calls_that_cannot_be_are_refused_in_words(two, monkeypatch):
    with pytest.raises(mpi.RankError, match=r"this is rank \d of a cluster"):
        two.execute("from course_lib import mpi\nmpi.cluster(2)")
    with two.busy, pytest.raises(BadInput, match="another thread's parallel cell is running"):
        two.execute("1")
    monkeypatch.setattr(machinery, "_current", [])
    with pytest.raises(BadInput, match=r"after a restart of the kernel.*mpi.cluster\(4\)"):
        mpi.current()
    old = mpi.Cluster(4)
    old.replaced_by(2)
    with pytest.raises(BadInput, match=r"these 4 ranks were replaced when mpi.cluster\(2\)"):
        old.run(len)


def test_ranks_are_on_their_way_before_the_next_cell(two):
    """And end with the cluster, though nobody has met them."""
    with pytest.raises(mpi.RankError, match="never waited for Irecv"):
        two.execute(NAMES + "r = comm.Irecv(np.zeros(1))")
    ahead = two.ahead
    assert two.team is None and ahead.supervisor.poll() is None
    two.stop()
    assert ahead.supervisor.poll() is not None


@pytest.mark.parametrize("call", ["Reduce(x, y", "Gather(x, t", "bcast(3"])
def test_other_roots_that_wait_are_named_at_the_deadline(two, call):
    """On this MPI each of them waits: rank 0 ends, or both wait for what never comes."""
    cell = (
        f"x, y, t = np.ones(4), np.empty(4), np.empty((2, 4))\ncomm.{call}, root=1 - comm.rank)\n"
    )
    names = "from mpi4py import MPI\nimport numpy as np\ncomm = MPI.COMM_WORLD\n"
    with pytest.raises(mpi.RankError) as caught:
        two.execute(f"{names}{cell}comm.recv(source=1 - comm.rank)", timeout=3)
    name, said = call.partition("(")[0], str(caught.value)
    line = f"{name} (line 5: comm.{call}, root=1 - comm.rank))"
    assert f"rank 0 entered {line}, rank 1 {line}: root 1 and root 0" in said
    assert two.run(lambda comm: comm.allreduce(comm.rank)) == [1, 1]


def test_of_a_cell_that_has_not_ended_only_what_differs_is_told():
    def at(before, *calls):
        return {"COMM_WORLD": ((0, 1), before, [((c, None, None, None, None), c) for c in calls])}

    assert balance.stuck({0: at(0, "Barrier"), 1: at(0)}) == [], "rank 1 may still come"
    assert balance.stuck({0: at(2, "Scan", "Barrier"), 1: at(1, "Bcast", "Scan", "Barrier")}) == []
    said = balance.stuck({1: at(0, "Barrier", "Scan"), 0: at(0, "Barrier", "Bcast")})
    assert said == ["rank 0 entered Bcast, rank 1 Scan"]


def test_the_first_difference_of_two_logs_is_told():
    def book(*calls):
        log = [((call, root, None), f"{call} (line {i})") for i, (call, root) in enumerate(calls)]
        told = {"sent": {}, "sends": {}, "got": {False: 0, True: 0}, "receives": {}, "waiting": []}
        return {"open": [], "books": {"COMM_WORLD": told | {"members": (0, 1), "log": log}}}

    same = [("Bcast", 0), ("Reduce", 0)]
    assert balance.faults({0: book(*same), 1: book(*same)}) == []
    said = balance.faults({0: book(*same), 1: book(("Bcast", 0), ("Reduce", 1))})
    assert said == ["rank 0 entered Reduce (line 1), rank 1 Reduce (line 1): root 0 and root 1"]
    said = balance.faults({0: book(*same), 1: book(("Bcast", 0))})
    assert said == ["rank 0 entered Reduce (line 1), and rank 1 did not"]
