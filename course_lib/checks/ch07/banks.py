"""The check of `ways`: fresh index patterns of a warp, and what the engine counts for each."""

import math

import numpy as np

from course_lib.checks.kit.freeform import property_check, require
from course_lib.checks.kit.kernels.running import traced
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.words import not_a_function

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
    words = np.asarray(words, np.int32)
    report = traced(PROBE, "probe", 1, 32, [words, np.full(32, np.nan, np.float32)])
    return report.total("wavefronts", space="shared", op="load")


def patterns(rng):
    """[(label, rows, columns, width)]: thread t of a warp reads tile[rows[t]][columns[t]]. Each seed gives others."""
    t, width, c = np.arange(32), int(rng.choice([20, 24, 28, 36, 40, 48])), int(rng.integers(0, 20))
    odd, high, step = (
        2 * int(rng.integers(17, 30)) + 1,
        int(rng.choice([4, 8, 16])),
        int(rng.choice([2, 4, 6, 8, 12])),
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
            t // 2,
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


def _by_lanes(w):
    return max(np.bincount(w % 32))


def _banks(w, bank):
    """Different words in the fullest bank, with another rule for the bank."""
    return max(np.bincount(bank(np.unique(w)), minlength=32)[:32])


ROWS = "tile[r][c] is word r * width + c: a step down is a whole row further"
ALIKE = "the rows of this tile are `width` words long, not 32: tile[r][c] is word r * width + c"
BANK = "the bank is w // 32 here: word w lies in bank w % 32"
KNOWN = [
    (lambda r, c, n: 1, "always 1: two different words in one bank take two wavefronts"),
    (
        lambda r, c, n: _by_lanes(word(r, c, n)),
        "the threads of each bank were counted: threads that want the same word get it "
        "together (a broadcast), so count "
        "different words",
    ),
    (lambda r, c, n: _banks(word(c, r, n), lambda w: w % 32), ROWS),
    (lambda r, c, n: _banks(word(r, c, 32), lambda w: w % 32), ALIKE),
    (
        lambda r, c, n: len(np.unique(word(r, c, n))),
        "all different words were counted: each bank hands out a word at the same time, so "
        "count for each bank and take "
        "the largest",
    ),
    (
        lambda r, c, n: len(np.unique(word(r, c, n) % 32)),
        "the banks were counted: the number of different words in the fullest bank is asked for",
    ),
    (
        lambda r, c, n: 32 // len(np.unique(word(r, c, n) % 32)),
        "the threads were dealt out evenly over the banks in use: one bank may be asked "
        "for more words than another, and "
        "threads that want the same word get it together",
    ),
    (lambda r, c, n: _banks(word(r, c, n), lambda w: w // 32), BANK),
    (lambda r, c, n: _banks(word(r, c, n), lambda w: w // 32 % 32), BANK),
    (lambda r, c, n: _banks(word(r, c, n), lambda w: w % 16), "16 banks: there are 32"),
    (
        lambda r, c, n: _banks(word(r, c, n), lambda w: 4 * w % 32),
        "32 banks of single bytes: an index counts words of 4 bytes already",
    ),
    (
        lambda r, c, n: _banks(word(r, c, n), lambda w: w % 32) - 1,
        "one too few: without any conflict it takes 1 wavefront",
    ),
    (
        lambda r, c, n: math.gcd(*(int(d) for d in np.diff(word(r, c, n))[:1]), 32),
        "the rule for strides: here the words need not lie at equal distances",
    ),
]


@property_check("ways")
def check_ways(fn, *, rng):
    """For every pattern, what the student's function says and what the engine counts."""
    if not callable(fn):
        raise CheckFailed(not_a_function("ways", fn))
    plan = patterns(rng)
    said = [fn(rows.copy(), columns.copy(), width) for _, rows, columns, width in plan]
    require(
        all(value is not None for value in said), "ways returned None", cause="end with `return`"
    )
    whole = all(
        isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in said
    )
    require(
        whole,
        "the number of wavefronts is a whole number",
        got=repr(said[0]),
        cause="return an int",
    )
    wanted = [counted(word(*pattern[1:])) for pattern in plan]
    wrong = [i for i, (got, want) in enumerate(zip(said, wanted, strict=True)) if got != want]
    if wrong:
        cause = next(
            (text for known, text in KNOWN if [known(*pattern[1:]) for pattern in plan] == said),
            None,
        )
        label, rows, columns, width = plan[wrong[0]]
        first = ", ".join(f"tile[{r}][{c}]" for r, c in zip(rows[:5], columns[:5], strict=True))
        require(
            False,
            f"{len(wrong)} of {len(plan)} patterns are not as the engine counts them: {label}",
            where=f"float tile[...][{width}]; threads 0, 1, 2, ... read {first}, ...",
            got=str(said[wrong[0]]),
            wanted=f"{wanted[wrong[0]]}, as counted",
            cause=cause,
        )
    return f"{len(plan)} patterns, each as the engine counts it"
