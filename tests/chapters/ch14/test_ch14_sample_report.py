"""docs/sample-report.md: what its page says, computed again by examples/sample_report.py."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, measure

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "sample-report.md").read_text("utf-8")


@pytest.fixture(scope="module")
def sample():
    """The script of the page, as a module."""
    path = ROOT / "examples" / "sample_report.py"
    spec = importlib.util.spec_from_file_location("sample_report", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def digits():
    return data.load_mnist()


def test_the_gradients_are_within_their_bounds_and_the_planted_mistake_is_not(sample, digits):
    with measure.blas_threads(1):
        found = sample.correctness(digits, later=3)
    planted = found.pop("planted: the last row is lost")
    assert max(found.values()) <= 1 and planted > 1000
    assert f"{sample.NET.n_params:,} entries" in PAGE


def test_in_float64_the_two_programs_come_together_by_the_quotient_of_the_epsilons(sample, digits):
    with measure.blas_threads(1):
        single, double = (sample.drift(digits, (1, 4), dtype) for dtype in (np.float32, np.float64))
    for (_, one, many, apart, bound), (*_, finer, _) in zip(single, double, strict=True):
        assert max(one, many) <= bound and apart > 0
        assert 2**24 < apart / max(finer, 2.0**-60) < 2**34


def test_the_page_has_a_sentence_for_each_statement_of_its_two_sections():
    assert set(re.findall(r"\*\*(\d[a-d])\*\*", PAGE)) == {f"{n}{c}" for n in "12" for c in "abcd"}
