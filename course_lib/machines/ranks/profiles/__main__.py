"""`python -m course_lib.machines.ranks.profiles slurm 4`: its settings and the job it would submit."""

import sys
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.machines.ranks.profiles import job, settings
from course_lib.machines.ranks.profiles.site import Site

USAGE = "usage: python -m course_lib.machines.ranks.profiles slurm|pbs NUMBER_OF_RANKS"

if __name__ == "__main__":
    try:
        name, n = sys.argv[1:] if len(sys.argv) == 3 else ("", "")
        if name not in settings.QUEUE or not n.isdecimal() or int(n) < 1:
            raise BadInput(USAGE)
        site = Site(name)
        print(f"settings: {settings.file() or 'no cluster.toml: the defaults of the cluster'}")
        print(f"nodes reach this machine as: {site.host}, ports {site.ports or 'any'}")
        print(f"folder for the job's files, seen by all nodes: {site.base}\n")
        text = job.script(name, int(n), Path(site.base, "course-mpi-EXAMPLE"))
        print(text.replace("{{", "{").replace("}}", "}"))
    except BadInput as error:
        sys.exit(str(error))
