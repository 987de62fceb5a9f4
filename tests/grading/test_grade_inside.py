"""What exercises need works inside of a sandbox: pictures, Numba, threads, processes, CUDA C on the CPU engine."""

import shutil

import pytest

from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import undecided
from course_tools.grading.verdict.session import Session, SessionLost

WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine of these tests is: what comes to no end has come to none."""
    monkeypatch.setattr(undecided, "WAITED", 1e9)
    monkeypatch.setattr(undecided, "PATIENCE", 1)


@pytest.fixture(scope="module")
def session():
    """For all: nothing here leaves anything behind."""
    with ForkServer() as fork_server, Session(fork_server, 1) as made:
        yield made


WORKS = {
    "a picture": "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.savefig('x.png'); plt.close()\n"
    "import os; print(os.path.getsize('x.png') > 1000)",
    "Numba": "import numba, numpy as np\n@numba.njit(parallel=True)\ndef add(x):\n    s = 0.0\n"
    "    for i in numba.prange(len(x)): s += x[i]\n    return s\nprint(add(np.ones(1000)) == 1000)",
    "threads": "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(8) as pool: print(sum(pool.map(int, range(100))) == 4950)",
    "processes": "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
    "    print(pool.map(abs, [-1, -2]) == [1, 2])",
    "a program": "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'import numpy; print(1)'],\n"
    "                     capture_output=True, text=True).stdout == '1\\n')",
    "a socket of its own": "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
    "client = socket.create_connection(server.getsockname(), 2)\nprint(True)",
    "memory that processes share": "from multiprocessing import shared_memory\n"
    "block = shared_memory.SharedMemory(create=True, size=1 << 20)\n"
    "block.close(); block.unlink(); print(True)",
}


@pytest.mark.parametrize("name", WORKS)
def test_works(session, name):
    reply = session.run(WORKS[name], 60)
    assert (reply["status"], reply["printed"]) == ("ok", "True\n"), reply


SAXPY = '''SAXPY = r"""
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
'''
needs_a_compiler = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler"
)


@needs_a_compiler
def test_cuda_in_the_students_room(session):
    text = SAXPY + (
        "import numpy as np\nfrom course_lib.gpu import device\n"
        "x = np.ones(100, np.float32); y = x.copy()\n"
        "device.SourceModule(SAXPY).get_function('saxpy')(np.int32(100), np.float32(2), device.In(x),\n"
        "    device.InOut(y), grid=(1, 1), block=(128, 1, 1))\nprint((y == 3).all())"
    )
    reply = session.run(text, 60)
    assert reply["printed"].endswith("True\n"), reply


@needs_a_compiler
@pytest.mark.parametrize(
    ("was", "now", "status"),
    [
        ("", "", "pass"),
        ("a * x[i]", "x[i]", "wrong"),
        ("if (i < n)", "", "wrong"),
        ("y[i] =", "for (;;) y[i] =", "wrong"),
        ("y[i] =", "*(float *)8 =", "wrong"),
    ],
)
def test_cuda_in_the_room_of_the_checks(session, was, now, status):
    session.run(SAXPY.replace(was, now, 1), 60)
    try:
        verdict = session.check("ch05.check_saxpy", "SAXPY", 7, 120)
    except SessionLost as lost:
        raise AssertionError(str(lost)) from lost
    assert verdict["status"] == status, verdict
