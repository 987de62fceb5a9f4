"""The checks of the cost model and of the choice of T."""

import math

import numpy as np

from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import function_check, require_returned


def _speedup(B, T, c, s, o):
    one = B * c + s
    many = math.ceil(B / T) * c + s + (o * T if T > 1 else 0.0)
    return one / many, one / many / T


def _speedup_cases(rng):
    def costs():
        return tuple(float(x) for x in rng.uniform(0.5, 2, 3) * (1e-4, 3e-3, 4e-4))

    plan = [
        (64, 4, "even shards"),
        (67, 4, "uneven shards"),
        (1024, 8, "a large batch"),
        (5, 3, "a small batch"),
        (50, 1, "one thread"),
        (17, 16, "a shard of two rows"),
    ]
    return [Case((B, T, *costs()), label) for B, T, label in plan]


check_predict_speedup = Check(
    "predict_speedup",
    _speedup_cases,
    _speedup,
    K=8,
    dtype=None,
    parts=("speed-up", "efficiency"),
)


class _Costs:
    """Seconds of a step with T threads, from a table; it notes what it is asked, and refuses what cannot be."""

    def __init__(self, B, table):
        self.B, self.table, self.asked = B, table, []

    def __call__(self, B, T):
        require(B == self.B, "seconds was called with another batch size", got=B, wanted=self.B)
        whole = isinstance(T, (int, np.integer))
        require(
            whole and T >= 1,
            "seconds was called with an impossible number of threads",
            got=str(T),
            wanted="1 or more",
            cause="T begins with 1 (range(cores) begins with 0: range(1, ... + 1))"
            if whole
            else "a number of threads is whole: // divides whole numbers; / and np.linspace give floats",
        )
        require(
            T <= self.B,
            f"seconds was called with {T} threads and {self.B} examples",
            cause="a thread without an example has nothing to do: use at most min(cores, B)",
        )
        require(
            len(self.table) >= T,
            f"seconds was called with {T} threads on {len(self.table)} cores",
            cause="more threads than cores only take turns: use at most min(cores, B)",
        )
        self.asked.append(int(T))
        return self.table[T - 1]


def _pick_plan(rng):
    """(B, seconds for T = 1, 2, ..., label): where the minimum lies differs from table to table."""
    wave = np.array([9.0, 5.0, 6.0, 3.0, 4.0, 7.0]) * rng.uniform(0.5, 2)
    return [
        (99, np.sort(rng.uniform(1, 9, 8))[::-1], "more threads are always quicker"),
        (50, np.sort(rng.uniform(1, 9, 6)), "every further thread costs more than it saves"),
        (
            64,
            np.array([9.0, 5.0, 3.0, 4.0, 6.0, 8.0]) * rng.uniform(0.5, 2),
            "a minimum in the middle",
        ),
        (64, wave, "worse with 3 threads than with 2, best with 4"),
        (3, np.sort(rng.uniform(1, 9, 8))[::-1], "3 examples, 8 cores"),
        (64, np.array([9.0, 3.0, 2.5, 2.75]), "two threads are three times as fast as one"),
        (40, np.array([4.0, 2.0, 2.0, 2.0]), "three equal times"),
        (40, np.array([4.0, 2.0, 2.0 - 1e-12, 3.0]), "a hair quicker with 3 threads than with 2"),
        (7, np.array([3.0]), "one core"),
    ]


@function_check("pick_threads")
def check_pick_threads(fn, *, rng):
    """The quickest T from 1 to min(cores, B); of equal ones the fewest threads."""
    plan, given = _pick_plan(rng), []
    for B, table, _ in plan:
        got = fn(B, len(table), _Costs(B, table))
        require_returned(got, "pick_threads", "`return` and the number of threads")
        given.append(got)
    best = [int(np.argmin(table[: min(B, len(table))])) + 1 for B, table, _ in plan]
    wrong = [i for i, got in enumerate(given) if not _is_count(got) or got != best[i]]
    B, table, label = plan[min(wrong, default=0)]
    require(
        not wrong,
        f"not the quickest number of threads in {len(wrong)} of {len(plan)} tables",
        where=f"{label}: B = {B}, {len(table)} cores, seconds "
        + ", ".join(f"{x:.2f}" for x in table),
        got="of all tables " + ", ".join(str(got) for got in given),
        wanted="of all tables " + ", ".join(map(str, best)),
    )
    return f"{len(plan)} cost tables, the quickest T in each, never more than cores or examples"


def _is_count(got):
    return isinstance(got, (int, np.integer))
