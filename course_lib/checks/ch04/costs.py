"""The checks of chapter 04 on costs: the formulas, the smallest k, the makespan of a schedule."""

from fractions import Fraction

from course_lib.checks.ch04.patience import must_end
from course_lib.checks.ch04.schedules import flat, leapfrog
from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import at, function_check, require_returned
from course_lib.checks.kit.trees import a_thing

# 7. step_costs --------------------------------------------------------------------------------------------------


def _costs(k, f1, f2, f3):
    return f1 + f2 + f3, f1 + f2 + f3 / k, f1 + max(f2, (f2 + f3) / k)


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
    f1, f2, f3 = (float(x) for x in rng.uniform(1, 1.5, 3) * (0.1, 1, 4))
    return [*cases, Case((2, f1, f2, f3), "forward is nearly free")]


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
)

# 8. makespan ----------------------------------------------------------------------------------------------------


def _makespan(tasks, fork, f2, f3):
    free: dict[int, float] = {}
    end: dict[tuple[int, int], float] = {}
    ends = [0.0]
    for n, (thread, kind, layer) in enumerate(tasks):
        source = layer + (kind == "delta")
        there = end.get((thread, source), end.get((0, source), 0.0))
        start = max(free.get(thread, 0.0), there, ends[fork] if n >= fork else 0.0)
        free[thread] = start + (f2 if kind == "delta" else f3)[layer]
        if kind == "delta":
            end.setdefault((thread, layer), free[thread])
        ends.append(free[thread])
    return max(ends)


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
            [(0, "delta", 2), (3, "delta", 1), (0, "grad", 2), (0, "delta", 1), (2, "grad", 1)],
            0,
            [1.0, *some(2, 1, 2)],
            some(3, 4, 6),
        ),
    ]
    crossed = [(0, "delta", 2), (1, "delta", 1), (1, "grad", 1), (0, "grad", 2)]
    costs = some(3, 3, 4), [1.0, 9.0, 1.0]
    second = [(0, "delta", 1), (0, "grad", 1), (1, "delta", 0), (2, "grad", 1)]
    plan.append(("the second child ends last", second, 2, [0.5, 1.0], [0.5, *some(1, 3, 4)]))
    plan.append(("a delta that waits for another thread's", crossed, 0, *costs))
    return [Case((tasks, fork, f2, f3), label) for label, tasks, fork, f2, f3 in plan]


check_makespan = Check(
    "makespan",
    _makespan_cases,
    _makespan,
    K=40,
    dtype=None,
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
        if k > 2 and _hidden_by_rounding(f1 + f2 + f3, f3, k):
            return f1, f2, f3, (1 - Fraction(1, k)) * Fraction(f3, f1 + f2 + f3)


def _hidden_by_rounding(f, f3, k):
    """Does every usual way to compute the saving of k threads in floats miss it? Then no verdict is luck."""
    ways = (
        (1 - 1 / k) * f3 / f,
        (1 - 1 / k) * (f3 / f),
        (k - 1) / k * f3 / f,
        (k - 1) / k * (f3 / f),
        f3 * (k - 1) / k / f,
        f3 / f * (k - 1) / k,
        f3 / f - f3 / f / k,
        (f3 - f3 / k) / f,
        (f - (f - f3 + f3 / k)) / f,
        1 - (f - f3 + f3 / k) / f,
    )
    wanted = (1 - Fraction(1, k)) * Fraction(f3, f)
    return max(ways) < min(wanted, float(wanted))


def _smallest_plan(rng):
    f1, f2, f3 = (int(n) for n in rng.integers(3, 20, 3))
    share = Fraction(f3, f1 + f2 + f3)
    return [
        ((2, 3, 15, Fraction(17, 32)), "between two k"),
        ((1, 1, 2, Fraction(1, 4)), "exactly what 2 threads save"),
        ((1, 1, 2, Fraction(1, 4) + Fraction(1, 10**13)), "a hair more than 2 threads save"),
        ((1, 1, 1, Fraction(1, 6)), "exactly what 2 threads save, of a third"),
        ((1, 1, 1, Fraction(3, 10)), "near the limit of 1/3"),
        ((f1, f2, f3, Fraction(3, 4) * share), "three quarters of the limit"),
        ((0, 0, 5, Fraction(9, 10)), "f3 alone, 90 %"),
        (_float_trap(rng), "exactly what k threads save, but rounding hides it"),
        ((1, 1, 1, Fraction(1, 3) - Fraction(1, 6000)), "two thousand threads"),
        ((2, 3, 4, Fraction(0)), "nothing wanted"),
        ((1, 1, 0, Fraction(0)), "nothing wanted, and no gradients at all"),
        ((1, 2, 0, Fraction(1, 3)), "a third wanted, and no gradients at all"),
        ((1, 1, 1, Fraction(1, 3)), "the limit itself"),
        ((4, 3, 2, Fraction(1, 2)), "more than f3"),
    ]


_ENDLESS = (
    "an endless search: (1 - 1/k) stays below 1, so the saving stays below f3/f, and where more is wanted "
    "there is no such k. Test for that first, and return 0"
)

_ENDLESS_TOO = (
    "it ends not even where a k saves so much: does k grow in each round, and is >= asked, not >?"
)


def _seen(plan, given, wrong):
    """What the wrong numbers have in common, where no known mistake gives them all; or None."""
    f1, f2, f3, wanted = plan[wrong[0]][0]
    if not any(given[i] for i in wrong):
        return "the search gives up too early, or a test before it refuses too much"
    if wanted >= Fraction(f3, f1 + f2 + f3):
        return (
            "no k saves so much: (1 - 1/k) stays below 1, so the saving stays below f3/f. Test for that "
            "before you search or divide, and return 0"
        )
    if all(_is_hit(*plan[i][0]) and given[i] == _smallest(*plan[i][0]) + 1 for i in wrong):
        return (
            "rounded numbers: where a k saves just what is wanted, (1 - 1/k) * f3 / f seems to miss it by a "
            "hair. Fraction is exact for whole numbers: Fraction(f3 / f) has been rounded before"
        )
    return None


def _is_hit(f1, f2, f3, wanted):
    """Does a number of threads save just what is wanted?"""
    share = Fraction(f3, f1 + f2 + f3)
    return 0 < wanted < share and (share / (share - wanted)).denominator == 1


@function_check("smallest_k")
def check_smallest_k(fn, *, rng):
    """Exact, also where k saves just what is wanted; 0 where no k does; never an endless search."""
    plan = _smallest_plan(rng)
    must_end(fn, [args for args, _ in plan if _smallest(*args)], _ENDLESS_TOO)
    must_end(fn, [args for args, _ in plan], _ENDLESS)
    given = [fn(*args) for args, _ in plan]
    for got, (args, label) in zip(given, plan, strict=True):
        with at(_place(args, label)):
            _require_count(got)
    wrong = [i for i, (args, _) in enumerate(plan) if given[i] != _smallest(*args)]
    first = min(wrong, default=0)
    require(
        not wrong,
        f"{len(wrong)} of {len(plan)} are not the smallest k that saves as much",
        got=f"k = {given[first]}"
        + ("" if given[first] else " means that no k is enough, but here one is"),
        wanted=f"k = {_smallest(*plan[first][0])}",
        where=_place(*plan[first]),
        likely=_seen(plan, given, wrong) if wrong else None,
    )
    return f"{len(plan)} costs and savings, the impossible ones among them"


def _place(args, label):
    return f"f1, f2, f3 = {args[0]}, {args[1]}, {args[2]}; wanted = {args[3]}: {label}"


def _require_count(got):
    require_returned(got, "smallest_k", "`return k`; where no k is enough, return 0")
    whole = (
        isinstance(got, int)
        or (hasattr(got, "dtype") and got.dtype.kind in "iu")
        or (isinstance(got, Fraction) and got.denominator == 1)
    )
    require(whole, "k must be a whole number", got=a_thing(got))
