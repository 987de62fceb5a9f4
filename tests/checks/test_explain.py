"""A cause is proved before it is printed: a known mistake gives what the answer gave in all cases."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from course_lib.checks import ch01, ch03, ch05, ch06, ch08, ch13, ch15
from course_lib.checks.ch03 import work as ch03_work
from course_lib.checks.kit.core import Case, Check, normal
from course_lib.checks.kit.known import explain, planted
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.slips import python
from course_lib.threads import fork_join

SEED = 4


def cause_of(check, answer, seed=SEED):
    """The row of that name in what the check says to an answer."""
    with pytest.raises(CheckFailed) as caught:
        check(answer, seed=seed)
    return dict(caught.value.report.rows).get("cause")


def test_planted_answer_is_a_known_mistake_in_any_form():
    def mse_gradient(X, y, w, b):  # as no one planted it, but without the mean
        total, bias = np.zeros_like(w), 0.0
        for row, wanted in zip(X, y, strict=True):
            total, bias = (
                total + 2 * (row @ w + b - wanted) * row,
                bias + 2 * (row @ w + b - wanted),
            )
        return total, float(bias)

    assert "the mean is missing" in cause_of(ch01.check_mse_gradient, mse_gradient)


def test_a_whole_number_is_a_float_or_an_int_to_a_known_mistake():
    def kept_and_sent(n, p, stage, slots, micro):  # floats where the planted answer has ints
        cut = [n / (p if stage > least else 1) for least in (3, 2, 1)]
        passes = (micro if stage >= 2 else 1) + (2 * micro if stage == 3 else 1)
        return 4 * (cut[0] + cut[1] + slots * cut[2]), 4 * (p - 1) / p * n * passes

    assert "one stage too late" in cause_of(ch13.check_kept_and_sent, kept_and_sent)


def test_no_cause_is_looked_for_where_nobody_reads_it(monkeypatch):
    def mse_gradient(X, y, w, b):
        residual = X @ w + b - y
        return 2 * (residual @ X), float(2 * residual.sum())

    assert "the mean is missing" in cause_of(ch01.check_mse_gradient, mse_gradient)
    monkeypatch.setenv("COURSE_CAUSES", "0")
    assert "the mean is missing" not in (cause_of(ch01.check_mse_gradient, mse_gradient) or "")


def test_cause_that_fits_some_cases_is_not_told():
    def mse_gradient(X, y, w, b):
        residual = X @ w + b - y
        scale = 2 / len(y) if len(y) > 4 else 2.0  # the mean is missing in small batches alone
        return scale * (residual @ X), float(scale * residual.sum())

    assert "the mean is missing" not in (cause_of(ch01.check_mse_gradient, mse_gradient) or "")


def test_a_slip_is_not_told_from_two_small_numbers(monkeypatch):
    def sectors_of_load(first, stride):  # equal to `(first + t) * stride` in every case
        aligned = 4 * stride if 0 < stride < 8 else (32 if stride else 1)
        return aligned + (first % 8 != 0 and 0 < stride < 8)

    task = planted.task_named("ch08", "sectors-of-load")
    alone = replace(task, planted=())
    monkeypatch.setattr(explain, "task_of", lambda module, name: alone)
    assert "too much" not in (cause_of(ch08.check_sectors_of_load, sectors_of_load, 20160501) or "")


def test_an_argument_that_changed_may_be_the_cause():
    def in_place(x):
        bits = x.view(np.uint32)
        np.add(bits, 0x7FFF + ((bits >> 16) & 1), out=bits)
        return np.where(np.isnan(x), 0x7FC0, bits >> 16).astype(np.uint16)

    def also(x):  # a planted mistake, and x is changed besides
        bits = x.view(np.uint32) + 0
        found = np.where(np.isfinite(x), (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16, 0x7FC0)
        x[:] = 0
        return found.astype(np.uint16)

    assert "writes into x itself" in cause_of(ch15.check_bfloat16_bits, in_place)
    said = cause_of(ch15.check_bfloat16_bits, also)
    assert said.startswith("either: an infinity becomes NaN") and "changes its argument x" in said


def test_kernel_of_another_form_gets_the_planted_cause():
    source = r"""
    __global__ void saxpy(int n, float a, const float *x, float *y)
    {
        const int element = threadIdx.x + blockDim.x * blockIdx.x;
        if (element < n) { y[element] = a * x[element]; }
    }
    """
    assert "y is written but not read" in cause_of(ch05.check_saxpy, source)


@pytest.mark.parametrize("chapter", [f"ch{n:02}" for n in range(16)])
def test_each_solution_and_planted_answer_can_be_run(chapter):
    for name, task in planted._tasks(chapter).items():
        assert task.value_of(task.solution) is not None, name
        for says, source in task.planted:
            assert task.value_of(source) is not None, (name, says)


def test_chapter_without_planted_answers_has_no_tasks():
    assert planted.task_of("course_lib.checks.kit.check", "neuron") is None
    assert planted.task_of("tests.checks.test_explain", "neuron") is None


@pytest.fixture
def broken(monkeypatch):
    """The known mistakes of a task raise, wherever they are looked up."""

    def raises(*_):
        raise IndexError("in the search for a cause")

    monkeypatch.setattr(planted.Task, "value_of", raises)
    monkeypatch.setattr(python, "variants", raises)


def test_error_in_the_search_leaves_the_verdict(broken):
    cause_of(
        ch01.check_mse_gradient, lambda X, y, w, b: (w * 0 + 7, 7.0)
    )  # CheckFailed, no IndexError
    ch01.check_mse_gradient(
        lambda X, y, w, b: tuple(2 * (X @ w + b - y) @ M / len(y) for M in (X, np.ones(len(y))))
    )


def test_two_mistakes_that_fit_are_both_named():
    known = [("the first", lambda: 1), ("another", lambda: 2), ("the first", lambda: 1)]
    assert explain._first(known, lambda value: value < 3) == "either: the first; or: another"
    assert explain._first(known, lambda value: value == 2) == "another"
    assert explain._first(known, lambda value: value == 3) is None


def test_search_does_not_change_what_the_cases_hold():
    seen = []

    def cases(rng):
        return [Case((normal(rng, 3),), "three numbers")]

    check = Check("total", cases, lambda x: x.sum(), diagnoses=[])
    with pytest.raises(CheckFailed):
        check(lambda x: seen.append(x.copy()) or 0.0, seed=SEED)
    assert np.array_equal(seen[0], check.draw(SEED)[0].args[0])


def test_files_hold_every_planted_answer_that_says_what_it_is():
    for path in planted.CHECKS.glob("ch*/planted.json"):
        cells = json.loads(path.read_text(encoding="utf-8"))
        assert any(cell.get("planted") for cell in cells), path
        assert all(entry["says"].strip() for cell in cells for entry in cell.get("planted", ()))


def filled_with_a_part_missing(partials, out, t, B):
    """As a planted answer does it, and not as it is written there: in a loop, into the caller's array."""
    cut = ch03_work.shard_slices(partials.shape[1], len(partials))[t]
    total = np.zeros_like(partials[0, cut])
    for row in partials[1:]:
        total += row[cut]
    out[cut] = total / B


def test_what_a_function_leaves_in_its_arguments_is_held_against_known_mistakes():
    with pytest.raises(CheckFailed, match="the partial sum of thread 0 is missing"):
        ch03.check_reduce_slice(filled_with_a_part_missing, seed=SEED)


def test_wrong_numbers_of_threads_are_held_against_known_mistakes():
    def climbs(gradient_sum, params, batches, T, eta):
        for X, Y in batches:
            cuts = ch03_work.shard_slices(len(X), min(T, len(X)))
            sums = fork_join([partial(gradient_sum, params, X[cut], Y[cut]) for cut in cuts])
            for layer, pair in enumerate(params):
                for part, array in enumerate(pair):
                    array += eta * sum(one[layer][part] for one in sums) / np.float32(len(X))

    with pytest.raises(CheckFailed, match="climbs the loss"):
        ch03.check_train_parallel(climbs, seed=SEED)


def test_truth_values_alone_prove_no_slip_and_no_pair():
    """A bound that is too wide says yes in the same cases as many another mistake."""

    def accepts(D, A, B, times):
        D, A, B = (X.astype(np.float64) for X in (D, A, B))
        return bool((abs(D - A @ B) <= times * A.shape[1] * 2.0**-24 * (abs(A) @ abs(B))).all())

    for times in (5, 20, 50):
        assert cause_of(ch06.check_accepts, partial(accepts, times=times)) is None
