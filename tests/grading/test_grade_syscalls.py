"""What compiled CUDA C can ask of the system while it is graded: enough to compute, and no more."""

import os

import numpy as np
import pytest

from course_lib.machines.cpu_engine import process, trace
from course_lib.machines.pycuda_names import calls, memory
from course_tools.grading.sandbox import syscalls

pytestmark = pytest.mark.skipif(
    not syscalls.available(), reason="this system has no filter of system calls"
)

HOSTILE = r"""
extern "C" int fork(); extern "C" int open(const char *, int, ...); extern "C" int socket(int, int, int);
extern "C" int unlink(const char *); extern "C" int rename(const char *, const char *);
extern "C" long syscall(long, ...);
extern "C" int chmod(const char *, int); extern "C" int ftruncate(int, long); extern "C" int kill(int, int);
extern "C" long ptrace(int, ...); extern "C" int mkdir(const char *, int); extern "C" int truncate(const char *, long);
__global__ void attack(int *got)
{
    const char *file = "FILE";
    got[0] = open(file, 1); got[1] = open(file, 2 | 0100, 0600); got[2] = open(file, 01000);
    got[3] = unlink(file); got[4] = rename(file, "FILE.new"); got[5] = chmod(file, 0); got[6] = truncate(file, 0L);
    got[7] = fork(); got[8] = socket(1, 1, 0); got[9] = ptrace(16, 1, 0, 0); got[10] = mkdir("FILE.d", 0700);
    got[11] = (int)syscall(435, 0, 0); got[12] = ftruncate(3, 0L); got[13] = ftruncate(4, 0L); got[14] = kill(1, 0);
    got[15] = open(file, 0) >= 0;
}
"""


@pytest.fixture(autouse=True)
def limited(monkeypatch):
    """As in the check process."""
    monkeypatch.setattr(process, "before_program", syscalls.limiting())


def test_a_hostile_program_changes_nothing(tmp_path):
    file = tmp_path / "program-of-another-check"
    file.write_text("as it was")
    got = np.zeros(16, np.int32)
    trace(HOSTILE.replace("FILE", str(file)), "attack", 1, 1, [got])
    assert got[:15].tolist() == [-1] * 15 and got[15] == 1  # to read is allowed: the loader does
    assert file.read_text() == "as it was" and [one.name for one in tmp_path.iterdir()] == [
        file.name
    ]


REACHES = r"""
extern "C" long syscall(long, ...);
__global__ void attack(int *got, int other)
{
    got[0] = (int)syscall(TGKILL, other, other, 0);
    int limits[4] = {0, 0, 0, 0};
    got[1] = (int)syscall(PRLIMIT, other, 0, limits, 0);  // 0 s of processor time for somebody else
    got[2] = (int)syscall(FCNTL, 0, 8, other);  // F_SETOWN: signals about a handle go there
    got[3] = (int)syscall(FCNTL, 0, 10, 9);  // F_SETSIG
    got[4] = (int)syscall(FCNTL, 0, 3);
    int self = (int)syscall(GETPID);
    got[5] = (int)syscall(TGKILL, self, self, 0);
}
"""


def test_a_signal_reaches_nobody_else():
    """Not by tgkill, nor by limits or signals about handles; of its own threads it may (abort does)."""
    numbers = syscalls.CALLS[os.uname().machine][3]
    own = {"x86_64": 39, "aarch64": 172}[os.uname().machine]
    text = REACHES.replace("GETPID", str(own))
    for name, number in zip(("TGKILL", "PRLIMIT", "FCNTL"), numbers, strict=True):
        text = text.replace(name, str(number))
    got = np.zeros(6, np.int32)
    trace(text, "attack", 1, 1, [got, np.int32(os.getpid())])
    assert got[:4].tolist() == [-1] * 4 and got[4] >= 0 and got[5] == 0


PLAIN = r"""
__global__ void scale(int n, float a, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("%d threads\n", n);
    if (i < n) x[i] *= a;
}
"""


def test_an_honest_program_computes(capfd):
    x = np.arange(1000, dtype=np.float32)
    report = trace(PLAIN, "scale", 4, 256, [np.int32(1000), np.float32(2), x])
    assert (
        not report.errors
        and (x == 2 * np.arange(1000)).all()
        and report.printed == "1000 threads\n"
    )


def test_a_crash_and_a_loop_are_told_as_ever():
    x = np.zeros(4, np.float32)
    crash = PLAIN.replace("x[i] *= a", "*(float *)8 = a")
    assert trace(crash, "scale", 1, 4, [np.int32(4), np.float32(2), x]).errors
    loop = PLAIN.replace("x[i] *= a", "for (volatile float *v = x;;) v[i] += a")
    said = trace(loop, "scale", 1, 4, [np.int32(4), np.float32(2), x], timeout=1.0).errors
    assert said and said[0]["tool"] == "timeout"


def test_blocks_run_side_by_side_in_threads(monkeypatch):
    """A program without the tracer: several workers share the blocks."""
    monkeypatch.setattr(calls, "WORKERS", 4)
    x = np.arange(100_000, dtype=np.float32)
    scale = calls.SourceModule(PLAIN).get_function("scale")
    scale(np.int32(x.size), np.float32(2), memory.InOut(x), grid=(1000, 1), block=(100, 1, 1))
    assert (x == 2 * np.arange(100_000)).all()
