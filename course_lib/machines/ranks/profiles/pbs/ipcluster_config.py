"""An ipyparallel profile: the ranks are one job of PBS. Settings are in cluster.toml (docs/cluster.md).

course_lib.mpi copies this folder for each cluster and writes the text of the job beside it.
"""

from pathlib import Path

from course_lib.machines.ranks.profiles.job import configure

configure(get_config(), "pbs", Path(__file__).parent)  # type: ignore[name-defined]  # noqa: F821  (given by ipyparallel)
