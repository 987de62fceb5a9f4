"""The shipped profile for Slurm, on a real Slurm that the test starts: two nodes (this machine twice) on loopback."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import psutil
import pytest
import slurm_node

from course_lib import mpi
from course_lib.machines.ranks import launch
from course_lib.machines.ranks import ranks as machinery

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
pytestmark = [
    pytest.mark.timeout(900 * SLOW),
    pytest.mark.skipif(
        bool(slurm_node.missing()), reason=f"no Slurm for a test here: {slurm_node.missing()}"
    ),
]
NAMES = "from mpi4py import MPI\nimport os\ncomm = MPI.COMM_WORLD\nrank = comm.rank\n"
NODE = "print(os.environ['SLURMD_NODENAME'], comm.size, comm.Split_type(MPI.COMM_TYPE_SHARED).size)"


@pytest.fixture(scope="module")
def slurm():
    with pytest.MonkeyPatch.context() as patch, slurm_node.Slurm() as one:
        for name, value in one.env.items():
            patch.setenv(name, value)
        yield one


@pytest.fixture
def base(slurm, tmp_path, monkeypatch):
    """A home for the files of jobs, a folder for notebooks, a mark on all processes; at the end nothing is left."""
    mark = uuid.uuid4().hex
    home, work = tmp_path / "ipython", tmp_path / "work"
    work.mkdir()
    crowded = {
        "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"
    }  # four ranks that wait may share two real cores here
    for name, value in {"COURSE_MARK": mark, "IPYTHONDIR": str(home), **crowded}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)
    monkeypatch.setattr(machinery, "_current", [])
    yield work
    for cluster in machinery._current:
        cluster.stop()
    assert gone(slurm.queue) == [] and gone(lambda: left(mark)) == []
    assert not list(home.glob("course-mpi-*")) and {path.name for path in work.iterdir()} <= {
        "cluster.toml"
    }


def left(mark):
    """The living processes that have this mark in their environment: of the notebook's side and of the job's."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("COURSE_MARK") == mark:
                found += (
                    [" ".join(process.cmdline())]
                    if process.status() != psutil.STATUS_ZOMBIE
                    else []
                )
        except psutil.Error:
            continue
    return found


def gone(look, seconds=8):
    """What `look` finds, once that is nothing or the time is over."""
    end = time.monotonic() + seconds * SLOW
    while (found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def settings(base, text):
    (base / "cluster.toml").write_text(f'[slurm]\nhost = "127.0.0.1"\nwait_minutes = 1\n{text}')


def test_four_ranks_on_two_nodes(slurm, base, capsys):
    """Cells, an error that ranks survive, a rank killed, ranks by a command of one's own, a deadlock, and the end."""
    settings(
        base,
        'nodes = 2\nranks_per_node = 2\ntime = "5"\npartition = "teaching"\nports = "42000-42100"\n',
    )
    with mpi.cluster(4, timeout=10 * SLOW, profile="slurm") as ranks:
        said = capsys.readouterr().out.split(", ")
        assert said[0] == "controller" and said[1].startswith("job ") and said[-1] == "ready.\n"
        ranks.execute(NAMES + NODE)
        nodes = ["n1 4 2", "n1 4 2", "n2 4 2", "n2 4 2"]
        assert capsys.readouterr().out == "".join(
            f"[rank {r}] {node}\n" for r, node in enumerate(nodes)
        )
        with pytest.raises(mpi.RankError, match="rank 2 raised ZeroDivisionError"):
            ranks.execute("1 / (rank - 2)")
        assert slurm.queue()[0][1] == "RUNNING"
        with pytest.raises(
            mpi.RankError, match="rank 1 died in this cell: killed by signal 9"
        ) as error:
            ranks.execute("if rank == 1:\n    os.kill(os.getpid(), 9)\ncomm.recv()")
        assert "comm.recv()" in str(error.value) and gone(slurm.queue) == []
        start = f"{launch.mpiexec()} -disable-auto-cleanup -bootstrap slurm -n {{n}}"
        settings(base, f"nodes = 2\nranks_per_node = 2\nstart = '{start}'\n")
        capsys.readouterr()
        ranks.execute(NAMES + NODE)
        assert [line.split()[2] for line in capsys.readouterr().out.splitlines()[1:]] == [
            "n1",
            "n1",
            "n2",
            "n2",
        ]
        with pytest.raises(
            mpi.RankError, match="ranks 0, 1, 2, 3 had not finished after 2 s\nrank 0 was in line 1"
        ):
            ranks.execute("comm.recv(source=(rank + 1) % 4)", timeout=2)


DEADLOCK = """
from course_lib import mpi
ranks = mpi.cluster(2, timeout=60, profile="slurm")
ranks.execute("from mpi4py import MPI; MPI.COMM_WORLD.recv()")
"""


def test_the_job_ends_with_the_notebook(slurm, base):
    """kill -9 of a notebook whose ranks wait for each other."""
    settings(base, "")
    notebook = subprocess.Popen([sys.executable, "-c", DEADLOCK], stdout=subprocess.PIPE, text=True)
    with notebook:
        assert "ready." in notebook.stdout.readline()
        time.sleep(0.5)
        notebook.send_signal(signal.SIGKILL)


def test_interrupted_while_the_job_waits_in_the_queue(slurm, base):
    settings(base, 'partition = "closed"\n')

    def interrupt():
        slurm.wait(slurm.queue)
        assert slurm.queue()[0][1] == "PENDING"
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        mpi.cluster(2, profile="slurm", progress=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('partition = "no-such"\n', "slurm took no job.\nsbatch: error: invalid partition"),
        (
            'commands = ["echo there is no such module", "false"]\n',
            "0 of 2 have come.*there is no such module",
        ),
    ],
)
def test_a_job_that_fails_says_why(slurm, base, text, words):
    settings(base, text)
    with pytest.raises(mpi.RankError, match=f"(?s){words}"):
        mpi.cluster(2, profile="slurm", progress=False)


INSIDE = """
from course_lib import mpi
with mpi.cluster(2) as ranks:
    ranks.execute("from mpi4py import MPI; print(MPI.COMM_WORLD.size)")
"""


def test_this_machines_ranks_from_within_a_job(slurm, base, monkeypatch):
    """JupyterHub's batchspawner runs the notebook as a job: its own ranks must not ask Slurm for more."""
    monkeypatch.setenv("TMPDIR", str(base))
    done = slurm.run("srun", "-n", "1", "--mpi=pmi2", sys.executable, "-c", INSIDE)
    assert done.splitlines()[1:] == ["[rank 0] 2", "[rank 1] 2"]
