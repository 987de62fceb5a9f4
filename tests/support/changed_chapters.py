"""What this working tree changes: the wrong answers of other chapters, and the long tests of other machinery, are
left for `--all`."""

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
# Where long tests of machinery begin -> what they rest on, beside OF_TESTS. The lectures and the library's tests use
# the same machinery in every run.
RESTS_ON = {
    "tests/machines/ranks/": r"(?:course_lib|tests)/machines/(?:ranks|books)/|course_lib/measure/",
    "tests/gpu/test_gpu_machine_code.py": r"(?:course_lib|tests)/gpu/|course_lib/machines/cuda_c/",
}
OF_TESTS = re.compile(r"tests/support/|tests/conftest\.py|pyproject\.toml|requirements")


def left_for_all(file):
    """May this file of tests wait for `--all`, as what it rests on is as it was? A chapter, or machinery."""
    chapter = re.search(r"test_ch(\d\d)_(?:planted|students|answers)\.py$", file)
    if chapter:
        return not changes(chapter[1])
    rests_on = [paths for begin, paths in RESTS_ON.items() if file.startswith(begin)]
    return bool(rests_on) and not _any_changed(re.compile(rests_on[0]))


def _any_changed(pattern):
    """Does the working tree change a file of machinery, or what all tests rest on? Where nobody can tell, yes."""
    files = _changed_files()
    return files is None or any(pattern.match(file) or OF_TESTS.match(file) for file in files)


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
