"""What a student wrote, before it runs: is it a string with the kernel that was asked for, with its parameters?"""

import re

import numpy as np

from course_lib.checks.kit.kernels.compiling import does_not_compile
from course_lib.checks.kit.messages import CheckFailed, NotWritten, Report
from course_lib.checks.kit.trees import a_thing
from course_lib.errors import BadInput
from course_lib.machines.cuda_c.rewrite import TOKEN, rewrite

BLANK = re.compile(r'^[ \t]*#[ \t]*error[ \t]*"?write ([\w-]+): about', re.MULTILINE)
SAME_BYTES, OTHER_BYTES = "keep the type of the task", "it would read the wrong bytes"
C_TYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned": "uint32",
    "long": "int64",
    "size_t": "uint64",
    "short": "int16",
    "char": "int8",
    "bool": "bool",
    "half": "float16",
    "__half": "float16",
    "int32_t": "int32",
    "uint32_t": "uint32",
    "int64_t": "int64",
}


def check_source(name, kernel, source, launch):
    """Raise CheckFailed unless `source` is a string of CUDA C with that kernel and the parameters of the launch."""
    if not isinstance(source, str):
        report = Report(f"{name} must be a string of CUDA C, not {a_thing(source)}")
        raise CheckFailed(
            report.add("cause", "pass the string that holds the kernel, as in the cell above")
        )
    if not source.isascii() and (odd := re.search("[\ud800-\udfff]", source)):
        report = Report(f"{name} does not compile").add(
            "what", "it contains a character that cannot be stored in a file"
        )
        raise CheckFailed(report.add("at", f"line {source.count(chr(10), 0, odd.start()) + 1}"))
    bare = without_comments(source)
    if BLANK.search(bare):
        raise NotWritten(
            Report(f"{name} is not written yet").add(
                "next",
                "replace the line `#error ...` in the string with your code, run that cell, then run this one "
                "again. The hints above it open with a click.",
            )
        )
    try:
        kernels = rewrite(source).kernels
    except BadInput as error:
        raise CheckFailed(does_not_compile(name, source, error)) from None
    if kernel not in kernels:
        raise CheckFailed(_no_kernel(name, kernel, bare, sorted(kernels)))
    if cause := _parameters_differ(kernel, bare, kernels[kernel], launch):
        report = Report(f"{name}: the parameters of {kernel} are not those of the task")
        report.add("cause", cause)
        if list(kernels[kernel]) != list(launch.args):
            for label, names in (("got", kernels[kernel]), ("wanted", launch.args)):
                report.add(label, f"{kernel}({', '.join(names)})")
        raise CheckFailed(report)


def without_comments(source):
    """The source with its comments blanked out, line for line."""
    return TOKEN.sub(
        lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], source
    )


def _no_kernel(name, kernel, bare, found):
    report = Report(f"{name}: there is no kernel named {kernel} in this string")
    if not bare.strip():
        return report.add("cause", "the string is empty, comments apart")
    if re.search(rf"template\s*<[^;{{}}]*>\s*__global__[^;{{}}]*\b{kernel}\s*\(", bare):
        return report.add("cause", "it is a template: a launch needs a plain kernel")
    if re.search(rf"__global__[^;{{}}()]*\b{kernel}\s*\(", bare):
        return report.add("cause", f"a kernel returns nothing: `__global__ void {kernel}(...)`")
    if re.search(rf"\b{kernel}\s*\([^;{{}}]*\{{", bare):
        return report.add(
            "cause", f"a kernel begins with __global__: `__global__ void {kernel}(...)`"
        )
    keep = f"keep the line `__global__ void {kernel}(...)` of the task"
    theirs = f"; yours {'is' if len(found) == 1 else 'are'} {', '.join(found)}" if found else ""
    return report.add("cause", keep + theirs)


def _parameters_differ(kernel, bare, names, launch):
    """The likely cause, or None where the parameters will do: other names for the same things are welcome."""
    wanted = list(launch.args)
    if len(names) != len(wanted):
        return f"{len(wanted)} arguments are passed, but your kernel takes {len(names)}"
    if names != wanted and sorted(names) == sorted(wanted):
        return "the order has changed: arguments are passed by position, not by name"
    head = re.search(rf"__global__[^;{{}}]*?\b{kernel}\s*\(([^)]*)\)", bare)
    parts = head[1].split(",") if head else []
    for part, (name, value) in zip(parts, launch.args.items(), strict=False):
        kind, pointer, written = (
            _c_type(part),
            "*" in part or "[" in part,
            f"`{' '.join(part.split())}`",
        )
        if isinstance(value, np.ndarray) and not pointer:
            return (
                f"{name} is an array, so a pointer to it is passed; your kernel declares {written}"
            )
        if isinstance(value, np.generic) and pointer:
            return f"{name} is one number ({value.dtype}), not an array; your kernel declares {written}"
        if value is not None and kind and kind != value.dtype.name:
            why = SAME_BYTES if {kind, value.dtype.name} == {"int32", "uint32"} else OTHER_BYTES
            return f"{name} is {value.dtype} here, but your kernel declares {written}: {why}"
    return None


def _c_type(part):
    """The NumPy name of the plain C type in a parameter; None for any other (float4, a typedef)."""
    words = re.findall(r"\w+", part)
    if "unsigned" in words and {"long", "short", "char"} & {*words}:
        return None
    plain = [
        word
        for word in words
        if word in C_TYPES and not (word == "int" and len({*words} & {*C_TYPES}) > 1)
    ]
    return C_TYPES[plain[0]] if plain else None
