"""`course class gradescope`: the zip that Gradescope builds an autograder's container from.

After its documentation (Autograder Specifications): the zip is unpacked to /autograder/source; setup.sh runs once, as
root, when the container is built; run_autograder runs for each submission, which lies in /autograder/submission, and
leaves /autograder/results/results.json.
"""

import zipfile
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.grading.marks import export
from course_tools.grading.paths import BESIDE
from course_tools.grading.release import manifest

TOP = ("start.py", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("course_lib", "course_tools", "LICENSES")
WHEN = (2000, 1, 1, 0, 0, 0)  # of every entry: the same call gives the same bytes
SETUP = """#!/usr/bin/env bash
# Runs once, as root, when Gradescope builds the container.
set -euo pipefail
apt-get update
apt-get install -y g++ util-linux
for version in 3.12 3.11; do
    apt-get install -y "python$version" "python$version-venv" && break
done
cd "${AUTOGRADER:-/autograder}/source/course"
"python$version" start.py lab --version
id grader || useradd --create-home grader
chmod -R a+rX .
"""
RUN = """#!/usr/bin/env bash
# Runs for each submission.
set -euo pipefail
place="${AUTOGRADER:-/autograder}"
cd "$place/source/course"
python="${COURSE_PYTHON:-.venv/bin/python}"
exec "$python" -m course_tools.grading.platforms.in_gradescope "$place" CHAPTER
"""


def add_arguments(parser):
    """The arguments of `class gradescope`."""
    parser.add_argument("chapter", metavar="NN", help="one chapter: one assignment of Gradescope")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.zip")
    parser.add_argument("--root", type=Path, help="the clone (default: where chapters/ is)")


def command(args):
    """Write the zip. Exit status: 0."""
    release = manifest.load(args.release)
    chapter = export.chapter_of(sorted(release.chapters), args.chapter)
    if not release.tested:
        raise BadInput(f"{args.release} was made with --quick: make it without")
    root = build.clone(args.root)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    half = args.out.with_name(f".{args.out.name}.new")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as made:
        _add(made, "setup.sh", SETUP.encode(), 0o755)
        _add(made, "run_autograder", RUN.replace("CHAPTER", chapter).encode(), 0o755)
        for name, file in _files(root, args.release):
            _add(made, name, file.read_bytes(), 0o644)
    half.replace(args.out)
    print(f"{args.out}: {args.out.stat().st_size >> 20} MB, for {chapter}")
    return 0


def _files(root, release):
    """(name in the zip, file): the course without solutions, chapters and tests; the release without exercises."""
    for name in (*TOP, *sorted(path.name for path in root.glob("requirements*.txt"))):
        yield f"course/{name}", root / name
    for folder in FOLDERS:
        base = BESIDE if folder.startswith("course_") else root
        for file in sorted((base / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"course/{file.relative_to(base).as_posix()}", file
    for file in sorted(release.rglob("*")):
        name = file.relative_to(release)
        if file.is_file() and name.parts[0] in ("manifest.json", "planted.json", "hidden"):
            yield f"release/{name.as_posix()}", file


def _add(made, name, data, mode):
    entry = zipfile.ZipInfo(name, WHEN)
    entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
    made.writestr(entry, data)
