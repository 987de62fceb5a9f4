"""What the rules make of the times: points off, late days used, and a sentence for each that the student reads."""

import datetime
import math
from dataclasses import dataclass

from course_tools.grading.deadlines import clock

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Due:
    """When a chapter is due for one student. reason: of an extension, else ""."""

    at: datetime.datetime
    close: datetime.datetime | None
    extended: bool = False
    reason: str = ""


def apply(marks, rules, rows, lms=None):
    """Enter lateness into the `Marks`: `late` and `off` of chapters. Returns what is to be said.

    rows: of `clock.load`; lms: {chapter: {id: time}} from the LMS's own lists. What an instructor wrote under
    [[handed-in]] counts before the LMS, and the LMS before the file.
    """
    said = _strangers(marks, rules)
    due = {name: rule for name in marks.columns if (rule := _of_chapter(rules.chapters, name))}
    said += [f"{rules.file}: {name} has no deadline" for name in marks.columns if name not in due]
    counts = {"late": 0, "unknown": 0, "off": 0}
    for student in marks.students:
        left = rules.late["days"]
        for name in sorted(set(student.chapters) & set(due), key=lambda one: due[one]["due"]):
            chapter = student.chapters[name]
            limit = _due(rules, student, name, due[name])
            when = _when(rules, student, name, rows, lms or {})
            left -= _enter(chapter, limit, when, rules, left)
            counts["late"] += chapter.late_days > 0
            counts["off"] += chapter.off > 0
            counts["unknown"] += chapter.late.endswith(clock.UNDECIDED)
    words = f"{counts['late']} handed in late, {counts['off']} of them lose points"
    more = f", {counts['unknown']} times are unknown: see the notes" if counts["unknown"] else ""
    return [*said, f"{rules.file}: {words}{more}"]


def _fits(entry, student, name):
    who = entry["student"] in (student.name, student.id)
    return who and entry["chapter"] in _ways(name)


def _ways(name):
    return name, name[:2], name[:2].lstrip("0") or "0"


def _of_chapter(chapters, name):
    return next((rule for given, rule in chapters.items() if given in _ways(name)), None)


def _strangers(marks, rules):
    """Entries that fit nobody: a slip in a name must not cost a student an extension."""
    made = []
    for entry in [*rules.extensions, *rules.times]:
        if not any(_fits(entry, one, name) for one in marks.students for name in one.chapters):
            who = f"{entry['student']!r:.80}, {entry['chapter']!r:.40}"
            made.append(f"{rules.file}: no submission fits {who}")
    return made


def _due(rules, student, name, rule):
    at, close, found = rule["due"], rule.get("close"), None
    for entry in rules.extensions:
        if _fits(entry, student, name):
            found = entry
    if found is None:
        return Due(at, close)
    new = found.get("due") or at + found["days"] * DAY
    return Due(new, max(close, new) if close else None, True, found.get("reason", ""))


def _when(rules, student, name, rows, lms):
    """The `clock.Sent` that counts."""
    for entry in reversed(rules.times):
        if _fits(entry, student, name):
            return clock.Sent(entry["at"], f"the instructor's word in {rules.file}")
    if at := lms.get(name, {}).get(student.id):
        return clock.Sent(at, "Moodle's worksheet")
    row = rows.get((student.name, name))
    return clock.of_row(row) if row else clock.Sent(None, clock.UNKNOWN)


def _enter(chapter, limit, when, rules, left):
    """Write lateness into a chapter; the late days that it uses."""
    until = _shown(limit.at) + (f", extended: {limit.reason}".rstrip(": ") * limit.extended)
    if when.at is None:
        chapter.in_time = when.clock == clock.UNMARKED
        chapter.late = _without_time(when, until)
        return 0
    said = f"handed in {_shown(when.at)} (by {when.clock}), due {until}"
    grace = datetime.timedelta(minutes=rules.late["grace"])
    over = when.at - limit.at
    if over <= grace:
        chapter.in_time = True
        chapter.late = f"{said}: in time"
        return 0
    chapter.late_days = math.ceil(over / DAY)
    if limit.close and when.at > limit.close:
        chapter.off = max(0.0, chapter.points)
        chapter.late = f"{said}, closed {_shown(limit.close)}: no points"
        return 0
    free = int(min(chapter.late_days, left, rules.late["most"] or left))
    chapter.off = _off(chapter, chapter.late_days - free, rules.late)
    chapter.late = f"{said}: {_words(chapter, free)}"
    return free


def _off(chapter, days, late):
    """Points off: percent of what the chapter is worth, a day begun; `least` percent of what was earned stay."""
    wanted = chapter.out_of * late["penalty"] / 100 * days
    return round(min(wanted, chapter.points * (1 - late["least"] / 100)), 2)


def _words(chapter, free):
    days = f"{chapter.late_days} day{'s' * (chapter.late_days != 1)} late"
    used = f", {free} late day{'s' * (free != 1)} used" if free else ""
    return f"{days}{used}, {chapter.off:g} points off"


def _without_time(when, until):
    if when.clock == clock.UNMARKED:  # Canvas has deadlines of its own, of which this one was kept
        return f"in time (by {when.clock})"
    more = ": nothing taken off" if when.clock == clock.MARKED else ""
    return f"due {until}; by {when.clock}{more}; {clock.UNDECIDED}"


def _shown(at):
    """2026-11-20 23:59 CET"""
    return f"{at:%Y-%m-%d %H:%M} {at.tzname()}"
