"""The check on the choice of a schedule: it must fit, and no schedule that fits may be faster in the simulator."""

from functools import lru_cache

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.trees import a_thing
from course_lib.mpi.pipeline import Costs, in_flight, schedule, simulate
from course_lib.mpi.pipeline.simulate import step_seconds

NAMES = ("gpipe", "1f1b", "zb-h1", "zb-h2")
REASONS = ("memory", "time")
SEEN = {"memory": "it fits with no m", "time": "it fits with some m, and is not faster"}


def costs_of(name, rows, launch, per_row):
    """Costs of a micro-batch: each task is launched; a backward is one task, delta and grad are two."""
    f, d, g = (launch + rows * each for each in per_row)
    return Costs(f, d, g if name.startswith("zb") else g - launch)


@lru_cache(64)
def flight(name, p, m):
    """`in_flight` of a schedule by its name."""
    return in_flight(schedule(name, p, m))


def kept(name, p, B, m, row_bytes):
    """Bytes of activations on the fullest rank."""
    return max(flight(name, p, m)) * B / m * row_bytes


def seconds(name, p, B, m, launch, per_row):
    """Of a step."""
    return step_seconds(simulate(schedule(name, p, m), costs_of(name, B / m, launch, per_row)))


def _cases(rng):
    def some(low, high):
        return float(rng.uniform(low, high))

    row, B, ms = some(50, 90), 48, (2, 8, 1, 4)
    even, cheap = (1.0, 1.0, 1.0), (some(0.8, 0.9), some(0.9, 1.0), some(0.3, 0.4))
    return [
        ("plenty of memory", (4, B, ms, some(0.01, 0.05), even, row, 1e9)),
        ("memory for the batch once", (4, B, ms, some(0.01, 0.05), even, row, B * row)),
        ("very dear to launch", (4, B, ms, some(200, 300), even, row, 0.9 * B * row)),
        ("just enough for four of eight", (4, B, ms, 0.0625, even, row, B * row / 2)),
        ("tasks that are dear to launch", (4, B, ms, some(6, 9), cheap, row, 0.8 * B * row)),
        ("dear to launch, three ranks", (3, B, ms, some(6, 9), cheap, row, 0.8 * B * row)),
        ("dear to launch, plenty of memory", (3, B, ms, some(6, 9), cheap, row, 1e9)),
        ("dear to launch, little memory", (4, B, ms, some(6, 9), cheap, row, 0.6 * B * row)),
        ("little memory", (4, B, ms, some(0.2, 0.4), cheap, row, 0.6 * B * row)),
        ("9.6 rows in a micro-batch", (4, B, (12, 5), some(15, 25), even, row, 39 * row)),
        ("48 / 7 rows in a micro-batch", (4, B, (8, 7), some(0.45, 0.55), even, row, 30 * row)),
        ("48 / 7 rows, plenty of memory", (4, B, (8, 7), some(0.45, 0.55), even, row, 1e9)),
    ]


@function_check("pick_plan")
def check_pick_plan(pick_plan, *, rng):
    """`pick_plan(p, B, choices, launch, per_row, row_bytes, memory)` -> ((name, m), reasons)."""
    cases = _cases(rng)
    given = [(label, args, _form(pick_plan(*args), args)) for label, args in cases]
    fitting = [_fitting(args) for _, args in cases]
    for (label, args, ((name, m), _)), times in zip(given, fitting, strict=True):
        _best(name, m, times, args, label)
    for (label, _, (chosen, why)), times in zip(given, fitting, strict=True):
        _defended(chosen, why, times, label)
    return f"{len(cases)} clusters, each with the fastest schedule that fits, and why no other"


def _form(given, args):
    pair = isinstance(given, tuple | list) and len(given) == 2
    require(pair, "the pair ((name, m), why) is wanted", got=a_thing(given))
    chosen, why = given
    good = isinstance(chosen, tuple | list) and len(chosen) == 2
    good = good and isinstance(chosen[0], str) and isinstance(chosen[1], int | np.integer)
    good = good and chosen[0] in NAMES and chosen[1] in args[2]
    require(good, "the choice must be (name, m), one of NAMES and one of choices", got=chosen)
    require(isinstance(why, dict), "why must be a dict", got=a_thing(why))
    return (chosen[0], int(chosen[1])), why


@lru_cache(64)
def _fitting(args):
    """{(name, m): seconds} of all that fit; the same for all answers that are tried on a case."""
    p, B, choices, launch, per_row, row_bytes, memory = args
    return {
        (name, m): seconds(name, p, B, m, launch, per_row)
        for name in NAMES
        for m in choices
        if kept(name, p, B, m, row_bytes) <= memory
    }


def _best(name, m, fitting, args, label):
    p, B, _, _, _, row_bytes, memory = args
    size = kept(name, p, B, m, row_bytes)
    require(
        (name, m) in fitting,
        f"{name} with m = {m} does not fit",
        got=f"{max(flight(name, p, m))} micro-batches of {B / m:g} rows on the fullest rank, {size:,.0f} bytes",
        wanted=f"{memory:,.0f} bytes at most",
        where=label,
    )
    best = min(fitting, key=fitting.__getitem__)
    require(
        fitting[name, m] <= fitting[best] * (1 + 1e-9),
        f"{name} with m = {m} is not the fastest that fits",
        got=f"{fitting[name, m]:.6g} s a step",
        wanted=f"{fitting[best]:.6g} s",
        where=label,
    )


def _defended(chosen, why, times, label):
    fits = {name for name, _ in times}
    others = [name for name in NAMES if name != chosen[0]]
    require(
        set(why) == set(others),
        "why must have a reason for each schedule that was not chosen, and for no other",
        got=sorted(map(str, why)),
        wanted=sorted(others),
        where=label,
    )
    for name in others:
        wanted = REASONS[name in fits]
        require(
            why[name] == wanted,
            f"the reason against {name} is not {why[name]!r}",
            wanted=f"{wanted!r}: {SEEN[wanted]}",
            where=label,
        )
