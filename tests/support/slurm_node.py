"""A Slurm for a test: munged, slurmctld and two slurmd on loopback, as root, with all their files in one folder.

Nothing of /etc is read or written. The two nodes are this machine twice; there are no cgroups and no accounting.
"""

import contextlib
import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from course_lib.machines.ranks.forks import die_with_parent

PROGRAMS = (
    "munged",
    "slurmctld",
    "slurmd",
    "sbatch",
    "srun",
    "scancel",
    "squeue",
    "sinfo",
    "scontrol",
)
CLONE_NEWUTS = 0x04000000  # linux/sched.h
SEARCH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
CONFIG = """
ClusterName=course
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MailProg=/bin/true
MpiDefault=none
StateSaveLocation={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/%n
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
CompleteWait=0
KillWait=2
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports[1]},{ports[2]}] CPUs=4 State=UNKNOWN
PartitionName=teaching Nodes=ALL Default=YES MaxTime=10 State=UP
PartitionName=closed Nodes=ALL MaxTime=10 State=DOWN
"""


def missing():
    """Why there can be no Slurm for a test here, as text; "" where there can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=SEARCH)]
    if absent:
        return f"{', '.join(absent)} not installed (Debian: slurmd slurmctld slurm-client munge)"
    return "" if os.geteuid() == 0 else "starting a Slurm needs root"


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def at_home():
    """In a daemon's process: it ends with the test, and sees a host name that every machine can resolve."""
    die_with_parent()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUTS) or libc.sethostname(b"localhost", 9):
        raise OSError(ctypes.get_errno(), "a host name of its own")


class Slurm:
    """`with Slurm() as slurm:` two nodes n1 and n2 of 4 cores; `slurm.env` is what its commands need."""

    def __enter__(self):
        self.folder = Path(
            tempfile.mkdtemp(prefix="slurm-", dir="/tmp")
        )  # short: a socket's name has 107 bytes
        config = self.folder / "slurm.conf"
        config.write_text(CONFIG.format(folder=self.folder, ports=free_ports(3)))
        self.env = {"SLURM_CONF": str(config), "PATH": SEARCH}
        self.daemons = []
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        files = {"key-file": key, "socket": self.folder / "munge.socket"}
        files |= {f"{kind}-file": self.folder / f"munge.{kind}" for kind in ("log", "pid", "seed")}
        try:
            self.start("munged", "-F", "-f", *(f"--{name}={path}" for name, path in files.items()))
            self.wait((self.folder / "munge.socket").exists)
            self.start("slurmctld", "-D", "-f", str(config))
            for node in ("n1", "n2"):
                self.start("slurmd", "-D", "-N", node, "-f", str(config))
            self.wait(
                lambda: (
                    self.run("sinfo", "-h", "-p", "teaching", "-o", "%T %D", check=False)
                    == "idle 2"
                )
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name, *arguments):
        with open(self.folder / f"{name}-{len(self.daemons)}.out", "w") as log:
            command = [shutil.which(name, path=SEARCH), *arguments]
            self.daemons.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=os.environ | self.env,
                    preexec_fn=at_home,
                )
            )

    def wait(self, ready, seconds=20):
        end = time.monotonic() + seconds
        while not (done := ready()):
            if time.monotonic() > end:
                raise TimeoutError(
                    "".join(
                        f"{log}:\n{log.read_text()[-1500:]}\n" for log in self.folder.glob("*.out")
                    )
                )
            time.sleep(0.1)
        return done

    def run(self, *command, check=True):
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | self.env, timeout=30
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def queue(self):
        """[(job, state, name)] of all jobs that have not ended."""
        return [
            tuple(line.split()) for line in self.run("squeue", "-h", "-o", "%i %T %j").splitlines()
        ]

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.run("scancel", "--user=root", check=False)
            self.wait(lambda: not self.queue(), 5)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
