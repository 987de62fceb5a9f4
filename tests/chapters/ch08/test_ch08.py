"""Chapter 08: the facts that its text rests on, its checks, and the mistakes that only the engine can see.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import re

import numpy as np
import pytest
from engine_runs import needs_compiler, needs_nvcc
from kernel_tasks import (
    CHAPTERS,
    assert_the_engine_alone_sees_three,
    assert_the_solution_passes,
    kernel_of,
    tasks,
)

from course_lib import plots
from course_lib.checks import ch08
from course_lib.checks.ch08 import answers as ch08_answers
from course_lib.checks.ch08 import limits as ch08_limits
from course_lib.checks.ch08 import tiles as ch08_tiles
from course_lib.checks.ch08.kernels import sizes
from course_lib.checks.kit.known.planted import task_of
from course_lib.gpu import gemm_cost, trace_gemm
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.inspect import disassembler, inspect, main_loop
from course_lib.gpu.machine_code import COMPILED

CHAPTER = "08-gemm-register-tiled"
LECTURE = (CHAPTERS / CHAPTER / "lecture.md").read_text(encoding="utf-8")
KERNELS = {
    "kernel-16x4": ch08.check_gemm_16x4,
    "kernel-4x4": ch08.check_gemm_4x4,
    "copy-tile": ch08.check_copy_tile,
    "two-buffers": ch08.check_two_buffers,
}


# The mistakes that only the engine can see -----------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_three_or_more_wrong_answers_compute_right_numbers(task):
    assert_the_engine_alone_sees_three(CHAPTER, task, KERNELS[task])


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_the_solution_passes_with_other_seeds(task, capsys):
    assert_the_solution_passes(CHAPTER, task, KERNELS[task], capsys)


@pytest.mark.parametrize(
    "check", [ch08.check_gemm_16x4, ch08.check_gemm_4x4, ch08.check_two_buffers]
)
def test_ragged_sizes_are_fresh_and_no_multiples_of_four(check):
    """A kernel for fixed sizes does not pass twice, and a float4 that nobody guards is misaligned."""
    drawn = [
        sizes(launch)
        for seed in range(8)
        for launch in check.draw(seed)
        if launch.label.startswith("ragged")
    ]
    assert len(set(drawn)) == 8 and all(size % 4 for found in drawn for size in found)
    assert all(
        len({size % 2 for size in one}) == 2 for one in zip(*drawn, strict=True)
    )  # odd and even ones


# What NVIDIA's compiler said -------------------------------------------------------------------------------------

NOTED = re.search(r"REGISTERS = (\{.*?\})", LECTURE, re.DOTALL)
LOOPS = re.findall(
    r"^\| (\w+) \| (\d+), (\d+) \| (\d+) \| \**(\d+)\** \| (\d+) \|", LECTURE, re.MULTILINE
)


@needs_nvcc
@pytest.mark.slow
def test_the_registers_noted_in_the_lecture():
    """Those of the library are held by tests/gpu/test_gpu_machine_code.py."""
    noted = eval(NOTED[1])
    assert noted == {name: COMPILED[name].code["sm_80"].registers for name in RUNGS}
    squeezed = RUNGS["buffered_8x8"].source.replace(
        "__launch_bounds__(256, 2)", "__launch_bounds__(256, 4)"
    )
    found = inspect(squeezed)["gemm_buffered_8x8"]
    assert f"{found['registers']} registers, {found['spilled_bytes']:,} bytes spilled" in LECTURE


def of_chapter_07(kernel):
    """The CUDA C that chapter 07 gives a name."""
    text = (CHAPTERS / "07-gemm-shared-memory" / "lecture.md").read_text(encoding="utf-8")
    return re.search(rf'^{kernel} = r"""(.*?)"""', text, re.MULTILINE | re.DOTALL)[1]


@needs_nvcc
def test_chapter_07_has_a_kernel_that_1024_threads_cannot_launch():
    source = of_chapter_07("LAYOUT")
    assert inspect(source)["layout"]["registers"] == 92 > 65536 // 1024
    bounded = source.replace("void layout", "void __launch_bounds__(1024) layout")
    assert inspect(bounded)["layout"]["registers"] <= 64


@needs_nvcc
@pytest.mark.skipif(not disassembler(), reason="no cuobjdump is here")
def test_the_loads_that_are_merged_in_chapter_07():
    """Rows of 32: 32 loads of b, one by one, and 8 of a, four numbers each. Rows of 33: 64, as noted below."""
    loop = main_loop(of_chapter_07("TILED"), "sm_90")
    assert (loop["FFMA"], loop["LDS"]) == (32, 32 + 8)


@needs_nvcc
@pytest.mark.skipif(not disassembler(), reason="no cuobjdump is here")
def test_the_loops_noted_in_the_lecture():
    """Over 20 s of processor: nvcc compiles every rung for two GPUs."""
    assert [row[0] for row in LOOPS] == list(RUNGS)
    for name, *numbers in LOOPS:
        ampere, hopper = (main_loop(RUNGS[name].source, arch) for arch in ("sm_80", "sm_90"))
        found = [ampere.total(), hopper.total(), ampere["FFMA"], ampere["LDS"], ampere["LDG"]]
        assert found == [int(number) for number in numbers], name


@needs_compiler
def test_the_figure_of_the_warp_tile_is_the_kernels():
    """Each lane stores where section 9's figure has its pieces."""
    call = re.search(r"^plots\.warp_tiles\((.*)\)$", LECTURE, re.MULTILINE)[1]
    sizes = {name: (int(a), int(b)) for name, a, b in re.findall(r"(\w+)=\((\d+), (\d+)\)", call)}
    block, warp, piece = (sizes[name] for name in ("block", "warp", "piece"))
    table = plots.warp_tiles(**sizes).table[1]
    A, B = np.ones((block[0], 16), np.float32), np.ones((16, block[1]), np.float32)
    accesses = trace_gemm(A, B, kernel="warptile")[1].accesses
    (store,) = (row for row in accesses if row["array"] == "D" and row["op"] == "store")
    top, left = divmod(store["lanes_warp"], block[1] // warp[1])
    for (_, rows, columns), at in zip(table, store["lanes"], strict=True):
        row, column = divmod(at // 4, block[1])
        row, column = row - top * warp[0], column - left * warp[1]
        assert any(0 <= row - int(first) < piece[0] for first in rows.split(", "))
        assert column in map(int, columns.split(", "))


# Formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_advantage_is_that_of_the_cost_models(seed):
    rng = np.random.default_rng(seed)
    M, N, K = (int(n) * size for n, size in zip(rng.integers(1, 9, 3), (64, 32, 32), strict=True))
    one, two, best = (gemm_cost(name, M, N, K) for name in ("naive", "shared", "register_16x4"))
    assert ch08_answers.advantage(M, N, K) == {
        "flops": one["flops"],
        "wavefronts_2": two["wavefronts"],
        "wavefronts_42": best["wavefronts"],
        **{
            f"{what}_{key}": cost[kind]["A"] + cost[kind]["B"]
            for key, cost in (("1", one), ("42", best))
            for what, kind in (("loads", "requests"), ("sectors", "sectors"))
        },
    }


@needs_compiler
def test_the_engine_counts_the_advantage():
    truth = ch08_answers.advantage(64, 64, 32)
    found = ch08_answers.counted(np.random.default_rng(1), 64, 64, 32)
    assert found == {key: truth[key] for key in found} and set(truth) - set(found) == {"flops"}


@pytest.mark.parametrize(
    ("registers", "warps"),
    [
        (24, 64),
        (32, 64),
        (33, 48),
        (53, 36),
        (56, 36),
        (57, 32),
        (64, 32),
        (65, 28),
        (124, 16),
        (128, 16),
        (129, 12),
        (255, 8),
    ],
)
def test_warps_that_fit_by_registers(registers, warps):
    """As NVIDIA's occupancy calculator has it for compute capability 7.0 to 9.0, at most 64 warps."""
    assert min(64, ch08_limits.warps_of_registers(registers, ch08_limits.A100)) == warps


@pytest.mark.parametrize("seed", range(20))
def test_no_planted_answer_is_like_the_truth(seed):
    for check in (ch08.check_sectors_of_load, ch08.check_blocks_per_sm, ch08.check_choose_tile):
        cases = check.draw(seed)
        right = [check.truth(check.reference, case) for case in cases]
        task = task_of(check.cases.__module__, check.name)
        for says, source in task.planted:
            assert _results(task.value_of(source), cases) != right, says


def _results(answer, cases):
    """What an answer gives in all cases; None where it stops."""
    try:
        return [answer(*case.args) for case in cases]
    except (ValueError, ZeroDivisionError, StopIteration, IndexError):
        return None


# The count of barriers -------------------------------------------------------------------------------------------

ONE = "__syncthreads();"


@needs_compiler
@pytest.mark.parametrize(
    "barriers", ["", ONE, f"{ONE} /* a {ONE} */ __syncthreads ( );"], ids=["none", "one", "two"]
)
def test_barriers_are_counted_while_they_run(barriers):
    region, _ = tasks(CHAPTER)["two-buffers"]
    text = kernel_of(region.filled(f"for (int k0 = 0; k0 < K; k0 += 16) {{ {barriers} }}"))
    launch = ch08_tiles.check_two_buffers.draw(1)[0]
    steps = -(-int(launch.args["K"]) // 16)
    wanted = barriers.replace(f"/* a {ONE} */", "").count("__syncthreads") * steps
    assert ch08_tiles.barriers(text, "gemm_two_buffers", launch) == wanted
