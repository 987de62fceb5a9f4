"""D = alpha A B + beta C on the engine of `device`: a ladder of kernels, and the line of NumPy that specifies them.

Every kernel (kernels/*.cu) takes each matrix with two strides, so storage by rows or columns, transposition and leading
dimensions are numbers, not cases. Only speed depends on them: register_16x4 wants D stored by columns, as its threads
stand below each other, the others want it by rows. D^T = B^T A^T gives each what it wants: A and B change places.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu import device


@dataclass(frozen=True)
class Rung:
    """A kernel: threads of a block, rows and columns of a block's tile of D, and whether it wants D by columns."""

    name: str
    block: tuple[int, int, int]
    tile: tuple[int, int]
    by_columns: bool = False

    @property
    def source(self):
        path = Path(__file__).with_name("kernels") / f"gemm_{self.name}.cu"
        return path.read_text(encoding="utf-8")

    def grid(self, M, N):
        """How many blocks: x runs along the direction in which D's neighbours lie."""
        down, across = -(-M // self.tile[0]), -(-N // self.tile[1])
        return (down, across) if self.by_columns else (across, down)

    def arguments(self, M, N, K, alpha, A, B, beta, C, D):
        """Of the kernel. A, B, C, D: (memory, stride of rows, of columns), counted in elements; D has C's strides."""
        a, b, c = ((X[0], *map(np.int32, X[1:])) for X in (A, B, C))
        sizes = map(np.int32, (M, N, K))
        return *sizes, np.float32(alpha), *a, *b, np.float32(beta), c[0], D[0], *c[1:]

    def launch(self, M, N, K, alpha, A, B, beta, C, D):
        """Runs it, with arguments as in `arguments`."""
        args = self.arguments(M, N, K, alpha, A, B, beta, C, D)
        _function(self)(*args, block=self.block, grid=self.grid(M, N))


LADDER = (
    Rung("naive", (32, 8, 1), (8, 32)),
    Rung("shared", (32, 32, 1), (32, 32)),
    Rung("register_16x4", (16, 4, 1), (64, 16), by_columns=True),
    Rung("register_8x8", (16, 16, 1), (128, 128)),
    Rung("vector_8x8", (16, 16, 1), (128, 128)),
    Rung("buffered_8x8", (16, 16, 1), (128, 128)),
    Rung("warptile", (256, 1, 1), (128, 128)),
    Rung("async", (256, 1, 1), (128, 128)),
)
RUNGS = {rung.name: rung for rung in LADDER}


def gemm_numpy(A, B, C=None, alpha=1, beta=0):
    """The specification. With beta = 0, C is not looked at: what it holds, NaN too, has no effect."""
    return alpha * (A @ B) + (beta * C if beta else 0)


def gemm(A, B, C=None, alpha=1, beta=0, kernel="register_16x4"):
    """D = alpha A B + beta C, float32.   A: (M, K), B: (K, N), C and D: (M, N); kernel: a name in RUNGS.

    NumPy arrays are copied to the device; C stays as it is, D is a new array. Of device arrays, D is written over C and
    is C, as in cuBLAS, or a new one if there is no C. Transposed arrays (A.T) cost no copy. Raises BadInput.
    """
    check(A, B, C, beta, kernel)
    rung, host = RUNGS[kernel], isinstance(A, np.ndarray)
    on_device = _to_device if host else lambda X: X
    fresh = C is None or (host and not beta)
    D = device.gpuarray.empty((A.shape[0], B.shape[1]), np.float32) if fresh else on_device(C)
    (M, N, K), left, right, out = turned(rung, on_device(A), on_device(B), D)
    rung.launch(M, N, K, alpha, left, right, beta, out, out)
    return D.get() if host else D


def turned(rung, A, B, D):
    """(M, N, K) and A, B, D as (memory, stride of rows, of columns), or D^T = B^T A^T where the rung wants D so."""
    M, N, K = A.shape[0], B.shape[1], A.shape[1]
    left, right, out = ((X, X.strides[0] // 4, X.strides[1] // 4) for X in (A, B, D))
    if out[1 if rung.by_columns else 2] != 1:
        left, right, out = ((X, columns, rows) for X, rows, columns in (right, left, out))
        M, N = N, M
    if any((M + 128) * X[1] + (max(N, K) + 128) * X[2] >= 2**31 for X in (left, right, out)):
        raise BadInput("a matrix is too large: the kernels count elements with 32 bits")
    return (M, N, K), left, right, out


@cache
def _function(rung):
    return device.SourceModule(rung.source).get_function(f"gemm_{rung.name}")


def _to_device(X):
    return device.gpuarray.to_gpu(X if X.flags.forc else np.ascontiguousarray(X))


def check(A, B, C, beta, kernel):
    """Raises BadInput for what `gemm` does not take."""
    if kernel not in RUNGS:
        raise BadInput(f"there is no kernel {kernel!r}: it may be {', '.join(RUNGS)}")
    for name, X in {"A": A, "B": B, **({} if C is None else {"C": C})}.items():
        if not hasattr(X, "shape") or isinstance(X, np.ndarray) != isinstance(A, np.ndarray):
            wanted = "a NumPy array or a device array, as all of them"
            raise BadInput(f"{name} must be {wanted}, not {type(X).__name__}")
        if len(X.shape) != 2 or 0 in X.shape or X.dtype != np.float32:
            got = f"{X.dtype} of shape {X.shape}"
            raise BadInput(f"{name} must be a float32 matrix with elements in it, not {got}")
    if A.shape[1] != B.shape[0]:
        counts = f"A has {A.shape[1]} columns and B {B.shape[0]} rows"
        raise BadInput(f"{counts}: they must be the same number, K")
    shape = (A.shape[0], B.shape[1])
    if C is not None and tuple(C.shape) != shape:
        raise BadInput(f"C must have shape {shape}, as D has, not {tuple(C.shape)}")
    if getattr(C, "gpudata", None) is not None and any(C.gpudata is X.gpudata for X in (A, B)):
        why = "D would be written over what is still read"
        raise BadInput(f"C shares its memory with A or B: {why}; pass a copy")
    if beta and C is None:
        raise BadInput(f"beta is {beta}, but there is no C: pass one, or beta=0")
