"""What `grade` shows while it works and at its end."""

import collections
import json
import sys
import time

from course_tools.grading.verdict import results, undecided


class ProgressLine:
    """One updating line with counts and the time left on a terminal; elsewhere a line each EVERY seconds. On stderr."""

    EVERY = 30.0

    def __init__(self, quiet=False, stream=None):
        self.quiet, self.stream = quiet, stream or sys.stderr
        self.live = self.stream.isatty()
        self.began, self._next, self._first = time.monotonic(), 0.0, None

    def show(self, done, total, what=""):
        """done of total students are graded."""
        now = time.monotonic()
        if self.quiet or now < self._next:
            return
        first, self._first = self._first is None, self._first or now
        text = f"{done}/{total} graded{self._left(done, total, now)}{what}"
        if self.live:
            full = 24 * done // max(total, 1)
            self._next = now + 0.1
            self.stream.write(f"\r\x1b[2K[{'#' * full}{'.' * (24 - full)}] {text}")
        elif not first:
            self.stream.write(text + "\n")
        self._next = now + (0.1 if self.live else self.EVERY)
        self.stream.flush()

    def _left(self, done, total, now):
        if not done or done == total:
            return ""
        return f", about {clock((now - self.began) / done * (total - done))} left"

    def clear(self):
        """Take the line away."""
        if self.live and not self.quiet:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()


def clock(seconds):
    """40 s, 3 min, 1 h 20 min"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def rows_of(out, students):
    """[(student, [Result])]"""
    return [(student, results.load(results.file_of(out, student))) for student in students]


def failed(rows):
    """How many files could not be graded, or not to the end, and students that have no row at all."""
    lost = sum(not found for _, found in rows)
    return lost + sum(
        not one.chapter or not one.digest or _undecided(one) for _, found in rows for one in found
    )


def _undecided(one):
    return any(task.status in undecided.STATUSES for task in one.tasks)


def counts(rows, graded, kept, seconds):
    """The last line of the summary."""
    return (
        f"{graded} graded, {kept} unchanged, {failed(rows)} could not be graded; {clock(seconds)}"
    )


def table(rows):
    """The summary as text: a line for each student and chapter."""
    lines = []
    width = min(32, max((len(plain(student)) for student, _ in rows), default=0))
    for student, found in rows:
        for one in found or [None]:
            lines.append(f"{plain(student)[:32]:{width}}  {_line(one)}".rstrip())
    return "\n".join(lines)


def _line(one):
    if one is None:
        return "no result"
    if not one.chapter:
        return f"{plain(one.file)[:40]}: {plain('; '.join(one.problems))[:100]}"
    counts = collections.Counter(task.status for task in one.tasks)
    said = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    problems = f"  ! {plain('; '.join(one.problems))[:100]}" if one.problems else ""
    return (
        f"{one.chapter:26}  {one.points:>3}/{one.out_of:<3}  {one.seconds:6.1f} s  {said}{problems}"
    )


def plain(text):
    """A student's text without what a terminal would act upon."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def as_json(rows, graded, kept, seconds):
    """The summary as JSON."""
    made = {"schema": results.SCHEMA, "graded": graded, "kept": kept, "failed": failed(rows)}
    said = [_row(student, one) for student, found in rows for one in found]
    return json.dumps(made | {"seconds": round(seconds, 1), "rows": said}, indent=1)


def _row(student, one):
    named = {
        name: getattr(one, name) for name in ("chapter", "file", "points", "out_of", "seconds")
    }
    statuses = {task.task: task.status for task in one.tasks}
    return {"student": student, **named, "statuses": statuses, "problems": one.problems}
