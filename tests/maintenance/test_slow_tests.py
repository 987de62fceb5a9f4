"""The list of slow tests names tests that there are."""

from fnmatch import fnmatch
from pathlib import Path

import pytest
from slow_tests import SLOW, why_slow

FILES = list(Path(__file__).parents[1].rglob("test_*.py"))


@pytest.mark.parametrize("pattern, fixture", [row[:2] for row in SLOW])
def test_the_files_and_fixtures_are_there(pattern, fixture):
    texts = [path.read_text(encoding="utf-8") for path in FILES if fnmatch(path.name, pattern)]
    assert texts and (fixture is None or any(f"\ndef {fixture}(" in text for text in texts))


def test_why():
    assert (
        why_slow("tests/bench/test_bench_gpu.py", ["quick", "tmp_path"]) == "measures a quick bench"
    )
    assert why_slow("tests/bench/test_bench_gpu.py", ["tmp_path"]) is None
    assert why_slow("tests/book/test_book.py", ["book"]) and not why_slow(
        "tests/data/test_x.py", ["book"]
    )
