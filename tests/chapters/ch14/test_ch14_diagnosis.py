"""A diagnosis decides nothing: whatever goes wrong in one, a wrong answer stays wrong, and is no fault of the check."""

import numpy as np
import pytest

from course_lib.checks import ch14
from course_lib.checks.kit import diagnose
from course_lib.checks.kit.core import Case, Check, CheckFailed

STEPS = ("planted_cause", "slip_cause", "cause_of_form", "likely_cause")


def of_the_largest_bound(got, exact, bound):
    """No known mistake: all that a diagnosis can try is tried."""
    off = 3.25 * abs(got - exact)
    ratio = np.where(got == exact, 0.0, off / bound.max())
    ratio = np.where(np.isnan(ratio), np.inf, ratio)
    return float(ratio.max()), tuple(int(i) for i in np.unravel_index(ratio.argmax(), ratio.shape))


@pytest.mark.parametrize("step", STEPS)
def test_an_error_inside_of_a_diagnosis_never_decides(step, monkeypatch):
    raised = []

    def broken(*args):
        raised.append(step)
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(diagnose, step, broken)
    with pytest.raises(CheckFailed, match=r"against_bound: . of 9 cases not right yet") as failure:
        ch14.check_against_bound(of_the_largest_bound, seed=1)
    assert raised == [step] and "cause" not in dict(failure.value.report.rows)


@pytest.mark.parametrize("shapes", [((5, 7), (11,)), ((11,), (5, 7)), ((2, 3, 4), (4,), (3, 3))])
def test_arguments_of_unequal_dimensions_do_not_end_a_check(shapes):
    """A factor is held against the axes of the first case's arguments, which another case need not have."""

    def cases(rng):
        return [Case((rng.standard_normal(shape),)) for shape in shapes]

    check = Check("largest", cases, lambda x: float(x.max()), dtype=None)
    with pytest.raises(CheckFailed, match=r"largest: . of . cases not right yet"):
        check(lambda x: float(x.max()) * x.shape[-1], seed=3)


@pytest.mark.parametrize("error", [IndexError, ZeroDivisionError, KeyError, FloatingPointError])
def test_an_authors_diagnosis_that_raises_is_passed_over(error):
    def raises(x):
        raise error("in the diagnosis")

    known = [(raises, "never told"), (lambda x: x - 1, "one is taken off")]
    check = Check(
        "plus_one", lambda rng: [Case((rng.standard_normal(4),))], lambda x: x + 1, diagnoses=known
    )
    with pytest.raises(CheckFailed, match="one is taken off"):
        check(lambda x: x - 1, seed=0)
