"""A mistake that is planted with one number is known with another: that of the answer, or a usual one."""

import functools
import importlib

import numpy as np
import pytest

from course_lib.checks.kit.core import CheckFailed
from course_lib.checks.kit.known import own_numbers
from course_lib.checks.kit.known.planted import Task, task_of

PLANTED = (
    ("clipped", "f = 88, 8  # any number: 88"),
    ("eight", "f = 8"),
    ("a", "f = .5 # any number: 0.5"),
)
TASK = Task("t", "check_f", "f", "f = 1", PLANTED, ())
EPS = 3e-9

# (chapter, variable, words of the sentence, numbers that nobody has planted): first the planted answers themselves
FAMILIES = [
    ("ch01", "numeric_gradient", "eps is ignored", (1, 0.1, 1e-5, 1e-7)),
    ("ch01", "numeric_gradient", "the default of eps", (1, 0.1, 0.01)),
    ("ch01", "softmax", "z is clipped", (10, 30, 60)),
    ("ch01", "softmax", "a small number in the denominator", (1e-3, 1e-8, 1e-30)),
    ("ch01", "smoothed_cross_entropy", "a small number inside", (1e-3, 1e-8, 1e-30)),
    ("ch01", "momentum_epoch", "eta is not used", (0.05, 0.001)),
    ("ch01", "momentum_epoch", "beta is not used", (0.99, 0.45)),
    ("ch02", "weighted_cross_entropy", "a small number inside", (1e-3, 1e-8, 1e-30)),
    ("ch09", "loss_of_eq8", "cut off at the ends", (1e-5, 1e-6, 20, 80)),
    ("ch14", "against_bound", "a tiny number", (1e-200, 1e-9, 2.0**-52)),
]


def told(chapter, name, answer, seed):
    check = getattr(importlib.import_module(f"course_lib.checks.{chapter}"), f"check_{name}")
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=seed)
    return dict(failure.value.report.rows).get("cause", "")


@pytest.mark.parametrize(("chapter", "name", "words", "numbers"), FAMILIES)
def test_a_mistake_with_another_number_gets_the_same_cause(chapter, name, words, numbers):
    task = task_of(f"course_lib.checks.{chapter}", name)
    found = own_numbers.with_other_numbers(task, {float(n) for n in numbers})
    sources = [source for says, source in found if says.startswith(words)]
    assert len(sources) >= len(numbers)
    for seed, source in enumerate(sources):
        assert words in told(chapter, name, task.value_of(source), seed), source


def test_an_answer_in_another_process_is_tried_with_usual_numbers():
    task = task_of("course_lib.checks.ch02", "weighted_cross_entropy")
    [source] = [
        source
        for says, source in own_numbers.with_other_numbers(task, {1e-7})
        if "np.log(P + " in source
    ]
    hidden = functools.partial(lambda fn, *args: fn(*args), task.value_of(source))

    class Remote:
        def __call__(self, *args):
            return hidden(*args)

    assert own_numbers.numbers_of(Remote()) == own_numbers.USUAL
    assert "a small number inside" in told("ch02", "weighted_cross_entropy", Remote(), 1)


def _helper(x):
    return x + 0.125


def test_numbers_of_an_answer():
    def around(y):
        return y * 11

    def answer(x, eps=1e-6, *, cap=70.0):
        def inner(y):
            return _helper(around(y)) - 0.25

        return inner(x) * 2 + EPS + eps - cap, (-4, 5)

    assert own_numbers.numbers_of(answer) >= {1e-6, 70.0, 0.25, EPS, 4, 5, 2, 11, 0.125}
    assert own_numbers.numbers_of(lambda x: x + np.finfo(np.float32).eps) >= {2.0**-23, 2.0**-52}
    assert own_numbers.numbers_of(lambda x: x * float("inf") + True) <= {0}


def test_a_number_stands_for_any_where_the_planted_answer_says_so():
    assert own_numbers.with_other_numbers(TASK, {60.0, 1e-9}) == [
        ("clipped", "f = 1e-09, 8  # any number: 1e-09"),
        ("clipped", "f = 60, 8  # any number: 60"),
        ("a", "f = 1e-09 # any number: 1e-09"),
        ("a", "f = 60.0 # any number: 60.0"),
    ]


def test_numbers_are_told_from_names():
    text = "float64 x1 1e-12f 3. .5 -88 16 float4 2e3 a[7]"
    assert own_numbers.numbers_in(text) == {1e-12, 3.0, 0.5, 88, 16, 2000, 7}
