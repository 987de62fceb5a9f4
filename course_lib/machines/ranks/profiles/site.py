"""A site: the profile by which ranks are asked for there. A profile is a folder with an ipcluster_config.py.

Those of this package read their settings from cluster.toml; see docs/cluster.md.
"""

import os
import re
import shutil
import sys
from multiprocessing.connection import Listener
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.machines.ranks.errors import RankError
from course_lib.machines.ranks.profiles import job as jobs
from course_lib.machines.ranks.profiles import settings
from course_lib.machines.ranks.profiles.ports import bind, free_ports

HERE = Path(__file__).parent
# The command that ends when the job does, which makes a file then: it stands in for mpiexec.
WAIT_FOR_END = 'until ls "$0" | grep -q job.ended; do sleep 1; done'
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
            missing, shipped = own / "ipcluster_config.py", list(settings.QUEUE)
            what = f"there is no profile {name!r}"
            raise BadInput(f"{what}: {missing} must exist, or take one of {shipped}")
        said = settings.read(name)
        self.base = Path(os.path.expandvars(said.get("folder", self.ipython))).expanduser()
        self.host, self.ports = settings.address(said)
        self.wait = 60.0 * said.get("wait_minutes", 60)

    def folder(self):
        """Where the temporary folder belongs: all nodes must see it, /tmp is each node's own."""
        self.base.mkdir(parents=True, exist_ok=True)
        return self.base

    def programs(self, n, folder, env):
        """({name: command}, the connection file for the client, environment); see `launch.programs`."""
        home = self.own or Path(folder, f"profile_{self.name}")
        if not self.own:
            shutil.copytree(HERE / self.name, home, ignore=shutil.ignore_patterns("__pycache__"))
            template = jobs.script(self.name, n, folder)
            Path(home, "job.template").write_text(template, encoding="utf-8")
        mark = Path(folder).name  # connection files of clusters side by side differ by it
        start = [sys.executable, "-m", "ipyparallel.cluster", "start", f"--n={n}"]
        commands = {"ipcluster": [*start, f"--profile-dir={home}", f"--cluster-id={mark}"]}
        if not self.own:  # the job writes into this one's log
            commands["mpiexec"] = ["/bin/sh", "-c", WAIT_FOR_END, str(folder)]
        return commands, home / "security" / f"ipcontroller-{mark}-client.json", env

    def job(self, folder, until):
        """ "job 12", as soon as it is submitted; "" for a profile of the user's own. until: `Team._until`."""
        if self.own:
            return ""
        log = Path(folder, "ipcluster.log")
        until(lambda: ANSWERED.search(log.read_text(errors="replace")), f"{self.name} took no job")
        said = log.read_text(errors="replace")
        if numbers := [number for number in ANSWERED.findall(said) if number]:
            return f"job {numbers[0]}"
        own = [line for line in said.splitlines() if line.startswith(SUBMIT[self.name])]
        why = "\n".join(own) or said[-1500:]
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
