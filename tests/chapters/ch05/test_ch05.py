"""Chapter 05: its data sheets, its ledger of copies, its checks, and the mistakes that only the engine can see.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import re

import numpy as np
import pytest
from engine_runs import needs_compiler
from kernel_tasks import CHAPTERS, assert_the_engine_alone_sees_three, assert_the_solution_passes

from course_lib.checks import ch05
from course_lib.checks.ch05 import model as ch05_model
from course_lib.checks.ch05 import sectors as ch05_sectors
from course_lib.checks.ch05.device import Ledger, crossings
from course_lib.checks.kit.core import CheckFailed
from course_lib.gpu import device
from course_lib.gpu.data_sheets import DATA_SHEETS
from course_lib.machines.pycuda_names import memory

CHAPTER = "05-gpu-first-kernels"
KERNELS = {
    "saxpy": ch05.check_saxpy,
    "column-layer": ch05.check_column_layer,
    "bias-gradient": ch05.check_bias_gradient,
    "relu": ch05.check_relu,
    "class-best": ch05.check_class_best,
}


# Data sheets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA_SHEETS)
def test_the_figures_of_a_data_sheet_agree_with_each_other(name):
    """Each float32 unit does one fused multiply-add, two flops, a clock: NVIDIA's figures are rounded."""
    gpu = DATA_SHEETS[name]
    assert gpu.flops == pytest.approx(2 * gpu.multiprocessors * gpu.cores * gpu.clock, rel=0.01)
    assert gpu.ridge == gpu.flops / gpu.memory and gpu.pcie < gpu.memory / 10
    assert gpu.registers == 2**16 and gpu.shared % 1024 == 0 and "NVIDIA" in gpu.source


def test_the_bus_of_each_generation_is_twice_as_wide():
    third, fourth, fifth = (DATA_SHEETS[name].pcie for name in ("T4", "A100", "H100"))
    assert (third, fourth, fifth) == pytest.approx(
        (15.75e9, 31.5e9, 63e9), rel=1e-3
    )  # one way, 16 lanes
    assert DATA_SHEETS["V100"].pcie == third


# The mistakes that only the engine can see -----------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_three_or_more_wrong_answers_compute_right_numbers(task):
    """Of the other tasks (a count of sectors, host code, a model) none is a kernel: there the five planted ones do."""
    assert_the_engine_alone_sees_three(CHAPTER, task, KERNELS[task])


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_the_solution_passes_with_other_seeds(task, capsys):
    assert_the_solution_passes(CHAPTER, task, KERNELS[task], capsys)


# The count of sectors --------------------------------------------------------------------------------------------


def by_hand(indices, size):
    return len({i * size // 32 for i in indices})


@needs_compiler
@pytest.mark.parametrize("seed", range(3))
def test_the_engine_counts_what_the_formula_says(seed):
    for case in ch05_sectors._cases(np.random.default_rng(seed)):
        assert ch05_sectors._counted(*case.args) == by_hand(*case.args), case.label


# The ledger ------------------------------------------------------------------------------------------------------

ADD = r"""
__global__ void add(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""
SHAPE = {"block": (32, 1, 1), "grid": (1, 1)}


@pytest.fixture
def book():
    return Ledger()


@needs_compiler
def test_wrappers_around_a_launch_are_counted(book):
    x, y = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
    add = book.SourceModule(ADD).get_function("add")
    add(np.int32(20), book.In(x), book.Out(y), **SHAPE)
    assert np.array_equal(y, x + 1) and (book.sent, book.fetched, book.bytes, book.launches) == (
        1,
        1,
        160,
        1,
    )
    add(np.int32(20), device.In(x), device.InOut(y), **SHAPE)
    assert (book.sent, book.fetched, book.bytes, book.launches) == (3, 2, 400, 2)


@needs_compiler
def test_copies_by_name_are_counted(book):
    x, y = np.arange(20, dtype=np.float32), np.empty(20, np.float32)
    memory, other = book.to_device(x), book.mem_alloc(x.nbytes)
    book.memcpy_dtod(other, memory, x.nbytes)  # stays on the device: not counted
    book.memcpy_htod(memory, x)
    book.memcpy_dtoh(y, other)
    assert np.array_equal(book.from_device(other, (20,), np.float32), x) and np.array_equal(y, x)
    assert np.array_equal(book.from_device_like(memory, y), x)
    assert (book.sent, book.fetched, book.bytes, book.launches) == (2, 3, 400, 0)
    assert str(book) == "0 launches, 2 copies to the device, 3 back, 400 bytes"


@needs_compiler
def test_device_arrays_are_counted(book):
    x = np.arange(20, dtype=np.float32)
    d_x, d_y = book.gpuarray.to_gpu(x), book.gpuarray.zeros((20,), np.float32)
    book.SourceModule(ADD).get_function("add")(np.int32(20), d_x, d_y, **SHAPE)
    assert np.array_equal(d_y.get(), x + 1) and d_y.shape == (20,)
    d_x.set(x)
    assert (book.sent, book.fetched, book.launches) == (2, 1, 1)
    assert book.gpuarray.empty((3,), np.float32).nbytes == 12


# The model -------------------------------------------------------------------------------------------------------


def test_the_tables_of_the_crossover_have_several_answers():
    for seed in range(20):
        plan = ch05_model._plan(np.random.default_rng(seed))
        right = [ch05_model._crossover(*table[1:]) for table in plan]
        assert None in right and len({n for n in right if n}) >= 3


def test_a_blank_is_not_written_yet():
    def blank(*args, **more):
        raise NotImplementedError("write it")

    for name in ("sectors", "repeat_saxpy", "gpu_seconds", "crossover"):
        with pytest.raises(CheckFailed, match="is not written yet"):
            getattr(ch05, f"check_{name}")(blank, seed=1)
    for check in KERNELS.values():
        with pytest.raises(CheckFailed, match="is not written yet"):
            check('#error "write a-kernel: about 2 lines, 5 minutes"', seed=1)


def test_every_check_has_a_task():
    text = (CHAPTERS / CHAPTER / "exercise.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^ch05\.(\w+)\(", text, re.MULTILINE)) == set(ch05.__all__)


def test_the_wrappers_of_both_engines_are_told_apart():
    """PyCUDA's wrappers are classes of these names; the CPU engine's know themselves when they copy."""
    pycuda = [type(name, (), {"array": np.zeros(2)})() for name in ("In", "Out", "InOut")]
    ours = [make(np.zeros(2)) for make in (memory.In, memory.Out, memory.InOut)]
    assert (
        [crossings(arg) for arg in pycuda]
        == [crossings(arg) for arg in ours]
        == [(1, 0), (0, 1), (1, 1)]
    )
    assert crossings(np.int32(3)) == (0, 0)
