"""The checks of the model of copies and arithmetic, and of the crossover."""

from numbers import Real

import numpy as np

from course_lib.checks.kit.core import Case, Check
from course_lib.checks.kit.freeform import function_check, require


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


check_gpu_seconds = Check("gpu_seconds", _seconds_cases, _seconds, K=8, dtype=None)


def _plan(rng):
    """(label, sizes, CPU's seconds, GPU's seconds): where the lines cross differs from table to table."""
    sizes = np.sort(rng.choice(np.arange(1, 500), 8, replace=False)) * 8
    cpu, at = np.sort(rng.uniform(1, 9, 8)), np.arange(8)

    def table(label, slow, slower=1.5, quicker=0.5):
        times = cpu * np.where(np.isin(at, slow), slower, quicker)
        return label, sizes.tolist(), cpu.tolist(), times.tolist()

    return [
        table("crosses once", (0, 1, 2)),
        table("the CPU is always quicker", at),
        table("the GPU is always quicker", ()),
        table("the CPU wins once more in between", (0, 1, 3)),
        table("the CPU wins once more, after the middle", (0, 1, 5)),
        table("only the last size", at[:-1]),
        table("the CPU wins at the last size", (7,)),
        table("equal times at one size", (2,), slower=1),
        table("the GPU is quicker by next to nothing", (0, 1), quicker=1 - 1e-12),
        ("one size alone", [64], [2.0], [1.0]),
    ]


def _crossover(sizes, cpu, gpu):
    best = None
    for n, c, g in zip(sizes[::-1], cpu[::-1], gpu[::-1], strict=True):
        if not g < c:
            break
        best = n
    return best


def _same(got, want):
    number = isinstance(got, Real) and not isinstance(got, bool)
    return got is want or (want is not None and number and got == want)


@function_check("crossover")
def check_crossover(fn, *, rng):
    """The first size from which on the GPU stays quicker, or None."""
    plan = _plan(rng)
    answers = [(*table, _asked(fn, *table[1:]), _crossover(*table[1:])) for table in plan]
    right = [label for label, *_, got, want in answers if _same(got, want)]
    for label, sizes, cpu, gpu, got, want in answers:
        faster = "".join("G" if g < c else "C" for c, g in zip(cpu, gpu, strict=True))
        require(
            _same(got, want),
            f"not the crossover: {label}",
            got=f"{got}; of all tables {', '.join(str(one) for *_, one, _ in answers)}",
            wanted=str(want),
            where=f"sizes {', '.join(map(str, sizes))}; quicker is {faster} (G the GPU, C the CPU); right on: "
            + ("; ".join(right) or "none of the tables"),
        )
    return f"{len(plan)} tables, the crossover of each"


def _asked(fn, sizes, cpu, gpu):
    """What the student's function says of a table; it may not change the list."""
    given = list(sizes)
    table = dict(zip(sizes, zip(cpu, gpu, strict=True), strict=True))
    got = fn(given, lambda n: table[int(n)][0], lambda n: table[int(n)][1])
    require(
        given == sizes,
        "the list of sizes was changed",
        got=str(given),
        wanted=str(sizes),
        cause="sizes.reverse() and sizes.sort() change the caller's list: reversed(sizes) does not"
        if sorted(given, key=str) == sorted(sizes, key=str)
        else "append, insert, pop, remove, del and sizes[...] = ... change the caller's list: make another one",
    )
    return got
