"""What the check of each task said last, with the answer that it judged: `course report` makes a text of it.

A file of JSON for each task, in the folder `checks` beside the journal; the next check of that task takes its place.
"""

import json
from datetime import datetime

from course_lib.progress import journal

FOLDER = "checks"


def keep(task, right, message, seed, source):
    """Write down a verdict, if this kernel may; a folder that cannot be written stops no lesson."""
    chapter, where = journal.notebook(), journal.folder()
    if chapter is None or where is None:
        return
    entry = {"time": datetime.now().isoformat(), "chapter": chapter, "task": task, "right": right}
    entry |= {"message": message, "seed": seed, "source": source}
    try:
        (where / FOLDER).mkdir(parents=True, exist_ok=True)
        file = where / FOLDER / f"{chapter}--{task}.json"
        file.write_text(json.dumps(entry, ensure_ascii=False), encoding="utf-8")
    except OSError:
        pass


def kept():
    """All verdicts that are kept, oldest first; a file that was cut off is left out."""
    where, found = journal.folder(), []
    for file in (where / FOLDER).glob("*.json") if where else ():
        try:
            entry = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(entry, dict) and {"time", "chapter", "task", "right"} <= entry.keys():
            found.append(entry)
    return sorted(found, key=lambda entry: str(entry["time"]))


def forget():
    """Delete all of them."""
    where = journal.folder()
    for file in (where / FOLDER).glob("*.json") if where else ():
        file.unlink(missing_ok=True)
