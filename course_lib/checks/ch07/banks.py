"""The check of `ways`: fresh index patterns of a warp, and what the engine counts for each."""

import functools

import numpy as np

from course_lib.checks.kit.freeform import function_check, require
from course_lib.checks.kit.kernels.running import traced

WORDS = 4096
PROBE = f"""
__global__ void probe(const int *words, float *y)
{{
    __shared__ float s[{WORDS}];
    const int t = threadIdx.x;
    for (int i = t; i < {WORDS}; i += 32) s[i] = i;
    __syncwarp();
    y[t] = s[words[t]];
}}
"""


def counted(words):
    """How many wavefronts the engine counts for a warp's load of these 32 words."""
    return _counted(tuple(int(word) for word in words))


@functools.lru_cache(maxsize=64)  # known mistakes are tried on the same patterns
def _counted(words):
    words = np.array(words, np.int32)
    report = traced(PROBE, "probe", 1, 32, [words, np.full(32, np.nan, np.float32)])
    return report.total("wavefronts", space="shared", op="load")


def patterns(rng):
    """[(label, rows, columns, width)]: thread t of a warp reads tile[rows[t]][columns[t]]. Each seed gives others."""
    t, width, c = np.arange(32), int(rng.choice([20, 24, 28, 36, 40, 48])), int(rng.integers(0, 20))
    odd, high, step = (
        2 * int(rng.integers(17, 30)) + 1,
        int(rng.choice([4, 8, 16])),
        int(rng.choice([4, 8, 12])),  # so that two words of one row are always in the same bank
    )
    return [
        ("a row", t * 0 + c, t, 32),
        (f"a column of a tile {odd} wide", t, t * 0 + c, odd),
        (f"a column of a tile {width} wide", t, t * 0 + c, width),
        ("a column of a tile 32 wide", t, t * 0 + c, 32),
        ("a column of a tile 33 wide", t, t * 0 + c, 33),
        ("one element for all", t * 0 + 3, t * 0 + c, width),
        (
            f"a column of a tile {width} wide, each element for two threads",
            t % 16,  # no neighbours
            t * 0 + c,
            width,
        ),
        (
            f"{high} rows of {32 // high} columns: tile[t % {high}][t / {high}]",
            t % high,
            t // high,
            32,
        ),
        (
            f"two rows, columns {step} apart: tile[t % 2][{step} * (t / 2)]",
            t % 2,
            t // 2 * step,
            200,
        ),
        (
            "16 elements of a row, then 16 of a column: tile[40][t], tile[t][5]",
            np.where(t < 16, 40, t),
            np.where(t < 16, t, 5),
            32,
        ),
        ("a diagonal: tile[t][31 - t]", t, 31 - t, width + 12),
        ("a row in another order", t * 0 + 1, rng.permutation(32), width + 12),
        ("32 elements at random", rng.integers(0, 60, 32), rng.integers(0, width, 32), width),
        (
            "32 elements at random of two rows, some twice",
            rng.integers(0, 2, 32),
            rng.integers(0, width, 32),
            width,
        ),
    ]


def word(rows, columns, width):
    """The index of the word of each thread."""
    return rows * width + columns


@function_check("ways")
def check_ways(fn, *, rng):
    """For every pattern, what the student's function says and what the engine counts."""
    plan = patterns(rng)
    said = [fn(rows.copy(), columns.copy(), width) for _, rows, columns, width in plan]
    none = [label for (label, *_), value in zip(plan, said, strict=True) if value is None]
    every = "end with `return`" if len(none) == len(plan) else None
    some = every or f"no `return` was reached for {none[0] if none else ''}"
    require(not none, "ways returned None", cause=some)
    odd = [v for v in said if not isinstance(v, (int, np.integer)) or isinstance(v, bool)]
    require(
        not odd,
        "the number of wavefronts is a whole number",
        got=repr(odd[:1])[1:-1],
        cause="return an int",
    )
    wanted = [counted(word(*pattern[1:])) for pattern in plan]
    wrong = [i for i, (got, want) in enumerate(zip(said, wanted, strict=True)) if got != want]
    if wrong:
        label, rows, columns, width = plan[wrong[0]]
        first = ", ".join(f"tile[{r}][{c}]" for r, c in zip(rows[:5], columns[:5], strict=True))
        require(
            False,
            f"{len(wrong)} of {len(plan)} patterns are not as the engine counts them: {label}",
            where=f"float tile[...][{width}]; threads 0, 1, 2, ... read {first}, ...",
            got=str(said[wrong[0]]),
            wanted=f"{wanted[wrong[0]]}, as counted",
        )
    return f"{len(plan)} patterns, each as the engine counts it"
