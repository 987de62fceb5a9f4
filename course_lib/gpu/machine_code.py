"""What nvcc 13.0 made of each rung: recorded, and compiled again by a test where nvcc is installed."""

from typing import NamedTuple


class Code(NamedTuple):
    """For one GPU's architecture: FMAs and all instructions that a warp runs in one iteration of the main loop, for an
    aligned tile, of two ways through it the shorter one; of warptile's four, the longest. Registers of a thread.
    """

    fmas: int
    instructions: int
    registers: int


class Compiled(NamedTuple):
    """A rung. code: {architecture: Code}. shared: bytes of a block.

    wavefronts: of shared memory for one FMA, the fewest of the compiled loads and stores by a forum's rule. A float4
    load takes four, but two where neighbouring lanes want the same 16 bytes (chapter 08, section 7: no manual says so).
    """

    code: dict[str, Code]
    shared: int
    wavefronts: float


GPUS = "sm_75", "sm_80", "sm_90", "sm_100"


def _code(*numbers):
    """numbers: in the order of GPUS; None where a rung cannot be compiled for one."""
    return {gpu: Code(*each) for gpu, each in zip(GPUS, numbers, strict=True) if each}


# For 8 steps along k and 512 FMAs: 8 stores and 128 loads of one number, or 16 loads of A and 16 of B in float4.
ONE_BY_ONE, FLOAT4 = (8 + 128) / 512, (8 + 16 * 2 + 16 * 4) / 512
MERGED = (1 + 16 * 2) / 64  # the 64 loads of one number have become 16 of four

# FMAs, instructions, registers for each of GPUS; shared; wavefronts
COMPILED = {
    "naive": Compiled(
        _code((16, 84, 58), (16, 84, 32), (16, 86, 32), (8, 49, 32)), 0, 0.0),
    "shared": Compiled(
        _code((32, 120, 37), (32, 119, 31), (32, 122, 31), (32, 119, 32)), 8448, (2 + 64) / 32),
    "register_16x4": Compiled(
        _code((64, 124, 64), (64, 118, 53), (64, 125, 40), (64, 124, 44)), 256, MERGED),
    "register_8x8": Compiled(
        _code((512, 753, 114), (512, 755, 113), (512, 767, 127), (512, 739, 124)), 8448, ONE_BY_ONE),
    "vector_8x8": Compiled(
        _code((512, 575, 117), (512, 575, 117), (512, 578, 127), (512, 578, 118)), 8448, FLOAT4),
    "buffered_8x8": Compiled(
        _code((512, 584, 124), (512, 585, 124), (512, 590, 128), (512, 593, 128)), 16896, FLOAT4),
    "warptile": Compiled(
        _code((2048, 2232, 128), (2048, 2233, 128), (2048, 2231, 128), (2048, 2233, 128)),
        33792, FLOAT4),
    "async": Compiled(
        _code((2048, 2215, 145), (2048, 2214, 127), (2048, 2210, 128), (2048, 2225, 124)),
        41472, FLOAT4),
}  # fmt: skip
