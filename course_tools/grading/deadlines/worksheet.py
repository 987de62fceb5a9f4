"""The times in Moodle's grading worksheet: its column "Last modified (submission)" is the LMS's own clock."""

import datetime
import re

from course_tools.grading.marks import tables

COLUMN = "last modified (submission)"
FORMS = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")  # English, as the worksheet is asked for


def times(file, zone):
    """{number of the participant: time} of a worksheet; without the column, or of cells of another form, nothing."""
    rows = tables.read(file).rows
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if COLUMN not in head or "identifier" not in head:
        return {}
    made = {}
    for row in rows[1:]:
        cells = dict(zip(head, row, strict=False))
        number = re.search(r"\d+$", cells["identifier"].strip())
        at = _time(cells.get(COLUMN, "").strip())
        if number and at:
            made[number[0]] = at.replace(tzinfo=zone) if zone else at.astimezone()
    return made


def _time(text):
    for form in FORMS:
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            continue
    return None
