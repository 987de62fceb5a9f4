"""`course class exchange`: an exercise where nbgrader's users on a JupyterHub fetch it, and where they hand it in.

nbgrader's exchange is a folder that all see: COURSE/outbound/ASSIGNMENT to fetch from, COURSE/inbound to hand in to,
which students may write and not list. `nbgrader fetch_assignment` and `submit`, and its tabs in JupyterLab, need no
more; grade COURSE/inbound, or what `nbgrader collect` has made of it, with `grade`.
"""

import os
import shutil
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.marks import export
from course_tools.grading.release import manifest

OPEN, INBOUND, FILE = 0o755, 0o2733, 0o644  # as nbgrader gives them


def add_arguments(parser):
    """The arguments of `class exchange`."""
    words = "all of the release if none is given"
    parser.add_argument("chapters", nargs="*", metavar="NN", help=words)
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    words = "such as /srv/nbgrader/exchange, as in nbgrader_config.py"
    parser.add_argument("--exchange", type=Path, required=True, metavar="DIR", help=words)
    parser.add_argument("--course", required=True, metavar="ID", help="nbgrader's course_id")


def command(args):
    """Copy the exercises. Exit status: 0."""
    release = manifest.load(args.release)
    if not args.exchange.is_dir():
        raise BadInput(f"{args.exchange} is no folder: give the one that nbgrader is set up with")
    if not args.course or set(args.course) & set("/+ "):
        raise BadInput(f"--course {args.course!r}: a name without spaces, / and +")
    there = sorted(release.chapters)
    chosen = [export.chapter_of(there, name) for name in args.chapters] or there
    course = args.exchange / args.course
    for folder, mode in (
        (course, OPEN),
        (course / "outbound", OPEN),
        (course / "inbound", INBOUND),
    ):
        folder.mkdir(exist_ok=True)
        os.chmod(folder, mode)
    for name in chosen:
        _release(args.release / "exercises" / f"{name}.ipynb", course / "outbound" / name)
    print(f"{course}: {', '.join(chosen)}")
    return 0


def _release(file, folder):
    if folder.exists():
        raise BadInput(f"{folder} is there already: students may have fetched it; nothing changed")
    folder.mkdir()
    shutil.copyfile(file, folder / file.name)
    os.chmod(folder / file.name, FILE)
    os.chmod(folder, OPEN)
