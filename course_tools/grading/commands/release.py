"""`python -m course_lib release`: what students get, what the grader needs, and a manifest that ties them together.

out/exercises/*.ipynb   for the students
out/manifest.json       cells, points and checks of each chapter; a secret seed; keep it to yourself
out/planted.json        what the public checks say of the planted wrong answers
out/hidden/*.py         the instructor's own hidden checks, if any: never give them to students
"""

import os
import sys
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.build import source
from course_tools.grading.release.make import Refused, write


def add_arguments(parser):
    """The arguments of `release`."""
    parser.description = (
        "Make a release: what students get, what the grader needs, and a manifest of both."
    )
    parser.add_argument(
        "chapters", nargs="*", metavar="NN", help="chapters by number or name; all if none is given"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--hidden",
        type=Path,
        default=None,
        metavar="DIR",
        help="your own hidden checks: NN-topic.py with functions check_<task>(answer)",
    )
    words = "partial credit: parts of tasks, with checks in --hidden; the exercises say so"
    parser.add_argument("--partial", type=Path, metavar="FILE.toml", help=words)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="try no solutions, blanks and planted wrong answers; the manifest says so",
    )
    parser.add_argument(
        "--root", type=Path, default=None, help="the clone (default: where chapters/ is)"
    )


def command(args):
    """Run `release`. Exit status: 0 made, 1 refused by its own answers, 2 the call is wrong."""
    trials = None if args.quick else _gate()
    try:
        made = write(
            build.clone(args.root),
            args.out,
            args.chapters,
            args.hidden,
            gate=trials,
            parts=args.partial,
        )
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    points = sum(chapter.points for chapter in made.chapters.values())
    tested = "" if made.tested else ", NOT TESTED (--quick)"
    print(f"{args.out}: {source.count(len(made.chapters), 'chapter')}, {points} points{tested}")
    print(f"Students get {args.out / 'exercises'} and nothing else of it.")
    return 0


def _gate():
    if not hasattr(os, "fork"):
        raise BadInput(
            "trying the answers needs a system that forks processes: Linux, WSL; or pass --quick"
        )
    from course_tools.grading.commands import gate

    return gate.run
