"""What NVIDIA's compiler makes of the ladder: registers, spills and main loops, as recorded in the library.

One file, so that each rung is compiled once for each GPU.
"""

import functools
import importlib
import re
import subprocess
from pathlib import Path

import pytest
from engine_runs import needs_nvcc

from course_lib.errors import BadInput
from course_lib.gpu import gemm_cost
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.inspect import (
    _main_loop,
    available,
    disassembler,
    headers,
    inspect,
    main_loop,
)
from course_lib.gpu.machine_code import COMPILED
from course_lib.machines.cpu_engine import CompileError

MODULE = importlib.import_module("course_lib.gpu.inspect")


@pytest.fixture(autouse=True, scope="module")
def compiled_once():
    """What was compiled once is not compiled again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "_compile", functools.cache(MODULE._compile))
        yield


def compiled_rungs():
    """All; with NVRTC, gemm_async only if the header that it includes is here."""
    places = [Path(folder) / "cuda_pipeline_primitives.h" for folder in headers()]
    has_header = "nvrtc" not in (available() or "nvrtc") or any(path.exists() for path in places)
    return [kernel for kernel in RUNGS if has_header or kernel != "async"]


@pytest.mark.skipif(
    not available(), reason="neither nvcc nor the package nvidia-cuda-nvrtc is here"
)
@pytest.mark.parametrize(
    "arch",
    [
        "sm_80",
        *(pytest.param(arch, marks=pytest.mark.slow) for arch in ("sm_75", "sm_90", "sm_100")),
    ],
)
def test_nvidia_compiles_the_ladder_without_spilling(arch):
    for kernel in compiled_rungs():
        most = 64 if kernel in ("naive", "shared") else 128
        if (kernel, arch) == ("async", "sm_75"):  # copies in registers, one block an SM
            most = 255
        found = inspect(RUNGS[kernel].source, arch)[f"gemm_{kernel}"]
        assert (
            found["spilled_bytes"] == 0
            and gemm_cost(kernel, 1, 1, 1)["registers"] <= found["registers"] <= most
        )


def executed(listing):
    """How many instructions an iteration of the main loop runs that loads the next tiles in two float4.

    The fewest on a way through it: a step of an aligned tile takes the short copy.
    """
    row = r"/\*([0-9a-f]{4,6})\*/ +(@!?U?P\d +)?([A-Z]\w*)([^;]*);"
    found = [(int(at, 16), guard, name, rest) for at, guard, name, rest in re.findall(row, listing)]
    jumps = {
        at: (int(to[1], 16), bool(guard))
        for at, guard, name, rest in found
        if name == "BRA" and (to := re.search(r"0x([0-9a-f]+)", rest))
    }
    fmas = [at for at, _, name, _ in found if name == "FFMA"]
    loops = [(to, at) for at, (to, _) in jumps.items() if to < at]
    first, last = max(loops, key=lambda loop: sum(loop[0] < at < loop[1] for at in fmas))
    fewest = {(first, 0): 0}  # instructions up to there, by place and float4 loaded on the way
    for at, _, name, rest in found:
        wide = name == "LDG" and ".128" in rest
        to, maybe = jumps.get(at, (None, True))
        for loaded in range(3) if first <= at < last else ():
            if (at, loaded) in fewest:
                for aim in {to if to and at < to <= last else at + 16, at + 16 if maybe else to}:
                    place = aim, loaded + wide
                    fewest[place] = min(fewest.get(place, 10**9), fewest[at, loaded] + 1)
    return fewest[last, 2] + 1


def iteration(kernel, arch, tmp_path):
    """FMAs and instructions of one iteration, of a rung with one way through its main loop or with two."""
    _, code = MODULE._compile(RUNGS[kernel].source, arch, (), False)
    (tmp_path / arch).write_bytes(code)
    command = [disassembler(), "-sass", str(tmp_path / arch)]
    listing = subprocess.run(command, capture_output=True, text=True).stdout
    loop = _main_loop(listing)
    two_ways = kernel in ("vector_8x8", "buffered_8x8")
    return loop["FFMA"], executed(listing) if two_ways else loop.total()


@needs_nvcc
@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.slow
def test_the_registers_recorded_in_the_library(name):
    for arch, code in COMPILED[name].code.items():
        found = inspect(RUNGS[name].source, arch)[f"gemm_{name}"]
        recorded = code.registers, COMPILED[name].shared
        assert (found["registers"], found["shared_bytes"]) == recorded, arch


@needs_nvcc
@pytest.mark.skipif(not disassembler(), reason="no cuobjdump is here")
@pytest.mark.parametrize("name", RUNGS)
def test_the_main_loops_recorded_in_the_library(name, tmp_path):
    for arch, code in COMPILED[name].code.items():
        assert iteration(name, arch, tmp_path) == (code.fmas, code.instructions), arch


@pytest.mark.skipif(
    not available(), reason="neither nvcc nor the package nvidia-cuda-nvrtc is here"
)
def test_nvidia_errors_have_the_lines_of_the_source():
    with pytest.raises(CompileError, match=r"kernel.cu\(2\): error: identifier \"y\" is undefined"):
        inspect("__global__ void f(float *x)\n{ x[0] = y; }")


LISTING = """
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   LDS.128 R4, [R2] ;
        /*0020*/              @!P0 FFMA R8, R4, R5, R8 ;
        /*0030*/               @P1 BRA 0x10 ;
        /*0040*/                   FFMA R8, R4, R5, R8 ;
        /*0050*/                   BRA 0x50;
"""


def test_the_main_loop_is_the_one_with_the_most_multiply_adds():
    """Of equals, the longest."""
    again = LISTING.replace("BRA 0x50", "BRA 0x40")
    assert _main_loop(again) == {"LDS": 1, "FFMA": 1, "BRA": 1}
    assert _main_loop(LISTING) == {"LDS": 1, "FFMA": 1, "BRA": 1} and _main_loop("") == {}


@pytest.mark.skipif(
    not (available() and disassembler()), reason="no compiler of NVIDIA's, or no cuobjdump, is here"
)
@pytest.mark.parametrize(
    ("kernel", "ffma"),
    [
        ("naive", 16),
        ("shared", 32),
        ("register_16x4", 64),
        ("register_8x8", 512),
        ("vector_8x8", 512),
        ("buffered_8x8", 512),
        ("warptile", 2048),  # two steps of 16
        ("async", 2048),
    ],
)
def test_the_main_loop_has_the_multiply_adds_of_a_step(kernel, ffma):
    if kernel not in compiled_rungs():
        pytest.skip("no cuda_pipeline_primitives.h is here")
    loop = main_loop(RUNGS[kernel].source)
    assert loop["FFMA"] == ffma and loop.total() > ffma


def test_without_a_disassembler_it_says_so(monkeypatch):
    monkeypatch.setattr("course_lib.gpu.inspect.disassembler", lambda: None)
    with pytest.raises(BadInput, match="nvidia-cuda-cuobjdump"):
        main_loop("")


def test_inspect_without_a_compiler(monkeypatch):
    monkeypatch.setattr("course_lib.gpu.inspect.available", lambda: None)
    with pytest.raises(BadInput, match="pip install nvidia-cuda-nvrtc"):
        inspect("")
