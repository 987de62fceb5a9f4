"""Checks of models: Amdahl's fraction, the batch from which a scheme pays, the seconds of a step, a choice."""

import math

import numpy as np

from course_lib.checks.kit.case import Case
from course_lib.checks.kit.check import Check

# amdahl_fit ---------------------------------------------------------------------------------------------------------


def _scalings(rng):
    def case(s, w, ps, noise, label):
        p = np.array(ps)
        t = (s + w / p) * (1 + noise * rng.standard_normal(len(p)))
        return Case((p, t), label, scale="entry")

    s, w = (float(x) for x in rng.uniform(1, 3, 2))
    return [
        case(s, 5 * w, (1, 2, 4, 8), 0.0, "exactly Amdahl's"),
        case(s / 4, 9 * w, (1, 2, 2, 5, 16), 0.02, "with some noise, two runs on two"),
        case(0.3 * s, w, (2, 6, 7), 0.0, "without a run on one worker"),
    ]


def _amdahl_fit(p, seconds):
    w, s = np.polyfit(1 / p, seconds, 1)
    return float(s / (s + w)), float((s + w) / s)


check_amdahl_fit = Check(
    "amdahl_fit", _scalings, _amdahl_fit, dtype=None, K=64, c=64.0, parts=("fraction", "limit")
)


# crossover ----------------------------------------------------------------------------------------------------------


def _lines(rng):
    k = [int(x) for x in rng.integers(3, 40, 6)]
    c = 2.0**-12  # powers of two: the sums are exact, so that a tie is one
    plan = [
        ((4 * c, 0.0), (c, 3 * k[0] * c), "pays after some rows"),
        ((3 * c, k[1] * c), (c, (k[1] + 8 * k[2]) * c), "a tie at a whole B"),
        ((5 * c, k[1] * c), (c, (k[1] + 4 * k[3] + 1) * c), "a quarter above a whole B"),
        ((5 * c, k[1] * c), (c, (k[1] + 4 * k[2] + 3) * c), "three quarters above a whole B"),
        ((3 * c, 0.0), (c, 6e6 * c), "pays after three million rows"),
        ((2 * c, k[3] * c), (2 * c, (k[3] + 1) * c), "never: as much for each row"),
        ((2 * c, 0.0), (3 * c, k[4] * c), "never: more for each row"),
        ((3 * c, k[4] * c), (2 * c, (k[4] + 1) * c), "a tie at B = 1"),
        ((5 * c, k[5] * c), (2 * c, k[5] * c), "pays at once"),
        ((5 * c, 9 * k[5] * c), (2 * c, k[5] * c), "pays at once, in both ways"),
        ((c, 9 * k[5] * c), (2 * c, k[5] * c), "pays at once, if not for ever"),
    ]
    return [Case((one, many), label) for one, many, label in plan]


def _crossover(one, many):
    (c1, s1), (c2, s2) = one, many
    if c2 + s2 < c1 + s1:
        return 1
    return 0 if c2 >= c1 else math.floor((s2 - s1) / (c1 - c2)) + 1


check_crossover = Check("crossover", _lines, _crossover, dtype=None)


# predict_step -------------------------------------------------------------------------------------------------------


def _machines(rng):
    def case(B, p, label):
        row, base = (float(x) for x in rng.uniform(1, 3, 2) * (1e-5, 1e-4))
        shard = -(-B // p)
        t1 = {m: base + row * m for m in {B, shard, B // p, B - shard}}
        machine = {
            "slower": float(rng.uniform(1.1, 1.5)),
            "handover": float(rng.uniform(1, 3)) * 1e-5,
            "memory": float(rng.uniform(5, 20)) * 1e9,
            "alpha": float(rng.uniform(2, 9)) * 1e-6,
            "beta": float(rng.uniform(1, 9)) * 1e-10,
        }
        numbers = (
            3 * int(rng.integers(2, 9)) * 20_000 + 1
        )  # of which 3 workers have no equal shares
        n, update = 4 * numbers, float(rng.uniform(1, 4)) * 1e-4
        return Case((t1, B, p, n, update, machine), label, scale="entry")

    return [
        case(257, 4, "257 rows, 4 workers"),
        case(64, 2, "64 rows, 2 workers"),
        case(31, 3, "31 rows, 3 workers"),
    ]


def _predict_step(t1, B, p, n, update, machine):
    work = machine["slower"] * t1[-(-B // p)]
    reduction = 2 * machine["handover"] + (p + 1) * n / machine["memory"]
    ring = 2 * (p - 1) * (machine["alpha"] + machine["beta"] * n / p)
    return {
        "serial": t1[B] + update,
        "threads": work + reduction + update,
        "MPI": work + ring + update,
    }


check_predict_step = Check("predict_step", _machines, _predict_step, dtype=None, K=16)


# choose -------------------------------------------------------------------------------------------------------------


def _tables(rng):
    names = ["serial", "threads", "columns", "leapfrog", "MPI data", "MPI model"]

    def case(order, label, missing=()):
        times = (1 + np.array(order)) * rng.uniform(0.9, 1.1, 6) * 1e-3
        predicted = {name: float(t) for name, t in zip(names, times, strict=True)}
        measured = {name: predicted[name] * float(rng.uniform(0.5, 0.9)) for name in names[::-1]}
        measured["serial"] = predicted["serial"] * 3
        measured |= dict.fromkeys(missing)
        return Case((predicted, measured), label, scale="entry")

    lame = case(
        (5, 1, 3, 0, 2, 4), "the best on paper could not run, the next is slow", ("leapfrog",)
    )
    lame.args[1]["threads"] = lame.args[0]["threads"] * 4
    wrong = case((5, 1, 3, 8, 2, 4), "the model is wrong")
    wrong.args[1]["threads"] = wrong.args[0]["threads"] * 4
    right = case((5, 0, 3, 8, 3, 4), "the model is right")
    right.args[0]["serial"] = right.args[0]["threads"] * 1.03  # by little: there is no margin
    return [
        wrong,
        right,
        lame,
        case((9, 5, 2, 0, 3, 7), "the best on paper could not run", ("leapfrog", "MPI model")),
    ]


def _choose(predicted, measured):
    ran = {name: t for name, t in measured.items() if t is not None}
    name = min(ran, key=predicted.get)
    return name, ran[name] / predicted[name] - 1, ran[name] / min(ran.values()) - 1


check_choose = Check(
    "choose", _tables, _choose, dtype=None, K=8, c=8.0, parts=("scheme", "error", "regret")
)
