"""The bounds of a kernel: values by hand, nvcc's code as recorded, and published measurements, which break none."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.checks.ch08 import limits as ch08_limits
from course_lib.errors import BadInput
from course_lib.gpu.costs import MODELS
from course_lib.gpu.data_sheets import B200, DATA_SHEETS, DataSheet
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.limits import (
    ARCHITECTURES,
    Launch,
    binding,
    bounds,
    resident_blocks,
    rung_launch,
    rungs_for,
    without_caches,
)
from course_lib.gpu.machine_code import COMPILED

A100, H100 = DATA_SHEETS["A100"], DATA_SHEETS["H100"]
CHIPS = DATA_SHEETS | {"B200": B200}
# 108 blocks of four warps with 32 registers: nothing holds it back but the FMAs
FREE = Launch(108, 4, 32, 0, 64, 1.0, 0.0, 0.0, (0.0, 0.0), (0.0, 0.0))


def on(sheet, **changes):
    return bounds(replace(FREE, **changes), sheet)


# By hand ---------------------------------------------------------------------------------------------------------


def test_a_launch_of_fmas_alone_may_reach_the_peak():
    assert set(on(A100).values()) == {1.0} and binding(on(A100))[1] == 1.0
    assert list(on(H100)) == [part for part in on(A100) if part != "L2"]  # no rate is known


@pytest.mark.parametrize(
    ("part", "changes", "a100", "h100"),
    [
        # two instructions an FMA: four schedulers start two FMAs a cycle; an A100 needs two, an H100 four
        ("issue slots", {"slots": 2.0}, 1, 1 / 2),
        ("issue slots", {"slots": 4.0}, 1 / 2, 1 / 4),
        ("global requests", {"requests": 2.0}, 1 / 4, 1 / 8),
        ("shared wavefronts", {"wavefronts": 66 / 32}, 32 / 66 / 2, 32 / 66 / 4),
        # 1.555e12 / 1.41e9 / 108 bytes a cycle for an SM of an A100; half as many FMAs as bytes / 128
        (
            "DRAM",
            {"dram": (128.0, 256.0)},
            1555 / 1.41 / 108 / 128 / 2,
            3350 / 1.98 / 132 / 128 / 4,
        ),
        # one block of four warps with one sum each: an FMA a cycle
        ("latency", {"sums": 1, "shared": 120 * 1024}, 1 / 2, 1 / 4),
        ("whole blocks", {"blocks": 133}, 133 / 216, 133 / 264),
    ],
)
def test_each_bound_by_hand(part, changes, a100, h100):
    for sheet, wanted in ((A100, a100), (H100, h100)):
        found = on(sheet, **{"blocks": 132 * 108} | changes)
        assert found[part] == pytest.approx(wanted)
        assert wanted == 1 or binding(found)[0] == part
        assert all(share == 1 for other, share in found.items() if other != part)


def test_l2_by_hand_and_what_no_cache_would_cost():
    """An A100's L2 has 5,120 bytes a cycle for 108 SMs, which start two FMAs each."""
    launch = replace(FREE, l2=(100.0, 160.0), dram=(1.0, 160.0))
    assert bounds(launch, A100)["L2"] == pytest.approx(5120 / 108 / 100 / 2)
    assert without_caches(launch, A100)["L2"] == pytest.approx(5120 / 108 / 160 / 2)
    assert without_caches(launch, A100)["DRAM"] == pytest.approx(1555 / 1.41 / 108 / 160 / 2)
    assert list(without_caches(launch, H100)) == ["DRAM"]


def test_the_bytes_of_a_rung_by_hand():
    """128 x 128 tiles: 256 numbers for 512 FMAs of a warp each k, and D; the naive kernel's tile is 8 x 32."""
    n = 4096
    for kernel, tile in (("warptile", 128 * 256 / 128**2), ("naive", 128 * 40 / 256)):
        launch = rung_launch(kernel, n, n, n)
        assert launch.l2[0] == tile + 128 / n and launch.dram[0] == 3 * 128 / n
        assert launch.l2[1] == launch.dram[1] >= launch.l2[0]
    assert rung_launch("naive", n, n, n).l2[1] == pytest.approx(5 * 32, rel=1e-3)


# What fits on an SM ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_blocks_of_an_sm_are_those_of_the_exercise(seed):
    rng = np.random.default_rng(seed)
    for name in ("T4", "V100", "A100"):
        warps, registers, shared = rng.integers((1, 16, 0), (17, 129, 40_000)).tolist()
        launch = replace(FREE, warps=warps, registers=registers, shared=shared)
        fits = ch08_limits._blocks(32 * warps, registers, shared, getattr(ch08_limits, name))
        if fits:
            assert resident_blocks(launch, DATA_SHEETS[name]) == fits
        else:
            with pytest.raises(BadInput, match="too many resources"):
                resident_blocks(launch, DATA_SHEETS[name])


@pytest.mark.parametrize("name", CHIPS)
def test_a_launch_that_does_not_fit_is_told_in_the_drivers_words(name):
    """Chapter 07's kernel of section 9: 92 registers. 64 would do for 1,024 threads."""
    most = CHIPS[name].warps
    assert resident_blocks(replace(FREE, warps=32, registers=64), CHIPS[name]) == 1
    assert resident_blocks(replace(FREE, warps=1, registers=16), CHIPS[name]) * 1 <= most
    with pytest.raises(BadInput, match="too many resources requested for launch: 1024 threads"):
        bounds(replace(FREE, warps=32, registers=92), CHIPS[name])


def test_the_figures_of_the_b200_agree_with_each_other():
    assert 2 * 148 * 128 * B200.clock == pytest.approx(B200.flops, rel=0.01)
    assert B200.half == 2 * B200.tf32 and B200.shared == H100.shared and "B200" not in DATA_SHEETS


# The ladder ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
def test_no_cache_binds_a_rung_of_the_ladder(chip):
    """As chapter 08 says: neither L2 nor DRAM is the lowest bound of any rung at 4096."""
    assert set(COMPILED) == set(RUNGS) == set(MODELS)
    for kernel in rungs_for(chip):
        found = bounds(rung_launch(kernel, *[4096] * 3, ARCHITECTURES[chip]), CHIPS[chip])
        assert binding(found)[0] not in ("L2", "DRAM", "latency") and 0 < binding(found)[1] < 1


def test_what_binds_the_last_rung():
    n = 4096
    a100 = bounds(rung_launch("warptile", n, n, n), A100)
    assert binding(a100) == ("whole blocks", pytest.approx(1024 / 108 / 10))
    for name in ("H100", "B200"):
        found = bounds(rung_launch("warptile", n, n, n, ARCHITECTURES[name]), CHIPS[name])
        assert binding(found)[0] == "issue slots" and 0.8 < binding(found)[1] < 0.95


# Published measurements ------------------------------------------------------------------------------------------

# NVIDIA Ampere GA102 GPU Architecture, appendix on RTX A6000; an SM of compute capability 8.6
A6000 = DataSheet(
    "NVIDIA RTX A6000",
    38.7e12,
    768e9,
    31.5e9,
    1.8e9,
    84,
    128,
    65536,
    100 * 1024,
    "",
    warps=48,
    blocks=16,
)
PUBLISHED = [  # docs/references.md: GFLOP/s at 4092 and 4096; "32": a shared tile with rows of 32, of one kernel each
    (A6000, "naive", 1986.5),
    (A6000, "32", 2980.3),
    (A6000, "register_8x8", 15971.7),
    (A6000, "buffered_8x8", 17278.3),
    (A6000, "vector_8x8", 18237.3),
    (A6000, "warptile", 21779.3),
    (A6000, "warptile", 23249.6),  # cuBLAS
    (H100, "naive", 5380),
    (H100, "32", 9100),
    (H100, "warptile", 45500),  # cuBLAS
]


@pytest.mark.parametrize(("sheet", "kernel", "measured"), PUBLISHED)
def test_no_published_measurement_breaks_a_bound(sheet, kernel, measured):
    arch = "sm_90" if sheet is H100 else "sm_80"
    launch = rung_launch("shared" if kernel == "32" else kernel, 4096, 4096, 4096, arch)
    if kernel == "32":  # 32 loads of one number and 8 of four for 32 FMAs: chapter 07, section 6
        launch = replace(launch, wavefronts=(2 + 32 + 8 * 2) / 32)
    for part, share in bounds(launch, sheet).items():
        assert 1e9 * measured / sheet.flops < share, part


def test_a_tile_in_one_dimension_passes_the_bound_of_its_source():
    """SGEMM_CUDA's kernel 4: 8 sums a thread, for 64 FMAs 64 loads of A, 8 of B and 2 stores.

    It was faster than these allow: nvcc merges A's by fours, of two wavefronts each by the forum's rule.
    """
    share = 8474.7e9 / A6000.flops
    as_written, as_compiled = (
        bounds(replace(FREE, wavefronts=count / 64), A6000)["shared wavefronts"]
        for count in (64 + 8 + 2, 2 * 16 + 8 + 2)
    )
    assert as_written == pytest.approx(64 / 74 / 4) and as_written < share < as_compiled


def test_the_naive_kernel_was_faster_than_dram_without_caches():
    n = 4096
    alone = without_caches(rung_launch("naive", n, n, n, "sm_90"), H100)["DRAM"]
    of_16_by_16 = alone * 5 / 4  # the measured kernel's blocks: 4 sectors a step, ours 5
    assert of_16_by_16 < 5380e9 / H100.flops / 3  # so the caches caught two thirds and more
