"""What of a CUDA file is not for the device: functions for the host are left out, what the engine lacks is named."""

import re

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.scopes import scopes, without_directives

DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__")
HOST = re.compile(r"<<<|\b(?:cuda|cublas|cudnn|cufft|curand|cusparse)[A-Z]\w*|\bmain\s*\(")
FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\([^;]*\)[\s\w]*$")
LACKING = {
    "inline PTX": r"\b(?:asm|__asm__|__asm)\b",
    "textures and surfaces": r"\b(?:texture\s*<|tex(?:[123]D|Cubemap)\w*\s*[<(]|surf[123]D\w*\s*[<(]"
    r"|cuda(?:Texture|Surface)Object_t\b)",
    "a launch from a kernel (dynamic parallelism)": r"<<<",
    "tensor-core fragments (wmma)": r"\b(?:nvcuda|wmma)\s*::|\busing\s+namespace\s+nvcuda\b|<mma\.h>",
    "thread block clusters": r"__cluster_dims__",
    "thrust, cub, cutlass, curand's device functions and the CUDA C++ library": r"<(?:thrust|cub|cute|cutlass|cuda)/"
    r"|<curand_kernel\.h>|\b(?:thrust|cub|cutlass)\s*::",
}


def host_functions(bare):
    """[(start, end)] of the functions that only a host runs: they launch kernels, call CUDA's library, or are main.

    And those that call one of them. What carries __device__ or another such word is never among them.
    """
    text, chunks, found = without_directives(bare), [], []
    for scope in scopes(bare):
        outer = scope.parent is None or scope.parent.kind == "file"
        head = text[scope.head : scope.opened]
        if scope.kind == "function" and outer and (named := FUNCTION.search(head)):
            chunks.append((named[1], scope.head, scope.closed))
    chunks = [c for c in chunks if not DEVICE.search(text[c[1] : c[2]])]
    wanted = HOST.pattern
    while more := [c for c in chunks if c not in found and re.search(wanted, text[c[1] : c[2]])]:
        found += more
        wanted = "|".join(rf"\b{name}\s*\(" for name, _, _ in found)
    return [(start, end) for _, start, end in found]


def refuse(code):
    """Raises BadInput for the first thing that the engine lacks; `code` has no comments, strings and host functions."""
    for name, pattern in LACKING.items():
        if m := re.search(pattern, code):
            line = code.count("\n", 0, m.start()) + 1
            raise BadInput(f"line {line}: the CPU engine has no {name}: {' '.join(m[0].split())}")
