"""A file of CUDA C as it comes: its kernels with their parameters, and the functions of the host left out."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput
from course_lib.machines.cuda_c.outside import without_host
from course_lib.machines.trace_page import bare

KERNEL = re.compile(
    r"__global__[^;{}()]*(?:\([^)]*\)[^;{}()]*?)?\b([A-Za-z_]\w*)\s*\(([^;{}]*)\)\s*\{"
)
TYPES = {
    "float": "float32", "double": "float64", "half": "float16", "__half": "float16", "bool": "bool",
    "int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "uint": "uint32", "char": "int8",
    "signed char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16", "long": "int64",
    "long long": "int64", "unsigned long": "uint64", "unsigned long long": "uint64", "size_t": "uint64",
}  # fmt: skip
QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict)\b|[*&]")


@dataclass(frozen=True)
class Parameter:
    """text: as the source has it. dtype: the scalar's or that of the array's elements; None for another type."""

    name: str
    text: str
    is_pointer: bool
    dtype: np.dtype | None


@dataclass(frozen=True)
class KernelFile:
    """source: what is traced. kernels: {name: its Parameters}. left_out: (first, last line) of each host function."""

    path: Path
    source: str
    kernels: dict[str, list[Parameter]]
    left_out: list[tuple[int, int]]

    def parameters(self, kernel):
        """Those of a kernel, or of a template's instance such as "reduce<float, 256>", or None."""
        return self.kernels.get(kernel.partition("<")[0].strip())

    def flags(self):
        """For the compiler: where the file's own headers are, and what they say, since a program is kept by content."""
        folder = self.path.resolve().parent
        if not re.search(r'^[ \t]*#[ \t]*include[ \t]*"', self.source, re.MULTILINE):
            return ()
        headers = [
            path for path in sorted(folder.iterdir()) if path.suffix in (".h", ".cuh", ".hpp")
        ]
        said = hashlib.sha256(b"".join(path.read_bytes() for path in headers)).hexdigest()
        return f"-I{folder}", f"-DCOURSE_HEADERS_{said[:16]}"


def read(path):
    """The KernelFile. Raises BadInput for what cannot be read, or holds no kernel."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise BadInput(f"{path} cannot be read: {why}") from None
    source, left_out = without_host(text, bare(text))
    found = {m[1]: _parameters(m[2]) for m in KERNEL.finditer(bare(source))}
    if not found:
        raise BadInput(f"{path} has no kernel: no function that is __global__ void")
    return KernelFile(Path(path), source, found, left_out)


def _parameters(text):
    parts = re.split(r",(?![^<]*>)", text)
    return [
        _parameter(" ".join(part.split())) for part in parts if part.strip() not in ("", "void")
    ]


def _parameter(text):
    """Of a declaration such as `const float *__restrict__ A`."""
    found = re.fullmatch(r"(.*?)\b(\w+)\s*((?:\[[^\]]*\])*)(?:\s*=.*)?", text)
    kind, name, brackets = found.groups() if found else ("", text, "")
    word = " ".join(QUALIFIERS.sub(" ", kind).split()).removesuffix(" int")
    word = re.sub(r"^(?:std::)?u?int(?:8|16|32|64)_t$", lambda m: m[0].split(":")[-1][:-2], word)
    known = TYPES.get(word, word if re.fullmatch(r"u?int\d+", word) else None)
    return Parameter(name, text, "*" in kind or bool(brackets), np.dtype(known) if known else None)
