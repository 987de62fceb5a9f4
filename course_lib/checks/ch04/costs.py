"""The checks of chapter 04 on costs: the formulas, the smallest k, the makespan of a schedule."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from course_lib.checks.ch04.patience import must_end
from course_lib.checks.ch04.schedules import flat, leapfrog
from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.trees import a_thing

# 7. step_costs --------------------------------------------------------------------------------------------------


def _costs(k, f1, f2, f3):
    return f1 + f2 + f3, f1 + f2 + f3 / k, f1 + max(f2, (f2 + f3) / k)


def _costs_with(leapfrog=None, deferred=None, serial=None):
    """The truth with some of its three formulas replaced."""

    def wrong(k, f1, f2, f3):
        right = _costs(k, f1, f2, f3)
        return tuple(
            other(k, f1, f2, f3) if other else value
            for value, other in zip(right, (serial, leapfrog, deferred), strict=True)
        )

    return wrong


def _costs_cases(rng):
    """Chains that are the limit and chains that are not, with equal and unequal costs."""
    cases = []
    for k, low, high, label in (
        (2, 0.3, 0.9, "a short chain, 2 threads"),
        (6, 2.0, 3.0, "a long chain, 6 threads"),
        (3, 0.1, 0.3, "a short chain, 3 threads"),
        (1, 0.5, 2.0, "one thread"),
    ):
        f1, f3 = (float(rng.uniform(0.5, 4)) for _ in range(2))
        cases.append(Case((k, f1, f3 * float(rng.uniform(low, high)), f3), label))
    return cases


def _as_tuple(value):
    return (
        tuple(value.tolist())
        if hasattr(value, "tolist") and getattr(value, "shape", None) == (3,)
        else value
    )


check_step_costs = Check(
    "step_costs",
    _costs_cases,
    _costs,
    K=4,
    dtype=None,
    post=_as_tuple,
    parts=("serial", "leapfrog", "deferred"),
    diagnoses=[
        (
            _costs_with(leapfrog=lambda k, a, b, c: b + c / k),
            "leapfrog: the forward pass f1 is missing",
        ),
        (
            _costs_with(deferred=lambda k, a, b, c: max(b, (b + c) / k)),
            "deferred: the forward pass f1 is missing",
        ),
        (
            _costs_with(deferred=lambda k, a, b, c: a + b + c / k),
            "deferred: that is leapfrogging's cost once more",
        ),
        (
            _costs_with(deferred=lambda k, a, b, c: a + b + (b + c) / k),
            "deferred: chain and gradients go on at the same time: the longer of the two "
            "counts, max(..., ...), not their "
            "sum",
        ),
        (
            _costs_with(deferred=lambda k, a, b, c: a + b),
            "deferred: the work is forgotten: k threads need at least (f2 + f3) / k for it",
        ),
        (
            _costs_with(deferred=lambda k, a, b, c: a + max(b, (a + b + c) / k)),
            "deferred: the forward pass is not in the queue: (f2 + f3) / k inside the max",
        ),
        (
            lambda k, a, b, c: tuple(x - a for x in _costs(k, a, b, c)),
            "the forward pass f1 is missing in all three: the whole step is asked for",
        ),
        (
            lambda k, a, b, c: tuple(_costs(k, a, b, c)[0] / x for x in _costs(k, a, b, c)),
            "these are speed-ups: the costs themselves are asked for",
        ),
        (
            lambda k, a, b, c: tuple(x / _costs(k, a, b, c)[0] for x in _costs(k, a, b, c)),
            "shares of the serial cost: the costs themselves are asked for",
        ),
    ],
)

# 8. makespan ----------------------------------------------------------------------------------------------------


def _source_of(kind, layer):
    """The layer whose delta a task needs."""
    return layer + (kind == "delta")


def _cost(kind, layer, f2, f3):
    return f2[layer] if kind == "delta" else f3[layer]


@dataclass(frozen=True)
class _Play:
    """The makespan of a list of tasks; with a field changed, by a known wrong way.

    needs: a task waits for the delta that it needs. own: it takes its thread's own, where there is one.
    anyones: else the first of all threads', not thread 0's. last_copy: of thread 0's, the one that was made last.
    """

    wait_fork: bool = True
    own: bool = True
    needs: bool = True
    last_copy: bool = False
    anyones: bool = False
    source_of: Callable = _source_of
    cost: Callable = _cost
    result: Callable = max

    def __call__(self, tasks, fork, f2, f3):
        free: dict[int, float] = {}
        end: dict[tuple[int, int], float] = {}
        ends = [0.0]
        for n, (thread, kind, layer) in enumerate(tasks):
            there = self.there(thread, self.source_of(kind, layer), end)
            start = max(free.get(thread, 0.0), there)
            if self.wait_fork and fork and n >= fork:
                start = max(start, ends[fork])
            done = start + self.cost(kind, layer, f2, f3)
            free[thread] = done
            if kind == "delta" and (self.last_copy or (thread, layer) not in end):
                end[thread, layer] = done
            ends.append(done)
        return self.result(ends)

    def there(self, thread, source, end):
        """When a thread has the delta of the layer `source`. end: {(thread, layer): when its delta was computed}."""
        if not self.needs:
            return 0.0
        if self.own and (thread, source) in end:
            return end[thread, source]
        if self.anyones:
            return min([time for (_, made), time in end.items() if made == source], default=0.0)
        return end.get((0, source), 0.0)


_makespan = _Play()


def _deferred(L, k):
    tasks = [(0, "delta", layer) for layer in range(L - 1, -1, -1)]
    return tasks + [
        ((n % (k - 1)) + 1 if n < L - 2 else 0, "grad", layer)
        for n, layer in enumerate(range(L - 1, -1, -1))
    ]


def _makespan_cases(rng):
    def some(L, low, high):
        return [round(float(x), 3) for x in rng.uniform(low, high, L)]

    plan = [
        ("leapfrogging, equal layers", flat(*leapfrog(8, 3)), 6, [1.0] * 8, [1.0] * 8),
        (
            "leapfrogging, gradients dear",
            flat(*leapfrog(9, 2)),
            4,
            some(9, 0.5, 1.5),
            some(9, 3, 5),
        ),
        (
            "leapfrogging, deltas dear",
            flat(*leapfrog(10, 4)),
            8,
            some(10, 3, 5),
            some(10, 0.5, 1.5),
        ),
        ("deferred, a slow chain", _deferred(7, 3), 0, some(7, 3, 5), some(7, 0.5, 1.5)),
        ("deferred, gradients dear", _deferred(6, 2), 0, some(6, 0.3, 0.9), some(6, 3, 5)),
        (
            "a slow chain and one helper",
            [
                (0, "delta", 2),
                (0, "delta", 1),
                (0, "delta", 0),
                (1, "grad", 2),
                (1, "grad", 1),
                (1, "grad", 0),
            ],
            0,
            some(3, 3, 4),
            [5.0, *some(2, 0.5, 1)],
        ),
        ("one thread", flat(*leapfrog(4, 1)), 2, some(4, 1, 2), some(4, 1, 2)),
        (
            "the longest thread is not the last",
            [(0, "delta", 1), (0, "grad", 1), (1, "delta", 0), (1, "grad", 0), (0, "delta", 0)],
            2,
            [1.5, 2.0],
            [1.0, 1.25],
        ),
        (
            "two threads have the delta, and neither is the one that needs it",
            [(0, "delta", 2), (1, "delta", 1), (0, "grad", 2), (0, "delta", 1), (2, "grad", 1)],
            0,
            [1.0, *some(2, 1, 2)],
            some(3, 4, 6),
        ),
    ]
    return [Case((tasks, fork, f2, f3), label) for label, tasks, fork, f2, f3 in plan]


check_makespan = Check(
    "makespan",
    _makespan_cases,
    _makespan,
    K=40,
    dtype=None,
    diagnoses=[
        (
            _Play(anyones=True),
            "a thread without a delta of its own takes the first one that thread 0 made, not "
            "another thread's that is there earlier",
        ),
        (
            _Play(cost=lambda kind, layer, f2, f3: f3[layer] if kind == "grad" else 0.0),
            "the deltas cost nothing: only gradients are added up",
        ),
    ],
)

# 9. smallest_k --------------------------------------------------------------------------------------------------


def _smallest(f1, f2, f3, wanted):
    """By trying, in whole numbers and fractions: 0 where even infinitely many threads do not save so much."""
    share = Fraction(f3, f1 + f2 + f3)
    if wanted >= share:
        return 1 if wanted == 0 else 0
    k = 1
    while (1 - Fraction(1, k)) * share < wanted:
        k += 1
    return k


def _float_trap(rng):
    """Costs and a saving that k saves exactly, while rounded numbers say that it does not."""
    while True:
        f1, f2, f3, k = (int(n) for n in rng.integers(1, 40, 4))
        total = f1 + f2 + f3
        wanted = (1 - Fraction(1, k)) * Fraction(f3, total)
        if (
            k > 2
            and (1 - 1 / k) * f3 / total < float(wanted)
            and (1 - 1 / k) * (f3 / total) < float(wanted)
        ):
            return f1, f2, f3, wanted


def _smallest_plan(rng):
    f1, f2, f3 = (int(n) for n in rng.integers(3, 20, 3))
    share = Fraction(f3, f1 + f2 + f3)
    return [
        ((2, 3, 15, Fraction(17, 32)), "between two k"),
        ((1, 1, 1, Fraction(1, 6)), "exactly what 2 threads save"),
        ((1, 1, 1, Fraction(3, 10)), "near the limit of 1/3"),
        ((f1, f2, f3, Fraction(3, 4) * share), "three quarters of the limit"),
        ((0, 0, 5, Fraction(9, 10)), "f3 alone, 90 %"),
        (_float_trap(rng), "exactly what k threads save, but rounding hides it"),
        ((1, 1, 1, Fraction(1, 3) - Fraction(1, 6000)), "two thousand threads"),
        ((2, 3, 4, Fraction(0)), "nothing wanted"),
        ((1, 1, 0, Fraction(0)), "nothing wanted, and no gradients at all"),
        ((1, 1, 1, Fraction(1, 3)), "the limit itself"),
        ((4, 3, 2, Fraction(1, 2)), "more than f3"),
    ]


def _strict(f1, f2, f3, wanted):
    share = Fraction(f3, f1 + f2 + f3)
    k = 1
    while (1 - Fraction(1, k)) * share <= wanted and k < 10_000:
        k += 1
    return k if k < 10_000 else 0


def _by_floats(f1, f2, f3, wanted):
    left = 1 - float(wanted) / (f3 / (f1 + f2 + f3))
    k = ceil(1 / left) if left > 0 else None
    return None if k == _smallest(f1, f2, f3, wanted) else k


def _ceil(x):
    return -(-x.numerator // x.denominator)


_ENDLESS = (
    "a search without end: (1 - 1/k) stays below 1, so the saving stays below f3/f, and where more is "
    "wanted no k is found. Ask for that first, and return 0"
)


def _cause_of_k(got, args):
    f1, f2, f3, wanted = args
    share = Fraction(f3, f1 + f2 + f3)
    if wanted >= share:
        return (
            "no k saves so much: (1 - 1/k) stays below 1, so the saving stays below f3/f. Ask for that before you "
            "search or divide, and return 0"
        )
    known = [
        (
            "⌈1/wanted⌉ is the formula of [002] with ε for the saving: ε is what may be LEFT there",
            wanted and _ceil(1 / wanted),
        ),
        (
            "the share f3/f is forgotten: 1 - 1/k is saved of f3 only, not of the whole step",
            wanted < 1 and _ceil(1 / (1 - wanted)),
        ),
        (
            "rounded numbers: compute with Fraction(1, k) and Fraction(f3, f), which are exact",
            _by_floats(*args),
        ),
        ("at least `wanted` is asked for: a k that saves exactly that is enough", _strict(*args)),
        ("one too many", _smallest(*args) + 1),
        ("one too few: round up", _smallest(*args) - 1),
    ]
    if got == 0:
        return "0 means that no k is enough, and here one is"
    return next((text for text, k in known if k == got), None)


@function_check("smallest_k", slow=True)
def check_smallest_k(fn, *, rng):
    """Exact, also where k saves just what is wanted; 0 where no k does; never an endless search."""
    plan = _smallest_plan(rng)
    must_end(fn, [args for args, _ in plan], _ENDLESS)
    for args, label in plan:
        got = fn(*args)
        where = f"f1, f2, f3 = {args[0]}, {args[1]}, {args[2]}; wanted = {args[3]}: {label}"
        require(
            got is not None,
            "smallest_k returned None",
            where=where,
            cause="end with `return k`; where no k is enough, return 0",
        )
        whole = (
            isinstance(got, int)
            or (hasattr(got, "dtype") and got.dtype.kind in "iu")
            or (isinstance(got, Fraction) and got.denominator == 1)
        )
        require(whole, "k must be a whole number", got=a_thing(got), where=where)
        cause = _cause_of_k(got, args)
        if args[3] == 0:
            zero = "0 means that no k is enough, and here one is: " * (got == 0)
            cause = zero + "nothing is wanted, and one thread saves nothing: begin with k = 1"
        if "rounding" in label and got == _smallest(*args) + 1:
            cause = "rounded numbers: (1 - 1/k) * f3 / f is a hair below `wanted`. Fraction(1, k) is exact"
        require(
            got == _smallest(*args),
            "that is not the smallest k that saves as much",
            got=f"k = {got}",
            wanted=f"k = {_smallest(*args)}",
            where=where,
            cause=cause,
        )
    return f"{len(plan)} costs and savings, the impossible ones among them"
