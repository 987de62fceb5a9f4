"""What each rung of the GEMM ladder moves, as arithmetic. A test compares it with what the CPU engine counts."""

from course_lib.errors import BadInput


def gemm_cost(kernel, M, N, K, beta=0):
    """The cost of one launch: a dict of flops; requests (of a warp) and sectors (32 bytes) of global memory for A, B, D
    and, with beta, C; bytes (of all these sectors); wavefronts (shared memory); registers (numbers a thread keeps).

    M, N, K: as the kernel gets them; for register_16x4, D^T = B^T A^T of matrices stored by rows, M is D's columns. All
    matrices are stored in the rung's order, and each row (column) begins on a sector. Caches are not in the model.
    """
    a, b, d, wavefronts, registers = MODELS[kernel](M, N, K)
    moved = {"A": a, "B": b, "D": d, **({"C": d} if beta else {})}
    requests, sectors = ({name: pair[which] for name, pair in moved.items()} for which in (0, 1))
    cost = {"flops": 2 * M * N * K, "requests": requests, "sectors": sectors}
    cost |= {"bytes": 32 * sum(sectors.values()), "wavefronts": wavefronts, "registers": registers}
    return cost


def _naive(M, N, K):
    across = up(N, 32)  # blocks, each a warp wide
    a = M * K * across, M * K * across  # A(i, k): one word for the whole warp
    b = M * K * across, M * K * up(N, 8)  # B(k, j): 32 neighbours
    return a, b, (M * across, M * up(N, 8)), 0, 1 + 2


def _shared(M, N, K):
    down, across, steps = up(M, 32), up(N, 32), up(K, 32)
    a = M * steps * across, M * up(K, 8) * across  # A comes once for every block across
    b = K * across * down, K * up(N, 8) * down  # B once for every block down
    wavefronts = down * across * steps * 32 * (2 + 32 * 2)  # a warp and step: 2 stores, 2 loads a k
    return a, b, (M * across, M * up(N, 8)), wavefronts, 1 + 2


def _register_16x4(M, N, K):
    down, across, steps = up(M, 64), up(N, 16), up(K, 4)
    a = up(M, 32) * K * across, up(M, 8) * K * across  # 32 neighbours in a column
    # 4 neighbours in each of 8 columns: half a sector
    b = down * steps * up(N, 8), down * steps * N
    wavefronts = down * across * steps * 2 * (1 + 4 * 16)
    return a, b, (up(M, 32) * N, up(M, 8) * N), wavefronts, 16 + 4 + 1


def _register_8x8(M, N, K):
    down, across, steps = up(M, 128), up(N, 128), up(K, 8)
    a = up(M, 4) * steps * across, M * steps * across  # a warp copies 8 neighbours of 4 rows
    b = K * up(N, 32) * down, K * up(N, 8) * down  # or 32 neighbours of a row
    d = up(M, 2) * up(N, 16), M * up(N, 8)  # 2 rows of 16 neighbours
    wavefronts = down * across * steps * 8 * (4 + 4 + 8 * (8 + 8))
    return a, b, d, wavefronts, 64 + 2 * 8


def _vector_8x8(M, N, K):
    down, across, steps = up(M, 128), up(N, 128), up(K, 8)
    a = _float4_down(M, K, across)
    # a warp copies 128 neighbours of a row
    b = K * (up(N // 4, 32) + N % 4) * down, K * _pieces(N) * down
    # a warp stores 2 rows of 64 neighbours
    d = (M // 8 * 4 + min(M % 8, 4)) * (up(N // 4, 16) + N % 4), M * _pieces(N)
    wavefronts = down * across * steps * 8 * (4 + 4 + 8 * 4 * 4)  # 4 a float4
    return a, b, d, wavefronts, 64 + 2 * 8


def _buffered_8x8(M, N, K):
    *moved, registers = _vector_8x8(M, N, K)
    return *moved, registers + 2 * 4  # the next copies wait in registers


def _warptile(M, N, K):
    down, across, steps = up(M, 128), up(N, 128), up(K, 16)
    a = _float4_down(M, K, across)
    b = up(K, 2) * (up(N // 4, 16) + N % 4) * down, K * _pieces(N) * down  # 64 neighbours of 2 rows
    # 4 rows of 32 neighbours
    d = (M // 16 * 4 + min(M % 16, 4)) * (up(N // 4, 8) + N % 4), M * _pieces(N)
    wavefronts = down * across * steps * 8 * (2 * (4 + 4) + 16 * 4 * 4)
    return a, b, d, wavefronts, 64 + 2 * 8 + 2 * 4


def _async(M, N, K):
    down, across, steps = up(M, 128), up(N, 128), up(K, 16)
    # Copies of 4 bytes: 8 neighbours of 4 rows of A, 32 of a row of B. In whole blocks most are of
    # 16 bytes, and a quarter as many.
    turns = max(K // 16 - 1, 0) // 2
    less = (M // 128) * (N // 128) * ((K >= 16) + 2 * turns) * 3 * 16
    a = up(M, 4) * up(K, 8) * across - less, M * up(K, 8) * across
    b = K * up(N, 32) * down - less, K * up(N, 8) * down
    d = up(M, 4) * (up(N // 4, 8) + N % 4), M * _pieces(N)
    wavefronts = down * across * steps * 8 * (8 + 8 + 4 * (8 + 4 * 2) * 4)
    return a, b, d, wavefronts, 64 + 8 * 4 + 2 * 4  # four k of 8 rows of A


def _float4_down(M, K, across):
    """Requests and sectors of A where a warp copies 8 neighbours of 16 rows, in float4."""
    return up(M, 16) * _pieces(K) * across, M * _pieces(K) * across


def _pieces(n):
    """Sectors of a row: two float4 in one, the last few numbers one by one."""
    return up(n // 4, 2) + n % 4


def half_step(kernel):
    """What one block of a kernel of `gemm_half` does in one step along K: a dict of k (how far it goes), tile (rows and
    columns of its part of D), flops, mma (mma_sync of a warp), requests and sectors of A (and as many of B),
    bytes of both (32 a sector), and wavefronts (shared memory).
    """
    if kernel == "wmma":  # a fragment: 4 requests, each of 8 rows of 16 bytes, half a sector
        step = {"k": 16, "tile": 16, "mma": 1, "requests": 4, "sectors": 4 * 8, "wavefronts": 0}
    else:  # a warp copies 4 rows of 128 bytes at a time; then 4 warps load 4 fragments for each 16 of k
        copies, loads = 2 * 16 * 4, 4 * (64 // 16) * 4 * 4
        step = {"k": 64, "tile": 64, "mma": 4 * (64 // 16) * 4, "requests": 16, "sectors": 16 * 16}
        step["wavefronts"] = copies + loads
    return step | {"flops": 2 * 16**3 * step["mma"], "bytes": 2 * 32 * step["sectors"]}


def half_cost(kernel, M, N, K, beta=0):
    """The cost of one launch of `gemm_half`, in the terms of `gemm_cost`, and mma: how often a warp calls mma_sync.

    M, N, K: multiples of the block's tile and of its step, 16 (wmma) or 64 (wmma_shared). Raises BadInput for others.
    The fragments' loads follow the engine's model (docs/tensor-cores.md). Caches are not in the model.
    """
    step = half_step(kernel)
    if M % step["tile"] or N % step["tile"] or K % step["k"]:
        raise BadInput(f"M, N and K must be multiples of {step['tile']}, not {M}, {N}, {K}")
    steps = (M // step["tile"]) * (N // step["tile"]) * (K // step["k"])
    d = M * N // 256 * 4, M * N // 8  # a fragment of D: 4 requests of 8 rows of 32 bytes
    a = step["requests"] * steps, step["sectors"] * steps
    moved = {"A": a, "B": a, "D": d, **({"C": d} if beta else {})}
    requests, sectors = ({name: pair[which] for name, pair in moved.items()} for which in (0, 1))
    cost = {
        "flops": 2 * M * N * K,
        "mma": step["mma"] * steps,
        "requests": requests,
        "sectors": sectors,
    }
    return cost | {"bytes": 32 * sum(sectors.values()), "wavefronts": step["wavefronts"] * steps}


def up(n, size):
    """How many pieces of that size cover n."""
    return -(-n // size)


MODELS = {
    "naive": _naive,
    "shared": _shared,
    "register_16x4": _register_16x4,
    "register_8x8": _register_8x8,
    "vector_8x8": _vector_8x8,
    "buffered_8x8": _buffered_8x8,
    "warptile": _warptile,
    "async": _async,
}
