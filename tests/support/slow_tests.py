"""The tests that `python3 start.py test` leaves for `--all`, and why. Others are marked `slow` where they stand."""

from fnmatch import fnmatch
from functools import cache
from pathlib import PurePath

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
