"""What each rung of the GEMM ladder moves, as arithmetic in M, N, K; the tests hold it equal to what the CPU engine counts."""


def gemm_cost(kernel, M, N, K, beta=0):
    """The cost of one launch, as a dict: flops; of global memory requests (of a warp) and sectors (32 bytes) for A, B, D and,
    with beta, C; bytes (of all these sectors); wavefronts (shared memory); registers (numbers that a thread keeps there).

    M, N, K: as the kernel gets them, which for register_16x4 means N and M in turn where D is stored by rows (see gemm). All matrices are
    stored in the order that the rung is made for, and each row (column) begins on a sector. Caches are not in the model.
    """
    blocks_naive, row_sectors = M * K * _up(N, 32), _up(N, 8)
    k4, n4 = _up(K // 4, 2) + K % 4, _up(N // 4, 2) + N % 4  # sectors of a row in float4 pieces, what is left over one by one
    across, down = _up(N, 128), _up(M, 128)
    counts = {  # (requests, sectors) for A, B and D; wavefronts; registers
        "naive": (
            (blocks_naive, blocks_naive),  # A(i, k): one word for the warp
            (blocks_naive, M * K * row_sectors),  # B(k, j): 32 neighbours
            (M * _up(N, 32), M * row_sectors), 0, 1 + 2),
        "shared": (
            (M * _up(K, 32) * _up(N, 32), M * _up(K, 8) * _up(N, 32)),  # once for every block across
            (K * _up(N, 32) * _up(M, 32), K * row_sectors * _up(M, 32)),  # once for every block down
            (M * _up(N, 32), M * row_sectors),
            _up(M, 32) * _up(N, 32) * _up(K, 32) * 32 * (2 + 2 * 32), 1 + 2),  # a warp and step: 2 stores, 2 loads for each k
        "register_16x4": (
            (_up(M, 32) * K * _up(N, 16), _up(M, 8) * K * _up(N, 16)),  # 32 neighbours in a column
            (_up(M, 64) * _up(K, 4) * _up(N, 8), _up(M, 64) * _up(K, 4) * N),  # 4 neighbours in each of 8 columns
            (_up(M, 32) * N, _up(M, 8) * N),
            _up(M, 64) * _up(N, 16) * _up(K, 4) * 2 * (1 + 4 * 16), 16 + 4 + 1),
        "warptile": (
            (_up(M, 16) * k4 * across, M * k4 * across),  # a warp copies 16 rows of 8
            (K * (_up(N // 4, 32) + N % 4) * down, K * n4 * down),  # or 1 row of 128
            ((M // 16 * 4 + min(M % 16, 4)) * (_up(N // 4, 8) + N % 4), M * n4),
            across * down * _up(K, 8) * 8 * (4 + 4 + 8 * 4 * 4), 64 + 2 * 8 + 2 * 4),
    }  # fmt: skip
    A, B, D, wavefronts, registers = counts[kernel]
    moved = {"A": A, "B": B, "D": D, **({"C": D} if beta else {})}
    requests, sectors = ({name: pair[which] for name, pair in moved.items()} for which in (0, 1))
    return {"flops": 2 * M * N * K, "requests": requests, "sectors": sectors, "bytes": 32 * sum(sectors.values()),
            "wavefronts": wavefronts, "registers": registers}  # fmt: skip


def _up(n, size):
    return -(-n // size)
