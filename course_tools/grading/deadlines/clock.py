"""handed-in.csv: when each student handed in what, and whose clock says so. `grade` writes it; rules are applied later.

Read are names that an LMS gave and the times of the download's own files. The times within a student's zip, and those
in the names of a student's files, are the student's word. So, in the end, is a folder of nbgrader's exchange, which the
student's own process names: its clock says so.
"""

import contextlib
import datetime
from dataclasses import dataclass
from pathlib import Path

from course_tools.grading.intake.handed_in import CANVAS, NBGRADER
from course_tools.grading.marks import tables

FILE = "handed-in.csv"
COLUMNS = ["Student", "ID", "Chapter", "File", "Sha256", "Handed in", "Clock"]
MARKED, UNMARKED = "Canvas, which marks it late", "Canvas, which does not mark it late"
FILES, EXCHANGE, UNKNOWN = (
    "the file's time",
    "nbgrader's exchange, as the student's side wrote it",
    "no clock that can be trusted",
)
UNDECIDED = "nobody knows how late: say it under [[handed-in]]"


@dataclass(frozen=True)
class Sent:
    """When a file came. at: with its time zone, or None where the clock says no more than late or not."""

    at: datetime.datetime | None
    clock: str


def sent(file):
    """The `Sent` of a file of `handed_in.collect`."""
    top = Path(file.path).parts[0] if file.path else ""
    if found := NBGRADER.fullmatch(top):
        return _exchanged(found["time"])
    if CANVAS.fullmatch(top):
        return Sent(None, MARKED if file.late else UNMARKED)
    if file.sent and not file.inside:
        # a file can say any time, also one that no calendar has
        with contextlib.suppress(ValueError, OverflowError, OSError):
            return Sent(datetime.datetime.fromtimestamp(int(file.sent)).astimezone(), FILES)
    return Sent(None, UNKNOWN)


def _exchanged(text):
    """nbgrader writes "2026-11-22 10:15:30 UTC", or with a fraction of the second and another zone, which it names."""
    stamp, _, zone = text.rpartition(" ")
    if zone != "UTC":
        return Sent(None, UNKNOWN)
    try:
        at = datetime.datetime.fromisoformat(stamp).replace(tzinfo=datetime.UTC)
    except ValueError:  # the student's side can write any digits
        return Sent(None, UNKNOWN)
    return Sent(at.replace(microsecond=0), EXCHANGE)


def load(out):
    """{(student, chapter): row} of handed-in.csv in a folder; {} where there is none."""
    file = Path(out, FILE)
    rows = tables.read(file).rows if file.is_file() else []
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:] if len(row) == len(COLUMNS)]
    return {(row["Student"].removeprefix("'"), row["Chapter"]): row for row in found}


def of_row(row):
    """The `Sent` that a row of `load` holds."""
    text = row["Handed in"]
    return Sent(datetime.datetime.fromisoformat(text) if text else None, row["Clock"])


def save(out, rows):
    """Write the rows of `load`."""
    cells = [[tables.safe(row[name]) for name in COLUMNS] for _, row in sorted(rows.items())]
    tables.write(Path(out, FILE), tables.Table([COLUMNS, *cells]))


def note(rows, student, number, chapter, file):
    """Enter a file into the rows. The same bytes handed in once more: their first time stands."""
    key, found = (student, chapter), sent(file)
    old = rows.get(key)
    if old and old["Sha256"] == file.digest and old["Clock"] == found.clock:
        was = of_row(old).at
        if was and found.at and was <= found.at:
            return
    at = found.at.isoformat(" ", "seconds") if found.at else ""
    cells = [student, number, chapter, file.name, file.digest, at, found.clock]
    rows[key] = dict(zip(COLUMNS, cells, strict=True))
