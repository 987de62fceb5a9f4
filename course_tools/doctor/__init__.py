"""`course doctor`: what this machine has, what each chapter will run on, and the command that adds what is missing.

Needs the standard library alone, so that it can also say what is wrong where NumPy is missing.
Exit status: 0 every chapter of this edition can run, 1 one of them cannot, 2 the call is wrong.
"""

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from course_tools.doctor.chapters import Chapter, plan
from course_tools.doctor.finding import NO, UNKNOWN, YES, Finding, look, look_all
from course_tools.doctor.probes import PROBES, ROOT

__all__ = ["Chapter", "Finding", "examine", "look", "look_all", "main", "plan", "report"]

MARKS = {YES: "yes", NO: "no", UNKNOWN: "?"}
SECONDS = 25  # for one probe; they run side by side


def examine() -> tuple[list[Finding], list[Chapter]]:
    """Look at this machine; never raises."""
    findings = look_all(PROBES, SECONDS)
    return findings, plan(findings, ROOT)


def report(findings: Sequence[Finding], rows: Sequence[Chapter], width: int = 100) -> str:
    """The table, as text: what there is, what each chapter runs on, what can be added."""
    lines = ["What this machine has", ""]
    for finding in findings:
        lines += _row(f"  {finding.topic:14}{MARKS[finding.there]:5}", finding.text, width)
    lines += ["", "What each chapter runs on", ""]
    for row in rows:
        state, on = "yes" if row.runs else "NO", row.on
        if not row.here:
            state, on = "later", on.replace("cannot run:", "could not run:")
        lines += _row(f"  {f'{row.number} {row.name}':28}{state:7}", on, width)
    if not all(row.here for row in rows):
        lines += ["", "later: not in this edition yet; the table already says what it will run on."]
    return "\n".join([*lines, *_added(findings)])


def _added(findings: Sequence[Finding]) -> list[str]:
    """The commands that add what is missing, each once."""
    adds: dict[str, list[str]] = {}
    for finding in findings:
        if finding.add:
            adds.setdefault(finding.add, []).append(finding.topic)
    rows = [f"  {', '.join(topics) + ':':24}{command}" for command, topics in adds.items()]
    return ["", "To add what is missing", "", *rows] if rows else []


def _row(start: str, text: str, width: int) -> list[str]:
    width, below = max(width, len(start) + 20), " " * len(start)
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=below)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table (or JSON); return the exit status."""
    words = "show what this machine has and which chapters it can run"
    parser = argparse.ArgumentParser(prog="course doctor", description=words)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args(argv)
    findings, rows = examine()
    good = all(row.runs for row in rows if row.here)
    if options.json:
        machine, chapters = [list(map(asdict, found)) for found in (findings, rows)]
        print(json.dumps({"ok": good, "machine": machine, "chapters": chapters}, indent=2))
    else:
        print(report(findings, rows, min(shutil.get_terminal_size((100, 24)).columns, 120)))
    return 0 if good else 1
