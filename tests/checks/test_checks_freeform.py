"""Checks of values and free-form checks: the same look, and the author's mistakes kept apart from the student's."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.checks.kit import freeform
from course_lib.checks.kit.core import (
    CheckBroken,
    CheckFailed,
    NotWritten,
    check_value,
    choose_seed,
    poison,
    property_check,
    ragged,
    require,
)
from course_lib.checks.kit.freeform import at, function_check, require_in_time
from course_lib.checks.kit.stalls import Stalls
from course_lib.errors import BadInput


def refusal(call, *args, **kwargs):
    """The report that this call gets."""
    with pytest.raises(CheckFailed) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_a_right_value_prints_one_line(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    check_value("n_params", 814_090, 814_090)
    check_value("loss", np.float32(0.1), 0.1, dtype=None, digits=3)
    check_value("shape", (3, 4), (3, 4))
    check_value("word", "rows", "rows")
    assert capsys.readouterr().out.splitlines() == [
        f"✔ {n}: right" for n in ("n_params", "loss", "shape", "word")
    ]


def test_a_wrong_value_gets_its_cause():
    report = refusal(
        check_value,
        "n_params",
        812_544,
        814_090,
        diagnoses=[(812_544, "the biases are not counted")],
    )
    assert report.splitlines()[0] == "✘ n_params is not right yet"
    assert (
        "got       812544" in report
        and "wanted    814090" in report
        and "the biases are not counted" in report
    )
    assert "half a unit of decimal 2" in refusal(check_value, "z", 0.13, 0.1234, digits=2)
    assert "word is 'columns', not 'rows'" in refusal(check_value, "word", "columns", "rows")
    assert "z is None" in refusal(check_value, "z", None, 1.5)
    assert "differ" in refusal(check_value, "z", float("nan"), 1.5)


@pytest.mark.parametrize("blank", [..., NotImplemented])
def test_a_value_that_is_not_there_yet(blank):
    with pytest.raises(NotWritten, match="z is not written yet"):
        check_value("z", blank, 1.0)


@property_check("train")
def check_train(train, *, rng):
    losses = train(rng.standard_normal(5))
    require(len(losses) == 3, "three losses are wanted", got=len(losses), wanted=3)
    require(
        losses[-1] < losses[0],
        "the loss must fall",
        where="after 3 epochs",
        got=float(losses[-1]),
        cause="a step up the gradient: the minus sign is missing",
    )
    return "the loss falls"


def test_a_property_that_holds_prints_one_line_with_the_seed(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    check_train(lambda x: [3, 2, 1], seed=77)
    assert capsys.readouterr().out == "✔ train: the loss falls (seed 77)\n"


def test_a_property_that_does_not_hold_says_what_where_and_why():
    report = refusal(check_train, lambda x: [1, 2, 3.5], seed=77)
    assert report.splitlines() == [
        "✘ train is not right yet",
        "  what      the loss must fall",
        "  cause     a step up the gradient: the minus sign is missing",
        "  where     after 3 epochs",
        "  got       3.5",
        "  again     add seed=77 to the call of the check for the same inputs",
    ]
    assert "the loss must fall" in refusal(check_train, lambda x: [1, 2, float("nan")], seed=77)


def test_an_exception_of_the_student_is_shown_with_the_line():
    def train(x):
        return [1 / (0 * len(x))]

    report = refusal(check_train, train, seed=1)
    assert "it stopped with ZeroDivisionError: division by zero" in report
    assert "of train: return [1 / (0 * len(x))]" in report


def test_a_signature_that_does_not_fit_is_the_students():
    def train():
        return []

    assert "takes 0 positional arguments" in refusal(check_train, train, seed=1)


def test_a_blank_is_not_written_yet():
    def train(x):
        raise NotImplementedError

    with pytest.raises(NotWritten):
        check_train(train, seed=1)


def test_a_mistake_of_the_author_is_not_the_students():
    scope = {"property_check": property_check, "require": require}
    exec(
        compile(
            "@property_check('f')\ndef check_f(f, *, rng):\n    return 1 / 0\n", "author.py", "exec"
        ),
        scope,
    )
    with pytest.raises(
        CheckBroken, match="the check of f is broken with seed 5, and that is not your fault"
    ):
        scope["check_f"](lambda x: x, seed=5)


def test_ragged_sizes_are_distinct_and_poison_is_nan():
    sizes = ragged(np.random.default_rng(1), 4, 2, 6)
    assert len(set(sizes)) == 4 and min(sizes) >= 2 and max(sizes) <= 6
    with pytest.raises(BadInput, match="do not fit"):
        ragged(np.random.default_rng(1), 9, 2, 6)
    assert np.isnan(poison(2, 3)).all() and poison(2, 3).dtype == np.float32
    assert (poison(2, dtype=np.int64) < 0).all()


def test_choose_seed_refuses_nonsense():
    for bad in (-1, 1.5, "7", True):
        with pytest.raises(BadInput, match="seed must be a whole number"):
            choose_seed(bad)


class Away:
    """A clock on which the machine stands still for a second at the second look."""

    def __init__(self):
        self.now, self.looks = 0.0, 0

    def __call__(self):
        self.looks += 1
        self.now += 1.0 if self.looks == 2 else 0.02
        return self.now


@pytest.mark.parametrize(("away", "tried"), [(True, 2), (False, 1)])
def test_a_wait_that_ran_out_is_tried_once_more_if_the_machine_stood_still(
    monkeypatch, away, tried
):
    clock = Away() if away else (lambda: 0.0)
    monkeypatch.setattr(freeform, "Stalls", lambda: Stalls(clock))
    calls = []

    @property_check("wait")
    def check(fn, *, rng):
        calls.append(rng.integers(1000))
        while away and clock.looks < 3:  # until the watch has looked
            time.sleep(0.01)
        require_in_time(False, "nobody came")

    assert "nobody came" in refusal(check, len, seed=1)
    assert len(calls) == tried and len(set(calls)) == 1, "the same inputs"


def test_a_thread_that_the_interpreter_lost_is_no_evidence(monkeypatch):
    """Two threads that install a trace function at once: one of them ends before its first line."""
    monkeypatch.setattr(freeform, "Stalls", lambda: Stalls(lambda: 0.0))
    calls, words = (
        [],
        "Cannot install a trace function while another trace function is being installed",
    )

    @property_check("lost")
    def check(fn, *, rng):
        calls.append(1)
        if len(calls) == 1:
            error = RuntimeError(words)
            sys.unraisablehook(SimpleNamespace(exc_value=error, exc_type=RuntimeError))
            require_in_time(False, "nobody came")

    check(len, seed=1)
    assert calls == [1, 1]


def test_a_wrong_answer_is_not_tried_again(monkeypatch):
    calls = []
    monkeypatch.setattr(Stalls, "happened", lambda self: True)

    @property_check("wrong")
    def check(fn, *, rng):
        calls.append(1)
        require(False, "it is wrong")

    refusal(check, len, seed=1)
    assert calls == [1]


def test_a_place_is_said_once_around_what_is_required():
    @property_check("x")
    def check_x(x, *, rng):
        with at("T = 3"):
            require(x != 1, "x is 1", where="line 5", cause="because")
            with at("batch 2"):
                require(x != 2, "x is 2", got=x)

    assert "where     T = 3; line 5" in refusal(check_x, 1)
    report = refusal(check_x, 2)
    assert "where     T = 3; batch 2" in report and "got       2" in report


def test_what_is_likely_makes_room_for_what_is_proved(monkeypatch):
    @function_check("x")
    def check_x(x, *, rng):
        require(x() == 1, "x is not 1", likely="the sum begins too late")

    assert "likely    the sum begins too late" in refusal(check_x, lambda: 2)
    monkeypatch.setattr(freeform, "cause_of_property", lambda *given: "the first is left out")
    report = refusal(check_x, lambda: 2)
    assert "cause     the first is left out" in report and "likely" not in report
