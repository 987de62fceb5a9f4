"""The check of `ways`: fresh index patterns of a warp, and what the engine counts for each."""

import numpy as np

from course_lib.gpu.cpu_engine import trace

from .freeform import property_check, require
from .messages import CheckFailed
from .words import not_a_function

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
    report = trace(PROBE, "probe", 1, 32, [words, np.full(32, np.nan, np.float32)])
    return report.total("wavefronts", space="shared", op="load")


def patterns(rng):
    """[(label, words)]: words[t] is what thread t of a warp reads. Fresh ones from each seed."""
    t, odd, even = np.arange(32), 2 * int(rng.integers(1, 30)) + 1, int(rng.choice([2, 4, 6, 8, 12, 16, 24]))
    width, start = int(rng.choice([20, 24, 28, 36, 40, 48])), int(rng.integers(1, 500))
    rows = int(rng.choice([4, 8, 16]))
    return [
        ("t", t),
        (f"{odd} * t, an odd stride", odd * t),
        (f"{even} * t + {start}", even * t + start),
        (f"one word for all, {start}", t * 0 + start),
        ("a column of float tile[32][32]", 32 * t + start % 32),
        ("a column of float tile[32][33]", 33 * t + start % 32),
        (f"a column of float tile[32][{width}]", width * t + start % width),
        (f"{rows} rows of {32 // rows}: tile[t % {rows}][t / {rows}] of float tile[32][32]",
         32 * (t % rows) + t // rows),
        ("each word for two threads: t / 2 * 32", t // 2 * 32),
        ("words 0 and 32, for every other thread", t % 2 * 32),
        (f"{start} + t in another order", start + rng.permutation(32)),
        ("32 words at random", rng.integers(0, WORDS, 32)),
        ("32 of 64 words at random, some twice", rng.integers(0, 64, 32)),
    ]


def _by_lanes(words):
    return max(np.bincount(words % 32))


KNOWN = [
    (lambda w: 1, "always 1: two different words in one bank take two wavefronts"),
    (_by_lanes, "the threads of each bank were counted: threads that want the same word get it together (a "
                "broadcast), so "
                "count different words"),
    (lambda w: len(set(w.tolist())), "all different words were counted: each bank hands out a word at the same time, "
                                     "so "
                                     "count for each bank and take the largest"),
    (lambda w: len(set((w % 32).tolist())), "the banks were counted: the number of different words in the fullest "
                                            "bank is "
                                            "asked for"),
    *((bank, "the bank is w // 32 here: word w lies in bank w % 32") for bank in (
        lambda w: max(np.bincount(np.unique(w) // 32)), lambda w: max(np.bincount(np.unique(w) // 32 % 32)),
        lambda w: max(np.bincount(np.unique(w) // 32, minlength=32)[:32]))),
    (lambda w: max(np.bincount(np.unique(w) % 16)), "16 banks: there are 32"),
    (lambda w: max(np.bincount(np.unique(w * 4) % 32)), "32 banks of single bytes: an index counts words of 4 bytes "
                                                        "already"),
    (lambda w: max(np.bincount(np.unique(w) % 32)) - 1, "one too few: without any conflict it takes 1 wavefront"),
    (lambda w: int(np.gcd(w[1] - w[0], 32)), "the rule for strides: here the words need not lie at equal distances"),
]  # fmt: skip


@property_check("ways")
def check_ways(fn, *, rng):
    """For every pattern, what the student's function says and what the engine counts."""
    if not callable(fn):
        raise CheckFailed(not_a_function("ways", fn))
    plan = [(label, np.asarray(words, np.int64)) for label, words in patterns(rng)]
    said = [fn(words.copy()) for _, words in plan]
    wanted = [counted(words) for _, words in plan]
    require(all(value is not None for value in said), "ways returned None", cause="end with `return`")
    whole = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in said)
    require(whole, "the number of wavefronts is a whole number", got=repr(said[0]), cause="return an int")
    wrong = [i for i, (got, want) in enumerate(zip(said, wanted, strict=True)) if got != want]
    if wrong:
        cause = next((text for known, text in KNOWN if [known(words) for _, words in plan] == said), None)
        label, words = plan[wrong[0]]
        require(False, f"{len(wrong)} of {len(plan)} patterns are not as the engine counts them: {label}",
                where=f"words {', '.join(map(str, words[:8]))}, ...", got=str(said[wrong[0]]),
                wanted=f"{wanted[wrong[0]]}, as counted", cause=cause)  # fmt: skip
    return f"{len(plan)} patterns, each as the engine counts it"
