"""What a student reads: one green line, or a short friendly report without a traceback."""

import os
import textwrap
from dataclasses import dataclass, field

from course_lib.checks.kit.kinds import BLANK, BROKEN, UNAVAILABLE, WRONG, is_lacking
from course_lib.checks.kit.probe import short_error

GREEN, BOLD, DIM, PLAIN = "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
LABEL_WIDTH, TEXT_WIDTH = 10, 96


@dataclass
class Report:
    """A title and labelled rows: what is wrong, where, got, wanted, likely cause, how to see it again."""

    title: str
    rows: list = field(default_factory=list)

    def add(self, label, text):
        """Append a row unless its text is empty; return self."""
        if text not in (None, ""):
            self.rows.append((label, str(text)))
        return self

    def lines(self, colour=False):
        """The report as lines of text. The words carry all of it; colour is an extra."""
        paint = _paint if colour else lambda text, *_: text
        out = [paint("✘ " + self.title, BOLD)]  # JupyterLab puts it on red already
        for label, text in self.rows:
            style = (BOLD,) if label == "cause" else (DIM,) if label in ("call", "again") else ()
            rows = [row for line in text.splitlines() for row in _wrapped(line)]
            out += [
                "  " + paint((label if i == 0 else "").ljust(LABEL_WIDTH), DIM) + paint(row, *style)
                for i, row in enumerate(rows)
            ]
        return out

    def __str__(self):
        return "\n".join(self.lines())


class CheckFailed(AssertionError):
    """An answer is not right yet. Jupyter shows the report alone (`_render_traceback_`), no traceback.

    kind: one of `kinds.KINDS`.
    """

    def __init__(self, report, kind=WRONG):
        self.report = report if isinstance(report, Report) else Report(str(report))
        self.kind = kind
        super().__init__(str(self.report))

    def _render_traceback_(self):
        return self.report.lines(colour=wants_colour())


class NotWritten(CheckFailed):
    """The task still holds its `raise NotImplementedError`."""

    def __init__(self, report):
        super().__init__(report, BLANK)


class CheckBroken(RuntimeError):
    """The check itself is wrong: the author's mistake, never the student's."""

    kind = BROKEN

    def __init__(self, name, what, seed=None):
        again = f" with seed {seed}" if seed is not None else ""
        super().__init__(
            f"the check of {name} is broken{again}, and that is not your fault: {what}. Please report it."
        )


def cannot_check(name, what, error, seed=None):
    """What to raise where a check's own code has raised `error`: a failure, if this machine lacks something, or else
    CheckBroken. what: "its cases raise", for instance."""
    if isinstance(error, CheckFailed):
        raise error  # it says itself what it is
    if is_lacking(error):
        report = Report(f"{name} cannot be checked on this machine")
        return CheckFailed(report.add("what", str(error)), UNAVAILABLE)
    return CheckBroken(name, f"{what} {short_error(error)}", seed)


def not_written(name, inner=""):
    """The report for a task that has not been begun; inner: the function that is to blame, if `name` calls it."""
    blank = inner if inner and inner != name else name
    report = Report(f"{blank} is not written yet")
    if blank != name:
        report.add(
            "what", f"{name} calls it. Have you solved the task of {blank}, and run its cell since?"
        )
        return NotWritten(report)
    report.add(
        "next",
        f"replace `raise NotImplementedError(...)` in the cell of {name} with your code, run that cell, then "
        "run this one again. The hints above that cell open with a click.",
    )
    return NotWritten(report)


def say_passed(name, text, seed=None, notes=()):
    """Print the one green line, and notes below it."""
    seed_text = f" (seed {seed})" if seed is not None else ""
    line = f"✔ {name}: {text}{seed_text}"
    print(_paint(line, GREEN) if wants_colour() else line)
    for note in notes:
        print(f"  note: {note}")


def wants_colour():
    """Colour unless NO_COLOR is set, as https://no-color.org asks."""
    return not os.environ.get("NO_COLOR")


def _paint(text, *styles):
    return "".join(styles) + text + PLAIN if styles else text


def _wrapped(line):
    return textwrap.wrap(line, TEXT_WIDTH, break_long_words=False) or [""]
