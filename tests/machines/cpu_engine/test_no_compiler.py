"""The CPU engine where there is no C++ compiler but that of the package ziglang, which pip installs: the same counts.

Nothing here is skipped where the course's own environment is used: ziglang is among its packages (not on Windows, where
the engine does not run).
"""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_lib.gpu.gemm import RUNGS
from course_lib.machines.cpu_engine import compiler as engine

ROOT = Path(__file__).parents[3]
SECONDS = 400 * float(os.environ.get("COURSE_SLOW", "1"))
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="the CPU engine runs on Linux and macOS"),
    pytest.mark.timeout(2 * SECONDS),
]

# All kernels, plain and traced: who compiled them, the largest error, what was found, and the counts line by line.
# Rows begin on a sector: where they do not, gemm_warptile stores element by element in a loop of which each lane takes
# as many turns as it needs, and whether a compiler unrolls such a loop shows in the number of requests.
CODE = """
import json, os, sys
import numpy as np
from course_lib.gpu import gemm, trace_gemm
from course_lib.machines.cpu_engine.compiler import compiler
from course_lib.gpu.gemm import RUNGS
rng = np.random.default_rng(5)
A, B, C = (rng.standard_normal(shape, np.float32) for shape in ((72, 24), (24, 40), (72, 40)))
wanted = 1.5 * (A.astype(float) @ B) - 0.5 * C
size = 1.5 * (abs(A).astype(float) @ abs(B)) + abs(0.5 * C)
told = {"compiler": compiler()}
for kernel in RUNGS:
    plain = gemm(A, B, C, 1.5, -0.5, kernel)
    traced, report = trace_gemm(A, B, C, 1.5, -0.5, kernel)
    rows = [[row[name] for name in ("line", "space", "op", "array", "requests", "sectors", "ideal_sectors",
             "wavefronts", "max_way")] for row in report.accesses]
    error = max(float((abs(D - wanted) / size).max()) for D in (plain, traced))
    told[kernel] = {"error": error, "found": report.errors, "rows": sorted(rows, key=str)}
print("\\n" + json.dumps(told))
"""


def told(tmp_path, **changes):
    """What CODE tells under these variables; every kernel is compiled anew."""
    variables = {**os.environ, "COURSE_GPU": "cpu", "COURSE_CACHE": str(tmp_path), **changes}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What happens where PATH leads to no compiler, and nothing chooses one; `built`: libraries that ziglang built."""
    nothing, zig = tmp_path_factory.mktemp("nothing"), tmp_path_factory.mktemp("zig")
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(zig), "ZIG_LOCAL_CACHE_DIR": str(zig)}
    found = told(tmp_path_factory.mktemp("alone"), PATH=str(nothing), COURSE_CXX="", **caches)
    return found | {"built": [path.name for path in zig.rglob("lib*")]}


def test_ziglang_is_installed():
    assert version("ziglang"), "it is one of the course's packages: python3 start.py lab"


def test_without_a_compiler_the_engine_takes_ziglangs(alone):
    """The first test of `alone` takes the time of ziglang's compiler, which builds its own library first."""
    assert Path(alone["compiler"][0]).parent.name == "ziglang" and alone["compiler"][1] == "c++"


@pytest.mark.parametrize("kernel", RUNGS)
def test_right_and_clean_without_a_compiler(alone, kernel):
    assert alone[kernel]["error"] <= (24 + 3) * 2.0**-23 and alone[kernel]["found"] == []


def test_the_first_use_builds_no_library_of_cpp(alone):
    """ziglang would build it from source, which takes a minute or two: nothing of it is linked."""
    assert "libcompiler_rt.a" in alone["built"]
    assert not [name for name in alone["built"] if re.search(r"c\+\+|unwind|ubsan|tsan", name)]


def test_the_counts_are_those_of_the_compiler_of_this_machine(alone, tmp_path):
    try:
        here = told(tmp_path, COURSE_CXX=engine_of_this_machine())
    except BadInput:
        pytest.skip("there is no g++ or clang++ here to compare with")
    assert here["compiler"] != alone["compiler"]
    assert {kernel: here[kernel]["rows"] for kernel in RUNGS} == {
        kernel: alone[kernel]["rows"] for kernel in RUNGS
    }
    assert all(here[kernel]["rows"] for kernel in RUNGS)


def engine_of_this_machine():
    for name in ("g++", "clang++"):
        if engine.shutil.which(name) and engine.fit(name):
            return name
    raise BadInput("none")


# Which compiler is chosen


@pytest.fixture
def choice(monkeypatch, tmp_path):
    """A machine whose programs say what is set in the dict: {name: (what --version prints, exit status)}."""
    programs = {}

    def run(command, **how):
        said, status = programs[command[0]]
        return subprocess.CompletedProcess(command, status, said, "")

    monkeypatch.delenv("COURSE_CXX", raising=False)
    monkeypatch.setattr(engine.shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(engine.subprocess, "run", run)
    engine.compiler.cache_clear()
    yield programs
    engine.compiler.cache_clear()


DEBIAN = "g++ (Debian 12.2.0-14) 12.2.0\nCopyright"
UBUNTU = "g++ (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0\nCopyright"
RED_HAT = "g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)\nCopyright"
CONDA = "x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.2.0-3) 13.2.0\nCopyright"
APPLE = "Apple clang version 15.0.0 (clang-1500.1.0.2.5)\nTarget: arm64-apple-darwin23.3.0"
STUB = "xcode-select: note: No developer tools were found, requesting install."


@pytest.mark.parametrize(
    ("programs", "chosen"),
    [
        ({"g++": (DEBIAN, 0), "clang++": (APPLE, 0)}, "g++"),
        ({"g++": (APPLE, 0)}, "g++"),
        ({"g++": (UBUNTU, 0)}, "zig"),
        ({"g++": (RED_HAT, 0), "clang++": (APPLE, 0)}, "clang++"),
        ({"c++": (CONDA, 0)}, "c++"),
        ({"g++": (STUB, 1), "clang++": (STUB, 1), "c++": (STUB, 1)}, "zig"),
        ({}, "zig"),
    ],
)
def test_a_compiler_that_cannot_do_it_is_passed_over(choice, programs, chosen):
    choice.update(programs)
    assert Path(engine.compiler()[0]).name == chosen


def test_course_cxx_chooses(choice, monkeypatch):
    choice["g++"] = (DEBIAN, 0)
    monkeypatch.setenv("COURSE_CXX", "ziglang")
    assert Path(engine.compiler()[0]).name == "zig"
    engine.compiler.cache_clear()
    monkeypatch.setenv("COURSE_CXX", "ccache g++-13")
    assert engine.compiler() == ["ccache", "g++-13"]


def test_with_neither_it_is_said_what_to_install(choice, monkeypatch):
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    with pytest.raises(
        BadInput, match=r"install g\+\+ 11 or newer or clang\+\+, or pip install ziglang"
    ):
        engine.compiler()
