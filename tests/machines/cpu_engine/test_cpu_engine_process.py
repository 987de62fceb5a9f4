"""What surrounds a kernel: crashes, time, interrupts, bad input, compile errors and the cache of compiled kernels."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler, run

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError, LaunchFailed, compiler, trace
from course_lib.machines.cpu_engine.compiler import number_sites
from course_lib.machines.cpu_engine.memory import Arena, OutOfMemory
from course_lib.machines.cpu_engine.process import Process
from course_lib.machines.cuda_c.rewrite import rewrite

pytestmark = needs_compiler
ROOT = Path(__file__).resolve().parents[3]

SOURCE = r"""
struct Pair { int first, second; };
__global__ void one(float *A) { A[threadIdx.x] = 1; }
__global__ void wild(float *A) { A[(1ll << 45) + threadIdx.x] = 1; }
__global__ void endless(volatile float *A) { while (A[0] < 5) A[0] = 1; }
__global__ void hang(float *A) { if (threadIdx.x < 3) __syncwarp(); else __syncthreads(); A[threadIdx.x] = 1; }
__global__ void kinds(float *A, int n, unsigned u, double d, Pair p)
{
    if (threadIdx.x < n) A[threadIdx.x] = u + d + p.first;
}
__global__ void greedy(float *A)
{
    __shared__ float a[10000], b[3000];
    a[threadIdx.x] = b[threadIdx.x] = A[threadIdx.x];
}
__global__ void chatty(float *A) { printf("hello %g\n", A[threadIdx.x]); }
__global__ void asserts(float *A, int n) { assert(threadIdx.x < n); A[threadIdx.x] = 1; }
"""


@pytest.fixture
def engine():
    arena = Arena(1 << 22)
    process = Process(compiler.build(rewrite(SOURCE)), arena)
    A = arena.alloc(64 * 4)
    arena.write(A, np.zeros(64, np.float32))

    def launch(kernel, *more, threads=4, timeout=20):
        values = [A.to_bytes(8, "little"), *(value.tobytes() for value in more)]
        return process.launch(kernel, (2, 1, 1), (threads, 1, 1), 0, 2, values, timeout=timeout)

    launch.process, launch.read = process, lambda: arena.read(A, 256).view(np.float32)
    yield launch
    process.close()


def children():
    mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {child for path in mine for child in path.read_text().split()}


def open_files():
    return len(os.listdir("/proc/self/fd"))


def shared_memory():
    """The names in shared memory, without those of MPI: ranks of other tests come and go meanwhile."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("mpich")}


@pytest.mark.parametrize("kernel, tool", [("wild", "crash"), ("endless", "timeout")])
def test_a_failed_launch_leaves_nothing_and_the_next_one_works(engine, kernel, tool):
    before = children() if sys.platform == "linux" else set()
    with pytest.raises(LaunchFailed) as failure:
        engine(kernel, timeout=1)
    assert failure.value.tool == tool
    assert sys.platform != "linux" or children() == before
    engine("one")
    assert engine.read()[:5].tolist() == [1, 1, 1, 1, 0]


def test_a_barrier_that_never_opens_is_told(engine):
    assert "barrier in line 6" in engine("hang", threads=32)[1]
    assert not engine("one")[1]


def test_what_a_kernel_prints(engine):
    assert engine("chatty", threads=1)[2] == "hello 0\nhello 0\n"
    assert engine("one")[2] == ""
    with pytest.raises(LaunchFailed, match=r"thread: \[3,0,0\] Assertion `threadIdx.x < n` failed"):
        engine("asserts", np.int32(3))


def test_too_much_shared_memory(engine):
    with pytest.raises(LaunchFailed, match="a block may have 49152 bytes of shared memory"):
        engine("greedy")


def test_interrupt(engine):
    main = threading.main_thread().ident
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        engine("endless", timeout=3600)
    engine("one")


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
def test_traces_leave_no_files_and_no_processes():
    trace(SOURCE, "one", 1, 4, [np.zeros(4, np.float32)])
    files, before, left = open_files(), children(), shared_memory()
    for kernel in ("one", "wild", "endless"):
        trace(SOURCE, kernel, 1, 4, [np.zeros(4, np.float32)], timeout=1)
    assert open_files() == files and children() == before and shared_memory() <= left


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_notebook_leaves_no_process_behind():
    code = (
        f"import numpy as np, sys; sys.path.insert(0, {str(ROOT)!r}); from course_lib.gpu.cpu_engine import trace\n"
        f"trace({SOURCE!r}, 'endless', 1, 1, [np.zeros(4, np.float32)], timeout=2)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    child = []
    for _ in range(200):
        child = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        if child and "/engine/" in Path(f"/proc/{child[0]}/cmdline").read_text():
            break
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    for _ in range(200):
        if (
            not os.path.exists(f"/proc/{child[0]}")
            or "Z" in Path(f"/proc/{child[0]}/stat").read_text().split()[2]
        ):
            return
        time.sleep(0.05)
    raise AssertionError("the kernel goes on")


A4 = np.zeros(4, np.float32)
PAIR = np.array((1, 2), [("first", "i4"), ("second", "i4")])[()]
GOOD = [A4, np.int32(4), np.uint32(1), np.float64(2), PAIR]
BAD = [
    ({"kernel": "two"}, "there is no kernel 'two'; the source has asserts"),
    ({"args": GOOD[:4]}, "kinds takes 5 arguments, not 4"),
    ({"args": [A4, 4, *GOOD[2:]]}, r"n is an integer of 4 bytes: pass np.int32\(...\), not int"),
    ({"args": [A4, np.int64(4), *GOOD[2:]]}, r"pass np.int32\(...\), not np.int64"),
    ({"args": [*GOOD[:3], np.float32(2), PAIR]}, r"pass np.float64\(...\), not np.float32"),
    ({"args": [*GOOD[:4], np.int32(2)]}, "p is a struct of 8 bytes"),
    ({"args": [[0, 0], *GOOD[1:]]}, "A is a pointer: pass a NumPy array"),
    ({"args": [np.array([None]), *GOOD[1:]]}, "A is a pointer: pass a NumPy array"),
    ({"block": (64, 32)}, "2048 threads; a block may have 1024"),
    ({"block": 0}, "block.0. must be a whole number from 1 to 1024"),
    ({"grid": (1, 1, 1, 1)}, "grid must be one to three numbers"),
    ({"shared": 1 << 20}, "shared must be a whole number from 0 to 49152"),
    ({"blocks": [7]}, "a block's number must be a whole number from 0 to 0"),
    ({"blocks": [(0, 1)]}, "a block's index"),
    ({"symbols": {"w": A4}}, "there is no variable 'w'"),
]


@pytest.mark.parametrize("change, words", BAD)
def test_bad_arguments(change, words):
    call = {"kernel": "kinds", "grid": 1, "block": 4, "args": GOOD} | change
    with pytest.raises(BadInput, match=words):
        trace(SOURCE, **call)


def test_good_arguments_and_a_view():
    wide = np.zeros((4, 2), np.float32)
    report = trace(SOURCE, "kinds", 1, 4, [wide[:, 0], *GOOD[1:]])
    assert report.ok and wide.tolist() == [[4, 0]] * 4
    fixed = np.zeros(4, np.float32)
    fixed.flags.writeable = False
    assert trace(SOURCE, "kinds", 1, 4, [fixed, *GOOD[1:]]).ok and not fixed.any()
    empty = trace(SOURCE, "kinds", 1, 4, [np.zeros(0, np.float32), *GOOD[1:]])
    assert empty.errors[0]["tool"] == "memcheck" and empty.errors[0]["array"] == "A"


def test_compile_errors_have_the_line_of_the_source():
    with pytest.raises(CompileError, match=r"kernel.cu:3:\d+: error: .*nonsense") as failure:
        trace("\n__global__ void k(float *A) {\n    A[0] = nonsense;\n}", "k", 1, 1, [A4])
    assert "cuda_subset.h" not in str(failure.value)
    with pytest.raises(BadInput, match="line 2: a member of a class cannot be __shared__"):
        rewrite("struct S {\n__shared__ float s[4]; };\n__global__ void k() {}")
    for head in ("int k(", "float *\nk(", "__launch_bounds__(32) int k("):
        with pytest.raises(BadInput, match="line 2: a kernel returns nothing: __global__ void"):
            rewrite(f"\n__global__ {head}float *x) {{ return 0; }}")


def test_comments_and_strings_are_left_alone():
    text = '__global__ void k(float *A) { /* __shared__\nint s; */ printf("// __shared__ x;\\n"); A[0] = 1; } // }'
    assert list(rewrite(text).kernels) == ["k"]
    assert run("plain", text, "k", 1, 1, [A4]) == "// __shared__ x;\n"


def test_compiled_once(monkeypatch):
    program = rewrite(SOURCE)
    path = compiler.build(program)
    monkeypatch.setattr(compiler, "_run", lambda *command: pytest.fail("compiled again"))
    assert compiler.build(program) == path
    with pytest.raises(pytest.fail.Exception):
        compiler.build(program, ["-DOTHER"])


def test_two_processes_compile_at_once(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from course_lib.machines.cpu_engine import compiler\n"
        "from course_lib.machines.cuda_c import rewrite\n"
        "for i in 1, 2: print(compiler.build(rewrite.rewrite(f'__global__ void k(float *A) {{ A[0] = {i}; }}')))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "COURSE_CACHE": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    paths = {child.communicate()[0].strip() for child in both}
    assert [child.returncode for child in both] == [0, 0] and len(paths) == 1
    kept = sorted(path.name for path in (tmp_path / "engine").iterdir())
    made = ["two", "programs", "server", "blocks"]
    assert len(kept) == len(made) and not [name for name in kept if name.startswith("tmp")]


def test_device_memory():
    arena = Arena(1 << 20)
    a, b = arena.alloc(1000), arena.alloc(0)
    assert a % 256 == 0 and b - a >= 1000 + 256
    arena.write(a, np.arange(250, dtype=np.float32))
    assert arena.read(a, 1000).view(np.float32)[-1] == 249
    for call in (
        lambda: arena.free(a + 4),
        lambda: arena.read(a, 1001),
        lambda: arena.write(b, np.ones(1)),
    ):
        with pytest.raises(BadInput):
            call()
    with pytest.raises(OutOfMemory):
        arena.alloc(1 << 20)
    arena.free(a)
    assert arena.alloc(500) == a


def test_what_was_not_used_for_long_is_deleted(tmp_path, monkeypatch):
    """Of 6 files, 3 may be kept for 30 days, the others for one; a folder is what a killed compile has left."""
    monkeypatch.setattr(compiler, "_folder", lambda: tmp_path)
    monkeypatch.setattr(compiler, "KEEP", 3)
    days = {"now": 0, "week": 7, "old-but-found": 40, "hours": 0.5, "two-days": 2, "year": 365}
    for name, age in days.items():
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - 86400 * age,) * 2)
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "kernel.s").write_text("")
    os.utime(tmp_path / "left", (time.time() - 86400 * 31,) * 2)
    assert compiler._found(tmp_path / "old-but-found") and not compiler._found(tmp_path / "never")
    compiler._prune()
    assert {path.name for path in tmp_path.iterdir()} == {"now", "old-but-found", "hours"}
    os.utime(tmp_path / "hours", (time.time() - 86400 * 29,) * 2)
    compiler._prune()
    assert len(list(tmp_path.iterdir())) == 3
    os.utime(tmp_path / "hours", (time.time() - 86400 * 31,) * 2)
    compiler._prune()
    assert {path.name for path in tmp_path.iterdir()} == {"now", "old-but-found"}


ZIG = next((name for name in [os.environ.get("COURSE_ZIG", "")] if name), "")


def zig():
    try:
        import ziglang
    except ImportError:
        return ZIG.split()
    return [sys.executable, "-m", "ziglang"] if ziglang else []


@pytest.mark.slow
@pytest.mark.skipif(
    not zig(), reason="ziglang is not installed, and COURSE_ZIG does not name a zig"
)
def test_arm64_assembles(tmp_path):
    """The engine, and a kernel with its sites numbered, become arm64 objects; none runs here."""
    cross = [*zig(), "c++", "-target", "aarch64-linux-gnu", *compiler.COMMON, "-DCOURSE_TRACE"]
    program = tmp_path / "kernel.cpp"
    program.write_text(rewrite(SOURCE).text)
    for name in compiler.TRACE_UNITS:
        unit = [str(compiler.NATIVE / f"{name}.cpp"), "-o", str(tmp_path / f"{name}.o")]
        subprocess.run([*cross, "-O2", "-c", *unit], check=True)
    flags = [*compiler.TRACED, *compiler.CLANG, "-include", str(compiler.INCLUDE / "cuda_subset.h")]
    subprocess.run(
        [*cross, *flags, "-S", str(program), "-o", str(tmp_path / "kernel.s")], check=True
    )
    numbered = number_sites((tmp_path / "kernel.s").read_text(), arm=True)
    assert "\tmov w1, #1\n" in numbered
    (tmp_path / "kernel.s").write_text(numbered)
    subprocess.run(
        [*cross, "-c", str(tmp_path / "kernel.s"), "-o", str(tmp_path / "kernel.o")], check=True
    )


def test_lessons_find_the_engine_under_its_name():
    """`course_lib.gpu.cpu_engine` is one of the names that stay."""
    from course_lib.gpu import cpu_engine as for_lessons
    from course_lib.machines import cpu_engine as machine

    assert for_lessons.__all__ == machine.__all__
    assert all(getattr(for_lessons, name) is getattr(machine, name) for name in machine.__all__)
