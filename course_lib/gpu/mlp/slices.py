"""Split-K: a kernel made from another one by four lines, so that each block adds up a slice of K only."""

import re

from course_lib.errors import BadInput
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.mlp.activations import source
from course_lib.gpu.mlp.choice import RUNG

# Every slice is a multiple of 32 long, the last one perhaps shorter; its product lies behind the one before.
LINES = """
    const int slice = (K + 32 * gridDim.z - 1) / (32 * gridDim.z) * 32;
    const int k_first = blockIdx.z * slice;
    {left} += k_first * {along}, {right} += k_first * {down}, {out} += blockIdx.z * M * N;
    K = K - k_first < slice ? K - k_first : slice;"""

# what the operands and the result are called, and how far apart neighbours along K lie in them
OPERANDS = {
    f"gemm_{RUNG}": {"left": "A", "along": "a_col", "right": "B", "down": "b_row", "out": "D"},
    "mlp_update": {"left": "A", "along": "a_row", "right": "dZ", "down": "d_row", "out": "V"},
}


def in_slices(kernel):
    """The CUDA C of gemm_warptile or mlp_update, but a launch with gridDim.z = S leaves S partial products M x N."""
    whole = RUNGS[RUNG].source if kernel == f"gemm_{RUNG}" else source("update")
    text, found = re.subn(
        rf"({kernel}\([^)]*\)\s*\{{)", rf"\1{LINES.format(**OPERANDS[kernel])}", whole
    )
    if found != 1:
        raise BadInput(f"{kernel} must begin once in its source, not {found} times")
    return text
