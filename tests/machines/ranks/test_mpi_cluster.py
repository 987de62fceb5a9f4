"""The cluster never hangs and leaves nothing behind: faults of every kind, and the next cell works."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.ranks import launch
from course_lib.machines.ranks import ranks as machinery
from course_lib.machines.ranks.errors import Interrupted
from course_lib.machines.ranks.team import Team

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
# alone: it looks for what ranks left in memory that all ranks of this machine share
pytestmark = [pytest.mark.timeout(900 * SLOW), pytest.mark.alone]
ROOT = Path(__file__).resolve().parents[3]
NAMES = "from mpi4py import MPI\nimport numpy as np\nimport os\ncomm = MPI.COMM_WORLD\nrank = comm.rank\n"


def left(mark):
    """Command lines of all living processes that were started, at any depth, with this mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.environ().get("COURSE_MARK") == mark
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(" ".join(process.cmdline())[:150])
        except psutil.Error:
            continue
    return found


def gone(mark, seconds=60, words=("",)):
    """`left`, of those with one of the words, once it is empty or the time is over."""
    end = time.monotonic() + seconds * SLOW
    while (
        found := [line for line in left(mark) if any(word in line for word in words)]
    ) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def used_by(mark):
    """Processor seconds of the living processes with this mark."""
    seconds = 0.0
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get("COURSE_MARK") == mark:
                seconds += sum(process.cpu_times()[:2])
    return seconds


def mapped():
    """Files in /dev/shm that living processes use: ranks of tests that run beside these, for example."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            yield from (
                Path(row.split()[-1]) for row in maps.read_text().splitlines() if "/dev/shm/" in row
            )


def rubbish(folder):
    """Files that ranks leave behind: of clusters in the folder for temporary files, and of an MPI in /dev/shm."""
    found = set(Path("/dev/shm").glob("mpich_shm*"))  # empty on other systems
    return {*folder.glob("course-mpi-*"), *(found - set(mapped()))}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """A mark on every process of this file, a folder of its own for temporary files; at the end nothing is left."""
    mark = uuid.uuid4().hex
    tmp_path_factory.getbasetemp()  # the tests' own folder must not lie in that one
    before = rubbish(Path(tempfile.gettempdir()))
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("COURSE_MARK", mark)
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)
        yield mark
        assert not gone(mark)
        end = time.monotonic() + 60  # ranks of tests that run beside these may just end
        while (left_behind := rubbish(Path(folder)) - before) and time.monotonic() < end:
            time.sleep(0.5)
        assert not left_behind
    tempfile.tempdir = None


@pytest.fixture(scope="module")
def two(marked):
    with (
        pytest.MonkeyPatch.context() as patch,
        mpi.cluster(2, timeout=60 * SLOW, progress=False) as ranks,
    ):
        patch.setattr(machinery, "GRACE", 0.5 * SLOW)
        yield ranks


def works(ranks):
    """Is the next cell served? All ranks take part in one more collective."""
    return ranks.run(lambda comm: comm.allreduce(comm.rank + 1)) == [3, 3]


def test_four_ranks_are_ready_with_30_seconds_of_the_processor(marked, capsys):
    before = sum(os.times()[:4])
    with mpi.cluster(4) as ranks:
        assert sum(os.times()[:4]) - before + used_by(marked) < 30 * SLOW
        assert ranks.run(lambda comm: comm.rank) == [0, 1, 2, 3]
        said = capsys.readouterr().out
        assert said == "controller, rank 1 of 4, rank 2 of 4, rank 3 of 4, rank 4 of 4, ready.\n"
        ranks.execute(NAMES + "print('hello from', rank)\nrank * 10")
        assert capsys.readouterr().out == "".join(
            f"[rank {r}] hello from {r}\n[rank {r}] {10 * r}\n" for r in range(4)
        )
        ranks.execute("print(rank)", targets=[3, 1])
        assert capsys.readouterr().out == "[rank 1] 1\n[rank 3] 3\n"
        assert mpi.cluster(4, timeout=7 * SLOW) is ranks and ranks.timeout == 7 * SLOW
        with pytest.raises(
            mpi.RankError, match=r"^ranks 0, 2 raised ZeroDivisionError: division by zero\n"
        ) as caught:
            ranks.execute("if rank % 2 == 0:\n    1 / 0\nprint('odd')")
        assert (
            caught.value.rank == 0
            and caught.value.traceback == "  line 2: 1 / 0"
            and not caught.value.waiting
        )
        assert capsys.readouterr().out == "[rank 1] odd\n[rank 3] odd\n"
        ranks.execute("print(rank)")  # the same ranks: rank is still known
        assert "[rank 3] 3" in capsys.readouterr().out
        with pytest.raises(mpi.RankError) as caught:
            ranks.execute("import os\nif rank == 2:\n    os.kill(os.getpid(), 9)\ncomm.Barrier()")
        waiting = "was in line 4: comm.Barrier()"
        assert caught.value.rank == 2 and caught.value.waiting == {
            0: waiting,
            1: waiting,
            3: waiting,
        }


# What a student's cell does, the rank that the error must name, what it must say, and do the ranks live on?
FAULTS = {
    "one rank raises": (
        "if rank == 1:\n    {}['x']\ncomm.Barrier()",
        1, ["rank 1 raised KeyError: 'x'\n  line 7: {}['x']\n", "rank 0 was in line 8: comm.Barrier()\n"], False,
    ),
    "a rank exits": (
        "if rank == 1:\n    os._exit(3)\ncomm.Barrier()",
        1, ["rank 1 died in this cell: exit status 3\n", "rank 0 was in line 8: comm.Barrier()\n"], False,
    ),
    "sys.exit in a rank": (
        "import sys\nif rank == 1:\n    sys.exit(3)",
        1, ["rank 1 raised SystemExit: 3"], True,
    ),
    "Abort": (
        "all = comm.Dup()\nif rank == 1:\n    all.Abort(3)\ncomm.recv()",
        1, ["rank 1 raised Abort: comm.Abort(3) ends all ranks\n", "line 8: all.Abort(3)\n", "rank 0 was in"], False,
    ),
    "a rank is killed": (
        "if rank == 1:\n    os.kill(os.getpid(), 9)\ncomm.Recv(np.zeros(1), source=1)",
        1, ["rank 1 died in this cell: killed by signal 9", "rank 0 was in line 8: comm.Recv("], False,
    ),
    "collectives do not match": (
        "a = np.zeros(10**6)\nif rank:\n    comm.Reduce(a, None)\nelse:\n    comm.Bcast(a)\ncomm.Barrier()",
        None, ["rank 0 ", "rank 1 "], False,
    ),
    "both send first": (
        "a = np.zeros(10**6)\ncomm.Send(a, dest=1 - rank)\ncomm.Recv(a, source=1 - rank)",
        0, ["ranks 0, 1 had not finished", "rank 0 was in line 7: comm.Send(", "rank 1 was in line 7: comm."], False,
    ),
    "a message is left over": (
        "if rank == 0:\n    comm.Send(np.zeros(1), dest=1)\nelse:\n    1 / 0",
        1, ["rank 1 raised ZeroDivisionError", "rank 0 had finished the cell"], False,
    ),
    "the buffer is too small": (
        "if rank == 0:\n    comm.Send(np.zeros(8), dest=1)\nelse:\n    comm.Recv(np.zeros(4))",
        1, ["rank 1 raised", "Message truncated", "line 9: comm.Recv(np.zeros(4))"], True,
    ),
    "endless, in Python and in compiled code": (
        "if rank == 0:\n    while True:\n        pass\n3 ** 10**9",
        0, ["ranks 0, 1 had not finished after", "\nrank 0 was in line 7: while True:",
            "\nrank 1 was in line 9 of the cell, in compiled code that blocks everything else\n"], False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_an_error_that_names_the_rank(two, fault, capsys):
    cell, rank, texts, live = FAULTS[fault]
    two.start()
    may_wait = rank is None or any("had not finished" in text for text in texts)
    with pytest.raises(mpi.RankError) as caught:  # but for deadlocks long before the timeout
        two.execute(NAMES + cell, timeout=3 * SLOW if may_wait else 240)
    said = str(caught.value)
    assert may_wait or "after 240 s" not in said
    assert rank is None or caught.value.rank == rank
    assert all(text in said for text in texts), said
    assert said.endswith(machinery.STOPPED) is not live
    assert "".join(caught.value._render_traceback_()) == f"RankError: {said}".replace("\n", "")
    assert works(two)
    capsys.readouterr()


def test_an_interrupt_during_a_collective(two, capsys):
    two.execute(NAMES)
    threading.Timer(0.5 * SLOW, os.kill, (os.getpid(), signal.SIGINT)).start()
    places = r"rank 0 had finished the cell\nrank 1 was in line 2: comm\.Barrier\(\)"
    with pytest.raises(Interrupted, match=places):
        two.execute("if rank == 1:\n    comm.Barrier()", timeout=30 * SLOW)
    assert works(two)


def test_output_without_end_is_cut(two, capsys):
    two.execute("print('x' * 2_000_000)\nprint('more')")
    said = capsys.readouterr().out
    cut = "\n[rank {}] ... this rank printed more than 1,000,000 characters; the rest of them is left out\n"
    assert (
        all(said.count(cut.format(r)) == 1 for r in (0, 1))
        and "more\n" not in said
        and len(said) < 2_001_000
    )
    two.execute("print('again')")
    assert capsys.readouterr().out == "[rank 0] again\n[rank 1] again\n"


def test_run_sends_a_function_with_what_it_uses(two):
    W, k = np.arange(6.0), [1, 2]

    def helper(x):
        return x * np.sum(W)

    def task(comm, scale):
        k.append(comm.rank)
        return k, helper(scale), comm.size

    assert two.run(task, 2) == [([1, 2, 0], 30, 2), ([1, 2, 1], 30, 2)]
    assert two.run(task, 2) == [([1, 2, 0], 30, 2), ([1, 2, 1], 30, 2)] and k == [
        1,
        2,
    ]  # afresh in each call
    here = r"\n  line \d+ of test_mpi_cluster.py, in "
    with pytest.raises(
        mpi.RankError, match=f"^ranks 0, 1 raised .*{here}task: return k, h.*{here}helper: return x"
    ):
        two.run(task, "no number")
    with pytest.raises(
        mpi.RankError, match="what the function returned cannot be sent to the notebook"
    ):
        two.run(lambda comm: (x for x in "ab"))
    for call, words in {
        lambda: two.run(3): "takes a function",
        lambda: two.run(lambda comm: two): "cannot be sent to the ranks",
        lambda: two.run(helper, threading.Lock()): "argument 1",
    }.items():
        with pytest.raises(BadInput, match=words):
            call()


SCRIPT = """
import os, sys, time
from course_lib import mpi
ranks = mpi.cluster(2, timeout=600, progress=False)
print("ready", ranks.team.supervisor.pid, ranks.team.folder, flush=True)
if sys.argv[1] == "cell":
    ranks.execute("from mpi4py import MPI\\nif MPI.COMM_WORLD.rank:\\n    MPI.COMM_WORLD.Barrier()")
if sys.argv[1] == "idle":
    sys.stdin.readline()
"""


@pytest.mark.parametrize("how", ["killed", "ended", "supervisor killed"])
def test_nothing_outlives_the_notebook(marked, how):
    env = os.environ | {"COURSE_MARK": uuid.uuid4().hex, "PYTHONPATH": str(ROOT)}
    mode = {"killed": "cell", "ended": "nothing", "supervisor killed": "idle"}[how]
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, mode],
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    _, supervisor, folder = script.stdout.readline().split()
    if how == "killed":
        time.sleep(1)
        script.kill()
    elif how == "supervisor killed":
        os.kill(int(supervisor), signal.SIGKILL)
        assert not gone(env["COURSE_MARK"], 10, ("ipyparallel", "mpiexec"))
        script.stdin.write("end\n")
    script.stdin.close()
    script.stdout.close()
    script.wait(60 * SLOW)  # as patient as `gone`: the end is what counts, not when
    assert not gone(env["COURSE_MARK"])
    assert not Path(folder).exists()


# Cells and what they show on standard output; None: an error, whose words follow in ERRORS.
STARTED = "controller, rank 1 of 2, rank 2 of 2, ready.\n"
CELLS = {
    "from mpi4py import MPI\nimport numpy as np\nfrom course_lib import mpi\nc = mpi.cluster(2, timeout=3)": STARTED,
    "%%px\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\ncomm.rank": "[rank 0] 0\n[rank 1] 1\n",
    "%%px\ndef low(x):\n    raise ValueError(x)": "",
    "%%px --targets 1\n\nlow('deep')": None,
    "%%px\nx = (1,": None,
    "%%px --timeout 1\n\nif comm.rank == 1:\n    comm.recv()": None,
    "%px print('again')": STARTED + "[rank 0] again\n[rank 1] again\n",
    "W = np.ones(3)\n\ndef helper(x):\n    return W @ x": "",
    "def task(comm, x):\n    print(comm.rank)\n    return float(helper(x))": "",
    "print(c.run(task, W), MPI.COMM_WORLD.size)": "[rank 0] 0\n[rank 1] 1\n[3.0, 3.0] 1\n",
    "# a longer vector\nc.run(task, np.ones(4))": None,
    "def hold(comm):\n    if comm.rank:\n        3 ** 10**9": "",
    "c.run(hold, timeout=1)": None,
}
ERRORS = [
    "rank 1 raised ValueError: deep\n  line 3: low('deep')\n  line 3 of In[3], in low: raise ValueError(x)\n",
    "ranks 0, 1 raised SyntaxError: incomplete input\n  Cell In[5], line 2\n    x = (1,",
    "rank 1 had not finished after 1 s\nrank 0 had finished the cell\nrank 1 was in line 4: comm.recv()\nAll ranks",
    "\n  line 3 of In[9], in task: return float(helper(x))\n  line 4 of In[8], in helper: return W @ x\n",
    "rank 1 had not finished after 1 s\nrank 0 had finished the cell\nrank 1 was in line 3 of In[12], in compiled code",
]


def test_in_a_notebook_under_nbval(marked, tmp_path):
    """Errors name the cells and lines that the reader sees; after a deadlock the next cell runs; nothing stays."""
    notebook = nbformat.v4.new_notebook()
    for number, (source, text) in enumerate(CELLS.items(), start=1):
        outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []
        notebook.cells.append(
            nbformat.v4.new_code_cell(source, execution_count=number, outputs=outputs)
        )
    nbformat.write(notebook, tmp_path / "ranks.ipynb")
    run = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-p",
        "no:cacheprovider",
        "-q",
        "--rootdir",
        str(tmp_path),
        "-p",
        "course_tools.notebooks.nbval_strict",
    ]
    mine = {"COURSE_MARK": uuid.uuid4().hex, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*run, str(tmp_path / "ranks.ipynb")],
        capture_output=True,
        text=True,
        timeout=90 * SLOW,
        env=os.environ | mine,
        cwd=tmp_path,
    )
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert f"{len(ERRORS)} failed, {len(CELLS) - len(ERRORS) + 1} passed" in said, (
        said
    )  # the whole is an item, too
    for text in ERRORS:
        assert text in said, said
    assert not gone(mine["COURSE_MARK"]) and not list(tmp_path.glob("course-mpi-*"))


PROFILE = """
c = get_config()
c.Cluster.engine_launcher_class = "mpi"
c.MPIEngineSetLauncher.mpi_cmd = [{mpiexec!r}]
c.IPController.use_threads = True
"""


def test_the_ranks_of_a_profile(marked, tmp_path, monkeypatch):
    """A profile as for Slurm or PBS, whose launcher is the MPI of this machine."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    profile = tmp_path / "profile_ours"
    profile.mkdir()
    (profile / "ipcluster_config.py").write_text(PROFILE.format(mpiexec=launch.mpiexec()))
    with mpi.cluster(2, timeout=60 * SLOW, profile="ours", progress=False) as ranks:
        assert ranks.run(lambda comm: comm.rank) == [0, 1]
        with pytest.raises(
            mpi.RankError, match=r"rank 1 had not finished after 2 s\n(.*\n)*rank 1 was in line 3: "
        ):
            ranks.execute(
                "from mpi4py import MPI\nif MPI.COMM_WORLD.rank:\n    MPI.COMM_WORLD.recv()",
                timeout=2,
            )
    assert not list(profile.glob("security/*.json")) and not list(profile.glob("pid/*"))


def test_a_failed_start_is_told_in_its_own_words(marked, monkeypatch):
    """Also when the folder, with the socket in it, is gone before the socket is closed."""

    def refuse(team, joined):
        team.stop()
        raise mpi.RankError("one could not join")

    monkeypatch.setattr(Team, "_said", refuse)
    with pytest.raises(mpi.RankError, match="one could not join"):
        mpi.cluster(2, progress=False).start()


def test_the_time_for_a_start_can_be_chosen(marked, monkeypatch, tmp_path):
    """By an argument or by the environment; the ranks look for their controller for as long."""
    monkeypatch.setattr(machinery, "_current", [])
    with pytest.raises(
        mpi.RankError,
        match=r"^the ranks did not start: .*needs longer: mpi.cluster\(\.\.\., start=",
    ):
        mpi.cluster(2, start=0.01, progress=False)
    monkeypatch.setenv("COURSE_MPI_START", "0.01")
    with pytest.raises(mpi.RankError, match="did not start"):
        mpi.cluster(2, progress=False)
    with mpi.cluster(
        2, timeout=60 * SLOW, start=60 * SLOW, progress=False
    ) as ranks:  # the argument comes first
        assert works(ranks)
    monkeypatch.setenv("COURSE_MPI_START", "soon")
    with pytest.raises(BadInput, match=r"COURSE_MPI_START.*not 'soon'"):
        mpi.cluster(2)
    engines = launch.programs(2, None, tmp_path, 90.0)[0]["forks"]["engine"]
    assert {"--IPEngine.wait_for_url_file=90.0", "--IPEngine.timeout=90.0"} <= set(engines)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mpi.cluster(0),
        lambda: mpi.cluster(2.5),
        lambda: mpi.cluster(2, timeout=0),
        lambda: mpi.cluster(2, timeout="x"),
        lambda: mpi.cluster(2, timeout=float("nan")),
        lambda: mpi.cluster(2, start=0),
        lambda: mpi.cluster(2, start=float("inf")),
        lambda: mpi.cluster(2, profile="no-such-profile"),
        lambda: mpi.cluster(2, profile="../x"),
        lambda: mpi.Cluster(2).execute("1", targets=[2]),
        lambda: mpi.Cluster(2).execute("1", timeout=-1),
    ],
)
def test_bad_input(call, monkeypatch):
    monkeypatch.setattr(machinery, "_current", [])
    with pytest.raises(BadInput):
        call()
