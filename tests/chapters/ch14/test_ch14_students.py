"""The checks of chapter 14 against what students write: other ways accepted, wrong ones refused with their cause."""

import itertools
import math
import statistics

import numpy as np
import pytest

from course_lib.checks import ch14
from course_lib.checks.kit.core import CheckFailed

SEEDS = (0, 7, 20160501)


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


# Other right ways ---------------------------------------------------------------------------------------------------


def judge_by_loops(y, predicted):
    counts = {(t, p): 0 for t in (0, 1) for p in (0, 1)}
    for t, p in zip(y.tolist(), predicted.tolist(), strict=True):
        counts[t, p] += 1
    called = counts[0, 1] + counts[1, 1]
    recalls = [counts[c, c] / (counts[c, 0] + counts[c, 1]) for c in (0, 1)]
    ones = counts[1, 0] + counts[1, 1]
    return [
        (counts[0, 0] + counts[1, 1]) / len(y),
        max(ones, len(y) - ones) / len(y),
        counts[1, 1] / called if called else 0,
        recalls[1],
        sum(recalls) / 2,
    ]


def judge_by_means(y, predicted):
    hit, positives = predicted[y == 1], y[predicted == 1]
    return (
        np.mean(y == predicted),
        max(np.mean(y), np.mean(1 - y)),
        np.mean(positives) if len(positives) else 0.0,
        np.mean(hit),
        (np.mean(hit) + np.mean(1 - predicted[y == 0])) / 2,
    )


def speedup_by_sorting(programs, parallel, p):
    medians = sorted((statistics.median(runs), name) for name, runs in programs.items())
    s = medians[0][0] / statistics.median(parallel)
    return medians[0][1], s, s / p


def amdahl_by_lstsq(p, seconds):
    (s, w), *_ = np.linalg.lstsq(np.column_stack([np.ones(len(p)), 1 / p]), seconds, rcond=None)
    return s / (s + w), 1 / (s / (s + w))


def amdahl_by_covariance(p, seconds):
    x = 1 / p
    w = np.cov(x, seconds)[0, 1] / np.var(x, ddof=1)
    s = seconds.mean() - w * x.mean()
    return s / (s + w), (s + w) / s


def crossover_by_trying(one, many):
    for B in itertools.count(1) if many[0] < one[0] else (1,):
        if many[0] * B + many[1] < one[0] * B + one[1]:
            return B
    return 0


def predict_with_ceil(t1, B, p, n, update, machine):
    share = math.ceil(B / p)
    both = machine["slower"] * t1[share] + update
    return {
        "MPI": both + 2 * (p - 1) * machine["alpha"] + 2 * (p - 1) / p * n * machine["beta"],
        "threads": both
        + 2 * machine["handover"]
        + p * n / machine["memory"]
        + n / machine["memory"],
        "serial": update + t1[B],
    }


def choose_by_sorting(predicted, measured):
    for name in sorted(predicted, key=lambda each: predicted[each]):
        if measured[name] is not None:
            best = min(t for t in measured.values() if t)
            return (
                name,
                (measured[name] - predicted[name]) / predicted[name],
                (measured[name] - best) / best,
            )


def bound_by_loops(got, exact, bound):
    worst, where = -1.0, None
    for at in np.ndindex(got.shape):
        off = abs(float(got[at]) - float(exact[at]))
        if math.isnan(off):
            ratio = math.inf
        elif off == 0:
            ratio = 0.0
        else:
            ratio = off / float(bound[at]) if bound[at] else math.inf
        if ratio > worst:
            worst, where = ratio, at
    return worst, where


RIGHT = {
    "judge": (ch14.check_judge, (judge_by_means,)),
    "honest_speedup": (ch14.check_honest_speedup, (speedup_by_sorting,)),
    "amdahl_fit": (ch14.check_amdahl_fit, (amdahl_by_lstsq, amdahl_by_covariance)),
    "crossover": (ch14.check_crossover, (crossover_by_trying,)),
    "predict_step": (ch14.check_predict_step, (predict_with_ceil,)),
    "choose": (ch14.check_choose, (choose_by_sorting,)),
    "against_bound": (ch14.check_against_bound, (bound_by_loops,)),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("task", RIGHT)
def test_other_right_ways_pass(task, seed, capsys):
    check, ways = RIGHT[task]
    for way in (*ways, *((judge_by_loops,) if task == "judge" else ())):
        check(way, seed=seed)
    assert task in capsys.readouterr().out


# Wrong ways, and the words they get -----------------------------------------------------------------------------------


def f1_for_balanced(y, predicted):
    a, m, p, r, _ = judge_by_means(y, predicted)
    return a, m, p, r, 2 * p * r / (p + r) if p + r else 0.0


def majority_of_ones(y, predicted):
    a, _, p, r, b = judge_by_means(y, predicted)
    return a, float(np.mean(y)), p, r, b


def per_cent_speedup(programs, parallel, p):
    name, s, e = speedup_by_sorting(programs, parallel, p)
    return name, s, 100 * e


def amdahl_of_speedups(p, seconds):
    f, limit = amdahl_by_lstsq(p, seconds)
    return 1 - f, limit


def crossover_minus_one(one, many):
    return crossover_by_trying(one, many) or -1


def predict_ideal(t1, B, p, n, update, machine):
    found = predict_with_ceil(t1, B, p, n, update, machine)
    return found | {
        "threads": found["threads"] - (machine["slower"] - 1) * t1[-(-B // p)],
        "MPI": found["MPI"] - (machine["slower"] - 1) * t1[-(-B // p)],
    }


def choose_knowing(predicted, measured):
    ran = {name: t for name, t in measured.items() if t}
    name = min(ran, key=ran.get)
    return name, ran[name] / predicted[name] - 1, 0.0


def bound_nan_max(got, exact, bound):
    with np.errstate(all="ignore"):
        ratio = np.where(got == exact, 0, abs(got - exact) / bound)
    return float(np.nanmax(ratio)), tuple(
        int(i) for i in np.unravel_index(np.nanargmax(ratio), ratio.shape)
    )


WRONG = [
    (ch14.check_judge, f1_for_balanced, "this is F1"),
    (ch14.check_judge, majority_of_ones, "the larger of the two shares"),
    (
        ch14.check_judge,
        lambda y, predicted: float(np.mean(y == predicted)),
        "not a tuple of 5 parts",
    ),
    (ch14.check_honest_speedup, per_cent_speedup, "not a percentage"),
    (ch14.check_amdahl_fit, amdahl_of_speedups, "parallel fraction"),
    (ch14.check_crossover, crossover_minus_one, "return 0 for never"),
    (ch14.check_predict_step, predict_ideal, "side by side are slower"),
    (ch14.check_choose, choose_knowing, "must not use the measurements"),
    (ch14.check_against_bound, bound_nan_max, "never within a bound"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("check", "wrong", "words"), WRONG)
def test_wrong_ways_hear_why(check, wrong, words, seed):
    assert words in told(check, wrong, seed)
