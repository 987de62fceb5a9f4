"""The settings of a cluster: one small file, cluster.toml, with a table for each profile."""

import os
import socket
import tomllib
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.machines.ranks.profiles.ports import port_range

TEXTS = ("account", "time", "resources", "start", "host", "ports", "folder")
NUMBERS = ("nodes", "ranks_per_node", "cores_per_rank", "wait_minutes")
LISTS = ("options", "modules", "commands")
QUEUE = {"slurm": "partition", "pbs": "queue"}
WANTED = {
    str: "a text of one line",
    int: "a whole number above 0",
    list: "a list of texts of one line",
}


def file():
    """The cluster.toml that holds: $COURSE_CLUSTER, else the nearest one from the current folder upwards; or None."""
    if named := os.environ.get("COURSE_CLUSTER"):
        return Path(named).expanduser().resolve()
    here = Path.cwd()
    paths = (folder / "cluster.toml" for folder in (here, *here.parents))
    return next((path for path in paths if path.is_file()), None)


def read(profile):
    """{name: value} of the table [profile] of cluster.toml; {} where there is no file or no such table.

    Raises BadInput for a file that cannot be read, an unknown name, a value of the wrong kind.
    """
    path = file()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get(profile, {}) if path else {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    kinds: dict[str, type] = dict.fromkeys((*TEXTS, QUEUE.get(profile, "queue")), str)
    kinds |= dict.fromkeys(NUMBERS, int) | dict.fromkeys(LISTS, list)
    for name, value in table.items() if isinstance(table, dict) else [(profile, table)]:
        if name not in kinds:
            known = ", ".join(sorted(kinds))
            raise BadInput(f"{path}, [{profile}]: there is no setting {name!r}; there are: {known}")
        if not fits(value, kinds[name]):
            raise BadInput(f"{path}, [{profile}]: {name} = {value!r} is not {WANTED[kinds[name]]}")
    return table


def address(said):
    """(host, ports) by which nodes reach this machine, from the settings of a profile; ports: a range, or None."""
    return said.get("host", socket.gethostname()), port_range(said.get("ports"))


def fits(value, kind):
    if kind is list:
        return isinstance(value, list) and all(fits(item, str) for item in value)
    if kind is int:
        return type(value) is int and value > 0
    return isinstance(value, str) and value.isprintable() and bool(value.strip())
