"""The checks on bubbles: how many micro-batches keep it small, and its size from a timeline."""

import math

import numpy as np

from course_lib.checks.kit.core import Case, Check
from course_lib.mpi.pipeline import Costs, schedule, simulate

# micro_batches ------------------------------------------------------------------------------------


def fewest(p, most):
    """The fewest micro-batches whose bubble is no larger than `most`: a quotient rounds once, as `most` itself did."""
    m = max(1, math.floor((p - 1) / most) - p)  # the bubble of one fewer is larger
    while (p - 1) / (m + p - 1) > most:
        m += 1
    return m


def _share(rng, p, low=0.03, high=0.4, part=(0.2, 0.8)):
    """A share that no m meets exactly: an answer may compute in floating point. part: where m ends before rounding."""
    while True:
        share = float(f"{rng.uniform(low, high):.3g}")
        if part[0] < (p - 1) * (1 - share) / share % 1 < part[1]:
            return share


def _micro_cases(rng):
    large, odd = int(rng.integers(9, 40)), int(rng.integers(5, 9))
    plan = [
        ("the bubble is met exactly", 4, 0.25),
        ("met exactly, with more ranks", 8, 0.125),
        ("met exactly, but rounding hides it", 7, 0.2),
        ("met exactly: 3 / 20 == 0.15", 4, 0.15),
        ("all but met: 3 / 15 is a hair too much", 4, 0.199999),
        ("many ranks", large, _share(rng, large, part=(0.2, 0.45))),
        ("some ranks", odd, _share(rng, odd, part=(0.55, 0.8))),
        ("three ranks", 3, _share(rng, 3)),
        ("next to no bubble", odd, _share(rng, odd, 4e-4 * (odd - 1) / 8, 6e-4 * (odd - 1) / 8)),
        ("a large bubble is allowed", 4, 0.9),
        ("half of the step may be waiting", 6, 0.5),
        ("one rank", 1, 0.1),
    ]
    return [Case((p, most), f"{label}: p = {p}, most = {most}") for label, p, most in plan]


check_micro_batches = Check("micro_batches", _micro_cases, fewest, dtype=None)

# bubble_of ----------------------------------------------------------------------------------------


def share_waited(line):
    """The truth, from (rank, start, end) of each task."""
    ranks = sorted({rank for rank, _, _ in line})
    spans = {r: [(start, end) for rank, start, end in line if rank == r] for r in ranks}
    step = max(max(e for _, e in own) - min(s for s, _ in own) for own in spans.values())
    return 1 - sum(end - start for _, start, end in line) / (len(ranks) * step)


def _line(rng, name, p, m, offset, last=1.0):
    """A simulated schedule's tasks, shuffled, on a clock that starts somewhere.

    last: the last rank's grads are so many times as dear.
    """
    forward, delta, grad = rng.uniform(0.5, 2, (3, p)).tolist()  # stages that are not equally dear
    costs = Costs(forward, delta, [*grad[:-1], last * grad[-1]])
    spans = simulate(schedule(name, p, m), costs)
    found = [(s.thread, s.start + offset, s.end + offset) for s in spans]
    return [found[i] for i in rng.permutation(len(found))]


def _line_cases(rng):
    pauses = np.cumsum(rng.uniform(0.2, 1, 10)).tolist()
    alone = [(0, a, b) for a, b in zip(pauses[::2], pauses[1::2], strict=True)]
    plan = [
        ("1F1B", _line(rng, "1f1b", 3, 5, 0.0)),
        ("GPipe, measured from 7.5 s on", _line(rng, "gpipe", 4, 2, 7.5)),
        ("1F1B, m < p, over before 0 s", _line(rng, "1f1b", 5, 2, -99.0)),
        ("ZB-H2: ranks end one after the other", _line(rng, "zb-h2", 3, 6, 0.0)),
        ("ZB-H1: the last rank takes longest", _line(rng, "zb-h1", 3, 4, 0.0, last=9.0)),
        ("one rank with pauses", alone),
    ]
    return [Case((line,), label, scale=1.0) for label, line in plan]


check_bubble_of = Check("bubble_of", _line_cases, share_waited, K=60, dtype=None)
