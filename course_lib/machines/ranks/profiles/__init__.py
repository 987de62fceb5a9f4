"""Ranks that a batch system starts: the shipped profiles for Slurm and PBS, or an ipyparallel profile of the user's.

A profile is a folder with an ipcluster_config.py. Those of this package read their settings from cluster.toml; see
docs/cluster.md. `python -m course_lib.machines.ranks.profiles slurm 4` shows the job that would be submitted.
"""

import contextlib
import os
import random
import re
import shutil
import socket
import sys
from multiprocessing.connection import Listener
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.machines.ranks.errors import RankError
from course_lib.machines.ranks.profiles import settings

HERE = Path(__file__).parent
# Left by a job or an MPI that started this process itself: a job of ours must not take them for its own.
FOREIGN = re.compile(r"SLURM_(?!CONF$)|PMI|HYDI_|OMPI_|PBS_(O_|JOB|NODE|ENV|TASK)")

SUBMIT = {"slurm": "sbatch", "pbs": "qsub"}
ANSWERED = re.compile(r"Job submitted with job id: '([^']+)'|Traceback")  # in the log of ipcluster


class Site:
    """A profile by its name: the user's own one in the IPython folder, or else the shipped one. BadInput for others."""

    def __init__(self, name):
        from IPython.paths import get_ipython_dir

        self.name, self.ipython = name, Path(get_ipython_dir())
        own = self.ipython / f"profile_{name}"
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name):
            raise BadInput(f"a profile has a name, such as 'slurm', not {name!r}")
        self.own = own if (own / "ipcluster_config.py").is_file() else None
        if not self.own and name not in settings.QUEUE:
            missing = own / "ipcluster_config.py"
            raise BadInput(
                f"there is no profile {name!r}: {missing} must exist, or take one of {list(settings.QUEUE)}"
            )
        said = settings.read(name)
        self.base = Path(os.path.expandvars(said.get("folder", self.ipython))).expanduser()
        self.host, self.ports = (
            said.get("host", socket.gethostname()),
            settings.port_range(said.get("ports")),
        )
        self.wait = 60.0 * said.get("wait_minutes", 60)

    def folder(self):
        """Where the temporary folder belongs: all nodes must see it, /tmp is each node's own."""
        self.base.mkdir(parents=True, exist_ok=True)
        return self.base

    def programs(self, n, folder, env):
        """({name: command}, the connection file for the client, environment); see `launch.programs`."""
        room = self.own or Path(folder, f"profile_{self.name}")
        if not self.own:
            from course_lib.machines.ranks.profiles import job

            shutil.copytree(HERE / self.name, room, ignore=shutil.ignore_patterns("__pycache__"))
            Path(room, "job.template").write_text(
                job.script(self.name, n, folder), encoding="utf-8"
            )
        mark = Path(folder).name  # connection files of clusters side by side differ by it
        start = [
            sys.executable,
            "-m",
            "ipyparallel.cluster",
            "start",
            f"--profile-dir={room}",
            f"--cluster-id={mark}",
        ]
        commands = {"ipcluster": [*start, f"--n={n}"]}
        if not self.own:  # the job writes into this one's log, and makes the file when it ends
            commands["mpiexec"] = [
                "/bin/sh",
                "-c",
                'until ls "$0" | grep -q job.ended; do sleep 1; done',
                str(folder),
            ]
        return commands, room / "security" / f"ipcontroller-{mark}-client.json", env

    def job(self, folder, until):
        """ "job 12", as soon as it is submitted; "" for a profile of the user's own. until: `Team._until`."""
        if self.own:
            return ""
        log = Path(folder, "ipcluster.log")
        until(lambda: ANSWERED.search(log.read_text(errors="replace")), f"{self.name} took no job")
        said = log.read_text(errors="replace")
        if numbers := [number for number in ANSWERED.findall(said) if number]:
            return f"job {numbers[0]}"
        why = (
            "\n".join(line for line in said.splitlines() if line.startswith(SUBMIT[self.name]))
            or said[-1500:]
        )
        raise RankError(f"the ranks did not start: {self.name} took no job.\n{why}")

    def listen(self, key, backlog):
        """(listener for the life lines, the address under which nodes reach it)."""
        for port in free_ports(self.ports) if self.ports else [0]:
            try:
                listener = Listener((bind(self.host), port), backlog=backlog, authkey=key)
            except OSError:  # taken meanwhile
                continue
            return listener, (self.host, listener.address[1])
        raise BadInput(f"no port of {self.ports[0]}-{self.ports[-1]} is free on this machine")


def apart(env):
    """The environment without what an outer job or MPI left in it."""
    return {name: value for name, value in env.items() if not FOREIGN.match(name)}


def bind(host):
    """The address to listen on: `host` itself where it is one, else all of this machine's."""
    return host if re.fullmatch(r"[\d.]+", host) else "0.0.0.0"


def free_ports(ports):
    """Those ports on which nobody listens now, in random order: students on one machine share the range."""

    def free(port):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the controller does
            with contextlib.suppress(OSError):
                trial.bind(("", port))
                return True
        return False

    return [port for port in random.sample(ports, len(ports)) if free(port)]
