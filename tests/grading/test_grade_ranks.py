"""MPI ranks while grading: a process for each, the rehearsal with the checks; honest, wrong and hostile answers."""

import pytest

from course_tools.grading.rpc import rank_client
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict.session import Session, SessionLost

WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
# Of the instructor's own: everybody gets the left neighbour's numbers, with one message a rank.
CHECK = """
import numpy as np
from course_lib.checks.kit.ranks.check import RankCase, RankCheck, at_most_bytes, at_most_messages, no_collectives

def cases(rng, n):
    return [RankCase([(rng.standard_normal(5),) for _ in range(n)])]

check = RankCheck("f", cases, lambda ranks: [ranks[r - 1][0] for r in range(len(ranks))], ranks=(2, 3, 1),
                  limits=[at_most_messages(1), no_collectives(), at_most_bytes(40)])
free = RankCheck("f", cases, lambda ranks: [ranks[r - 1][0] for r in range(len(ranks))], ranks=(2, 3, 1))
"""
START = "import numpy as np\nfrom mpi4py import MPI\n"
RING = """
def f(comm, x):
    got = np.empty_like(x)
    comm.Sendrecv(x, (comm.rank + 1) % comm.size, 0, got, (comm.rank - 1) % comm.size)
    return got
"""


@pytest.fixture(scope="module")
def fork_server():
    """One for all."""
    with ForkServer() as made:
        yield made


@pytest.fixture(scope="module")
def kept():
    """The session that tests share, until one loses it."""
    made: list = []
    yield made
    for session in made:
        session.close()


def judged(fork_server, kept, text, check="hidden.check", code=CHECK):
    if not kept:
        kept.append(Session(fork_server, 1).__enter__())
    try:
        kept[0].run(START + text, 20)
        return kept[0].check(check, "f", 1, 300, code)
    except SessionLost as lost:
        kept.clear()
        return {"status": lost.status, "message": str(lost)}


REAL = """
from course_lib import mpi
c = mpi.cluster(2, timeout=40)
assert c.run(lambda comm: comm.allreduce(1)) == [2, 2]
c.stop()
"""


def test_a_cells_real_ranks_start_in_a_room(fork_server):
    """The exercises of chapters 10 to 13 end with such cells, and a release is refused where one fails."""
    with Session(fork_server, 1) as session:
        reply = session.run(REAL, 60)
    assert (reply["status"], reply["error"]) == ("ok", "")


def body(text):
    return (
        "def f(comm, x):\n    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size\n    "
        + "got = np.empty_like(x)\n    "
        + "\n    ".join(text.strip().split("\n"))
    )


RIGHT = {
    "Irecv": "request = comm.Irecv(got, left)\ncomm.Send([x, MPI.DOUBLE], right, tag=3)\nrequest.Wait()\nreturn got",
    "Waitall": "MPI.Request.Waitall([comm.Isend(x, right), comm.Irecv([got, 5], left)])\nreturn got",
    "parts of one array": "both = np.concatenate([x, x])\ncomm.Sendrecv(both[:5], right, 0, both[5:], left)\n"
    "return both[5:].copy()",
    "in place": "got[:] = x\ncomm.Sendrecv_replace(got, right, 0, left)\nreturn got",
    "COMM_WORLD": "world = MPI.COMM_WORLD\nworld.Sendrecv(x, right, 0, got, left)\nreturn got",
    "Test": "request = comm.Irecv(got, left)\nsent = comm.Isend(x, right)\nwhile not request.Test(): pass\n"
    "sent.Wait()\nreturn got",
}
FREE = {
    "pickled": "return comm.sendrecv({'x': x}, right, 0, None, left)['x']",
    "status": "status = MPI.Status()\nrequest = comm.Isend(x, right, tag=comm.rank)\n"
    "comm.Recv(got, status=status)\nrequest.Wait()\n"
    "assert (status.source, status.Get_count(MPI.DOUBLE)) == (left, 5) == (status.tag, 5)\n"
    "return got",
    "allgather": "return comm.allgather(x)[left]",
    "Allgather": "whole = np.empty((comm.size, 5))\ncomm.Allgather(x, whole)\nreturn whole[left]",
    "bcast": "return [comm.bcast(x, root=root) for root in range(comm.size)][left]",
    "scatter": "rows = comm.gather(x)\nreturn comm.scatter(rows[-1:] + rows[:-1] if comm.rank == 0 else None)",
    "alltoall": "return comm.alltoall([x] * comm.size)[left]",
    "reduce with an op": "return comm.allreduce([x], lambda a, b: a + b)[left]",
    "reduce with MPI.SUM": "assert comm.reduce(1, op=MPI.SUM, root=0) == (comm.size if comm.rank == 0 else None)\n"
    "return comm.allgather(x)[left]",
    "Allreduce in place": "whole = np.zeros((comm.size, 5))\nwhole[comm.rank] = x\n"
    "comm.Allreduce(MPI.IN_PLACE, whole)\n"
    "return whole[left]",
    "Split": "half = comm.Split(comm.rank % 2, -comm.rank)\n"
    "assert half.Get_size() == (comm.size + 1 - comm.rank % 2) // 2\n"
    "assert comm.Dup().allreduce(1) == comm.size\nreturn comm.allgather(x)[left]",
    "Iallgather": "whole = np.empty((comm.size, 5))\ncomm.Iallgather(x, whole).Wait()\nreturn whole[left]",
}
WRONG = {
    "no return": ("pass", "wrong", "None"),
    "own": ("return x", "wrong", ""),
    "read too early": ("r = comm.Irecv(got, left)\ns = comm.Isend(x, right)\n"
                       "c = got.copy()\ns.Wait(); r.Wait()\nreturn c",
                       "wrong", ""),
    "changed too early": ("y = x.copy()\ns = comm.Isend(y, right)\n"
                          "y[:] = 0\ncomm.Recv(got, left)\ns.Wait()\nreturn got",
                          "wrong", ""),
    "overlap": ("both = np.concatenate([x, x])\ncomm.Sendrecv(both[:5], right, 0, both[3:8], left)\nreturn both[3:8]",
                "wrong", "receives into the memory that it sends from"),
    "deadlock": ("comm.Recv(got, left)\ncomm.Send(x, right)\nreturn got", "wrong", "deadlock"),
    "leftover": ("s = comm.Isend(x, right)\ncomm.Recv(got, left)\nreturn got", "wrong", "never waits"),
    "too many": ("for _ in range(2): comm.Sendrecv(x, right, 0, got, left)\nreturn got", "wrong", "messages"),
    "too long": ("comm.Sendrecv(np.append(x, x), right, 0, np.empty(10), left)\nreturn x", "wrong", ""),
    "truncation": ("comm.Sendrecv(np.append(x, x), right, 0, got, left)\nreturn got", "wrong", "truncation"),
    "no such call": ("comm.Teleport(x)", "wrong", "has no 'Teleport'"),
    "no such rank": ("comm.Send(x, 99)", "wrong", "rank"),
    "spoils its argument": ("comm.Sendrecv(x, right, 0, got, left)\nx[:] = 0\nreturn got", "wrong", "changed"),
    "blank": ("raise NotImplementedError", "missing", ""),
    "raises": ("return 1 / 0", "wrong", "ZeroDivisionError"),
    # hostile
    "patches its communicator": (
        "for name in ('Send', 'Recv', 'size'): setattr(type(comm), name, lambda *a, **k: None)\nreturn x", "wrong", ""),
    "looks for the others' numbers": (
        "import gc\nfor a in gc.get_objects():\n    if type(a) is np.ndarray and a.shape == (5,) and a.dtype == float "
        "and not np.array_equal(a, x) and np.isfinite(a).all() and a.any(): return a\nreturn x", "wrong", ""),
    "talks through files": (
        "import glob, time\nnp.save(f'/tmp/from{comm.rank}.npy', x)\ntime.sleep(0.2)\n"
        "return np.load(f'/tmp/from{left}.npy') if comm.size > 1 else x", "wrong", "FileNotFoundError"),
    "talks through sockets": (
        "import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.bind(('127.0.0.1', 5000 + comm.rank))\n"
        "s.settimeout(0.5)\ntime.sleep(0.1)\ns.sendto(x.tobytes(), ('127.0.0.1', 5000 + right))\n"
        "return np.frombuffer(s.recv(99)).copy()", "wrong", ""),
    "asks for what is not for it": (
        "ask = comm._channel.ask\nfor name in ('_world', '__class__', '_send', '__init__'):\n"
        "    try: ask(0, name, [], {}, {}, (1, '', ''))\n"
        "    except AttributeError: pass\n    else: return x\nraise LookupError('refused')", "wrong", "LookupError"),
    "a pickle that ends who reads it": (
        "class Bomb:\n    def __reduce__(self):\n        import os\n        return os._exit, (3,)\n"
        "if comm.rank == 0: comm.send(Bomb(), right)\nelse: comm.recv(source=left)\nreturn x", "wrong crashed", ""),
    "a pickle for a Split": (
        "comm._channel.ask(0, 'Split', [('pickle', b'cos\\n_exit\\n(I3\\ntR.')], {}, {}, (1, '', ''))\nreturn x",
        "wrong", ""),
    "ends one rank": ("if comm.rank == 1:\n    import os\n    os._exit(0)\nreturn x", "crashed", ""),
    "time that runs backwards": ("comm.compute(-1e9)\nreturn x", "wrong", ""),
    "talks through locks": (
        "import fcntl, time\nwith open(np.__file__) as file:\n    if comm.rank: time.sleep(0.3)\n"
        "    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    time.sleep(0.5)\nreturn x",
        "wrong", "PermissionError"),
    "watches a file": ("import ctypes\nif ctypes.CDLL(None).inotify_init1(0) < 0: raise OSError('refused')\nreturn x",
                       "wrong", "refused"),
    "talks through Splits": (
        "mine = np.frombuffer(x.tobytes(), np.uint8)\nbits = [[], [], []]\n"
        "for k in range(320 * comm.size):\n    who, bit = k // 320, k % 320\n"
        "    say = 1 + (mine[bit // 8] >> bit % 8 & 1) if comm.rank == who else 2\n"
        "    bits[who].append(comm.Split(int(say)).size == comm.size)\n"
        "return np.packbits(bits[left], bitorder='little').view(float)", "wrong", "communicators"),
    "time that is no number": ("comm.compute(float('nan'))\ncomm.Sendrecv(x, right, 0, got, left)\nreturn got", "wrong",
                               "compute takes"),
    "time that never ends": ("comm._channel.call(0, 'compute', (float('inf'),))\nreturn x", "wrong", "compute takes"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(fork_server, kept, name):
    verdict = judged(fork_server, kept, body(RIGHT[name]))
    assert verdict["status"] == "pass", verdict


@pytest.mark.parametrize("name", FREE)
def test_right_in_other_ways(fork_server, kept, name):
    verdict = judged(fork_server, kept, body(FREE[name]), "hidden.free")
    assert verdict["status"] == "pass", verdict


def test_what_attacks_reach_for_is_there():
    channel = rank_client.RankChannel(lambda *asked: None)
    assert callable(channel.ask) and rank_client.Comm(channel, 0, 0, 2)._channel is channel


@pytest.mark.parametrize("name", WRONG)
def test_wrong(fork_server, kept, name):
    text, status, words = WRONG[name]
    verdict = judged(fork_server, kept, body(text))
    assert verdict["status"] in status.split() and words in " ".join(verdict["message"].split()), (
        verdict
    )
    verdict = judged(fork_server, kept, RING)
    assert verdict["status"] == "pass", verdict  # whatever was before


def test_what_is_no_function(fork_server, kept):
    assert judged(fork_server, kept, "f = 7")["status"] == "wrong"
    assert judged(fork_server, kept, "del f")["status"] == "missing"


def test_an_endless_loop_ends_and_costs_nobody_else(fork_server, kept):
    verdict = judged(fork_server, kept, body("while comm.rank == 1: pass\nreturn x"))
    assert verdict["status"] == "wrong" and "still running" in verdict["message"], verdict
    assert judged(fork_server, kept, RING)["status"] == "pass"


def test_the_line_of_a_fault_is_told(fork_server, kept):
    verdict = judged(fork_server, kept, body("comm.Recv(got, left)\nreturn got"))
    assert "line 6 of f: comm.Recv(got, left)" in " ".join(verdict["message"].split()), verdict
