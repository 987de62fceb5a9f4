"""The journal: a line of JSON for every check that was run and every guess that was made.

It stays on the student's machine, in the folder that COURSE_PROGRESS names, else in the user's folder for such data.
COURSE_PROGRESS=off turns it off. Nothing is written but from a notebook that JupyterLab runs: the grader, the build
and the tests of notebooks have no session of JupyterLab's, and they set COURSE_SEED.
"""

import json
import os
from datetime import datetime
from pathlib import Path

NAME = "progress.jsonl"
SESSION = "JPY_SESSION_NAME"  # set by Jupyter's server: the notebook of this kernel
OTHERS = ("notebooks", "solutions")  # rooms whose checks judge no answer of the student
ELSEWHERE = ("COURSE_SEED", "COURSE_MPI_RANK", "PYTEST_CURRENT_TEST")


def folder():
    """Where the journal is, or None where it is turned off."""
    named = os.environ.get("COURSE_PROGRESS", "")
    if named.lower() in ("off", "0", "no"):
        return None
    if named:
        return Path(named)
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_DATA_HOME")
    return Path(base or Path.home() / ".local/share") / "course_lib"


def notebook():
    """The chapter's name where this kernel may write: "07-gemm-shared-memory"; else None."""
    session = os.environ.get(SESSION, "")
    if not session or any(os.environ.get(name) for name in ELSEWHERE):
        return None
    return Path(session).stem if Path(session).suffix == ".ipynb" else None


def in_exercise():
    """May a check of this kernel judge a task? A lecture has cells of the same names, and solutions are no answers."""
    return Path(os.environ.get(SESSION, "")).parent.name not in OTHERS


def write(**entry):
    """Add a line, if this kernel may; a folder that cannot be written stops no lesson."""
    chapter, where = notebook(), folder()
    if chapter is None or where is None:
        return
    now = datetime.now().isoformat(timespec="seconds")
    line = json.dumps({"time": now, "chapter": chapter, **entry}, ensure_ascii=False)
    try:
        where.mkdir(parents=True, exist_ok=True)
        with (where / NAME).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError:
        pass


def read():
    """All entries, oldest first; a line that was cut off is left out."""
    where = folder()
    if where is None or not (where / NAME).is_file():
        return []
    entries = []
    for line in (where / NAME).read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and {"chapter", "kind", "name"} <= entry.keys():
            entries.append(entry)
    return entries
