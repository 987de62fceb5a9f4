"""What a student wrote, before it runs: is it a string with the kernel that was asked for, and does it compile?"""

import re

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu.cpu_engine.rewrite import TOKEN, rewrite

from .messages import CheckFailed, NotWritten, Report
from .trees import a_thing, short

BLANK = re.compile(r'^[ \t]*#[ \t]*error[ \t]*"?write ([\w-]+): about', re.MULTILINE)
MESSAGE = re.compile(r"kernel\.cu[:(](\d+)(?:[:)](?:\d+:)?)?:? *(?:fatal )?error *:? *(.*)")
C_TYPES = {"float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "char": "int8",
           "short": "int16", "half": "float16", "__half": "float16", "bool": "bool"}  # fmt: skip


def check_source(name, kernel, source, launch):
    """Raise CheckFailed unless `source` is a string of CUDA C with that kernel and the parameters of the launch."""
    if not isinstance(source, str):
        report = Report(f"{name} must be a string of CUDA C, and this is {a_thing(source)}")
        raise CheckFailed(report.add("cause", "hand over the string that holds the kernel, as it is in the cell above"))
    if BLANK.search(without_comments(source)):
        raise NotWritten(Report(f"{name} is not written yet").add(
            "next", "put your code in the place of the line `#error ...` in the string, run that cell, then run this "
            "one again. The hints above it fold open."))  # fmt: skip
    try:
        kernels = rewrite(source).kernels
    except BadInput as error:
        raise CheckFailed(does_not_compile(name, source, error)) from None
    bare = without_comments(source)
    if kernel not in kernels:
        raise CheckFailed(_no_kernel(name, kernel, bare, sorted(kernels)))
    if cause := _parameters_differ(kernel, bare, kernels[kernel], launch):
        report = Report(f"{name}: the parameters of {kernel} are not those of the task")
        for label, names in (("got", kernels[kernel]), ("wanted", launch.args)):
            report.add(label, f"{kernel}({', '.join(names)})")
        raise CheckFailed(report.add("cause", cause))


def without_comments(source):
    """The source with its comments blanked out, line for line."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], source)


def source_line(source, number):
    """ "line 7: y[i] = a * x[i];", or "line 7" where there is no such line."""
    lines = source.splitlines()
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"line {number}: {short(text, 100)}" if text else f"line {number}"


def _no_kernel(name, kernel, bare, found):
    report = Report(f"{name}: there is no kernel named {kernel} in this string")
    if re.search(rf"template\s*<[^;{{}}]*>\s*__global__[^;{{}}]*\b{kernel}\s*\(", bare):
        cause = "it is a template: a launch needs a plain kernel"
    elif re.search(rf"\b{kernel}\s*\(", bare) and "__global__" not in bare:
        cause = f"a kernel begins with __global__ void: `__global__ void {kernel}(...)`"
    elif re.search(rf"__global__[^;{{}}()]*\b{kernel}\s*\(", bare):
        cause = "a kernel returns nothing: `__global__ void`"
    elif found:
        cause = f"the kernels in it are {', '.join(found)}: keep the name that the task gives"
    else:
        line = f"keep the line `__global__ void {kernel}(...)` of the task"
        cause = line if bare.strip() else "the string is empty"
    return report.add("cause", cause)


def _parameters_differ(kernel, bare, names, launch):
    """The likely cause, or None where the parameters will do."""
    wanted = list(launch.args)
    if len(names) != len(wanted):
        return f"{len(wanted)} parameters are passed, and your kernel takes {len(names)}"
    if names != wanted and sorted(names) == sorted(wanted):
        return "the order has changed: arguments are passed by place, not by name"
    head = re.search(rf"\b{kernel}\s*\(([^)]*)\)", bare)
    parts = head[1].split(",") if head else []
    for part, (name, value) in zip(parts, launch.args.items(), strict=False):
        kind = _c_type(part)
        if isinstance(value, np.ndarray) and "*" in part and kind and kind != value.dtype.name:
            return f"{name} points to {value.dtype.name} numbers, and your kernel declares `{' '.join(part.split())}`"
        if isinstance(value, np.generic) and ("*" in part or (kind and kind != value.dtype.name)):
            return f"{name} is one {value.dtype.name} number, and your kernel declares `{' '.join(part.split())}`"
        if isinstance(value, np.ndarray) and "*" not in part and "[" not in part:
            return f"{name} is an array, so a pointer is passed; your kernel declares `{' '.join(part.split())}`"
    return None


def _c_type(part):
    """The NumPy name of the plain C type in a parameter; None for any other (float4, size_t, a typedef)."""
    words = re.findall(r"\w+", part)
    if "long" in words:
        return None
    return next((C_TYPES[word] if word != "int" or "unsigned" not in words else "uint32"
                 for word in words if word in C_TYPES), None)  # fmt: skip


def does_not_compile(name, source, error, where=""):
    """The report on a CompileError, or on shared memory that the engine cannot place."""
    text = str(error).replace("‘", "'").replace("’", "'")
    report = Report(f"{name} does not compile{where}")
    found = [(int(m[1]), m[2]) for line in text.splitlines() if (m := MESSAGE.search(line))]
    if not found and (m := re.match(r"line (\d+): (.*)", text)):
        found = [(int(m[1]), m[2])]
    if not found:
        cause = "a bracket is not closed" if "to match this" in text or "launchers" in text else None
        return report.add("what", "\n".join(text.splitlines()[1:5]) or text).add("cause", cause)
    line, what = found[0]
    report.add("what", what).add("at", source_line(source, line)).add("cause", _cause(what))
    return report.add("then", f"{len(found) - 1} more errors may come from this one" if len(found) > 1 else "")


def _cause(what):
    return next((text for pattern, text in CAUSES if re.search(pattern, what)), None)


CAUSES = (
    (r"'(blockidx|blockdim|threadidx|griddim)'", "capital letters count: blockIdx, blockDim, threadIdx, gridDim"),
    (r"'(None|True|False|and|or|not|range|np|def|in|elif|len|print)'", "a word of Python: the string is CUDA C"),
    (r"was not declared|undeclared identifier|undefined",
     "a name that does not exist here: misspelt, or declared inside other braces"),
    (r"read-only|const-qualified|assignment of read", "a const array is an input: write to the output"),
    (r"expected .*';'|before '\}'|expected ';'", "a ; is missing, here or at the end of the line before"),
    (r"at end of input|expected '\}'", "a brace { is not closed"),
    (r"no member named|has no member", "blockIdx, blockDim, threadIdx and gridDim have .x, .y and .z"),
    (r"template with C linkage", "leave #include lines out: what a kernel needs is there already"),
    (r"invalid types? .* for array subscript|subscripted value", "[...] after a number: only arrays have elements"),
    (r"redeclar|redefinition", "a name is declared twice in the same braces"),
)
