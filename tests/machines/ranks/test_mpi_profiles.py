"""cluster.toml, and the jobs made of it: PBS's with stand-ins for qsub and qdel, Slurm's in test_mpi_slurm.py."""

import os
import shlex
import shutil
import subprocess
import sys
import time

import psutil
import pytest

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.ranks import ranks as machinery
from course_lib.machines.ranks.profiles import job
from course_lib.machines.ranks.profiles.ports import free_ports
from course_lib.machines.ranks.profiles.site import Site

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
ALL = """
[slurm]
partition = "teaching"
account = "cs101"
time = "01:30:00"
nodes = 2
ranks_per_node = 3
cores_per_rank = 4
options = ["--qos=short"]
modules = ["a b", "mpich"]
commands = ["export A={1}"]
start = "srun -n {n}"
host = "10.1.2.3"
ports = "50000-50040"
folder = "$BASE/jobs"
wait_minutes = 2
[pbs]
queue = "q"
time = "00:10:00"
nodes = 2
cores_per_rank = 4
"""


@pytest.fixture
def base(tmp_path, monkeypatch):
    for name, value in {"IPYTHONDIR": tmp_path / "ipython", "BASE": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("COURSE_CLUSTER", raising=False)
    below = tmp_path / "course" / "notebooks"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.setattr(machinery, "_current", [])
    return tmp_path


def test_every_setting_reaches_the_job(base):
    (base / "course" / "cluster.toml").write_text(ALL)
    site, lines = Site("slurm"), job.script("slurm", 5, base / "course-mpi-x").splitlines()
    assert (site.host, site.ports, site.wait) == ("10.1.2.3", range(50000, 50041), 120)
    assert site.folder() == base / "jobs" and site.base.is_dir()
    asked = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")}
    assert asked == {
        "--job-name=course-mpi-x",
        "--ntasks=5",
        f"--output={base}/course-mpi-x/mpiexec.log",
        "--open-mode=append",
        "--no-requeue",
        "--partition=teaching",
        "--account=cs101",
        "--time=01:30:00",
        "--nodes=2",
        "--ntasks-per-node=3",
        "--cpus-per-task=4",
        "--qos=short",
    }
    assert (
        lines[0] == "#!/bin/bash -l"
        and "module load 'a b' || exit" in lines
        and "export A={{1}} || exit" in lines
    )
    assert lines[-1].startswith("srun -n 5 /bin/sh ") and lines[-1].endswith(" {program_and_args}")


def test_a_job_without_srun_ends_at_once_and_says_so(base):
    (base / "course" / "cluster.toml").write_text("")
    folder = base / "course-mpi-x"
    folder.mkdir()
    text = job.script("slurm", 2, folder).format(program_and_args="true")
    (base / "bin").mkdir()
    (base / "bin" / "touch").symlink_to(shutil.which("touch"))
    run = ["/bin/sh", "-c", text]
    done = subprocess.run(run, env={"PATH": str(base / "bin")}, capture_output=True, text=True)
    assert done.returncode == 1 and (folder / "job.ended").exists()
    assert done.stdout.startswith(f"there is no srun in the PATH of the job: {base}/bin. Add ")
    assert done.stdout.endswith("as 'export PATH=/opt/slurm/bin:$PATH'\n")


def test_only_a_start_with_srun_needs_one(base):
    (base / "course" / "cluster.toml").write_text('[slurm]\nstart = "mpirun -n {n}"\n')
    assert "command -v srun" not in job.script("slurm", 2, base)
    assert "command -v srun" not in job.script("pbs", 2, base)


def test_pbs_asks_for_chunks_of_ranks(base):
    (base / "course" / "cluster.toml").write_text(ALL)
    lines = job.script("pbs", 5, base / "course-mpi-x").splitlines()
    assert {
        "#PBS -q q",
        "#PBS -l walltime=00:10:00",
        "#PBS -l select=2:ncpus=12:mpiprocs=3",
    } <= set(lines)
    (base / "course" / "cluster.toml").write_text('[pbs]\nresources = "nodes=1:ppn=5"\n')
    assert "#PBS -l nodes=1:ppn=5" in job.script("pbs", 5, base)


def test_without_a_file_the_defaults_hold(base):
    assert Site("slurm").base == base / "ipython"
    assert "mpiexec -disable-auto-cleanup -n 3" in job.script("slurm", 3, base)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[slurm]\nqueue = 'x'", "there is no setting 'queue'.*partition"),
        ("[slurm]\nnodes = 0", "nodes = 0 is not"),
        ("[slurm]\nnodes = true", "not a whole number"),
        ("[slurm]\ntime = 30", "not a text"),
        ("[slurm]\noptions = '--x'", "not a list"),
        ('[slurm]\noptions = ["a\\nb"]', "one line"),
        ("[slurm]\naccount = ''", "account"),
        ("slurm = 3", "slurm"),
        ("[slurm", "cannot be read"),
        ("[slurm]\nports = '50000'", "at least 20 ports"),
        ("[slurm]\nports = '50000-50010'", "at least 20 ports"),
    ],
)
def test_bad_settings(base, text, words):
    (base / "course" / "cluster.toml").write_text(text)
    with pytest.raises(BadInput, match=f"(?s){words}"):
        mpi.cluster(2, profile="slurm")
    assert not (base / "ipython").exists() or not list((base / "ipython").iterdir())


def test_a_named_file_goes_before_the_nearest(base, monkeypatch):
    (base / "course" / "cluster.toml").write_text(ALL)
    (base / "other.toml").write_text('[slurm]\nhost = "other"\n')
    monkeypatch.setenv("COURSE_CLUSTER", str(base / "other.toml"))
    assert Site("slurm").host == "other"
    monkeypatch.setenv("COURSE_CLUSTER", str(base / "none.toml"))
    with pytest.raises(BadInput, match=r"none\.toml cannot be read"):
        Site("slurm")


def test_taken_ports_are_not_offered(base):
    listener, address = Site("slurm").listen(b"key", 1)
    with listener:
        assert address[1] not in free_ports(range(address[1], address[1] + 1))


def test_the_job_is_shown(base):
    show = [sys.executable, "-m", "course_lib.machines.ranks.profiles"]
    path = os.pathsep.join(path for path in sys.path if path)
    run = {"capture_output": True, "text": True, "env": os.environ | {"PYTHONPATH": path}}
    assert "#SBATCH --ntasks=3" in subprocess.run([*show, "slurm", "3"], **run).stdout
    assert "usage" in subprocess.run([*show, "lsf", "3"], **run).stderr


QSUB = """#!/bin/sh
touch {base}/submitted
grep -q '^#PBS -V' "$1" || exit 1
PBS_JOBID=7.server setsid /bin/sh "$1" > /dev/null 2>&1 < /dev/null &
echo $! > {base}/pid
echo 7.server
"""
QDEL = "#!/bin/sh\necho $1 >> {base}/deleted\nkill -9 -$(cat {base}/pid)\n"


@pytest.mark.timeout(900 * SLOW)
@pytest.mark.skipif(sys.platform != "linux", reason="the stand-ins for qsub and qdel use setsid")
@pytest.mark.slow
def test_ranks_by_the_job_script_of_pbs(base, monkeypatch):
    """No PBS: `qsub` runs the script in the background, `qdel` kills it."""
    tools = base / "tools"
    tools.mkdir()
    for name, text in {"qsub": QSUB, "qdel": QDEL}.items():
        (tools / name).write_text(text.format(base=shlex.quote(str(base))))
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    (base / "course" / "cluster.toml").write_text('[pbs]\nhost = "127.0.0.1"\n')
    with mpi.cluster(2, timeout=10 * SLOW, profile="pbs", progress=False) as ranks:
        assert ranks.run(lambda comm: (comm.rank, comm.size)) == [(0, 2), (1, 2)]
        with pytest.raises(mpi.RankError, match="rank 1 raised ZeroDivisionError"):
            ranks.run(lambda comm: 1 / (1 - comm.rank))
        pids = list(ranks.team.pids.values())
    assert (base / "deleted").read_text() == "7\n"
    end = time.monotonic() + 60 * SLOW
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, pids)) and not list(
        (base / "ipython").glob("course-mpi-*")
    )
