"""The check of the sectors that a request touches: the student's count against the engine's, on fresh patterns."""

import numpy as np

from course_lib.checks.kit.core import Case, Check
from course_lib.checks.kit.kernels.running import traced

TYPES = {1: "char", 4: "float", 8: "double", 16: "float4"}
LOAD = """
__global__ void load{size}(const {type} *A, const int *at, char *out)
{{
    {type} v = A[at[threadIdx.x]];
    out[threadIdx.x] = *(const char *)&v;
}}
"""
SOURCE = "".join(LOAD.format(size=size, type=name) for size, name in TYPES.items())


def _cases(rng):
    """Strides, offsets, pieces of rows, one word for several lanes, few lanes, other sizes, far and near again."""
    a, b, c = (int(k) for k in rng.integers(1, 8, 3))
    ld, few = int(rng.integers(5, 20)) * 8, int(rng.integers(3, 12))
    patterns = [
        ("i", 32, 4),
        (f"{a} + i", 32, 4),
        (f"{b + 1} * i", 32, 4),
        (f"{ld} * i", 32, 4),
        (f"i // {c + 1} + {8 * a}", 32, 4),
        ("31 - i", 32, 4),
        (f"{ld + b}", 32, 4),
        (f"i // 8 * {ld} + i % 8", 32, 4),
        (f"i % 4 * {ld} + i // 4 + {a}", 32, 4),
        (f"{c + 1} * i", few, 4),
        (f"{3 + 2 * b} * i % 32", 32, 4),
        ("i", 32, 8),
        ("i", 32, 16),
        (f"{a} + 2 * i", 32, 1),
        (f"{b} * i", 32, 8),
        (f"i % 8 * {b}", 32, 16),
    ]
    return [
        Case((_indices(text, lanes), size), f"A[{text.replace('//', '/')}], i = 0 to {lanes - 1}")
        for text, lanes, size in patterns
    ]


def _indices(expression, lanes):
    return [eval(expression, {"i": i}) for i in range(lanes)]  # our own text, not the student's


def _counted(indices, size):
    """The sectors of one traced load."""
    at, A = np.array(indices, np.int32), np.zeros((max(indices) + 1) * size, np.uint8)
    args = [A, at, np.zeros(len(at), np.uint8)]
    return traced(SOURCE, f"load{size}", 1, len(at), args).total("sectors", array="A")


check_sectors = Check("sectors", _cases, lambda indices, size: _counted(indices, size), dtype=None)
