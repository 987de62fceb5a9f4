"""Activations as the user's own lines of CUDA C, and a kernel's source with these lines behind it."""

import re
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput


@dataclass(frozen=True)
class Activation:
    """f and f' as expressions of CUDA C: f of `z`; df of `z`, or of `a` = f(z), or of both; df may also call f(z).

    What df uses decides what the forward pass must keep. A line that does not compile is named by the compiler, as in
    "f of my_relu:1:9: error: ...": CompileError where the kernel is first launched.
    """

    name: str
    f: str
    df: str

    def __post_init__(self):
        if not (re.fullmatch(r"\w+", self.name) and self.f.strip() and self.df.strip()):
            wanted = "a name (letters, digits, _) and an expression each for f and df"
            raise BadInput(f"an activation needs {wanted}")

    @property
    def from_z(self):
        """Does f' need z? Else a, which the forward pass stores anyway, is enough."""
        return re.search(r"\bz\b", re.sub(r"//.*", "", self.df)) is not None

    @property
    def source(self):
        """CUDA C that defines what the kernels declare. The #line makes the compiler count the user's lines."""
        lines = (("f", "float z", self.f), ("df", "float z, float a", self.df))
        head = "[[maybe_unused]] static __device__ __forceinline__ float"  # most kernels call one of the two
        return "".join(
            f'{head} {which}({given}) {{ return\n#line 1 "{which} of {self.name}"\n'
            f"{line}{chr(10) * ('//' in line)}; }}\n"
            for which, given, line in lines
        )


ACTIVATIONS = {
    "sigmoid": Activation("sigmoid", "1 / (1 + expf(-z))", "a * (1 - a)"),
    "tanh": Activation("tanh", "tanhf(z)", "1 - a * a"),
    "relu": Activation("relu", "z < 0 ? 0 : z", "a > 0"),  # a NaN stays one; z > 0 just where a > 0
    "identity": Activation("identity", "z", "1"),
}


def source(kernel, activation=None):
    """The CUDA C of kernels/mlp_{kernel}.cu; with an activation, its f and df follow, and no line above has moved."""
    path = Path(__file__).parents[1].joinpath("kernels", f"mlp_{kernel}.cu")
    return path.read_text(encoding="utf-8") + ("" if activation is None else activation.source)
