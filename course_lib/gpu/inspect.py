"""What NVIDIA's compiler makes of a kernel. Optional: needs nvcc or the PyPI package nvidia-cuda-nvrtc, never a GPU.

The share of multiply-adds in a loop also needs a disassembler: cuobjdump and nvdisasm, of the toolkit or from PyPI.
"""

import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError

FACTS = {
    "registers": r"Used (\d+) registers",
    "spilled_bytes": r"(\d+) bytes spill stores",
    "shared_bytes": r"(\d+) bytes smem",
}
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,6})\*/\s+(?:@!?U?P\d\s+)?([A-Z]\w*)([^;]*);")


def available():
    """What would compile: the path of nvcc or of NVRTC's library; None where there is neither."""
    return _found("nvcc", "lib/libnvrtc.so.*[0-9]")


def headers():
    """Folders of CUDA's headers, from NVIDIA's packages: NVRTC alone has no <mma.h>. nvcc knows its own."""
    places = (path for folder in sys.path for path in Path(folder).glob("nvidia/*/include"))
    return list(dict.fromkeys(map(str, places)))


def inspect(source, arch="sm_80", options=(), no_extern_c=False):
    """{kernel: {"registers", "spilled_bytes", "shared_bytes"}}. arch: sm_75, sm_80, sm_90, ...

    Raises CompileError with the compiler's messages and the source's line numbers; BadInput where there is no compiler.
    """
    log, _ = _compile(source, arch, options, no_extern_c)
    parts = re.split(r"Compiling entry function '(\w+)'", log)[1:]
    numbers = {fact: re.compile(pattern) for fact, pattern in FACTS.items()}
    return {
        name: {fact: int((number.search(said) or [0, 0])[1]) for fact, number in numbers.items()}
        for name, said in zip(parts[::2], parts[1::2], strict=True)
    }


def disassembler():
    """The path of cuobjdump; None where there is none."""
    return _found("cuobjdump", "bin/cuobjdump")


def _found(command, file):
    """The path of a command, else of a file in one of NVIDIA's packages from PyPI, else None."""
    places = (path for folder in sys.path for path in Path(folder).glob(f"nvidia/*/{file}"))
    return shutil.which(command) or next(map(str, places), None)


def main_loop(source, arch="sm_80", options=(), no_extern_c=False):
    """How often each instruction stands in the loop with the most FFMA: a Counter, as {"FFMA": 64, "LDS": 16, ...}.

    Of several with as many, the longest.

    Both sides of a branch in the loop are counted, though only one runs. One kernel a source. Raises as `inspect`.
    """
    if (tool := disassembler()) is None:
        packages = "nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"
        raise BadInput(f"there is no cuobjdump here: pip install {packages}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(_compile(source, arch, options, no_extern_c)[1])
        file.flush()
        done = subprocess.run([tool, "-sass", file.name], capture_output=True, text=True)
    if done.returncode:
        raise BadInput(f"{tool} cannot read the compiled kernel: {done.stderr.strip()}")
    return _main_loop(done.stdout)


def _main_loop(listing):
    found = [(int(m[1], 16), m[2], m[3]) for m in INSTRUCTION.finditer(listing)]
    loops = []
    for last, name, rest in found:
        to = re.search(r"0x([0-9a-f]+)", rest) if name == "BRA" else None
        if to and (first := int(to[1], 16)) < last:  # backwards
            loops.append(Counter(inside for at, inside, _ in found if first <= at <= last))
    return max(loops, key=lambda loop: (loop["FFMA"], loop.total()), default=Counter())


def _compile(source, arch, options, no_extern_c):
    """The compiler's messages, and the machine code."""
    if (tool := available()) is None:
        raise BadInput("there is no nvcc here, and no NVRTC: pip install nvidia-cuda-nvrtc")
    text = f'#line 1 "kernel.cu"\n{source}\n'
    text = text if no_extern_c else f'extern "C" {{\n{text}}}\n'
    compile = _nvrtc if "nvrtc" in Path(tool).name else _nvcc
    failed, log, code = compile(tool, text, [f"-arch={arch}", "-Xptxas=-v", *options])
    if failed:
        raise CompileError(f"the kernel does not compile for {arch}:\n{log}")
    return log, code


def _nvcc(tool, text, options):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.cubin"
        command = [tool, "-cubin", *options, "-x", "cu", "-", "-o", str(out)]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, out.read_bytes() if out.exists() else b""


def _nvrtc(tool, text, options):
    library, program = ctypes.CDLL(tool), ctypes.c_void_p()
    options = [*options, *(f"-I{folder}" for folder in headers())]
    flags = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    failed = library.nvrtcCompileProgram(program, len(options), flags)
    log, code = (_from_nvrtc(library, program, what) for what in ("ProgramLog", "CUBIN"))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return failed, log.rstrip(b"\0").decode(), code


def _from_nvrtc(library, program, what):
    size = ctypes.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)):
        return b""
    data = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, data)
    return data.raw
