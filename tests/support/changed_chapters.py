"""Which chapters this working tree changes: the wrong answers of all others are left for `--all`."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASES = ("@{upstream}", "origin/HEAD", "origin/main", "main")  # the first that is there
# A file of one chapter, under the five roofs that chapters have; exercises and solutions are built from `chapters`.
OF_ONE = re.compile(
    r"(?:chapters|tests/answers)/(\d\d)-|(?:course_lib/checks|tests/chapters)/ch(\d\d)/"
)
OF_ALL = re.compile(r"course_lib/|tests/support/|tests/conftest\.py|pyproject\.toml")


def left_for_all(file):
    """May the wrong answers in this file of tests wait for `--all`? Its chapter is as it was."""
    chapter = re.search(r"test_ch(\d\d)_(?:planted|students|answers)\.py$", file)
    return bool(chapter) and not changes(chapter[1])


def changes(chapter):
    """Does the working tree change a chapter ("03"), or what all of them rest on? Where nobody can tell, yes."""
    files = _changed_files()
    return files is None or _touches(files, chapter)


def _touches(files, chapter):
    for file in files:
        one = OF_ONE.match(file)
        if one and chapter in one.groups():
            return True
        if not one and OF_ALL.match(file):
            return True
    return False


@cache
def _changed_files():
    """Files that differ from where this branch began, those that git does not know yet too; None without git."""
    base = next((found for name in BASES if (found := _git("merge-base", "HEAD", name))), None)
    if base is None:
        return None
    known, new = _git("diff", "--name-only", *base), _git("ls-files", "-o", "--exclude-standard")
    return None if known is None or new is None else [*known, *new]


def _git(*words):
    """The lines that git prints, or None where it fails or is not there."""
    try:
        given = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return given.stdout.splitlines() if given.returncode == 0 else None
