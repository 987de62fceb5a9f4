"""chapters/ids.txt: every task and check that was ever built. Submissions are matched by these ids, so they stay.

A task that is replaced retires: its rows read `NN-topic retired ID`, and no other cell may ever take that id.
"""

from pathlib import Path

HEAD = "# The ids of tasks and checks, written by `python -m course_lib build`. They never change between releases.\n"
RETIRED = "retired"


def path_of(root):
    """The list's file."""
    return Path(root) / "chapters" / "ids.txt"


def read(root):
    """The lines of the list, each (chapter, "task", "check" or "retired", id)."""
    file = path_of(root)
    rows = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [tuple(row.split()) for row in rows if row.strip() and not row.startswith("#")]


def of(source):
    """The lines that a source file gives."""
    tasks = [(source.chapter, "task", cell.name) for cell in source.cells if cell.task]
    return tasks + [(source.chapter, "check", cell.name) for cell in source.cells if cell.checks]


def lost(root, source):
    """The recorded lines of this exercise that its source no longer has; none for a lecture."""
    now = of(source)
    if source.kind != "exercise":
        return []
    mine = [row for row in read(root) if row[0] == source.chapter and row[1] != RETIRED]
    return [row for row in mine if row not in now]


def revived(root, source):
    """The lines of this exercise whose id has retired: it belongs to a task that is no more."""
    recorded = read(root)
    return [row for row in of(source) if (row[0], RETIRED, row[2]) in recorded]


def homeless(root):
    """The recorded lines of chapters that have no exercise any more."""
    chapters = Path(root) / "chapters"
    return [row for row in read(root) if not (chapters / row[0] / "exercise.md").is_file()]


def new(root, source):
    """The lines of this exercise that are not recorded yet."""
    recorded = read(root)
    return [row for row in of(source) if row not in recorded]


def record(root, source, drop=False):
    """Add the new lines; drop: the lost ones retire."""
    gone = lost(root, source) if drop else []
    kept = [row for row in read(root) if row not in gone]
    rows = kept + new(root, source) + [(chapter, RETIRED, name) for chapter, _, name in gone]
    return HEAD + "".join(" ".join(row) + "\n" for row in sorted(rows, key=lambda row: row[0]))
