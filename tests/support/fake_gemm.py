"""What a launch of a rung does on the stand-ins for PyCUDA and CuPy: the product by NumPy, from its arguments."""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def run_gemm(args, memory, inexact=False):
    """args: as kernels/gemm_*.cu declare them; memory(argument, dtype): its numbers, flat. inexact: as in TF32."""
    M, N, K = map(int, args[:3])
    if len(args) == 9:  # of half precision, which TF32 holds exactly; by rows
        A, B = memory(args[4], np.float16), memory(args[5], np.float16)
        D = memory(args[8], np.float32).reshape(M, N)
        product = A.reshape(M, K).astype(np.float32) @ B.reshape(K, N).astype(np.float32)
        D[...] = args[3] * product + (args[6] * D if args[6] else 0)
        return
    A, B, D = (
        _matrix(memory(args[at], np.float32), shape, strides)
        for at, shape, strides in (
            (4, (M, K), args[5:7]),
            (7, (K, N), args[8:10]),
            (12, (M, N), args[13:15]),
        )
    )
    if inexact:
        A, B = _rounded(A), _rounded(B)
    D[...] = args[3] * (A @ B) + (args[10] * D if args[10] else 0)


def _matrix(floats, shape, strides):
    return as_strided(floats, shape, [4 * int(stride) for stride in strides])


def _rounded(X):
    """The ten bits of fraction that TF32 keeps."""
    bits = np.ascontiguousarray(X).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)
