"""What of a CUDA file is not for the device: code for the host is left out, what the engine lacks is named."""

import re

from course_lib.errors import BadInput
from course_lib.machines.cuda_c.scopes import DIRECTIVE, scopes, without_directives

DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__")
CALLS = r"\b(?:cuda|cublas|cudnn|cufft|curand|cusparse)[A-Z]\w*"
HOST = re.compile(rf"<<<|{CALLS}|\b(?:std|thrust)::|\bmain\s*\(")
CODE = re.compile(rf"({DIRECTIVE.pattern})|[^\n]", re.MULTILINE)
END = re.compile("[;{}]")
FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\([^;]*\)[\s\w]*$")
LACKING = {
    "inline PTX": r'\b(?:asm|__asm__|__asm)\b[\sa-z_]*\(\s*"\s*[^"\s]',
    "textures and surfaces": r"\b(?:texture\s*<|tex(?:[123]D|Cubemap)\w*\s*[<(]|surf[123]D\w*\s*[<(]"
    r"|cuda(?:Texture|Surface)Object_t\b)",
    "a launch from a kernel (dynamic parallelism)": r"<<<",
    "tensor-core fragments of double, of integers or of fewer than 8 bits": r"\bwmma\s*::\s*experimental\b"
    r"|\bbmma_sync\b|\bfragment\s*<[^<>;]*\b(?:matrix_[ab]|accumulator)\b[^<>;]*"
    r"\b(?:double|int|(?:un)?signed|char|u?int(?:8|32)_t)\b",
    "thread block clusters": r"__cluster_dims__",
    "thrust, cub, cutlass, curand's device functions and the CUDA C++ library": r"<(?:thrust|cub|cute|cutlass|cuda)/"
    r"|<curand_kernel\.h>|\b(?:thrust|cub|cutlass)\s*::",
}


def without_host(code, bare):
    """(code, with spaces in the place of what only a host needs; [(first line, last line)] of each piece left out).

    bare: the same code, of the same length, without comments and strings. Directives stay.
    """
    places = sorted(_host_code(bare))
    lines = [tuple(code.count("\n", 0, at) + 1 for at in _ends(bare, *place)) for place in places]
    for start, end in places:
        code = code[:start] + CODE.sub(_blank_code, code[start:end]) + code[end:]
    return code, lines


def _ends(bare, start, end):
    """Where the code of a piece begins and ends, which reaches from the end of the one before it."""
    piece = without_directives(bare)[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def _blank_code(m):
    return m[0] if m[1] else " "


def _host_code(bare):
    """[(start, end)] of what only a host needs: it launches kernels, uses CUDA's library, is main, or names such.

    Functions, classes and declarations outside of all; what carries a word such as __device__ is never among them.
    """
    text, inner = without_directives(bare), scopes(bare)
    outer = [s for s in inner if s.kind != "file" and (not s.parent or s.parent.kind == "file")]
    chunks = [(_name(text[s.head : s.opened]), s.head, s.closed) for s in outer]
    for start, end in _library(text):
        if not any(s.head <= start < s.closed for s in outer):
            chunks.append(("", start, end))
    chunks = [c for c in chunks if not DEVICE.search(text[c[1] : c[2]])]
    wanted, found = HOST.pattern, []
    while more := [c for c in chunks if c not in found and re.search(wanted, text[c[1] : c[2]])]:
        found += more
        wanted = "|".join(rf"\b{name}\b" for name, _, _ in found if name) or "$^"
    return [(start, end) for _, start, end in found]


def _library(text):
    """[(start, end)] of the statements that call CUDA's library or its kin."""
    found = []
    for call in re.finditer(CALLS, text):
        start = max(text.rfind(mark, 0, call.start()) for mark in ";{}") + 1
        end = END.search(text, call.end())
        if end and end[0] == ";" and (start, end.end()) not in found:
            found.append((start, end.end()))
    return found


def _name(head):
    named = FUNCTION.search(head) or re.search(r"\b(?:struct|class)\s+(\w+)\s*$", head)
    return named[1] if named else ""


def refuse(code, bare):
    """Raises BadInput for what the engine lacks. Neither has comments or host code; bare has no strings."""
    for name, pattern in LACKING.items():
        if m := re.search(pattern, code if '"' in pattern else bare):
            line, word = code.count("\n", 0, m.start()) + 1, re.findall(r"\W*\w*", m[0])
            raise BadInput(f"line {line}: the CPU engine has no {name}: {word[0]}")
