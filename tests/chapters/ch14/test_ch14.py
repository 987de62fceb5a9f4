"""Chapter 14: the facts that its text and checks rest on.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from kernel_tasks import tasks

from course_lib import data, measure, serial, threads
from course_lib.checks.ch14 import models as ch14_models
from course_lib.checks.ch14 import results as ch14_results
from course_lib.mpi import cost

CHAPTER = "14-capstone"
LECTURE, EXERCISE = (
    (Path(__file__).parents[3] / "chapters" / CHAPTER / f"{kind}.md").read_text("utf-8")
    for kind in ("lecture", "exercise")
)


def test_every_task_has_five_mutants_or_more():
    assert len(tasks(CHAPTER)) == 7 and all(
        len(mutants) >= 5 for _, mutants in tasks(CHAPTER).values()
    )


def test_the_rubric_adds_up_and_has_the_five_marks_of_003():
    rows = re.findall(r"^\| \d ([\w ]+) \| (\d+) \|", EXERCISE, re.MULTILINE)
    assert [name for name, _ in rows] == [
        "Correctness",
        "Correctness analysis",
        "Performance",
        "Profiling and analysis",
        "Quality",
    ]
    assert sum(int(points) for _, points in rows) == 80 == 32 + 3 + 20 + 20 + 5
    assert "The rubric: 80 points" in EXERCISE


def test_every_section_of_the_rubric_has_its_place_in_the_template():
    for title in (
        "1 Correctness",
        "2 Correctness analysis",
        "3 Performance",
        "4 Profiling and analysis",
    ):
        assert f"\n### {title}\n" in EXERCISE


# A skewed set ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_checks_judge_is_the_librarys(seed):
    rng = np.random.default_rng(seed)
    for case in ch14_results._answers(rng):
        y, predicted = case.args
        got, wanted = ch14_results._judge(y, predicted), measure.binary_counts(y, predicted)
        assert (
            got[0] == wanted.accuracy
            and got[3] == wanted.recall
            and got[4] == wanted.balanced_accuracy
        )
        assert got[1] == max(np.mean(y == 0), np.mean(y == 1))
        assert got[2] == (0.0 if math.isnan(wanted.precision) else wanted.precision)


def test_f1_of_a_constant_answer_is_high_for_the_larger_class_and_nothing_for_the_other():
    y = np.array([1] * 80 + [0] * 20)
    assert measure.binary_counts(y, np.ones_like(y)).f1 > 0.88
    assert measure.binary_counts(1 - y, np.zeros_like(y)).f1 == 0


def test_the_sample_of_kdd_is_as_the_lecture_says():
    kdd = data.load_kddcup99(sample=True)
    idle = measure.majority_counts(kdd.y_train, kdd.y_test)
    assert kdd.n_features == 115 and idle.recall == 1 and idle.balanced_accuracy == 0.5
    assert 0.80 < idle.accuracy < 0.81 and 0.19 < 1 - kdd.y_test.mean() < 0.20
    assert "Leak: 64.4% of the test records" in kdd.note


def test_a_saturated_output_has_no_gradient():
    """Why a network that says 1 to everything stays so: with MSE every gradient has the factor a (1 - a)."""
    net = serial.Network((3, 4, 1))
    params = [(W.copy(), b.copy()) for W, b in net.init_params(0)]
    params[-1] = (params[-1][0] + 30, params[-1][1])
    X, Y = np.random.default_rng(0).random((8, 3), np.float32), np.zeros((8, 1), np.float32)
    assert (
        max(np.abs(part).max() for pair in serial.gradients(net, params, X, Y) for part in pair)
        < 1e-6
    )
    assert serial.loss_value(net, params, X, Y) > 0.99


# Models ---------------------------------------------------------------------------------------------------------------


def test_recomputing_the_products_is_39_percent_of_net_2h():
    step = measure.step_flops((784, 1024, 1024, 10), 64)
    again = sum(step.forward[:-1]) / step.products
    assert round(again, 2) == 0.39 and round(1 - 1 / (1 + again), 2) == 0.28
    assert "39 % longer" in LECTURE and "falls by 28 %" in LECTURE


def test_the_rope_is_the_triangle_inequality():
    net = serial.Network((6, 5, 4), "sigmoid", "mse")
    rng, params = np.random.default_rng(1), net.init_params(1, np.float64)
    X, Y = rng.random((30, 6)), np.eye(4)[rng.integers(0, 4, 30)]
    first, rope = np.concatenate([part.ravel() for pair in params for part in pair]), 0.0
    for _ in range(60):
        grads = serial.gradients(net, params, X, Y)
        rope += 0.5 * math.sqrt(sum((part**2).sum() for pair in grads for part in pair))
        serial.sgd_step(params, grads, 0.5)
    last = np.concatenate([part.ravel() for pair in params for part in pair])
    assert 0 < np.linalg.norm(last - first) <= rope


def test_crossover_is_the_first_batch_that_pays():
    """Against trying every B."""
    for seed in range(20):
        for case in ch14_models._lines(np.random.default_rng(seed)):
            (c1, s1), (c2, s2) = case.args
            if s2 > 1e3:
                continue  # millions of rows
            tried = next((B for B in range(1, 400) if c2 * B + s2 < c1 * B + s1), 0)
            assert ch14_models._crossover(*case.args) == tried


def test_the_ring_of_predict_step_is_that_of_the_library():
    case = ch14_models._machines(np.random.default_rng(3))[0]
    t1, B, p, n, update, m = case.args
    got = ch14_models._predict_step(*case.args)
    assert math.isclose(
        got["MPI"],
        m["slower"] * t1[-(-B // p)] + update + cost.seconds(p, n, m["alpha"], m["beta"], "ring"),
    )


def test_the_table_is_about_the_schemes_that_exist():
    """The lecture times leapfrogging and deferred gradients with as many threads as there are layers at most."""
    for name in ("leapfrog_schedule", "deferred_schedule", "GridStep", "DataParallel"):
        assert hasattr(threads, name) and name in LECTURE


@pytest.mark.parametrize("seed", range(30))
def test_all_seven_checks_draw_cases_that_their_references_master(seed):
    checks = [
        value
        for module in (ch14_models, ch14_results)
        for name, value in vars(module).items()
        if name.startswith("check_")
    ]
    assert len(checks) == 7
    for check in checks:
        for case in check.draw(seed):
            assert not isinstance(check.truth(check.reference, case), Exception), (
                check.name,
                case.label,
            )


def test_the_deep_network_meets_thirteen_times_in_a_step_with_split_weights():
    deep = serial.Network((128, *(128,) * 12, 10), "tanh")
    assert (
        'deep = serial.Network((128, *(128,) * 12, 10), "tanh")' in LECTURE
        and "needs 13 allreduces per step" in LECTURE
    )
    assert sum(ranks > 1 for ranks, _, _ in cost.allreduces(deep, 64, 1, 2)) == 13
