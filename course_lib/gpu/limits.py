"""How fast a kernel can be at most: a bound for each part of a GPU, as if that part alone held the kernel back.

Work is counted for one FMA of a warp: 32 multiply-adds, 64 flops. A bound is a share of the float32 peak. A part that
needs c cycles of an SM for each FMA, where the SM could start f of them in a cycle, allows 1 / (c f) of the peak.

Rates of an SM, from NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities": four schedulers, one instruction a
cycle each; one wavefront of shared memory a cycle, one load or store of a warp a cycle (V100, A100, H100; a T4 does
half of both and is granted the same). A dependent FMA waits 4 cycles: measured on a V100 by Jia et al. 2018, arXiv
1804.06826, section 4; the others are taken to be alike. The rest: `data_sheets`.
"""

from dataclasses import dataclass

from course_lib.errors import BadInput
from course_lib.gpu.costs import gemm_cost, up
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.machine_code import COMPILED

SCHEDULERS, LATENCY = 4, 4  # of an SM; cycles until the next FMA of the same sum may start
# whose machine code a chip runs; nvcc 13.0 has none for the V100 (sm_70): the T4's stands in
ARCHITECTURES = {"T4": "sm_75", "V100": "sm_75", "A100": "sm_80", "H100": "sm_90", "B200": "sm_100"}


@dataclass(frozen=True)
class Launch:
    """What the bounds need to know of a launch.

    blocks: of the grid. warps: of a block. registers: of a thread. shared: bytes of a block. sums: of a thread, which
    do not wait for each other. For each FMA of a warp: slots (instructions), requests (loads and stores of global
    memory), wavefronts (of shared memory), l2 and dram (bytes from there: the least, and the most).
    """

    blocks: int
    warps: int
    registers: int
    shared: int
    sums: int
    slots: float
    requests: float
    wavefronts: float
    l2: tuple[float, float]
    dram: tuple[float, float]


def rung_launch(kernel, M, N, K, arch="sm_80"):
    """The launch of a rung on M, N, K. arch: whose machine code, a name in ARCHITECTURES' values.

    From L2 at least each block's tiles once, from DRAM at least each matrix once; at most all sectors that are asked
    for. At least supposes that blocks on one SM find nothing of each other's in L1.
    """
    rung, compiled, cost = RUNGS[kernel], COMPILED[kernel], gemm_cost(kernel, M, N, K)
    code = compiled.code[arch]
    (down, across), fmas = (
        (up(size, tile) for size, tile in zip((M, N), rung.tile, strict=True)),
        M * N * K / 32,
    )
    tiles, once = M * K * across + K * N * down + M * N, M * K + K * N + M * N
    return Launch(
        blocks=down * across,
        warps=rung.block[0] * rung.block[1] // 32,
        registers=code.registers,
        shared=compiled.shared,
        sums=rung.tile[0] * rung.tile[1] // (rung.block[0] * rung.block[1]),
        slots=code.instructions / code.fmas,
        requests=sum(cost["requests"].values()) / fmas,
        wavefronts=compiled.wavefronts,
        l2=(4 * tiles / fmas, cost["bytes"] / fmas),
        dram=(4 * once / fmas, cost["bytes"] / fmas),
    )


def rungs_for(chip):
    """Names of the rungs that this chip can run. chip: a name in ARCHITECTURES."""
    return [name for name, compiled in COMPILED.items() if ARCHITECTURES[chip] in compiled.code]


def resident_blocks(launch, sheet):
    """Blocks of the launch that an SM holds at a time: the least of what warps, registers and shared memory allow.

    Registers are handed out by each scheduler from its quarter, 8 a thread at a time (cuda_occupancy.h of the CUDA
    toolkit). Raises BadInput, in the driver's words, where not even one block fits.
    """
    portion = up(launch.registers, 8) * 8 * 32
    by_registers = SCHEDULERS * (sheet.registers // SCHEDULERS // portion) // launch.warps
    taken = launch.shared + sheet.reserved
    by_shared = sheet.shared // taken if taken else sheet.blocks
    found = min(sheet.blocks, sheet.warps // launch.warps, by_registers, by_shared)
    if found == 0:
        raise BadInput(
            f"too many resources requested for launch: {32 * launch.warps} threads with {launch.registers} registers "
            f"and {launch.shared} bytes of shared memory do not fit on an SM of {sheet.name}"
        )
    return found


def bounds(launch, sheet):
    """{part: at most this share of the peak}, each part alone. L2 is left out where its rate is not known."""
    start = sheet.cores / 32  # FMAs of a warp that an SM can start in a cycle
    in_flight = resident_blocks(launch, sheet) * launch.warps * launch.sums
    busiest = up(launch.blocks, sheet.multiprocessors)  # blocks that some SM has to run
    cycles = {
        "issue slots": launch.slots / SCHEDULERS,
        "global requests": launch.requests,
        "shared wavefronts": launch.wavefronts,
        "L2": _l2_cycles(launch.l2[0], sheet),
        "DRAM": _dram_cycles(launch.dram[0], sheet),
        "latency": LATENCY / in_flight,
        "whole blocks": busiest * sheet.multiprocessors / launch.blocks / start,
    }
    return {part: _share(each, sheet) for part, each in cycles.items() if part != "L2" or sheet.l2}


def without_caches(launch, sheet):
    """{"L2", "DRAM": share} if no cache in front of them ever had a number again. No bounds: caches may do better."""
    cycles = {"L2": _l2_cycles(launch.l2[1], sheet), "DRAM": _dram_cycles(launch.dram[1], sheet)}
    return {part: _share(each, sheet) for part, each in cycles.items() if part != "L2" or sheet.l2}


def binding(found):
    """(part, share) of the lowest of the bounds."""
    return min(found.items(), key=lambda item: item[1])


def _share(cycles, sheet):
    """cycles: of an SM for one FMA of a warp."""
    return min(1.0, 32 / sheet.cores / cycles) if cycles else 1.0


def _l2_cycles(size, sheet):
    return size * sheet.multiprocessors / sheet.l2 if sheet.l2 else 0.0


def _dram_cycles(size, sheet):
    return size * sheet.multiprocessors * sheet.clock / sheet.memory
