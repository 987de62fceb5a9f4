"""The tests that `python3 start.py test` leaves for `--all`, and why; others are marked `slow` where they stand.

And the order of files that run side by side: those that take longest begin first, so that none is left over at the end.
"""

from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePath

LONG_FILES = Path(__file__).parents[1] / "long_files.txt"  # test_times.py writes it

# (the test's file, a fixture that it uses or None for all tests of the file, why it is left for --all)
SLOW = [
    ("test_browser*.py", None, "starts JupyterLab and a browser"),
    ("test_book.py", "browser", "opens the book in a browser"),
    ("test_book.py", "book", "builds the whole book"),
    ("test_book.py", "pages", "builds the whole book"),
    ("test_bench_*.py", "quick", "measures a quick bench"),
    ("test_bench_papers.py", "learned", "trains networks"),
    ("test_grade_thirty.py", None, "grades thirty submissions"),
    ("test_mpi_slurm.py", None, "starts a Slurm"),
    ("test_no_compiler.py", "alone", "compiles the engine with ziglang"),
]


def why_slow(file, fixtures):
    """Why a test is left for --all; None if it is not."""
    for fixture, why in _rows(file):
        if fixture is None or fixture in fixtures:
            return why
    return None


@cache
def _rows(file):
    """(fixture, why) of the rows of this file."""
    return [row[1:] for row in SLOW if fnmatch(PurePath(file).name, row[0])]


def longest_first(items):
    """Order the tests of several files; within a file, and among files not in the list, all stays as it is."""
    files = LONG_FILES.read_text(encoding="utf-8").split() if LONG_FILES.is_file() else []
    place = {file: number for number, file in enumerate(files)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))
