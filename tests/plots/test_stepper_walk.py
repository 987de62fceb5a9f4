"""A block's walk through K: what a frame says and shows is what the engine has counted of our own kernels."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib import plots
from course_lib.errors import BadInput
from course_lib.gpu import trace_steps
from course_lib.gpu.gemm import RUNGS

# kernel -> M, N, K and how many k it takes at a time
WALKS = {
    "naive": ((16, 64, 6), 1),
    "shared": ((64, 64, 128), 32),
    "register_16x4": ((128, 32, 12), 4),
    "warptile": ((128, 256, 48), 16),
}


def walked(kernel, block=0):
    (M, N, K), step = WALKS[kernel]
    rng = np.random.default_rng(6)
    A, B = rng.random((M, K), np.float32), rng.random((K, N), np.float32)
    return trace_steps(A, B, kernel, step, block)


def stepper_of(reports, kernel, block=(0, 0)):
    size, step = WALKS[kernel]
    return plots.step_walk(reports, size, (*RUNGS[kernel].tile, step), block)


def global_loads(report, name):
    return sum(report.total(name, space="global", op="load", array=array) for array in "AB")


def parts(frame):
    return {shape["k"]: shape for shape in frame.shapes if "k" in shape}


@needs_compiler
@pytest.mark.parametrize("kernel", WALKS)
def test_the_last_frame_says_what_the_engine_counts(kernel):
    reports = walked(kernel)
    last, total = stepper_of(reports, kernel).last, reports[-1]
    (_, _, K), (rows, columns) = WALKS[kernel][0], RUNGS[kernel].tile
    assert total.ok and f"so far {global_loads(total, 'threads'):,} loads from global" in last.says
    assert last.says.endswith(f"for {rows * columns * K:,} FMAs.")
    shared = total.total("threads", space="shared", op="load")
    assert (f"and {shared:,} from shared memory" in last.says) == (shared > 0)


@needs_compiler
@pytest.mark.parametrize("kernel", [name for name in WALKS if name != "naive"])
def test_a_tiled_kernel_asks_once_for_each_number_that_a_frame_names(kernel):
    reports = walked(kernel)
    asked = np.diff([0, *(global_loads(report, "bytes") for report in reports)])
    for frame, size in zip(stepper_of(reports, kernel).frames, asked, strict=True):
        assert f" of {size // 4:,} different numbers" in frame.says


@needs_compiler
@pytest.mark.parametrize(("block", "place"), [(0, (0, 0)), (1, (0, 1)), (2, (1, 0))])
def test_the_parts_shown_are_where_the_lanes_load(block, place):
    """The engine keeps the first warp's first request: row by row of A, 32 columns of B, at k = 0."""
    (_, N, K), _ = WALKS["naive"]
    reports = walked("naive", block)
    first = parts(stepper_of(reports, "naive", place).frames[0])
    rows = {row["array"]: row for row in reports[0].accesses if row["op"] == "load"}
    at = {name: {offset // 4 for offset in row["lanes"]} for name, row in rows.items()}
    assert at["A"] == {8 * place[0] * K}
    assert at["B"] == {32 * place[1] + lane for lane in range(32)}
    wide = first["b"]["w"] / 32
    assert first["d"]["w"] == first["b"]["w"] and first["a"]["h"] == pytest.approx(
        8 * wide, abs=0.2
    )
    frame_of_b = next(s for s in stepper_of(reports, "naive").frames[0].shapes if s["s"] == "box")
    assert frame_of_b["w"] == pytest.approx(K * wide, abs=0.2) and N * wide < 480
    assert first["b"]["x"] == pytest.approx(6 + K * wide + 10 + 32 * place[1] * wide, abs=0.3)


@needs_compiler
def test_the_naive_kernel_asks_twice_for_each_fma():
    frames = stepper_of(walked("naive"), "naive").frames
    assert [frame.says.partition(";")[0] for frame in frames] == [
        f"Step {k + 1} of 6, k = {k}: 512 loads of 40 different numbers for 256 FMAs"
        for k in range(6)
    ]


def test_a_walk_has_a_report_for_each_step():
    with pytest.raises(BadInput, match="0 reports of a walk: K = 8 by 2 is 4 steps"):
        plots.step_walk([], (16, 64, 8), (8, 32, 2))
    with pytest.raises(BadInput, match="at most 64 are shown"):
        plots.step_walk([None] * 65, (16, 64, 65), (8, 32, 1))


@needs_compiler
def test_steps_of_an_unknown_kernel_are_refused():
    with pytest.raises(BadInput, match="there is no kernel 'best'"):
        trace_steps(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32), "best")
