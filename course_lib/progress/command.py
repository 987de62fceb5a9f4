"""`course progress`: which tasks are right, points, and where to go on."""

import json
from dataclasses import asdict
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.progress import journal, summary, verdicts


def add_arguments(parser):
    """The arguments of `progress`."""
    parser.description = (
        "Show which tasks are right, the points, and where to continue. The record comes from the checks in "
        "JupyterLab and stays on this machine; set COURSE_PROGRESS to another folder, or to off to keep none."
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    words = "forget everything: delete the journal and what the checks said last"
    parser.add_argument("--forget", action="store_true", help=words)
    words = "the clone (default: the one this command belongs to)"
    parser.add_argument("--root", type=Path, default=summary.COURSE, help=words)


def command(args):
    """Run `progress` with parsed arguments; return the exit status."""
    where = journal.folder()
    if args.forget:
        if where:
            (where / journal.NAME).unlink(missing_ok=True)
            verdicts.forget()
        print("the journal is deleted")
        return 0
    found = summary.chapters(args.root)
    if not found:
        raise BadInput(f"no exercises/ in {args.root}: pass --root with the folder of the course")
    if args.json:
        print(json.dumps([asdict(one) | {"points": one.points} for one in found], indent=1))
        return 0
    print(summary.Page(found))
    print("Did a check mislead you? course report writes a text about it that you can send.")
    print(f"Kept in {where / journal.NAME}." if where else "Turned off by COURSE_PROGRESS.")
    return 0
