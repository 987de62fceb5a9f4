"""What to start for a cluster: a controller of ipyparallel, and its engines under the mpiexec of this environment."""

import os
import re
import shutil
import sys
from pathlib import Path

from course_lib.errors import BadInput, check_count, check_number
from course_lib.machines.ranks import forks
from course_lib.measure import machine

# A rank that waits polls, and offers its core to others (sched_yield) between two polls. With this it sleeps instead
# (nanosleep): of four ranks on two cores, one that waits takes a tenth of a core instead of half of one. The price: a
# short message takes a hundred microseconds instead of five. MPIR_CVAR_POLLS_BEFORE_YIELD has no effect on this MPICH.
QUIET = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
# A core for each rank: libraries that would start threads of their own are told to use one.
THREADS = (
    "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS VECLIB_MAXIMUM_THREADS NUMBA_NUM_THREADS"
)
ONE_THREAD = dict.fromkeys(THREADS.split(), "1")
# Left by a job or an MPI that started this process itself: ranks of ours must not take them for their own.
FOREIGN = re.compile(r"SLURM_(?!CONF$)|PMI|HYDI_|OMPI_|PBS_(O_|JOB|NODE|ENV|TASK)")
# The heart monitor as a thread: as a process of its own it would outlive a controller that is killed.
# Its two files appear whole or not at all: ranks and notebook wait until they are there, and read them at once.
CONTROL = """
import os, threading, ipyparallel.controller.app as app
app.Process, write = threading.Thread, app.IPController.save_connection_dict
def save(self, name, info):
    write(self, name + ".part", info)
    file = os.path.join(self.profile_dir.security_dir, name)
    os.replace(file + ".part", file)
app.IPController.save_connection_dict = save
"""
# A rank is known once it has answered two beats: these come quickly until all are, and then seldom.
QUICK = """
from ipyparallel.controller.heartmonitor import HeartMonitor
beat = HeartMonitor.beat
def quick_beat(self):
    beat(self)
    self.caller.callback_time = 20 if len(self.hearts) < RANKS else 2000
HeartMonitor.beat = quick_beat
"""
MAIN = "app.main()\n"
CONTROLLER = (
    "--ip=127.0.0.1",
    "--IPController.use_threads=True",
    "--IPController.broadcast_scheduler_depth=0",
    "--HeartMonitor.max_heartmonitor_misses=1000",
    "--log-level=ERROR",
)
# mpiexec kills all ranks when one is killed by a signal; a shell between them turns that into an exit status, so that
# the others can still be asked where they are.
SHELL = ("/bin/sh", "-c", '"$@"; echo "rank $PMI_RANK ended with status $?"', "sh")
ENGINE = "--mpi --IPEngine.enable_nanny=False --log-level=ERROR --IPEngine.wait_for_url_file={0} --IPEngine.timeout={0}"
ENGINE += " --IPEngine.max_heartbeat_misses=100"  # half a second each
ARRIVE = "__import__('course_lib.machines.ranks.rank', fromlist=['arrive']).arrive()"


def programs(n, site, folder, seconds):
    """(the supervisor's job, the connection file for the client) for n ranks; files go into `folder`.

    site: None for this machine's own ranks, or a `profiles.site.Site`. seconds: for which a rank looks for the
    controller.
    """
    job: dict = {"folder": folder, "patience": 15 if site else 0, "env": environment()}
    if site is not None:
        commands, file, env = site.programs(n, folder, job["env"])
        return job | {"commands": commands, "env": env}, file
    home = Path(folder, "profile")
    for name in ("log", "pid", "security", "startup"):
        (home / name).mkdir(parents=True)
    job["env"] |= waiting(n) | {"IPYTHONDIR": str(folder)}
    controller = [f"--profile-dir={home}", *CONTROLLER, "--HeartMonitor.period=20"]
    engine = [f"--profile-dir={home}", *ENGINE.format(seconds).split()]
    engine.append(f"--IPEngine.init_mpi={ARRIVE}")
    control = CONTROL + QUICK.replace("RANKS", str(n)) + MAIN
    run = [mpiexec(), "-disable-auto-cleanup", "-n", str(n)]
    python = [sys.executable]
    if forks.LINUX:
        stand_in = [*python, "-I", "-S", forks.STAND_IN, str(Path(folder, "forks"))]
        job["commands"] = {"mpiexec": [*run, *stand_in]}
        job["forks"] = {"controller": controller, "text": control, "engine": engine}
    else:
        engines = [*run, *(SHELL if os.name == "posix" else ()), *python, "-m"]
        commands = {"controller": [*python, "-c", control, *controller]}
        job["commands"] = commands | {"mpiexec": [*engines, "ipyparallel.engine", *engine]}
    return job, home / "security" / "ipcontroller-client.json"


def environment():
    """What ranks get of this process's environment."""
    path = {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    return apart(os.environ) | ONE_THREAD | path


def apart(env):
    """The environment without what an outer job or MPI left in it."""
    return {name: value for name, value in env.items() if not FOREIGN.match(name)}


def waiting(n):
    """MPICH's settings for n ranks here: QUIET where they share fewer cores, else none. Measured: docs/bench-mpi.md."""
    return QUIET if n > (machine().usable or 1) else {}


def mpiexec():
    """The mpiexec that came with this environment's MPI; another MPI's would start n ranks 0 of 1."""
    beside = shutil.which("mpiexec", path=os.path.dirname(sys.executable))
    found = beside or shutil.which("mpiexec")
    if not found:
        missing = f"there is no mpiexec beside {sys.executable}"
        raise BadInput(f"{missing}: install the package mpich into this environment")
    return found


def check_seconds(value, name="timeout"):
    """`value` as a float; BadInput unless it is a finite number of seconds above 0."""
    try:
        return check_number(name, value)
    except BadInput:
        wanted = f"{name} must be a number of seconds above 0, not {value!r}"
        raise BadInput(f"{wanted}: nothing here waits forever") from None


def start_seconds(start, profile):
    """Seconds within which ranks must be ready: `start`, else $COURSE_MPI_START, else 60; None: as the profile says."""
    if start is None and profile is not None:
        return None
    seconds = os.environ.get("COURSE_MPI_START", 60) if start is None else start
    return check_seconds(seconds, "start (COURSE_MPI_START)")


def check_targets(targets, n):
    """Ranks, all of 0 to n - 1 if None."""
    if targets is None:
        return list(range(n))
    return [check_count("a target rank", t, 0, n - 1) for t in targets]
