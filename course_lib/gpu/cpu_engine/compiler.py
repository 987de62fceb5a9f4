"""Finds a C++ compiler, and makes a program of its own from each kernel source; the same source is compiled once."""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from course_lib.errors import BadInput

NATIVE = Path(__file__).with_name("native")
PLAIN_UNITS, TRACE_UNITS = ("server", "blocks"), ("server", "blocks", "trace", "races", "errors", "profile")
COMMON = ["-std=gnu++17", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fPIE", "-w"]
PLAIN = ["-O3", "-march=native", "-ffp-contract=fast"]
# -O1 without vectors: an access of the source is an access of the program, and small arrays still live in registers
TRACED = ["-O1", "-g1", "-fsanitize=thread", "-fno-optimize-sibling-calls", "-fno-tree-vectorize", "-DCOURSE_TRACE"]

CLANG = ["-mllvm", "-tsan-instrument-read-before-write=1"]  # a += 1 is a load and a store


class CompileError(BadInput):
    """The kernel does not compile; the message is the compiler's, with the line numbers of the source."""


@cache
def compiler():
    """The command that compiles C++, as a list: $COURSE_CXX, g++, clang++, or the one in the package ziglang."""
    if chosen := os.environ.get("COURSE_CXX"):
        return shlex.split(chosen)
    for name in ("g++", "clang++", "c++"):
        if shutil.which(name):
            return [name]
    try:
        import ziglang  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        raise BadInput("the CPU engine needs a C++ compiler: install g++ or clang++, or `pip install ziglang`") from None
    return [sys.executable, "-m", "ziglang", "c++"]


@cache
def _version():
    return subprocess.run([*compiler(), "--version"], capture_output=True, text=True).stdout


def is_clang():
    """clang takes some flags of its own; the compiler of ziglang is a clang."""
    return "clang" in _version() or "ziglang" in " ".join(compiler()) or compiler()[0].endswith("zig")


def build(program, options=(), traced=False):
    """The path of the executable that runs the kernels of `program` (from `rewrite`). Raises CompileError."""
    key = _key(program.text, *options, str(traced))
    path = _folder() / key
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=_folder()) as folder:
        work = Path(folder)
        (work / "kernel.cpp").write_text(program.text, encoding="utf-8")
        flags = [*COMMON, *(TRACED + (CLANG if is_clang() else []) if traced else PLAIN), *options, "-include", str(NATIVE / "cuda_subset.h")]
        unit = _traced_unit(work, flags) if traced else work / "kernel.o"
        if not traced:
            _run([*compiler(), *flags, "-c", str(work / "kernel.cpp"), "-o", str(unit)])
        objects = [str(_runtime(name, traced)) for name in (TRACE_UNITS if traced else PLAIN_UNITS)]
        _run([*compiler(), str(unit), *objects, "-pthread", "-o", str(work / "program")])
        os.replace(work / "program", path)
    return path


def _traced_unit(work, flags):
    """Compiles to assembly, numbers the calls of the sanitizer, and assembles."""
    _run([*compiler(), *flags, "-S", str(work / "kernel.cpp"), "-o", str(work / "kernel.s")])
    assembly = work / "kernel.s"
    assembly.write_text(number_sites(assembly.read_text(encoding="utf-8")), encoding="utf-8")
    _run([*compiler(), "-c", str(assembly), "-o", str(work / "kernel.o")])
    return work / "kernel.o"


CALL = re.compile(r"^\s*(?:callq?|bl)\s+_?__tsan_(?:(?:unaligned_)?(?:volatile_)?(?:read|write)(?:\d+|(?P<third>_range))"
                  r"|(?P<fourth>mem(?:set|cpy|move)))\b")  # fmt: skip
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"kernel\.cu"')
LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")


def number_sites(assembly):
    """Puts a number for each traced instruction into the register of the callback's next argument.

    The compiler calls __tsan_read4(address) and leaves the other argument registers alone, so its source line can be
    handed over there: no debugger's tables are needed to find it. A table of the lines by number is added at the end.
    """
    lines, sites, files, current = [], [], set(), 0
    arm = platform.machine().lower() in ("arm64", "aarch64")
    for line in assembly.splitlines():
        if found := FILE.match(line):
            files.add(found[1])
        elif (found := LOC.match(line)) and found[1] in files and found[2] != "0":
            current = int(found[2])
        elif found := CALL.match(line):
            next_argument = 3 if found["fourth"] else 2 if found["third"] else 1
            register = f"w{next_argument}" if arm else ("%esi", "%edx", "%ecx")[next_argument - 1]
            lines.append(f"\tmov {register}, #{len(sites)}" if arm else f"\tmovl ${len(sites)}, {register}")
            sites.append(current)
        lines.append(line)
    if len(sites) >= 0x8000:
        raise BadInput("this source has too many memory accesses to trace: split it")
    prefix = "_" if sys.platform == "darwin" else ""
    table = ", ".join(map(str, sites or [0]))
    data = [".data", ".p2align 2", f".globl {prefix}course_site_lines", f"{prefix}course_site_lines: .long {table}",
            f".globl {prefix}course_site_count", f"{prefix}course_site_count: .long {len(sites)}"]  # fmt: skip
    return "\n".join([*lines, *data]) + "\n"


def _runtime(name, traced):
    """The object file of one part of the engine, compiled once."""
    flags = [*COMMON, "-O2", *(["-DCOURSE_TRACE"] if traced else [])]
    path = _folder() / f"{name}-{_key(name, *flags)}.o"
    if not path.exists():
        part = path.with_name(f"{path.name}.{os.getpid()}")
        _run([*compiler(), *flags, "-c", str(NATIVE / f"{name}.cpp"), "-o", str(part)])
        os.replace(part, path)
    return path


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        kept = [line for line in done.stderr.splitlines() if "cuda_subset.h" not in line and "In file included" not in line]
        raise CompileError("the kernel does not compile:\n" + "\n".join(kept[:40]))


@cache
def _folder():
    base = os.environ.get("COURSE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "course_lib"
    for folder in (Path(base) / "engine", Path(tempfile.gettempdir()) / f"course_lib-engine-{os.getuid()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    raise BadInput("no folder can be written for compiled kernels: set COURSE_CACHE to one")


@cache
def _engine_key():
    """Of all that a compiled program depends on, its own text apart."""
    native = "".join(path.read_text(encoding="utf-8") for path in sorted(NATIVE.iterdir()))
    cpu = Path("/proc/cpuinfo")  # -march=native: another machine with the same home folder needs its own
    features = re.search(r"^(?:flags|Features)\s*:.*$", cpu.read_text(), re.MULTILINE) if cpu.exists() else None
    return "|".join([*compiler(), _version(), native, platform.machine(), features[0] if features else "", str(COMMON + PLAIN + TRACED)])


def _key(*parts):
    return hashlib.sha256("|".join([_engine_key(), *parts]).encode()).hexdigest()[:24]
