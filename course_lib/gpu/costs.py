"""What each rung of the GEMM ladder moves, as arithmetic. A test compares it with what the CPU engine counts."""


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


def _warptile(M, N, K):
    down, across, steps = up(M, 128), up(N, 128), up(K, 8)
    # sectors of a row: two float4 in one, the last few one by one
    k, n = up(K // 4, 2) + K % 4, up(N // 4, 2) + N % 4
    a = up(M, 16) * k * across, M * k * across  # a warp copies 8 neighbours of 16 rows
    b = K * (up(N // 4, 32) + N % 4) * down, K * n * down  # or 128 neighbours of a row
    d = (M // 16 * 4 + min(M % 16, 4)) * (up(N // 4, 8) + N % 4), M * n  # 4 rows of 32 neighbours
    wavefronts = down * across * steps * 8 * (4 + 4 + 8 * 4 * 4)  # 4 a float4
    return a, b, d, wavefronts, 64 + 2 * 8 + 2 * 4


def up(n, size):
    """How many pieces of that size cover n."""
    return -(-n // size)


MODELS = {
    "naive": _naive,
    "shared": _shared,
    "register_16x4": _register_16x4,
    "warptile": _warptile,
}
