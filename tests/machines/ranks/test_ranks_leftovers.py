"""What killed processes leave is removed by a survivor, or at the next start; what is in use stays."""

import mmap
import os
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from course_lib import mpi
from course_lib.machines.ranks import leftovers

ROOT = Path(__file__).resolve().parents[3]
SLOW = float(os.environ.get("COURSE_SLOW", "1"))
pytestmark = [
    pytest.mark.timeout(600 * SLOW),
    pytest.mark.alone,
    pytest.mark.skipif(sys.platform != "linux", reason="leases and /proc are Linux's"),
]
OLD = 86_400  # seconds
KERNEL = """
import sys
from mpi4py import MPI
from course_lib import mpi
if "ranks" in sys.argv:
    ranks = mpi.cluster(2, timeout=600, progress=False)
    ranks.run(lambda comm: comm.rank)
    print(ranks.team.folder, ranks.ahead.folder, flush=True)
else:
    print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def folder(monkeypatch):
    """A folder for temporary files: a short name, as sockets lie in it."""
    with tempfile.TemporaryDirectory() as path:
        monkeypatch.setenv("TMPDIR", path)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(path)
    tempfile.tempdir = None


def test_a_folder_that_cannot_be_locked_is_no_reason_to_fail_and_is_never_swept(
    folder, monkeypatch
):
    """A sandbox forbids locks, and some file systems have none."""

    def refused(*_):
        raise PermissionError

    made = folder / f"{leftovers.FOLDER}1"
    made.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refused)
        os.close(leftovers.hold(made))
    leftovers.sweep(str(folder))
    assert made.is_dir()


def kernel(*words):
    """(a process that stands for a notebook's, what it said, its mark)."""
    mark = uuid.uuid4().hex
    env = os.environ | {"PYTHONPATH": str(ROOT), "COURSE_MARK": mark}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", KERNEL, *words], env=env, **pipes)
    return process, process.stdout.readline().split(), mark


def kill_all(process, mark):
    """SIGKILL to the process and to all that has its mark, until none is left."""
    found = [psutil.Process(process.pid)]
    while found:
        for one in found:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
        found = [p for p in psutil.process_iter(["environ"]) if _marked(p, mark)]
    process.stdin.close()
    process.stdout.close()


def _marked(process, mark):
    marked = (process.info["environ"] or {}).get("COURSE_MARK") == mark
    with suppress(psutil.NoSuchProcess):
        return marked and process.status() != psutil.STATUS_ZOMBIE
    return False


def until(ready):
    end = time.monotonic() + 60 * SLOW
    while not ready() and time.monotonic() < end:
        time.sleep(0.1)
    return ready()


def shared(process):
    return [*Path("/dev/shm").glob(f"mpich_shm_{process.pid:x}_*")]


def test_what_a_killed_kernel_left_goes_at_the_next_start(folder):
    alone, _, mark = kernel()
    assert shared(alone), "MPI in a kernel has a file"
    kill_all(alone, mark)
    assert shared(alone), "nobody was there to remove it"
    lives, _, its_mark = kernel()
    with mpi.cluster(2, progress=False) as ranks:
        assert ranks.run(lambda comm: comm.rank) == [0, 1]
        assert until(lambda: not shared(alone))
    assert shared(lives), "the file of a kernel that lives stays"
    kill_all(lives, its_mark)
    leftovers.sweep()
    assert not shared(lives)


def test_what_kernel_and_supervisors_left_goes_at_the_next_start(folder):
    process, folders, mark = kernel("ranks")
    leftovers.sweep()
    assert len(folders) == 2 and all(Path(path).exists() for path in folders), "they are in use"
    kill_all(process, mark)
    assert all(Path(path).exists() for path in folders)
    with mpi.cluster(2, progress=False):
        assert until(lambda: not any(Path(path).exists() for path in folders))


def test_what_is_in_use_stays(tmp_path):
    used, opened, other = (tmp_path / f"mpich_shm_{name}_0" for name in ("1f", "2f", "3f"))
    for path in (used, opened, other):
        path.write_bytes(bytes(4096))
    with used.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), 4096)
    with opened.open("rb"):
        leftovers.sweep(tmp_path)
    assert used.exists() and opened.exists() and not other.exists()
    memory.close()
    leftovers.sweep(tmp_path)
    assert not used.exists() and not opened.exists()


def test_a_file_of_a_launcher_stays_while_the_launcher_lives(tmp_path, monkeypatch):
    me = psutil.Process()
    for launcher, stays in ((me.name(), {"of a living one", "young"}), ("none", {"young"})):
        monkeypatch.setattr(leftovers, "TOPOLOGY", (str(tmp_path), "*", launcher))
        for name, age in (("young", 0), ("of a living one", OLD), ("old", 2 * OLD)):
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (time.time() - age,) * 2)
        monkeypatch.setattr(
            leftovers,
            "_births",
            lambda name: [time.time() - 1.5 * OLD] if name == me.name() else [],
        )
        leftovers.sweep(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == stays


def test_ranks_that_end_leave_no_file_of_their_launcher(folder):
    """The launchers are left to end by themselves, as one that is killed leaves its file."""

    def files():
        return set(Path("/tmp").glob("hydra_hwloc_xmlfile_*"))

    before = files()
    with mpi.cluster(2, progress=False) as ranks:
        ranks.run(lambda comm: comm.rank)
        new = files() - before
        assert new
    assert until(lambda: new - files()), "of others' ranks they may stay"
