"""`gemm` under the CPU engine's tracer: the same product, and what the kernel did to get it."""

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu.gemm import RUNGS, check, turned
from course_lib.machines.cpu_engine import trace


def trace_gemm(A, B, C=None, alpha=1, beta=0, kernel="register_16x4"):
    """D = alpha A B + beta C, as `gemm`: returns (D, the engine's Report), on a machine with a GPU too.

    A: (M, K), B: (K, N), C and D: (M, N), NumPy arrays of float32; C stays as it is. D is stored as C is, or by rows.
    The report's arrays have the kernel's names. It gets D^T = B^T A^T where the rung wants D the other way than it is
    stored (register_16x4 and D by rows): then "A" is B^T and "B" is A^T. With beta = 0 it gets no C, a null pointer.
    Small matrices: a second for about 15 million accesses. Raises BadInput as `gemm` does.
    """
    if not all(X is None or isinstance(X, np.ndarray) for X in (A, B, C)):
        what = "pass NumPy arrays, not device arrays (their .get())"
        raise BadInput(f"the tracer runs on this machine's CPU: {what}")
    check(A, B, C, beta, kernel)
    A, B, C = (X if X is None or X.flags.forc else np.ascontiguousarray(X) for X in (A, B, C))
    B = B.copy("K") if np.may_share_memory(A, B) else B  # or both would be told of as "A"
    # nothing but NaN: counts as not written yet
    D = np.full((A.shape[0], B.shape[1]), np.nan, np.float32)
    D = D if C is None or C.flags.c_contiguous else np.asfortranarray(D)
    rung = RUNGS[kernel]
    (M, N, K), left, right, out = turned(rung, A, B, D)
    left, right, out = ((_memory(X), *strides) for X, *strides in (left, right, out))
    old = (_memory(C) if beta else None, *out[1:])
    args = rung.arguments(M, N, K, alpha, left, right, beta, old, out)
    return D, trace(rung.source, f"gemm_{kernel}", rung.grid(M, N), rung.block, args, timeout=120)


def trace_steps(A, B, kernel="naive", step=1, block=0):
    """Reports of one block's walk through K: of its first step, of its first two, and so on to all of them.

    A: (M, K), B: (K, N), float32 and row-major. step: how many k the kernel takes at a time. block: its number.
    Every report is of a launch with a smaller K on the same memory, so that all addresses are those of the whole.
    """
    check(A, B, None, 0, kernel)
    rung, (M, K), N = RUNGS[kernel], A.shape, B.shape[1]
    reports = []
    for end in (*range(step, K, step), K):
        D = np.full((N, M) if rung.by_columns else (M, N), np.nan, np.float32)
        out = (D, 1, M) if rung.by_columns else (D, N, 1)
        args = rung.arguments(M, N, end, 1, (A, K, 1), (B, N, 1), 0, (None, *out[1:]), out)
        shape = rung.grid(M, N), rung.block
        reports.append(trace(rung.source, f"gemm_{kernel}", *shape, args, blocks=[block]))
    return reports


def _memory(X):
    """The same memory as an array stored by rows."""
    return X if X.flags.c_contiguous else X.T
