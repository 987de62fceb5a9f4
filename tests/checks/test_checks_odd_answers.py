"""Results that no author thought of are wrong: they are refused, and never end as a fault of the check."""

import importlib

import numpy as np
import pytest

from course_lib.checks.kit.core import CheckFailed
from course_lib.checks.kit.known.planted import task_of


def eta_in_a_list(result):
    return [result[0]], result[1]


def below_zero(result):
    return [(xb - 100, yb) for xb, yb in result]


def not_a_number(result):
    return [(xb * np.nan, yb) for xb, yb in result]


def fewer_columns(result):
    return [(xb[:, : 4 - i % 2], yb) for i, (xb, yb) in enumerate(result)]


def brighter(result):
    return [(xb + np.float32([0, 1, 1, 1]), yb) for xb, yb in result]


def micro_as_text(result):
    return [(rank, kind, stage, str(micro)) for rank, kind, stage, micro in result]


def entries_twice(result):
    return [[np.array([entry, entry]) for entry in have] for have in result]


def name_twice(result):
    (name, m), why = result
    return (np.array([name, name]), m), why


def numbers_for_texts(result):
    return [np.array([1, 2])] * 3


def lists_for_names(result):
    return [result[0]], [result[1]]


ODD = [
    ("ch02", "grid_search", eta_in_a_list),
    ("ch02", "minibatches", below_zero),
    ("ch02", "minibatches", not_a_number),
    ("ch02", "minibatches", fewer_columns),
    ("ch02", "minibatches", brighter),
    ("ch10", "who_has_what", entries_twice),
    ("ch12", "crossing", lists_for_names),
    ("ch13", "one_f_one_b", micro_as_text),
    ("ch13", "pick_plan", name_twice),
    ("ch13", "stands", numbers_for_texts),
]


def answered(chapter, name, spoil):
    """The check of the task's solution, whose results are spoilt before they are seen."""
    task = task_of(f"course_lib.checks.{chapter}", name)
    check = getattr(importlib.import_module(f"course_lib.checks.{chapter}"), task.check)
    right = task.value_of(task.solution)
    return check, (lambda *args: spoil(right(*args))) if callable(right) else spoil(right)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("chapter", "name", "spoil"), ODD, ids=lambda x: getattr(x, "__name__", x))
def test_an_odd_result_is_wrong(chapter, name, spoil):
    check, answer = answered(chapter, name, spoil)
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=5)
    assert failure.value.kind == "wrong"


@pytest.mark.parametrize("kind", [np.array, np.float64, float])
def test_any_kind_of_number_is_an_eta(kind):
    check, answer = answered("ch02", "grid_search", lambda pair: (kind(pair[0]), kind(pair[1])))
    check(answer, seed=5)
