"""Code for the host in an answer's CUDA C, by what the compiler makes of it: no spelling changes that.

Every function of the source must be a kernel or carry __device__; lambdas and constructors within them may do without,
as they run there alone. And nothing may run outside of a launch: no constructor of a global, no first value that is
computed at the start, nothing left for the end. Where a source has conditions, it is looked at as both of the programs
that the engine makes of it.
"""

import functools
import re
import tempfile
from pathlib import Path

from course_lib.errors import BadInput, Unavailable
from course_lib.machines.cpu_engine import compiler
from course_lib.machines.cuda_c.rewrite import rewrite

MARK = "__attribute__((patchable_function_entry(1)))"  # its traces are seen in the assembly
MARKS = f"""#undef __device__
#define __device__ {MARK}
#undef __global__
#define __global__ __attribute__((noinline, used)) {MARK}
#undef COURSE_KERNEL
#define COURSE_KERNEL(...)
#undef COURSE_KERNEL_AS
#define COURSE_KERNEL_AS(...)
#undef COURSE_SYMBOL
#define COURSE_SYMBOL(...)
"""
FUNCTION = re.compile(r"^\s*\.type\s+([^\s,]+),\s*[@%]function", re.MULTILINE)
PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s", re.MULTILINE)
# as the engine builds programs, but for what would make functions disappear; then what conditions see of its tracer
BUILT = ("-O0", "-g1", "-march=native", "-D__OPTIMIZE__=1", "-U__NO_INLINE__")
TRACED = ("-D__SANITIZE_THREAD__=1", "-DCOURSE_TRACE")
STARTS = re.compile(r"_GLOBAL__|_Z\d*_*static_init|__cxx_global")
NUMBERED = re.compile(r"^_ZN?K?\d+")
# of a lambda in a function; of a constructor or destructor, which may be the compiler's own
WITHIN = re.compile(r"^_ZZ\w*(?:Ul|\$_\d)|^_ZN\w*[CD][0-2]E")
AT_START = r"init_array|preinit_array|fini_array|ctors|dtors|mod_init_func|mod_term_func"
SECTION = re.compile(rf"\.?(?:{AT_START})\b")
LEAVES = re.compile(r"^\s*\.(?:section|text|data|bss|pushsection|popsection|previous)\b")
POINTER = re.compile(r"^\s*\.(?:quad|xword|[48]byte|long|word)\s+(\S+)")
AT_END = "__cxa_atexit"
OUTSIDE = "code that runs outside of a launch (a constructor, or a first value that is computed)"


@functools.cache
def refused(source):
    """What of this CUDA C is for the host, or None; None also for what does not compile, which its check says."""
    ways = [BUILT, (*BUILT, *TRACED)] if "#" in source else [BUILT]
    said = (_of_assembly(_compiled(source, way)) for way in ways)
    return next(filter(None, said), None)


def _of_assembly(assembly):
    name = next(_host_functions(assembly), None)
    if name is not None and not STARTS.match(name):
        return f"a function for the host ({NUMBERED.sub('', name)[:60]})"
    return OUTSIDE if name is not None or runs_outside(assembly) else None


def runs_outside(assembly):
    """Does anything of this assembly run before or after all launches?"""
    inside = False
    for line in assembly.splitlines():
        if LEAVES.match(line):
            inside = SECTION.search(line) is not None
        elif inside and POINTER.match(line):
            return True
    return AT_END in assembly


def _compiled(source, flags):
    """The assembly of a source, each function with a trace of its mark; "" where it is none."""
    for plain in (False, True):  # a template wants no extern "C" around it
        try:
            return _assembly(rewrite(source, no_extern_c=plain).text, flags)
        except (BadInput, Unavailable):
            continue
    return ""


def _assembly(text, more):
    with tempfile.TemporaryDirectory() as folder:
        source, marks, made = (Path(folder, name) for name in ("kernel.cpp", "marks.h", "kernel.s"))
        source.write_text(text, encoding="utf-8")
        marks.write_text(MARKS, encoding="utf-8")
        headers = ["-include", str(compiler.INCLUDE / "cuda_subset.h"), "-include", str(marks)]
        flags = [*compiler.COMMON, *more, "-idirafter", str(compiler.INCLUDE), *headers]
        command = [*compiler.compiler(), *flags, "-S", str(source), "-o", str(made)]
        compiler._run(command, compiler.DEADLINE)
        return made.read_text(encoding="utf-8", errors="replace")


def _host_functions(assembly):
    """The names of functions of the source that carry no mark."""
    files = {found[1] for found in map(compiler.FILE.match, assembly.splitlines()) if found}
    pieces = FUNCTION.split(assembly)[1:]
    for name, piece in zip(pieces[::2], pieces[1::2], strict=True):
        place = PLACE.search(piece)
        own = place is not None and place[1] in files
        if own and "__patchable_function_entries" not in piece and not WITHIN.match(name):
            yield name
