"""The check of the sectors that a request touches: the student's count against the engine's, on fresh patterns."""

import re
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.freeform import property_check, require
from course_lib.checks.kit.kernels.running import traced
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.words import not_a_function

READS = {
    1: ("char", "{A}"),
    4: ("float", "{A}"),
    8: ("double", "(float){A}"),
    16: ("float4", "sum4({A})"),
}
SOURCE = """
__device__ float sum4(float4 v) {{ return v.x + v.y + v.z + v.w; }}
__global__ void pattern({parameters}, float *out)
{{
    int i = threadIdx.x;
    float v = 0;
{lines}
    out[i] = v;
}}
"""


@dataclass(frozen=True)
class Pattern:
    """What a warp asks for: an expression in i (C and Python alike, // for whole numbers), lanes at work, bytes."""

    expression: str
    lanes: int
    size: int

    def indices(self):
        return [
            eval(self.expression, {"i": i}) for i in range(self.lanes)
        ]  # our own text, not the student's

    def c_line(self, name):
        at = f"{name}[{self.expression.replace('//', '/')}]"
        return f"    if (i < {self.lanes}) v += {READS[self.size][1].format(A=at)};"


def patterns(rng):
    """Fresh patterns: strides, offsets, pieces of rows, one word for several lanes, few lanes, other sizes."""
    a, b, c = (int(k) for k in rng.integers(1, 8, 3))
    ld = int(rng.integers(5, 20)) * 8
    return [
        Pattern("i", 32, 4),
        Pattern(f"{a} + i", 32, 4),
        Pattern(f"{b + 1} * i", 32, 4),
        Pattern(f"{ld} * i", 32, 4),
        Pattern(f"i // {c + 1} + {8 * a}", 32, 4),
        Pattern("31 - i", 32, 4),
        Pattern(f"{ld + b}", 32, 4),
        Pattern(f"i // 8 * {ld} + i % 8", 32, 4),
        Pattern(f"i % 4 * {ld} + i // 4 + {a}", 32, 4),
        Pattern(f"{c + 1} * i", int(rng.integers(3, 12)), 4),
        Pattern(f"{3 + 2 * b} * i % 32", 32, 4),
        Pattern("i", 32, 8),
        Pattern("i", 32, 16),
        Pattern(f"{a} + 2 * i", 32, 1),
        Pattern(f"{b} * i", 32, 8),
    ]


def count_by_engine(plan):
    """Sectors of each pattern, from one traced warp."""
    names = [f"A{k}" for k in range(len(plan))]
    named = list(zip(names, plan, strict=True))
    source = SOURCE.format(
        parameters=", ".join(f"const {READS[p.size][0]} *{name}" for name, p in named),
        lines="\n".join(p.c_line(name) for name, p in named),
    )
    arrays = [np.zeros((max(p.indices()) + 1) * p.size, np.uint8) for p in plan]
    report = traced(source, "pattern", 1, 32, [*arrays, np.zeros(32, np.float32)])
    return [report.total("sectors", array=name) for name in names]


WRONG = (
    (
        lambda at, size: len(set(at)),
        "different elements are counted: several of them may lie in one sector",
    ),
    (
        lambda at, size: len(at),
        "lanes are counted: all that ask for the same sector get it at once",
    ),
    (
        lambda at, size: -(-len(at) * size // 32),
        "bytes asked for over 32: only right where neighbours ask for neighbours",
    ),
    (
        lambda at, size: -(-len(set(at)) * size // 32),
        "different bytes over 32: the ideal, not what is touched",
    ),
    (
        lambda at, size: max(at) * size // 32 - min(at) * size // 32 + 1,
        "sectors between the first and the last byte are counted, although nobody asks for those in the middle",
    ),
    (
        lambda at, size: -(-((max(at) - min(at) + 1) * size) // 32),
        "the stretch from first to last over 32: neither where it begins nor its holes are looked at",
    ),
    (
        lambda at, size: len({i * 4 // 32 for i in at}),
        "4 bytes for each element, whatever their size",
    ),
    (
        lambda at, size: len({i // 32 for i in at}),
        "the elements' numbers are divided by 32: bytes are meant",
    ),
    (
        lambda at, size: len({i * size // 128 for i in at}),
        "lines of 128 bytes are counted: a sector has 32",
    ),
    (
        lambda at, size: len({i * size // 32 for i in at}) * 32,
        "bytes are returned: the number of sectors is asked for",
    ),
)


@property_check("sectors")
def check_sectors(fn, *, rng):
    """The number of sectors of a request, for patterns of this seed, as the engine counts them."""
    if not callable(fn):
        raise CheckFailed(not_a_function("sectors", fn))
    plan = patterns(rng)
    counted = count_by_engine(plan)
    got = [fn(p.indices(), p.size) for p in plan]
    for pattern, mine, engine in zip(plan, got, counted, strict=True):
        where = f"A[{re.sub('//', '/', pattern.expression)}], i = 0 to {pattern.lanes - 1}, {pattern.size} bytes each"
        require(
            mine is not None,
            "sectors returned None",
            cause="end with `return` and the number of sectors",
        )
        whole = isinstance(mine, (int, np.integer)) and not isinstance(mine, bool)
        require(
            whole,
            "a number of sectors is a whole number",
            got=str(mine),
            wanted=str(engine),
            where=where,
            cause=_not_whole(mine),
        )
        require(
            mine == engine,
            "not what the engine counts",
            got=str(mine),
            wanted=str(engine),
            where=where,
            cause=_cause(plan, got),
        )
    return f"{len(plan)} patterns, each as the engine counts it"


def _not_whole(mine):
    if isinstance(mine, float | np.floating):
        return "/ gives a fraction: the number of a sector is byte // 32"
    return "how many they are is asked for: len(...)" if hasattr(mine, "__len__") else None


def _cause(plan, got):
    return next(
        (
            text
            for wrong, text in WRONG
            if all(wrong(p.indices(), p.size) == mine for p, mine in zip(plan, got, strict=True))
        ),
        None,
    )
