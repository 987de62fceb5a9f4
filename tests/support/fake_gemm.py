"""What a launch of a rung does on the stand-ins for PyCUDA and CuPy: the product by NumPy, from its arguments."""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def run_gemm(args, memory, inexact=False):
    """args: as kernels/gemm_*.cu declare them; memory(argument): its floats, flat. inexact: factors as in TF32."""
    M, N, K = map(int, args[:3])
    A, B, D = (
        _matrix(memory(args[at]), shape, strides)
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
