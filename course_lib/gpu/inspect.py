"""What NVIDIA's compiler makes of a kernel. Optional: needs nvcc or the PyPI package nvidia-cuda-nvrtc, never a GPU."""

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

from course_lib.errors import BadInput

from .cpu_engine import CompileError

FACTS = {"registers": r"Used (\d+) registers", "spilled_bytes": r"(\d+) bytes spill stores",
         "shared_bytes": r"(\d+) bytes smem"}  # fmt: skip


def available():
    """What would compile: the path of nvcc or of NVRTC's library; None where there is neither."""
    places = [path for folder in sys.path for path in Path(folder).glob("nvidia/*/lib/libnvrtc.so.*[0-9]")]
    return shutil.which("nvcc") or next((str(path) for path in places), None)


def inspect(source, arch="sm_80", options=(), no_extern_c=False):
    """{kernel: {"registers", "spilled_bytes", "shared_bytes"}}. arch: sm_75, sm_80, sm_90, ...

    Raises CompileError with the compiler's messages and the source's line numbers; BadInput where there is no compiler.
    """
    if (tool := available()) is None:
        raise BadInput("there is no nvcc here, and no NVRTC: pip install nvidia-cuda-nvrtc")
    text = f'#line 1 "kernel.cu"\n{source}\n'
    text = text if no_extern_c else f'extern "C" {{\n{text}}}\n'
    compile = _nvrtc if "nvrtc" in Path(tool).name else _nvcc
    failed, log = compile(tool, text, [f"-arch={arch}", "-Xptxas=-v", *options])
    if failed:
        raise CompileError(f"the kernel does not compile for {arch}:\n{log}")
    parts = re.split(r"Compiling entry function '(\w+)'", log)[1:]
    numbers = {fact: re.compile(pattern) for fact, pattern in FACTS.items()}
    return {name: {fact: int((number.search(said) or [0, 0])[1]) for fact, number in numbers.items()}
            for name, said in zip(parts[::2], parts[1::2], strict=True)}  # fmt: skip


def _nvcc(tool, text, options):
    command = [tool, "-cubin", *options, "-x", "cu", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def _nvrtc(tool, text, options):
    library, program, size = ctypes.CDLL(tool), ctypes.c_void_p(), ctypes.c_size_t()
    flags = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    failed = library.nvrtcCompileProgram(program, len(options), flags)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return failed, log.value.decode()
