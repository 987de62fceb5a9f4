"""The surface of `device` on both engines; how an engine is chosen; PyCUDA's side against a stand-in."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.gpu import device

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "support" / "fake_pycuda"
pytest_plugins = ["gpu_engine"]  # the fixtures `engine` and `cpu`
SAXPY = """__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void fill(int *y, unsigned n) { if (threadIdx.x < n) y[threadIdx.x] = threadIdx.x; }
"""


@pytest.fixture
def saxpy(engine):
    return device.SourceModule(SAXPY).get_function("saxpy")


def numbers(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n, np.float32)


def call(function, n, x, y, **how):
    return function(
        np.int32(n), np.float32(2), x, y, **{"block": (32, 1, 1), "grid": (-(-n // 32), 1), **how}
    )


def test_in_and_inout(saxpy):
    x, y = numbers(70), numbers(70, 1)
    expected = 2 * x + y
    call(saxpy, 70, device.In(x), device.InOut(y))
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_device_memory_and_arrays(saxpy):
    x, y = numbers(70), numbers(70, 1)
    memory, array = device.to_device(x), device.gpuarray.to_gpu(y)
    call(saxpy, 70, memory, array)
    call(saxpy, 70, memory, array.gpudata)
    np.testing.assert_allclose(array.get(), 4 * x + y, rtol=1e-5)
    assert (array.shape, array.dtype, array.size, array.nbytes) == ((70,), np.float32, 70, 280)
    array.set(x)
    assert (array.get() == x).all() and not device.gpuarray.zeros((3, 2), np.float32).get().any()


def test_copies(engine):
    x = numbers(12).reshape(3, 4)
    memory, other = device.mem_alloc(48), device.mem_alloc(48)
    device.memcpy_htod(memory, x)
    device.memcpy_dtod(other, memory, 48)
    assert (device.from_device_like(other, x) == x).all()
    assert (device.from_device(other, (12,), np.float32) == x.ravel()).all()
    device.memcpy_htod(int(memory) + 16, x[0])
    device.memcpy_dtoh(x, memory)
    assert (x[1] == x[0]).all()
    device.memset_d32(memory, 0x40000000, 12)
    assert (device.from_device(memory, 12, np.float32) == 2).all()
    device.memset_d8(memory, 0, 48)
    assert not device.from_device(memory, 12, np.float32).any()
    memory.free()


def test_columns_stay_columns(engine):
    """memcpy moves memory as it lies; a device array remembers its strides; T costs nothing."""
    x = np.asfortranarray(numbers(6).reshape(2, 3))
    array = device.gpuarray.to_gpu(x)
    assert (
        array.strides == x.strides and (array.get() == x).all() and array.get().flags.f_contiguous
    )
    assert array.T.shape == (3, 2) and (array.T.get() == x.T).all()
    memory = device.mem_alloc(24)
    device.memcpy_htod(memory, x)
    assert (device.from_device(memory, (3, 2), np.float32) == x.T).all()


def test_globals(engine):
    module = device.SourceModule("""__constant__ float c[3];
        __device__ int seen;
        __global__ void f(float *y) { y[threadIdx.x] = c[threadIdx.x]; seen = 7; }""")
    pointer, size = module.get_global("c")
    device.memcpy_htod(pointer, numbers(3))
    y, seen = np.empty(3, np.float32), np.empty(1, np.int32)
    module.get_function("f")(device.Out(y), block=(3, 1, 1))
    device.memcpy_dtoh(seen, module.get_global("seen")[0])
    assert size == 12 and (y == numbers(3)).all() and seen[0] == 7


def test_options_and_templates(engine):
    source = """template <int n> __device__ int twice() { return 2 * n; }
        extern "C" __global__ void f(int *y) { *y = twice<N>(); }"""
    y = np.zeros(1, np.int32)
    module = device.SourceModule(source, options=["-DN=21", "-O3"], no_extern_c=True)
    module.get_function("f")(device.Out(y), block=(1, 1, 1))
    assert y[0] == 42


def test_events(saxpy):
    start, end = device.Event(), device.Event()
    start.record()
    call(saxpy, 70, device.In(numbers(70)), device.InOut(numbers(70)))
    end.record()
    end.synchronize()
    assert 0 < start.time_till(end) < 10_000 and end.time_since(start) == pytest.approx(
        start.time_till(end)
    )
    device.synchronize()


def test_attributes(engine):
    found = device.attributes()
    assert found["multiprocessors"] >= 1 and found["max_threads_per_block"] == 1024
    assert found["shared_bytes_per_block"] >= 48 << 10
    assert engine == device.engine_name() and ("not on a GPU" in found["name"]) == (engine == "cpu")


def test_what_does_not_fit_is_refused(saxpy):
    x = numbers(70)
    for arguments, how, words in (
        ((x, device.InOut(x)), {}, "NumPy array"),
        ((device.In(x), device.InOut(x)), {"shared": 10**9}, "shared|invalid"),
        ((device.In(x), device.InOut(x)), {"block": (2048, 1, 1)}, "block|invalid"),
    ):
        with pytest.raises((BadInput, device.LaunchFailed), match=words):
            call(saxpy, 70, *arguments, **how)
    with pytest.raises(BadInput, match=r"Python number|np\.int32"):
        saxpy(70, np.float32(2), device.In(x), device.InOut(x), block=(32, 1, 1))
    with pytest.raises((BadInput, device.LaunchFailed), match="nothing_here"):
        device.SourceModule(SAXPY).get_function("nothing_here")
    call(saxpy, 70, device.In(x), device.InOut(x))  # and the next call is fine


def test_compile_errors_have_the_lines_of_the_source(engine):
    with pytest.raises(device.CompileError, match=r"kernel.cu[:(]2"):
        device.SourceModule("__global__ void f(float *x)\n{ x[0] = y; }")


def test_cpu_out_starts_unset(cpu):
    y = np.zeros(8, np.float32)
    module = device.SourceModule(
        "__global__ void f(float *y) { if (threadIdx.x < 5) y[threadIdx.x] = 1; }"
    )
    module.get_function("f")(device.Out(y), block=(8, 1, 1))
    assert (
        (y[:5] == 1).all()
        and np.isnan(y[5:]).all()
        and np.isnan(device.gpuarray.empty(3, np.float32).get()).all()
    )


FAILING = {
    "crash": ("*(volatile int *)8 = 1;", "f: the kernel crashed"),
    "timeout": (
        "while (((volatile float *)y)[0] != 7) y[1] = 0;",
        "f: the kernel did not finish within",
    ),
    "synccheck": (
        "if (threadIdx.x) { __syncwarp(3); } else { __syncthreads(); }",
        "f: .* at the barrier in line 2",
    ),
}


@pytest.mark.parametrize("tool", FAILING)
def test_cpu_a_failed_launch_does_not_poison_the_next(cpu, monkeypatch, tool):
    monkeypatch.setenv("COURSE_GPU_SECONDS", "1")
    body, words = FAILING[tool]
    module = device.SourceModule(f"""__constant__ float c;
        __global__ void f(float *y) {{ {body} }}
        __global__ void good(float *y) {{ y[threadIdx.x] = c; }}""")
    device.memcpy_htod(module.get_global("c")[0], np.float32([3]))
    y = device.gpuarray.zeros(2, np.float32)
    with pytest.raises(device.LaunchFailed, match=words) as caught:
        module.get_function("f")(y, block=(2, 1, 1))
    assert caught.value.tool == tool
    module.get_function("good")(y, block=(2, 1, 1))
    assert (y.get() == 3).all()


def test_cpu_memory_is_given_back(cpu):
    from course_lib.machines.pycuda_names.memory import arena

    gc.collect()
    before = len(arena().live)
    kept = [device.mem_alloc(100) for _ in range(5)]
    kept[0].free()
    with pytest.raises(BadInput, match="freed"):
        int(kept[0])
    del kept
    gc.collect()
    assert len(arena().live) == before


def test_cpu_a_cell_can_be_run_again_and_leaves_no_process(cpu):
    children = []
    for _ in range(3):
        module = device.SourceModule(SAXPY)
        call(module.get_function("saxpy"), 3, device.In(numbers(3)), device.InOut(numbers(3)))
        children.append(module.process._child)
    del module
    gc.collect()
    assert all(child.poll() is not None for child in children)


def test_cpu_prints_what_the_kernel_prints(cpu, capsys):
    module = device.SourceModule(
        '__global__ void f() { printf("thread %d\\n", (int)threadIdx.x); }'
    )
    module.get_function("f")(block=(2, 1, 1))
    assert capsys.readouterr().out.endswith("thread 0\nthread 1\n")


def test_cpu_refuses(cpu):
    fill, x = device.SourceModule(SAXPY).get_function("fill"), np.zeros((4, 4), np.int32)
    for arguments, how, words in (
        ((device.Out(x), np.int32(4)), {}, "np.uint32"),
        ((device.Out(x),), {}, "takes 2 arguments"),
        ((7, np.uint32(4)), {}, "must be device memory"),
        ((device.Out(x), np.uint32(4)), {"block": 32}, "tuple of three"),
        ((device.Out(x), np.uint32(4)), {"grid": (0, 1)}, "grid"),
    ):
        with pytest.raises(BadInput, match=words):
            fill(*arguments, **{"block": (4, 1, 1), **how})
    with pytest.raises(BadInput, match="a text of CUDA C, not int"):
        device.SourceModule(5)
    with pytest.raises(BadInput, match="gaps"):
        device.In(x[:, ::2])
    with pytest.raises(BadInput, match="strides"):
        device.gpuarray.to_gpu(x).set(np.asfortranarray(x))
    with pytest.raises(BadInput, match="do not lie in one allocation"):
        device.memcpy_htod(device.mem_alloc(8), x)
    with pytest.raises(BadInput, match="12 bytes"):
        device.memcpy_htod(
            device.SourceModule("__constant__ float c[3];").get_global("c")[0],
            np.zeros(4, np.float32),
        )


def python(code, scene="", fake=True, **more):
    """stdout of a fresh interpreter in which PyCUDA is the stand-in, or is missing."""
    path = os.pathsep.join(
        [str(ROOT), *([str(FAKE)] if fake else []), os.environ.get("PYTHONPATH", "")]
    )
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "FAKE_PYCUDA": scene,
        "COURSE_GPU": "auto",
        **more,
    }
    block = "" if fake else "import sys; sys.modules['pycuda'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", block + code], env=environment, capture_output=True, text=True
    )
    return done.stdout + done.stderr.strip().rpartition("\n")[2]


NAME = "from course_lib.gpu import device\nprint(device.engine_name(), device.engine_name())"


LOST = "libcuda.so.1: cannot open shared object file: No such file or directory"
ABSENT = "No CUDA enabled device found. Please check your installation."


@pytest.mark.parametrize(
    ("scene", "choice", "said"),
    [
        ("", "auto", "Kernels run on Fake GPU.\ncuda cuda\n"),
        ("", "cuda", "Kernels run on Fake GPU.\ncuda cuda\n"),
        ("", "cpu", "not on a GPU: COURSE_GPU=cpu.\ncpu cpu\n"),
        ("no-libcuda", "auto", f"not on a GPU: PyCUDA does not load ({LOST}).\ncpu cpu\n"),
        (
            "no-driver",
            "auto",
            "PyCUDA finds no GPU (cuInit failed: no CUDA-capable device is detected).\ncpu cpu\n",
        ),
        ("no-device", "auto", f"not on a GPU: PyCUDA finds no GPU ({ABSENT}).\ncpu cpu\n"),
        (
            "no-libcuda",
            "cuda",
            f"course_lib.errors.BadInput: COURSE_GPU=cuda, but PyCUDA does not load ({LOST}",
        ),
        (
            "no-driver",
            "cuda",
            "course_lib.errors.BadInput: COURSE_GPU=cuda, but PyCUDA finds no GPU (cuInit failed",
        ),
        (
            "",
            "fast",
            "course_lib.errors.BadInput: COURSE_GPU is 'fast': it may be cuda, cpu or auto",
        ),
    ],
)
def test_the_choice_is_made_once_and_said_plainly(scene, choice, said):
    out = python(NAME, scene, COURSE_GPU=choice)
    assert said in out and out.count("Kernels run") == (choice != "fast" and "BadInput" not in said)


def test_without_pycuda():
    assert "not on a GPU: PyCUDA is not installed.\ncpu cpu\n" in python(NAME, fake=False)
    assert "BadInput: COURSE_GPU=cuda, but PyCUDA is not installed" in python(
        NAME, fake=False, COURSE_GPU="cuda"
    )


def test_import_decides_and_prints_nothing():
    code = "import course_lib.gpu, course_lib.gpu.device, sys; print('pycuda' in sys.modules)"
    assert python(code) == "False\n" and python(code, COURSE_GPU="fast") == "False\n"


def test_names_are_pycudas_own():
    code = """
from course_lib.gpu import device
import pycuda.driver, pycuda.gpuarray
same = [name for name in device.NAMES if hasattr(pycuda.driver, name) and name != "CompileError"]
assert all(getattr(device, name) is getattr(pycuda.driver, name) for name in same), same
assert device.gpuarray is pycuda.gpuarray
print(len(same), [name for name in device.NAMES if name not in same])"""
    ours = ["SourceModule", "gpuarray", "synchronize", "attributes", "CompileError", "LaunchFailed"]
    assert python(code).endswith(f"16 {ours}\n")


def test_one_context_is_retained_and_released():
    code = (
        NAME
        + """
from course_lib.gpu import on_cuda
from pycuda import driver
on_cuda.start(); on_cuda.start()
print(driver.calls, len(driver.Context.stack))
import atexit; atexit._run_exitfuncs(); print(driver.calls[3:], len(driver.Context.stack))"""
    )
    assert python(code).endswith(
        "['init', 'retain', 'push'] 1\n['pop', 'detach', 'caches cleared'] 0\n"
    )


GPU_CELL = """
import numpy as np
from course_lib.gpu import device
from pycuda import driver
x = np.ones(4, np.float32)
f = device.SourceModule("source", options=("-DN=1",)).get_function("f")
"""


def test_a_launch_reaches_pycuda():
    code = (
        GPU_CELL
        + """
memory, array = device.mem_alloc(4), device.gpuarray.to_gpu(x)
f(np.int32(4), device.In(x), device.Out(x), memory, array, block=(4, 1, 1), grid=(2, 1))
launch = driver.calls[4]
print(driver.calls[3], f.num_regs, launch[0], [type(a).__name__ for a in launch[2]], launch[3:])"""
    )
    compiled = ("compile", '#line 1 "kernel.cu"\nsource', ["-DN=1", "-arch", "sm_80"], False)
    wanted = f"{compiled} 32 launch ['int32', 'In', 'Out', 'DeviceAllocation', 'GPUArray'] ((4, 1, 1), (2, 1))\n"
    assert python(code).endswith(wanted)


@pytest.mark.parametrize(
    ("scene", "cell", "said"),
    [
        (
            "launch",
            "f(np.int32(4), block=(4, 1, 1))",
            "LaunchFailed: f: cuLaunchKernel failed: invalid argument. If later",
        ),
        (
            "later",
            "device.synchronize()",
            "LaunchFailed: a kernel that was launched before: cuCtxSynchronize failed",
        ),
        (
            "",
            "f(x, block=(4, 1, 1))",
            "BadInput: f: argument 0 is a NumPy array: wrap it in In, Out or InOut",
        ),
        ("", "f(4, block=(4, 1, 1))", "BadInput: f: argument 0 is a Python number: np.int32(4)"),
        (
            "",
            "device.SourceModule('').get_function('missing')",
            "LaunchFailed: missing: cuModuleGetFunction failed",
        ),
        ("bad-source", "", 'kernel.cu(2): error: identifier "y"'),
        ("no-nvcc", "", "BadInput: PyCUDA cannot compile: nvcc was not found"),
    ],
)
def test_what_goes_wrong_on_a_gpu_is_one_error(scene, cell, said):
    assert said in python(GPU_CELL + cell, scene)


def test_gemm_launches_on_pycuda():
    code = """
import numpy as np
from course_lib.gpu import gemm
from pycuda import driver
gemm(np.ones((70, 5), np.float32), np.ones((5, 33), np.float32))
_, name, args, block, grid = driver.calls[-1]
print(name, [str(a) for a in args if isinstance(a, np.number)], block, grid)"""
    numbers = ["33", "70", "5", "1.0", "1", "33", "1", "5", "0.0", "1", "33"]
    assert python(code).endswith(f"gemm_register_16x4 {numbers} (16, 4, 1) (1, 5)\n")
