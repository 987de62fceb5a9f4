"""Finds a C++ compiler, and makes a program of its own from each kernel source; the same source is compiled once."""

import contextlib
import hashlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from course_lib.errors import BadInput, OutOfTime, Unavailable
from course_lib.machines.cpu_engine.messages import refused
from course_lib.machines.cpu_engine.unset import MARK, marks_of, poison, tables, warned
from course_lib.machines.cuda_c.complaints import complaints

KEEP = 500  # compiled programs, and parts of the engine
NATIVE = Path(__file__).with_name("native")
INCLUDE = Path(__file__).parents[1] / "cuda_c" / "include"
PLAIN_UNITS = ("server", "blocks")
TRACE_UNITS = ("traced", "blocks", "profile", "errors", "server")  # the longest first
COMMON = ["-std=gnu++17", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fPIE"]
COMMON += ["-D_LIBCPP_VERBOSE_ABORT(...)=__builtin_abort()"]
PLAIN = ["-O3", "-march=native", "-ffp-contract=fast", "-w"]
# The engine's own parts, all others at -O1. A first trace waits for the tracer longest; at -O3 it is no faster.
FAST = "-O2 -march=native"
RUNTIME = {"blocks": "-O3 -march=native", "traced": FAST, "profile": FAST}
# -O1 without vectors: an access of the source is an access of the program, and small arrays still live in registers.
# Stack clash protection: a stack that is full ends the kernel, and never runs on into the next.
TRACED = ["-O1", "-g1", "-fsanitize=thread", "-fstack-clash-protection", "-fno-tree-vectorize"]
TRACED += ["-fno-optimize-sibling-calls", "-DCOURSE_TRACE", "-Wuninitialized"]
# Its handlers do not return: for one that may, g++ reads once for the check and once more for the shift or cast.
UNDEFINED = "shift-exponent,float-cast-overflow"
TRACED += [f"-fsanitize={UNDEFINED}", f"-fno-sanitize-recover={UNDEFINED}"]
# A line even for a statement inlined away, or for a load that a loop begins with.
GCC = ["--param=tsan-distinguish-volatile=1", "-gstatement-frontiers", "-fno-ivopts"]
GCC += ["-fsanitize=bounds", "-Wmaybe-uninitialized"]
# Vectors of 32 or 64 bytes would not be traced at all. Before-write: a += 1 reads too.
CLANG = ["-fno-slp-vectorize", "-mllvm", "-tsan-distinguish-volatile=1"]
CLANG += ["-mllvm", "-tsan-instrument-read-before-write=1", "-Wconditional-uninitialized"]
# two calls in two branches stay two
CLANG += ["-mllvm", "-simplifycfg-sink-common=false", "-mllvm", "-enable-tail-merge=0"]
CLANG += ["-fsanitize=array-bounds", f"-fno-sanitize-trap=array-bounds,{UNDEFINED}"]
# A variable without a first value holds no lucky 0 (g++ 12 and newer, and clang): see unset.py.
UNSET = "-ftrivial-auto-var-init=pattern"
# no symbols: a tenth of the size
LINK = ["-pthread", "-lm", *(["-s"] if sys.platform == "linux" else [])]
# Not linked: two libraries, for C++ and for a sanitizer, that ziglang takes two minutes to build on first use.
ZIG_LINK = ["-nostdlib++", "-O2"]
GCC_VERSION = re.compile(r"\S*[gc]\+\+\S* \(.*?\) (\d+)\.")  # "g++ (Debian 12.2.0-14) 12.2.0"
DEADLINE = 60  # seconds, for one kernel source


class CompileError(BadInput):
    """The kernel does not compile; the message is the compiler's, with the line numbers of the source."""


class CompileTooSlow(CompileError, OutOfTime):
    """The compiler was stopped."""


@cache
def compiler():
    """The command that compiles C++, as a list: $COURSE_CXX, g++, clang++, or the one in the package ziglang.

    COURSE_CXX is a command, or the word ziglang.
    """
    if os.name != "posix":
        raise Unavailable("the CPU engine runs on Linux and macOS; on Windows use WSL (or a GPU)")
    chosen = os.environ.get("COURSE_CXX", "")
    if chosen and chosen != "ziglang":
        return shlex.split(chosen)
    for name in () if chosen else ("g++", "clang++", "c++"):
        if shutil.which(name) and fit(name):
            return [name]
    if (zig := find_spec("ziglang")) and zig.origin:
        return [str(Path(zig.origin).with_name("zig")), "c++"]
    raise Unavailable(refused("compiler"))


def _gcc_before(version, said):
    return (found := GCC_VERSION.match(said)) is not None and int(found[1]) < version


def fit(name):
    """Does it start (macOS has a g++ that only says what to install)? Is it no g++ before 11, which cannot trace?"""
    done = subprocess.run([name, "--version"], capture_output=True, text=True)
    return done.returncode == 0 and not _gcc_before(11, done.stdout)


@cache
def _version():
    try:
        return subprocess.run([*compiler(), "--version"], capture_output=True, text=True).stdout
    except OSError as error:
        raise Unavailable(
            f"the compiler {compiler()[0]} cannot be started ({error.strerror}): is $COURSE_CXX right?"
        ) from None


def build(program, options=(), traced=False):
    """The path of the executable that runs the kernels of `program` (from `rewrite`). Raises CompileError."""

    def make(folder, made):
        _prune()
        units = TRACE_UNITS if traced else PLAIN_UNITS
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # more at once would hold up the longest
            objects = pool.map(lambda name: _runtime(name, traced), units)
            unit = _kernels(program, options, traced, folder)
            libraries = LINK + ZIG_LINK * ("zig" in _version())
            _run([*compiler(), unit, *objects, *libraries, "-o", made])

    return _kept(_key(program.text, *options, str(traced)), make)


def _kept(name, make):
    """The path of a file of the cache; make(folder, path) makes it, unless it is there."""
    path = _folder() / name
    if not _found(path):
        with tempfile.TemporaryDirectory(dir=_folder()) as folder:
            make(Path(folder), Path(folder, "made"))
            os.replace(Path(folder, "made"), path)
    return path


def _found(path):
    """Whether it is there; notes that it is in use."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(path)
        return True
    return False


def _kernels(program, options, traced, folder):
    """The object or, traced, the assembly file of a source."""
    source, unit = folder / "kernel.cpp", folder / ("kernel.s" if traced else "kernel.o")
    source.write_text(program.text, encoding="utf-8")
    command = [*compiler(), *_flags(traced, options), "-S" if traced else "-c"]
    said = _run([*command, source, "-o", unit], DEADLINE)
    if traced:
        finished = _finished(unit.read_text(encoding="utf-8"), program, said)
        unit.write_text(finished, encoding="utf-8")
    return unit


def _finished(assembly, program, said):
    """What becomes of the assembly of a traced program before it is assembled."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    assembly = poison(assembly, program.text) if _is_gcc() else assembly
    return number_sites(spread(assembly, program.symbols), arm, [] if arm else warned(said))


def _is_gcc():
    return "clang" not in _version()


def unmoved():
    """Options for a source whose loads are to stay where they stand, and not to move into a branch behind them."""
    return ("-fno-tree-sink",) if _is_gcc() else ("-mllvm", "-instcombine-code-sinking=false")


def _flags(traced, options):
    """How kernels are compiled, before their source and what becomes of it."""
    own = [*TRACED, *(GCC if _is_gcc() else CLANG)] if traced else PLAIN[:]
    own += [UNSET] * (traced and not _gcc_before(12, _version()))
    # an error in a macro is one where the macro is used
    own += ["-ftrack-macro-expansion=0"] * _is_gcc()
    # the folder: cooperative_groups.h, half.h
    headers = ["-include", str(INCLUDE / "cuda_subset.h"), "-idirafter", str(INCLUDE)]
    return [*COMMON, *own, *options, *headers]


PLACE = r"(?:unaligned_)?(?:volatile_)?(?:read|write)(?:\d+|(?P<third>_range))|(?P<fourth>mem(?:set|cpy|move))"
CALL = re.compile(rf"^\s*(?:callq?|bl)\s+_?__tsan_(?:{PLACE})\b")
# of a function of the source, not of what the compiler has put in
OWN_CALL = re.compile(r"^\s*callq?\s+(?!_*(?:tsan|ubsan|asan|tls)_|\*)")
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"kernel\.cu"')
LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")


def number_sites(assembly, arm=False, warnings=()):
    """Puts a number for each traced instruction into the register of the callback's next argument.

    The compiler calls __tsan_read4(address) and leaves the other argument registers alone, so its source line can be
    handed over there: no debugger's tables are needed to find it. A table of the lines by number is added at the end.
    Calls of the source's own functions note their line as well, for the path by which a barrier was reached; and so do
    the lines of `warnings` (see unset.py), once they have run.
    """
    lines: list[str] = []
    sites, files, current = [0], set[str](), 0
    for line in assembly.splitlines():
        marks = []
        if found := FILE.match(line):
            files.add(found[1])
        elif (found := LOC.match(line)) and found[1] in files and found[2] != "0":
            current = int(found[2])
            marks = marks_of(current, warnings)
        elif found := CALL.match(line):
            lines.append(_handed_over(found, len(sites), arm))
            sites.append(current)
        elif OWN_CALL.match(line) and not arm:  # a call that the compiler has doubled is one call
            lines.append(f"\tmovl ${current}, {MARK}call_line(%rip)")
        lines += [line, *marks]
    if len(sites) >= 0x8000:
        raise BadInput("this source has too many memory accesses to trace: split it")
    lines += [".data", ".p2align 2", f".globl {MARK}site_lines"]
    lines += [f"{MARK}site_lines: .long {', '.join(map(str, sites))}", *tables(warnings)]
    return "\n".join(lines) + "\n"


def _handed_over(call, number, arm):
    """The instruction that puts a number into the register behind the call's own arguments."""
    free = 3 if call["fourth"] else 2 if call["third"] else 1
    if arm:
        return f"\tmov w{free}, #{number}"
    return f"\tmovl ${number}, {('', '%esi', '%edx', '%ecx')[free]}"


def spread(assembly, symbols):
    """Puts red zones around the variables of the device, so that an index past one does not lead into the next."""
    names = "|".join(re.escape(name) for name, _ in symbols)
    if not names:
        return assembly
    name, gap = rf"_?(?:_ZL?\w*\d)?(?:{names})", ".skip 65536"
    assembly = re.sub(rf"^{name}:", rf"\t{gap}\n\g<0>", assembly, flags=re.MULTILINE)
    gap = rf"\t.pushsection .bss\n\t{gap}\n\t.popsection\n\g<0>"
    return re.sub(rf"^\s*\.comm\s+{name},", gap, assembly, flags=re.MULTILINE)


def _runtime(name, traced):
    """The object file of one part of the engine, compiled once."""
    flags = [*COMMON, "-w", *RUNTIME.get(name, "-O1").split(), *(["-DCOURSE_TRACE"] * traced)]
    command = [*compiler(), *flags, "-c", NATIVE / f"{name}.cpp", "-o"]
    return _kept(f"{name}-{_key(name, *flags)}.o", lambda _, made: _run([*command, made]))


def _run(command, deadline=None):
    words = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}  # in English
    kind = CompileError
    pipes: dict = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    text: dict = {"encoding": "utf-8", "errors": "replace", "start_new_session": True}
    with subprocess.Popen(command, env=words, **pipes, **text) as run:
        try:
            said = run.communicate(timeout=deadline)[1]
        except subprocess.TimeoutExpired:
            kind = CompileTooSlow
            said = f"the compiler was stopped after {deadline:g} s: does a macro, template or constexpr never end?"
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGTERM)  # all the processes that it has started
    if run.returncode != 0:
        warnings = re.compile(r"^.*: warning: .*\n(?:\s.*\n)*", re.MULTILINE)
        raise kind("the kernel does not compile:\n" + complaints(warnings.sub("", said)))
    return said


def _prune():
    """Deletes what was not used for 30 days, and of all but the KEEP files used last what was not used for a day.

    Other processes may be at work here: what one of them has just found or is making was used a moment ago, and a
    program that is deleted while it runs runs on.
    """
    found = []
    for path in _folder().iterdir():
        with contextlib.suppress(OSError):  # another process has deleted it
            found.append((time.time() - path.stat().st_mtime, path))
    for place, (age, path) in enumerate(sorted(found)):
        if age > 86400 * (30 if place < KEEP else 1):
            with contextlib.suppress(OSError):
                # a folder: of a compile that was killed
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@cache
def _folder():
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "course_lib"
    base = Path(os.environ.get("COURSE_CACHE") or base)
    other = Path(tempfile.gettempdir(), f"course_lib-engine-{os.getuid()}")
    for folder in (base / "engine", other):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            return folder
    raise Unavailable("no folder can be written for compiled kernels: set COURSE_CACHE to one")


@cache
def _engine_key():
    """Of all that a compiled program depends on, its own text apart."""
    own = Path(__file__), Path(__file__).with_name("unset.py")
    files = [*own, *sorted(NATIVE.iterdir()), *sorted(INCLUDE.iterdir())]
    native = "".join(path.read_text(encoding="utf-8") for path in files)
    # -march=native: another machine with the same home folder needs its own
    cpu = Path("/proc/cpuinfo")
    said = cpu.read_text() if cpu.exists() else ""
    features = re.search(r"^(?:flags|Features)\s*:.*$", said, re.MULTILINE)
    machine = sys.platform + platform.machine() + (features[0] if features else "")
    return "|".join([*compiler(), _version(), native, machine])


def _key(*parts):
    return hashlib.sha256("|".join([_engine_key(), *parts]).encode()).hexdigest()[:24]
