"""From CUDA C to C++ for the host: finds kernels and variables, and rewrites the declarations of shared memory.

Nothing is moved to another line, so the compiler's messages and the tracer's line numbers are those of the source.
"""

import re
from dataclasses import dataclass

from course_lib.errors import BadInput

KERNEL = re.compile(r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:static\s+)?void\s+"
                    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?([A-Za-z_]\w*)\s*\(")  # fmt: skip
SHARED = re.compile(r"(?:\b(?:extern|static)\s+)*\b__shared__\b[^;{}]*;")
VARIABLE = re.compile(r"\b(__constant__|__device__)\b([^;(){}=]*)(?=[;={])")
NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")


@dataclass(frozen=True)
class Program:
    """text: the C++ that is compiled. kernels: name -> names of its parameters. symbols: (name, is it constant)."""

    text: str
    kernels: dict[str, list[str]]
    symbols: list[tuple[str, bool]]


def rewrite(source, no_extern_c=False):
    """The Program of a CUDA C source. Raises BadInput for shared memory that is declared outside of a function."""
    bare = without_comments(source)
    kernels = {m[1]: parameters(bare, m.end() - 1) for m in KERNEL.finditer(bare) if not _is_template(bare, m.start())}
    symbols = [(name, m[1] == "__constant__") for m in VARIABLE.finditer(bare)
               if _depth(bare, m.start()) == 0 for name in _declared(m[2])]  # fmt: skip
    body = SHARED.sub(lambda m: _shared(bare, m), bare)
    body = re.sub(r"^([ \t]*#[ \t]*pragma[ \t]+)unroll\b[ \t]*\(?[ \t]*(\w*)[ \t]*\)?", _unroll, body, flags=re.MULTILINE)
    tail = [f"COURSE_KERNEL({name})" for name in kernels]
    tail += [f"COURSE_SYMBOL({name}, {'true' if constant else 'false'})" for name, constant in symbols]
    opened, closed = ("", "") if no_extern_c else ('extern "C" {', "}")
    text = f'{opened}\n#line 1 "kernel.cu"\n{body}\n{closed}\n#line 1 "launchers"\n' + "\n".join(tail) + "\n"
    return Program(text, kernels, symbols)


def without_comments(source):
    """The source with comments blanked out, character for character, strings left as they are."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], source)


def parameters(bare, at):
    """Names in the parameter list whose parenthesis opens at `at`."""
    end, depth = at, 0
    while end < len(bare):
        depth += {"(": 1, ")": -1}.get(bare[end], 0)
        end += 1
        if depth == 0:
            break
    parts = split(bare[at + 1 : end - 1])
    return [found[1] if (found := NAME.search(part.partition("=")[0].strip())) else "" for part in parts]


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
    text, line = match[0], bare.count("\n", 0, match.start()) + 1
    if _depth(bare, match.start()) == 0:
        raise BadInput(f"line {line}: declare __shared__ memory inside the kernel that uses it")
    inner = re.sub(r"\b(?:__shared__|extern|static)\b|(?:__align__|alignas)\s*\([^)]*\)", " ", text)[:-1]
    first, *others = split(inner)
    found = NAME.search(first)
    base = first[: found.start()].strip() if found else ""
    if not base:
        raise BadInput(f"line {line}: this declaration is not understood: {text.strip()}")
    declared = [(base, found[1], found[2])]
    for other in others:
        found = NAME.search(other)
        declared.append((base.rstrip("* ") + other[: found.start()], found[1], found[2]))
    dynamic = re.search(r"\bextern\b", text) is not None
    out = " ".join(_arena(*each, dynamic) for each in declared)
    return out + "\n" * text.count("\n")


def _arena(base, name, dimensions, dynamic):
    if dynamic:
        return f"auto *{name} = COURSE_DYNAMIC_SHARED({name}, {base});"
    return f"auto &{name} = COURSE_SHARED({name}, {base} {' '.join(dimensions.split())});"


def _unroll(match):
    count = match[2] or "64"  # without a number: all of it
    return f"{match[1]}GCC unroll {count}"


def _declared(text):
    return [found[1] for part in split(text) if (found := NAME.search(part))]


def _depth(bare, at):
    """How many braces stand open, those of extern "C" and of namespaces apart."""
    before = re.sub(r'(?:extern\s*"C"|namespace\s*\w*)\s*\{', " ", bare[:at])
    return before.count("{") - before.count("}")


def _is_template(bare, at):
    return re.search(r"template\s*<[^;{}]*>\s*$", bare[:at]) is not None
