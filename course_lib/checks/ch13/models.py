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
        case(s / 4, 9 * w, (1, 2, 3, 5, 16), 0.02, "with some noise"),
        case(0.3 * s, w, (2, 6, 7), 0.0, "without a run on one worker"),
    ]


def _fitted(
    against=lambda p: 1 / p, fraction=lambda s, w: s / (s + w), limit=lambda s, w: (s + w) / s
):
    """A reference, with one of its three parts replaced."""

    def amdahl_fit(p, seconds):
        w, s = np.polyfit(against(p), seconds, 1)
        return float(fraction(s, w)), float(limit(s, w))

    return amdahl_fit


check_amdahl_fit = Check(
    "amdahl_fit",
    _scalings,
    _fitted(),
    dtype=None,
    K=64,
    c=64.0,
    parts=("fraction", "limit"),
    diagnoses=[
        (_fitted(limit=lambda s, w: (s + w) / w), "1 / (1 - fraction): the limit is 1 / fraction"),
    ],
)


# crossover ----------------------------------------------------------------------------------------------------------


def _lines(rng):
    k = [int(x) for x in rng.integers(3, 40, 6)]
    c = 2.0**-12  # powers of two: the sums are exact, so that a tie is one
    plan = [
        ((4 * c, 0.0), (c, k[0] * c), "pays after some rows"),
        ((3 * c, k[1] * c), (c, (k[1] + 8 * k[2]) * c), "a tie at a whole B"),
        ((3 * c, k[1] * c), (c, (k[1] + 2 * k[3] + 1) * c), "no tie"),
        ((2 * c, k[3] * c), (2 * c, (k[3] + 1) * c), "never: as much for each row"),
        ((2 * c, 0.0), (3 * c, k[4] * c), "never: more for each row"),
        ((5 * c, k[5] * c), (2 * c, k[5] * c), "pays at once"),
        ((c, 9 * k[5] * c), (2 * c, k[5] * c), "pays at once, if not for ever"),
    ]
    return [Case((one, many), label) for one, many, label in plan]


def _crossing(meets=lambda x: math.floor(x) + 1, never=0, at_once=True):
    """A reference, with one of its parts replaced."""

    def crossover(one, many):
        (c1, s1), (c2, s2) = one, many
        if at_once and c2 + s2 < c1 + s1:
            return 1
        if c2 >= c1:
            return never
        return max(1, meets((s2 - s1) / (c1 - c2)))

    return crossover


check_crossover = Check(
    "crossover",
    _lines,
    _crossing(),
    dtype=None,
    diagnoses=[
        (_crossing(round), "the next whole number above, not the nearest"),
        (_crossing(never=math.inf), "never is 0"),
        (_crossing(never=-1), "never is 0"),
        (
            _crossing(math.ceil, at_once=False),
            "where both are equal, nothing is gained yet, and where each row costs "
            "more in parallel, it may still pay at B = 1",
        ),
    ],
)


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
        n, update = int(rng.integers(2, 9)) * 240_000, float(rng.uniform(1, 4)) * 1e-4
        return Case((t1, B, p, n, update, machine), label, scale="entry")

    return [
        case(257, 4, "257 rows, 4 workers"),
        case(64, 2, "64 rows, 2 workers"),
        case(31, 3, "31 rows, 3 workers"),
    ]


def _predicted(
    compute=lambda t1, B, p: t1[-(-B // p)],
    slower=True,
    handovers=2,
    reduced=lambda p: 2 * p + 1,
    ring=lambda p, n, a, b: 2 * (p - 1) * (a + b * n / p),
    updates=lambda p: 1,
    serial=True,
    alone=1,
):
    """A reference, with some of its terms replaced."""

    def predict_step(t1, B, p, n, update, machine):
        m = machine
        work = compute(t1, B, p) * (m["slower"] if slower else 1)
        last = update * updates(p)
        return {
            "serial": t1[B] * (1 if serial else m["slower"]) + update * alone,
            "threads": work + handovers * m["handover"] + reduced(p) * n / m["memory"] + last,
            "MPI": work + ring(p, n, m["alpha"], m["beta"]) + last,
        }

    return predict_step


check_predict_step = Check(
    "predict_step",
    _machines,
    _predicted(),
    dtype=None,
    K=16,
    diagnoses=[
        (_predicted(handovers=0), "the hand-overs are missing"),
        (
            _predicted(reduced=lambda p: 0),
            "the reduction is missing: p buffers written, p read, one sum written",
        ),
        (
            _predicted(reduced=lambda p: p),
            "2 p + 1 times n bytes: p buffers are written, read again, and one sum is written",
        ),
        (_predicted(updates=lambda p: 0), "the update is missing"),
        (
            _predicted(updates=lambda p: 0, alone=0),
            "the update is missing: every scheme ends with one, serial too",
        ),
    ],
)


# choose -------------------------------------------------------------------------------------------------------------


def _tables(rng):
    names = ["serial", "threads", "columns", "leapfrog", "MPI data", "MPI model"]

    def case(order, label, missing=()):
        predicted = {
            name: float(t)
            for name, t in zip(
                names, (1 + np.array(order)) * rng.uniform(0.9, 1.1, 6) * 1e-3, strict=True
            )
        }
        measured = {name: predicted[name] * float(rng.uniform(0.5, 0.9)) for name in names}
        measured["serial"] = predicted["serial"] * 3
        measured |= dict.fromkeys(missing)
        return Case((predicted, measured), label, scale="entry")

    wrong = case((5, 1, 3, 8, 2, 4), "the model is wrong")
    wrong.args[1]["threads"] = wrong.args[0]["threads"] * 4
    right = case((5, 0, 3, 8, 3, 4), "the model is right")
    return [
        wrong,
        right,
        case((9, 5, 2, 0, 3, 7), "the best on paper could not run", ("leapfrog", "MPI model")),
    ]


def _chosen(
    by=lambda p, m: min(p, key=p.get),
    error=lambda p, m, c: m[c] / p[c] - 1,
    regret=lambda p, m, c: m[c] / min(m.values()) - 1,
    skip=True,
):
    """A reference, with one of its parts replaced."""

    def choose(predicted, measured):
        ran = {name: t for name, t in measured.items() if t is not None}
        paper = {name: predicted[name] for name in (ran if skip else predicted)}
        c = by(paper, ran)
        return c, float(error(paper, ran, c)), float(regret(paper, ran, c))

    return choose


def _all_take_part(predicted, measured):
    """Without leaving out what could not run."""
    c = min(predicted, key=predicted.get)
    return c, measured[c] / predicted[c] - 1, measured[c] / min(measured.values()) - 1


check_choose = Check(
    "choose",
    _tables,
    _chosen(),
    dtype=None,
    K=8,
    c=8.0,
    parts=("scheme", "error", "regret"),
    diagnoses=[
        (
            _all_take_part,
            "a scheme that could not run, measured None, takes no part: leave those out first",
        ),
        (
            _chosen(error=lambda p, m, c: m[c] / p[c]),
            "minus 1: a perfect prediction has an error of 0",
        ),
        (
            _chosen(regret=lambda p, m, c: m[c] / min(p.values()) - 1),
            "the quickest *measured* time is below the line",
        ),
        (
            _chosen(regret=lambda p, m, c: m[c] - min(m.values())),
            "relative: over the quickest, minus 1",
        ),
    ],
)
