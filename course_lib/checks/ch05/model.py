"""The checks of the model of copies and arithmetic, and of the crossover."""

from numbers import Real

import numpy as np

from course_lib.checks.kit.case import Case
from course_lib.checks.kit.check import Check
from course_lib.checks.kit.freeform import property_check, require
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.words import not_a_function


def _seconds(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    return calls * call + copied / bus + max(flops / rate, moved / memory)


def _seconds_cases(rng):
    def case(flops, moved, copied, calls, label):
        wave = rng.uniform(0.7, 1.4, 4)
        rates = 8e12 * wave[0], 3e11 * wave[1], 1.5e10 * wave[2]
        return Case(
            (flops, moved, copied, calls, *(float(r) for r in rates)),
            label,
            {"call": float(1e-5 * wave[3])},
        )

    n = int(rng.integers(900, 1100))
    by_default = Case(
        case(2e7, 1.2e8, 1.2e8, 4, "").args, "call left out: 10e-6, as in the first line"
    )
    return [
        case(2 * n, 12 * n, 12 * n, 4, "SAXPY on a few numbers"),
        case(2e7, 1.2e8, 1.2e8, 4, "SAXPY, ten million"),
        case(2e7, 1.2e8, 0, 1, "SAXPY, the data there"),
        case(2 * n**3, 12 * n**2, 12 * n**2, 4, "a product"),
        case(2e12, 1e8, 0, 1, "arithmetic alone"),
        case(0, 1e8, 0, 1, "a copy on the device"),
        by_default,
    ]


def _microseconds(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    return _seconds(flops, moved, copied, calls, rate, memory, bus)


def _one_call(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    return _seconds(flops, moved, copied, 1, rate, memory, bus, call)


def _wrong(parts):
    """A known wrong model: parts(launch costs, bus, arithmetic, memory)."""

    def gpu_seconds(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
        return parts(calls * call, copied / bus, flops / rate, moved / memory)

    return gpu_seconds


check_gpu_seconds = Check(
    "gpu_seconds",
    _seconds_cases,
    _seconds,
    K=8,
    dtype=None,
    diagnoses=[
        (_wrong(lambda c, b, f, m: c + b + m), "the arithmetic is missing"),
        (_microseconds, "a fixed number stands where `call` should"),
        (_one_call, "the fixed cost comes with every call: calls times call"),
    ],
)


def _plan(rng):
    """(sizes, CPU's seconds, GPU's seconds, label): where the lines cross differs from table to table."""
    sizes = np.sort(rng.choice(np.arange(1, 500), 8, replace=False)) * 8
    up = np.sort(rng.uniform(1, 9, 8))
    yes, no = up * 0.5, up * 1.5
    return [
        (sizes, up, np.where(np.arange(8) < 3, no, yes), "crosses once"),
        (sizes, up, no, "the CPU is always quicker"),
        (sizes, up, yes, "the GPU is always quicker"),
        (
            sizes,
            up,
            np.where(np.isin(np.arange(8), (0, 1, 3)), no, yes),
            "the CPU wins once more in between",
        ),
        (sizes, up, np.where(np.arange(8) == 7, yes, no), "only the last size"),
        (sizes, up, np.where(np.arange(8) == 7, no, yes), "the CPU wins at the last size"),
        (
            sizes,
            up,
            np.where(np.arange(8) < 2, no, np.where(np.arange(8) == 2, up, yes)),
            "equal times at one size",
        ),
    ]


def _right(sizes, cpu, gpu):
    best = None
    for n, c, g in zip(sizes[::-1], cpu[::-1], gpu[::-1], strict=True):
        if not g < c:
            break
        best = int(n)
    return best


def _without_itself(sizes, cpu, gpu):
    """The first size with the GPU quicker at all larger ones."""
    return next(int(n) for i, n in enumerate(sizes) if (gpu[i + 1 :] < cpu[i + 1 :]).all())


WRONG = (
    (
        lambda s, c, g: next((int(n) for n, x, y in zip(s, c, g, strict=True) if y < x), None),
        "the first size where the GPU wins: further on the CPU wins once more, so it must hold for all that follow",
    ),
    (lambda s, c, g: _right(s, c, g * (1 - 1e-9)), "equal times do not count as quicker"),
    (lambda s, c, g: _right(s, g, c), "the two are mixed up: it is the GPU that has to be quicker"),
    (
        lambda s, c, g: None if (n := _right(s, c, g)) is None else list(s).index(n),
        "its place in the list: the size is asked for",
    ),
    (lambda s, c, g: _right(s, c, g) or 0, "0 for never: return None, 0 could be a size"),
    (lambda s, c, g: _right(s, c, g) or int(s[-1]), "the last size for never: return None"),
    (
        _without_itself,
        "at the size itself the GPU must be quicker too, not only at the larger ones",
    ),
    (
        lambda s, c, g: max(
            (int(n) for n, x, y in zip(s, c, g, strict=True) if y < x), default=None
        ),
        "the last size where the GPU wins: the first one is asked for from which on it always wins",
    ),
)


@property_check("crossover")
def check_crossover(fn, *, rng):
    """The first size from which on the GPU stays quicker, or None."""
    if not callable(fn):
        raise CheckFailed(not_a_function("crossover", fn))
    plan = _plan(rng)
    asked = []
    for sizes, cpu, gpu, _ in plan:
        table = {int(n): (float(c), float(g)) for n, c, g in zip(sizes, cpu, gpu, strict=True)}
        given = [int(n) for n in sizes]
        asked.append(fn(given, lambda n, t=table: t[int(n)][0], lambda n, t=table: t[int(n)][1]))
        require(
            given == [int(n) for n in sizes],
            "the list of sizes was changed",
            got=str(given),
            wanted=str([int(n) for n in sizes]),
            cause="sizes.reverse() and sizes.sort() change the caller's list: "
            "reversed(sizes) does not",
        )
    for got, (sizes, cpu, gpu, label) in zip(asked, plan, strict=True):
        want = _right(sizes, cpu, gpu)
        faster = "".join("G" if g < c else "C" for c, g in zip(cpu, gpu, strict=True))
        number = isinstance(got, Real) and not isinstance(got, bool)
        same = got is want or (want is not None and number and got == want)
        require(
            same,
            f"not the crossover: {label}",
            got=str(got),
            wanted=str(want),
            cause=_cause(asked, plan),
            where=f"sizes {', '.join(map(str, sizes))}; quicker is {faster} (G the GPU, C the CPU)",
        )
    return f"{len(plan)} tables, the crossover of each"


def _cause(asked, plan):
    if any(hasattr(got, "__len__") for got in asked):
        return "one size is asked for, not several"
    return next(
        (
            text
            for wrong, text in WRONG
            if all(wrong(s, c, g) == got for got, (s, c, g, _) in zip(asked, plan, strict=True))
        ),
        None,
    )
