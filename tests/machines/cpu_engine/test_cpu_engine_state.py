"""Variables of the device between launches: a module keeps them; a traced launch starts anew, and hands them back."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.gpu import device
from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler
pytest_plugins = ["gpu_engine"]  # the fixtures `engine` and `cpu`
SOURCE = """__device__ unsigned launches = 5;
__device__ float sums[2][3];
__constant__ float step[3];
__device__ int untouched = 11;
__global__ void count(unsigned *seen) {
    if (threadIdx.x == 0) seen[0] = atomicAdd(&launches, 1);
    if (threadIdx.x < 3) sums[1][threadIdx.x] += step[threadIdx.x];
}
__global__ void look(unsigned *seen) { seen[0] = launches; }
__global__ void fails(unsigned *seen) { launches = 100; __trap(); }
__global__ void last_block(int *finished) {
    if (threadIdx.x == 0 && atomicAdd(&launches, 1) == gridDim.x - 1) finished[0]++, launches = 0;
}
"""
STEP = np.float32([1, 10, 100])


def read(module, name, dtype, shape):
    values = np.empty(shape, dtype)
    device.memcpy_dtoh(values, module.get_global(name)[0])
    return values


def test_a_module_keeps_its_variables(engine):
    module, seen = device.SourceModule(SOURCE), np.zeros(1, np.uint32)
    device.memcpy_htod(module.get_global("step")[0], STEP)
    for before in (5, 6, 7):
        module.get_function("count")(device.Out(seen), block=(32, 1, 1))
        assert seen[0] == before
    module.get_function("look")(device.Out(seen), block=(1, 1, 1))
    assert seen[0] == 8 and read(module, "untouched", np.int32, 1)[0] == 11
    assert (read(module, "sums", np.float32, (2, 3)) == [[0, 0, 0], [3, 30, 300]]).all()


def test_another_module_of_the_same_source_has_variables_of_its_own(engine):
    first, second = device.SourceModule(SOURCE), device.SourceModule(SOURCE)
    for module, times in ((first, 2), (second, 1)):
        for _ in range(times):
            module.get_function("count")(device.Out(np.zeros(1, np.uint32)), block=(32, 1, 1))
    assert read(first, "launches", np.uint32, 1)[0] == 7
    assert read(second, "launches", np.uint32, 1)[0] == 6


def test_cpu_after_a_crash_what_the_host_wrote_is_there_again(cpu):
    """On a GPU a crash takes all of the memory with it."""
    module, seen = device.SourceModule(SOURCE), np.zeros(1, np.uint32)
    device.memcpy_htod(module.get_global("launches")[0], np.uint32([40]))
    module.get_function("count")(device.Out(seen), block=(32, 1, 1))
    with pytest.raises(device.LaunchFailed, match="status 4"):
        module.get_function("fails")(device.Out(seen), block=(1, 1, 1))
    module.get_function("look")(device.Out(seen), block=(1, 1, 1))
    assert seen[0] == 40


def traced(kernel="count", **symbols):
    seen = np.zeros(1, np.uint32)
    report = trace(SOURCE, kernel, 1, 32 if kernel == "count" else 1, [seen], symbols=symbols)
    return report, seen[0]


def test_each_traced_launch_starts_as_a_module_just_loaded():
    for _ in range(3):
        report, seen = traced()
        assert report.ok and seen == 5


def test_what_a_traced_launch_leaves_comes_back_and_can_be_carried_on():
    launches, sums, step = np.uint32([20]), np.zeros((2, 3), np.float32), STEP.copy()
    for before in (20, 21, 22):
        report, seen = traced(launches=launches, sums=sums, step=step)
        assert report.ok and seen == before and launches[0] == before + 1
    assert (sums == [[0, 0, 0], [3, 30, 300]]).all() and (step == STEP).all()


def test_an_array_that_may_not_be_written_stays_and_one_with_gaps_is_filled():
    whole, fixed = np.zeros((3, 4), np.float32), np.uint32([9])
    fixed.flags.writeable = False
    report, seen = traced(launches=fixed, sums=whole.T[::2], step=STEP)
    assert report.ok and (seen, fixed[0]) == (9, 9)
    assert (whole[:, 2] == STEP).all() and not whole[:, [0, 1, 3]].any()


COPY = "__global__ void copy(const float *x, float *y) { int i = threadIdx.x; y[i] = x[i]; }"


def test_an_array_stored_by_columns_is_copied_as_it_lies():
    B = np.arange(12, dtype=np.float32).reshape(3, 4)
    y, by_columns = np.zeros(12, np.float32), np.zeros((3, 4), np.float32, order="F")
    assert trace(COPY, "copy", 1, 12, [B.T, y]).ok and (y == B.ravel()).all()
    assert trace(COPY, "copy", 1, 12, [B.T, by_columns]).ok
    assert (by_columns.T.ravel() == B.ravel()).all() and by_columns.flags.f_contiguous
    nothing = np.full((3, 4), np.nan, np.float32, order="F")
    assert trace(COPY, "copy", 1, 12, [B, nothing]).ok and (nothing.T.ravel() == B.ravel()).all()
    whole = np.arange(6, dtype=np.float32)
    assert trace(
        COPY, "copy", 1, 3, [whole, whole.reshape(2, 3).T]
    ).ok  # the same memory: one array
    assert (whole == np.arange(6)).all()


def test_arrays_with_gaps_or_a_mask_are_copied_row_by_row():
    wide, y = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros(12, np.float32)
    assert trace(COPY, "copy", 1, 12, [wide.T[::2], y]).ok and (y == wide.T[::2].ravel()).all()
    masked = np.ma.masked_all((3, 4), np.float32).T
    assert trace(COPY, "copy", 1, 12, [y, masked]).ok
    assert (np.ma.getdata(masked).ravel() == y).all() and not masked.mask.any()


def test_after_a_crash_the_callers_array_is_as_it_was():
    launches = np.uint32([3])
    report, _ = traced("fails", launches=launches)
    assert not report.ok and launches[0] == 3
    report, seen = traced(launches=launches)
    assert report.ok and (seen, launches[0]) == (3, 4)


def test_a_counter_of_blocks_that_the_last_block_sets_back():
    finished = np.zeros(1, np.int32)
    launches = np.zeros(1, np.uint32)
    for times in (1, 2):
        report = trace(SOURCE, "last_block", 6, 32, [finished], symbols={"launches": launches})
        assert (finished[0], launches[0]) == (times, 0), str(report)


def test_plain_and_traced_leave_the_same(cpu):
    module, rng = device.SourceModule(SOURCE), np.random.default_rng(3)
    step, sums, launches = rng.random(3, np.float32), np.zeros((2, 3), np.float32), np.uint32([5])
    device.memcpy_htod(module.get_global("step")[0], step)
    for _ in range(4):
        module.get_function("count")(device.Out(np.zeros(1, np.uint32)), block=(32, 1, 1))
        traced(launches=launches, sums=sums, step=step)
    assert (read(module, "sums", np.float32, (2, 3)) == sums).all()
    assert read(module, "launches", np.uint32, 1)[0] == launches[0] == 9
