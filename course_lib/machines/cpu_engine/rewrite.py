"""From CUDA C to C++ for the host: finds kernels and variables, and rewrites the declarations of shared memory.

Nothing is moved to another line, so the compiler's messages and the tracer's line numbers are those of the source.
"""

import re
from dataclasses import dataclass

from course_lib.errors import BadInput

BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
KERNEL = re.compile(rf"__global__\s+{BOUNDS}(?:static\s+)?void\s+{BOUNDS}([A-Za-z_]\w*)\s*\(")
RETURNS = re.compile(rf"__global__\s+{BOUNDS}(?![^(;{{]*\bvoid\b)")
SHARED = re.compile(r"(?:\b(?:extern|static)\s+)*\b__shared__\b[^;{}]*;")
VARIABLE = re.compile(r"\b(?:__constant__|__device__)\b([^;(){}=]*)(?=[;={])")
NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
UNROLL = re.compile(
    r"^([ \t]*#[ \t]*pragma[ \t]+)unroll\b[ \t]*\(?[ \t]*(\w*)[ \t]*\)?", re.MULTILINE
)
HEADER = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"]"
    r"(?:(?:cuda|device_|sm_|math_|vector_)\w*|cooperative_groups/(?:reduce|scan))\.h[>\"]",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Program:
    """text: the C++ that is compiled. kernels: name -> names of its parameters. symbols: (name, is it constant)."""

    text: str
    kernels: dict[str, list[str]]
    symbols: list[tuple[str, bool]]


def rewrite(source, no_extern_c=False):
    """The Program of a CUDA C source. Raises BadInput for shared memory outside of a function, a kernel not void."""
    code = TOKEN.sub(lambda m: _blank(m) if m[0].startswith("/") else m[0], source)
    # of the same length, with strings blanked out too: here things are looked for
    bare = TOKEN.sub(_blank, source)
    if m := RETURNS.search(bare):
        raise BadInput(f"line {_line(bare, m)}: a kernel returns nothing: __global__ void")
    found = [m for m in KERNEL.finditer(bare) if not _is_template(bare, m.start())]
    kernels, symbols = {m[1]: parameters(bare, m.end() - 1) for m in found}, _symbols(bare)
    body, last = "", 0
    for m in SHARED.finditer(bare):
        body, last = body + code[last : m.start()] + _shared(bare, m), m.end()
    # no number: all of it
    body = UNROLL.sub(lambda m: f"{m[1]}GCC unroll {m[2] or 64}", body + code[last:])
    tail = [f"COURSE_KERNEL({name})" for name in kernels]
    for name, constant in symbols:
        tail.append(f"COURSE_SYMBOL({name}, {'true' if constant else 'false'})")
    opened, closed = ("", "") if no_extern_c else ('extern "C" {', "}")
    text = [opened, '#line 1 "kernel.cu"', HEADER.sub("", body), closed, *tail, ""]
    return Program("\n".join(text), kernels, symbols)


def _symbols(bare):
    """[(name, is it __constant__?)] of the variables of the device outside of functions."""
    symbols = []
    for m in VARIABLE.finditer(bare):
        if _depth(bare, m.start()) == 0:
            names = [found[1] for part in split(m[1]) if (found := NAME.search(part))]
            symbols += [(name, "__constant__" in m[0]) for name in names]
    return symbols


def parameters(bare, at):
    """Names in the parameter list whose parenthesis opens at `at`."""
    parts = split(bare[at + 1 : bare.find(")", at)])
    return [
        found[1] if (found := NAME.search(part.partition("=")[0].strip())) else "" for part in parts
    ]


def split(text):
    """The parts of a list between commas that stand in no bracket of any kind."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def _shared(bare, match):
    """One declaration of shared memory, as references to arrays in the block's arena."""
    text, line = match[0], _line(bare, match)
    if _depth(bare, match.start()) == 0:
        raise BadInput(f"line {line}: declare __shared__ memory inside the kernel that uses it")
    inner = re.sub(
        r"\b(?:__shared__|extern|static)\b|(?:__align__|alignas)\s*\([^)]*\)", " ", text
    )[:-1]
    out, base = "", ""
    for part in split(inner):
        found = NAME.search(part)
        before = part[: found.start()].strip() if found else ""
        if not found or not (base or before):
            raise BadInput(f"line {line}: this declaration is not understood: {text.strip()}")
        # only the first name comes with the type
        kind = f"{base.rstrip('* ')} {before}" if base else before
        base = base or before
        if re.search(r"\bextern\b", text):
            out += f"auto *{found[1]} = COURSE_DYNAMIC_SHARED({found[1]}, {kind}); "
        else:
            out += f"auto &{found[1]} = COURSE_SHARED({found[1]}, {kind} {' '.join(found[2].split())}); "
    return out + "\n" * text.count("\n")


def _line(bare, match):
    return bare.count("\n", 0, match.start()) + 1


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def _depth(bare, at):
    """How many braces stand open, those of extern "C" and of namespaces apart."""
    before = re.sub(r"(?:\bextern|\bnamespace\s*\w*)\s*\{", " ", bare[:at])
    return before.count("{") - before.count("}")


def _is_template(bare, at):
    return re.search(r"template\s*<[^;{}]*>\s*$", bare[:at]) is not None
