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


def _model(M, N, K, T, a=None, b=None, per_request=4, numbers=4, tiles=2):
    """The model with a part replaced: how often A and B are loaded, sectors of a request, bytes of a number, tiles."""
    loaded = M * K * (N // T if a is None else a) + K * N * (M // T if b is None else b)
    requests, sectors = loaded // 32, loaded // 32 * per_request
    return requests, sectors, 2 * M * N * K / (32 * sectors), T * T, tiles * numbers * T * T


KNOWN = [
    (
        lambda M, N, K, T: _model(M, N, K, T, M // T, N // T),
        "A is loaded once for each block across, N / T times, and B once for each block down, M / T times: not the "
        "other way round",
    ),
    (
        lambda M, N, K, T: _model(M, N, K, T, N, M),
        "that is algorithm 1: with tiles, A is loaded N / T times and B M / T times",
    ),
    (
        lambda M, N, K, T: _model(M, N, K, T, 1, 1),
        "each matrix once: but every block across loads A again, and every block down B",
    ),
    (
        lambda M, N, K, T: _model(M, N, K, T, per_request=1),
        "a request of 32 neighbouring floats is 128 bytes: 4 sectors",
    ),
    (
        lambda M, N, K, T: _model(M, N, K, T, per_request=32),
        "32 sectors a request: neighbouring threads share a sector here",
    ),
    (
        lambda M, N, K, T: _model(M, N, K, T, tiles=1),
        "two tiles lie in shared memory, one of A and one of B",
    ),
    (lambda M, N, K, T: _model(M, N, K, T, numbers=1), "a float has 4 bytes"),
    (
        lambda M, N, K, T: (lambda r, s, f, *rest: (32 * r, s, f, *rest))(*_model(M, N, K, T)),
        "a request serves the 32 threads of a warp: so many loads of a thread are 1/32 as many requests",
    ),
    (
        lambda M, N, K, T: (lambda r, s, f, *rest: (r, s, f / 2, *rest))(*_model(M, N, K, T)),
        "a multiplication and an addition are two flops",
    ),
    (
        lambda M, N, K, T: (lambda r, s, f, *rest: (r, s, 1 / f, *rest))(*_model(M, N, K, T)),
        "bytes a flop: turn it over",
    ),
    (
        lambda M, N, K, T: (lambda r, s, f, *rest: (r, s, 4 * f, *rest))(*_model(M, N, K, T)),
        "flops for each number loaded: a number has 4 bytes",
    ),
    (
        lambda M, N, K, T: (*_model(M, N, K, T)[:4], 8 * T * (T + 1)),
        "these tiles have no padding: rows of a row and a broadcast need none",
    ),
    (
        lambda M, N, K, T: (_model(M, N, K, T)[0] * 32 // T, *_model(M, N, K, T)[1:]),
        "a request serves a warp, and a warp of a T x T block covers 32 / T rows of the tile",
    ),
    (
        lambda M, N, K, T: (lambda r, s, f, *rest: (r + M * N // 32, s + M * N // 8, f, *rest))(
            *_model(M, N, K, T)
        ),
        "the stores of D are counted as well: the loads of A and B are asked for",
    ),
    (
        lambda M, N, K, T: (lambda r, s, f, t, b: (r, s, f, T, b))(*_model(M, N, K, T)),
        "a block has T x T threads",
    ),
]


def _numbers(value):
    """As floats: whole numbers of any type will do."""
    return (
        tuple(float(number) for number in value)
        if isinstance(value, tuple) and len(value) == 5
        else value
    )


check_tile_cost = Check(
    "tile_cost", _cases, counted, post=_numbers, K=8, dtype=None, parts=PARTS, diagnoses=KNOWN
)
