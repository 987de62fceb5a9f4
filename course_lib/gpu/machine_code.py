"""What nvcc 13.0 made of each rung: recorded, and compiled again by a test where nvcc is installed."""

from typing import NamedTuple


class Code(NamedTuple):
    """For one GPU's architecture: FMAs and all instructions that a warp runs in one iteration of the main loop, of two
    ways through it the shorter one, for an aligned tile; registers of a thread.
    """

    fmas: int
    instructions: int
    registers: int


class Compiled(NamedTuple):
    """A rung. code: {architecture: Code}. shared: bytes of a block.

    wavefronts: of shared memory for one FMA, the fewest that the compiled loads and stores can take. A float4 load
    takes four, but two where neighbouring lanes want the same 16 bytes (chapter 08, section 7: no manual says so).
    """

    code: dict[str, Code]
    shared: int
    wavefronts: float


def _code(**code):
    return {architecture: Code(*numbers) for architecture, numbers in code.items()}


# For 8 steps along k and 512 FMAs: 8 stores and 128 loads of one number, or 16 loads of A and 16 of B in float4.
ONE_BY_ONE, FLOAT4 = (8 + 128) / 512, (8 + 16 * 2 + 16 * 4) / 512
COMPILED = {
    "naive": Compiled(
        _code(sm_75=(16, 84, 58), sm_80=(16, 84, 32), sm_90=(16, 86, 32), sm_100=(8, 49, 32)),
        shared=0,
        wavefronts=0.0,
    ),
    "shared": Compiled(
        _code(sm_75=(32, 120, 37), sm_80=(32, 119, 31), sm_90=(32, 122, 31), sm_100=(32, 119, 32)),
        shared=8448,
        wavefronts=(2 + 64) / 32,
    ),
    "register_16x4": Compiled(
        _code(sm_75=(64, 124, 64), sm_80=(64, 118, 53), sm_90=(64, 125, 40), sm_100=(64, 124, 44)),
        shared=256,
        wavefronts=(1 + 16 * 2) / 64,  # the 64 loads of one number are merged into 16 float4
    ),
    "register_8x8": Compiled(
        _code(
            sm_75=(512, 753, 114),
            sm_80=(512, 755, 113),
            sm_90=(512, 767, 127),
            sm_100=(512, 739, 124),
        ),
        shared=8448,
        wavefronts=ONE_BY_ONE,
    ),
    "vector_8x8": Compiled(
        _code(
            sm_75=(512, 575, 117),
            sm_80=(512, 575, 117),
            sm_90=(512, 578, 127),
            sm_100=(512, 578, 118),
        ),
        shared=8448,
        wavefronts=FLOAT4,
    ),
    "buffered_8x8": Compiled(
        _code(
            sm_75=(512, 584, 124),
            sm_80=(512, 585, 124),
            sm_90=(512, 590, 128),
            sm_100=(512, 593, 128),
        ),
        shared=16896,
        wavefronts=FLOAT4,
    ),
    "warptile": Compiled(
        _code(
            sm_75=(512, 584, 124),
            sm_80=(512, 585, 124),
            sm_90=(512, 590, 128),
            sm_100=(512, 593, 128),
        ),
        shared=16896,
        wavefronts=FLOAT4,
    ),
}
