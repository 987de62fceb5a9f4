"""Known mistakes are tried within limits, and equal results prove nothing where they tell nothing."""

import threading

import numpy as np
import pytest

from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import property_check
from course_lib.checks.kit.known.planted import Task
from course_lib.checks.kit.limits import ALL, Late, at_most, harmless, is_telling
from course_lib.checks.kit.messages import CheckFailed

FOR_EVER = "def f(n):\n    while n == n:\n        pass\n"
HALF = "def f(n):\n    return n // 2\n"


def for_ever():
    while True:
        pass


def test_what_does_not_end_is_cut_off():
    with pytest.raises(Late), at_most(0.05):
        for_ever()


def test_where_nothing_can_be_cut_off_loops_are_not_tried():
    tried: list = []
    known = [("waits", FOR_EVER), ("halves", HALF)]
    thread = threading.Thread(target=lambda: tried.extend(harmless(known)))
    thread.start()
    thread.join()
    assert tried == [("halves", HALF)]


def test_the_time_for_all_is_limited():
    times = iter([0.0, 1.0, ALL + 1.0])
    assert len(list(harmless([("halves", HALF)] * 3, lambda: next(times)))) == 1


@pytest.mark.parametrize("value", [0.0, True, None, np.zeros(3), np.full(2, np.nan)])
def test_what_tells_nothing(value):
    assert not is_telling(value)


def test_numbers_tell_something():
    assert is_telling(2.5) and is_telling([np.array([0.0, 1.0])])


def _planted(monkeypatch, *planted):
    task = Task("f", "check_f", "f", HALF, planted, ())
    monkeypatch.setattr("course_lib.checks.kit.known.explain.task_of", lambda module, name: task)


def _cause(check, fn):
    with pytest.raises(CheckFailed) as caught:
        check(fn, seed=1)
    return dict(caught.value.report.rows).get("cause")


def test_a_planted_answer_that_never_ends_leaves_the_verdict_standing(monkeypatch):
    _planted(monkeypatch, ("it never ends", FOR_EVER), ("one too many", "f = lambda n: n // 2 + 1"))
    check = Check("f", lambda rng: [Case((n,)) for n in (4, 7, 9)], lambda n: n // 2)
    assert _cause(check, lambda n: n // 2 + 1) == "one too many"


def test_a_slip_that_gives_the_same_error_is_no_proof(monkeypatch):
    _planted(monkeypatch)
    check = Check("f", lambda rng: [Case((n,)) for n in (4, 7, 9)], lambda n: n // 2)
    assert "divisor is 0" in _cause(check, lambda n: n // 0)


def test_a_cause_must_hold_where_the_answer_is_right():
    cases = [Case((np.array([1.0, 2.0]),)), Case((np.array([3.0, -5.0]),))]
    check = Check("g", lambda rng: cases, lambda x: x)
    assert _cause(check, lambda x: -x if x[0] == 1.0 else x) is None
    assert "sign is flipped" in _cause(check, lambda x: -x)


def test_an_error_in_a_diagnosis_leaves_the_verdict_standing(monkeypatch):
    def broken(*_):
        raise IndexError

    monkeypatch.setattr("course_lib.checks.kit.diagnose.likely_cause", broken)
    check = Check("g", lambda rng: [Case((np.array([1.0, 2.0]),))], lambda x: x)
    assert _cause(check, lambda x: -x) is None


def test_words_of_a_property_with_no_number_are_no_proof_for_a_slip(monkeypatch):
    _planted(monkeypatch)

    @property_check("f")
    def check(f, *, rng):
        require(f(4) == 2, "that is not it")

    assert _cause(check, lambda n: n) is None
