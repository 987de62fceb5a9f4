"""Which kernel for which product, by counting blocks: a reason that can be checked by hand, and no measurement.

A product M x N with sums over K can be computed by
    fused   mlp_forward, mlp_transposed or mlp_update: tiles of 32 x 32, everything in one launch
    rung    the ladder's best, gemm_warptile: tiles of 128 x 128, which need bias and f from a second launch
    tiles   mlp_update's tiles of 32 x 32, each a sum over a slice of K ("split-K"); mlp_gather adds the slices up.
            The rung, too, may be cut into slices
"""

from dataclasses import dataclass
from itertools import pairwise

from course_lib.gpu.costs import up
from course_lib.gpu.gemm import RUNGS

RUNG, SMALL = "warptile", 32  # the ladder's best rung; the side of the other kernels' tiles
# A partial product is stored once and loaded once, 8 bytes for 2 k flops: at k = 64 16 flops a byte. The ridges of
# DATA_SHEETS lie at 12 to 25: a shorter k would leave the second pass as the larger part.
DEEP = 64
STEP = 32  # a slice is a multiple: every kernel's own step along K divides it


@dataclass(frozen=True)
class Choice:
    """How a product is computed. kernel: fused, tiles or a rung's name; slices: of K; each: x each elements a thread.

    blocks: of all slices; threads: of a block; why: in words.
    """

    kernel: str
    slices: int
    each: int
    blocks: int
    threads: int
    why: str


def choose(M, N, K, sms):
    """The Choice for a product M x N with sums over K on a GPU of that many multiprocessors (SMs).

    The rung, if K is at least DEEP, its blocks, perhaps over slices of K, give each SM one, and M and N fill half of
    a tile. Else small tiles: over slices, if they alone leave SMs idle and K is long enough; see `each_of`.
    """
    rung = RUNGS[RUNG]
    large = up(M, rung.tile[0]) * up(N, rung.tile[1])
    slices = slices_of(K, sms, large)
    if 2 * min(M, N) >= max(rung.tile) and K >= DEEP and large * slices >= sms:
        why = f"{large} tiles of 128 x 128{f', {slices} slices' if slices > 1 else ''}: one for each SM"
        return Choice(RUNG, slices, 0, large * slices, rung.block[0], why)
    small = up(M, SMALL) * up(N, SMALL)
    if small >= sms:
        return _small(small, 1, sms, f"{small} tiles of 32 x 32: one for each SM")
    why = f"{small} tiles of 32 x 32, SMs idle"
    slices = slices_of(K, sms, small)
    more = f": {slices} slices" if slices > 1 else f", and K = {K} is too short to cut"
    return _small(small, slices, sms, why + more)


def in_one(M, N, each=4):
    """The Choice of a fused kernel, whatever the size."""
    tiles = up(M, SMALL) * up(N, SMALL)
    return Choice("fused", 1, each, tiles, (SMALL // each) ** 2, "as asked for")


def slices_of(K, sms, blocks):
    """How many slices of K give each SM a block, the last alone shorter than DEEP; 1 where enough blocks are there."""
    wanted = min(up(sms, blocks), max(1, K // DEEP))
    return up(K, max(DEEP, K // wanted // STEP * STEP)) if wanted > 1 else 1


def slice_length(K, slices):
    """How many k each slice has, the last one perhaps fewer: as the kernels compute it."""
    return up(K, STEP * slices) * STEP


def each_of(blocks, sms):
    """4, where every SM has four blocks: 2 warps each, two for each of its four schedulers. Else 2, 8 warps a block.

    4 x 4 sums a thread read half as much of shared memory for a multiply-add as 2 x 2; but a scheduler with less than
    two warps waits whenever its one warp does. 1 x 1 has more warps still, and reads twice as much again.
    """
    return 4 if blocks >= 4 * sms else 2


def products(sizes, B):
    """(name, layer, M, N, K) of each product of a step, in the order of its launches. sizes: the layers' widths."""
    layers = list(enumerate(pairwise(sizes)))
    for l, (n_in, n_out) in layers:
        yield "forward", l, B, n_out, n_in
    for l, (n_in, n_out) in reversed(layers):
        if l:
            yield "transposed", l, B, n_in, n_out
        yield "update", l, n_in, n_out, B


def cost(product, M, N, K, chosen):
    """{launches, flops, bytes} of a product; bytes: 32 a sector, no caches, without the N biases of "forward".

    Equal to the tracer's count where M, N and K are multiples of 8. One result is stored; "update" also reads W.
    """
    tile = RUNGS[RUNG].tile[0] if chosen.kernel == RUNG else SMALL
    operands = M * K * up(N, tile) + K * N * up(M, tile)
    passes = 2 if product == "update" else 1
    gathered = chosen.slices > 1 or (product, chosen.kernel) == ("forward", RUNG)
    passes += 2 * chosen.slices * gathered  # the partial products, out and in again
    return {
        "launches": 1 + gathered,
        "flops": 2 * M * N * K,
        "bytes": 4 * (operands + passes * M * N),
    }


def _small(tiles, slices, sms, why):
    blocks, kernel = tiles * slices, "fused" if slices == 1 else "tiles"
    each = each_of(blocks, sms)
    return Choice(kernel, slices, each, blocks, (SMALL // each) ** 2, why)
