"""The check of `tile_cost`: the model held against what the engine counts for tiles of 8, 16 and 32."""

import numpy as np

from course_lib.checks.kit.core import Case, Check
from course_lib.checks.kit.kernels.running import traced

ANY_T = r"""
__global__ void any_t(int N, int K, int T, const float *A, const float *B, float *D)
{
    extern __shared__ float both[];
    float *a = both, *b = both + T * T;
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * T + y, j = blockIdx.x * T + x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        a[y * T + x] = A[i * K + k0 + x];
        b[y * T + x] = B[(k0 + y) * N + j];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += a[y * T + k] * b[k * T + x];
        __syncthreads();
    }
    D[i * N + j] = sum;
}
"""
PARTS = ("requests", "sectors", "flops a byte", "threads", "shared bytes")


def counted(M, N, K, T):
    """What the engine counts of the loads of A and B, as tile_cost returns it."""
    A, B, D = (
        np.ones((M, K), np.float32),
        np.ones((K, N), np.float32),
        np.full((M, N), np.nan, np.float32),
    )
    args = [np.int32(N), np.int32(K), np.int32(T), A, B, D]
    report = traced(ANY_T, "any_t", (N // T, M // T), (T, T), args, shared=8 * T * T)
    requests, sectors = (
        report.total(what, space="global", op="load") for what in ("requests", "sectors")
    )
    return requests, sectors, 2 * M * N * K / (32 * sectors), T * T, 8 * T * T


def _cases(rng):
    def sizes(T, most):
        return [T * int(n) for n in rng.permutation(most)[:3] + 1]

    return [Case((*sizes(T, most), T), f"T = {T}") for T, most in ((8, 6), (16, 5), (32, 3))]


def _numbers(value):
    """As floats: whole numbers of any type will do."""
    return (
        tuple(float(number) for number in value)
        if isinstance(value, tuple) and len(value) == 5
        else value
    )


check_tile_cost = Check("tile_cost", _cases, counted, post=_numbers, K=8, dtype=None, parts=PARTS)
