"""D = alpha A B + beta C of half precision on tensor cores (wmma): A and B float16, sums and D float32.

Two kernels (kernels/gemm_wmma*.cu): a warp with a tile of its own, and four warps that share tiles of 64 x 64. The
line of NumPy that specifies them is `gemm_numpy` of A and B as float32 or wider.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.machines.cpu_engine import trace


@dataclass(frozen=True)
class HalfRung:
    """A kernel: threads of a block, and rows (and columns) of a block's tile of D."""

    name: str
    threads: int
    tile: int

    @property
    def source(self):
        path = Path(__file__).with_name("kernels") / f"gemm_{self.name}.cu"
        return path.read_text(encoding="utf-8")

    def grid(self, M, N):
        """How many blocks: x along the rows of D."""
        return -(-N // self.tile), -(-M // self.tile)

    @property
    def block(self):
        return self.threads, 1, 1

    def arguments(self, A, B, C, D, alpha, beta):
        """Of the kernel: matrices stored by rows, C None where beta is 0."""
        sizes = map(np.int32, (A.shape[0], B.shape[1], A.shape[1]))
        old = C if C is not None else np.uint64(0)
        return *sizes, np.float32(alpha), A, B, np.float32(beta), old, D


HALF_RUNGS = {
    rung.name: rung for rung in (HalfRung("wmma", 32, 16), HalfRung("wmma_shared", 128, 64))
}


def gemm_half(A, B, C=None, alpha=1, beta=0, kernel="wmma"):
    """D = alpha A B + beta C.   A: (M, K), B: (K, N), float16; C and D: (M, N), float32; kernel: a name in HALF_RUNGS.

    Any M, N, K. Products and sums are float32 on both engines; in what order a tensor core adds, and how it rounds
    there, NVIDIA does not document. NumPy arrays are copied to the device; C stays as it is, D is a new array. Device
    arrays must be stored by rows; D is written over C and is C, or a new one if there is no C.
    On a GPU it needs compute capability 7.0 (tensor cores; CUDA C++ Programming Guide, "Warp matrix functions").
    Raises BadInput for an older GPU, and for arrays that do not fit.
    """
    check_half(A, B, C, beta, kernel)
    rung, host = HALF_RUNGS[kernel], isinstance(A, np.ndarray)
    function = _function(rung)
    on_device = _to_device if host else lambda X: X
    fresh = C is None or (host and not beta)
    D = device.gpuarray.empty((A.shape[0], B.shape[1]), np.float32) if fresh else on_device(C)
    args = rung.arguments(on_device(A), on_device(B), D, D, alpha, beta)
    function(*args, block=rung.block, grid=rung.grid(*D.shape))
    return D.get() if host else D


def trace_half(A, B, C=None, alpha=1, beta=0, kernel="wmma"):
    """`gemm_half` under the CPU engine's tracer: (D, Report). NumPy arrays; the report's arrays are A, B, C, D."""
    check_half(A, B, C, beta, kernel)
    rung, D = HALF_RUNGS[kernel], np.full((A.shape[0], B.shape[1]), np.nan, np.float32)
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    B = B.copy() if np.may_share_memory(A, B) else B
    sizes = map(np.int32, (*D.shape, A.shape[1]))
    old = np.ascontiguousarray(C) if beta else None
    args = [*sizes, np.float32(alpha), A, B, np.float32(beta), old, D]
    report = trace(
        rung.source, f"gemm_{kernel}", rung.grid(*D.shape), rung.block, args, timeout=120
    )
    return D, report


@cache
def _function(rung):
    """Compiled once. Raises BadInput for a GPU without tensor cores."""
    gpu = device.attributes()
    capability = gpu["compute_capability"]
    if capability and tuple(capability) < (7, 0):
        had = ".".join(map(str, capability))
        raise BadInput(
            f"{gpu['name']} has compute capability {had}: tensor cores need 7.0 or newer"
        )
    module = device.SourceModule(rung.source, no_extern_c=True)  # <mma.h> is C++
    return module.get_function(f"gemm_{rung.name}")


def _to_device(X):
    return device.gpuarray.to_gpu(np.ascontiguousarray(X))


def check_half(A, B, C, beta, kernel):
    """Raises BadInput for what `gemm_half` does not take."""
    if kernel not in HALF_RUNGS:
        raise BadInput(f"there is no kernel {kernel!r}: it may be {', '.join(HALF_RUNGS)}")
    for name, X in {"A": A, "B": B, **({} if C is None else {"C": C})}.items():
        kind = np.float32 if name == "C" else np.float16
        if not hasattr(X, "shape") or isinstance(X, np.ndarray) != isinstance(A, np.ndarray):
            wanted = "a NumPy array or a device array, as all of them"
            raise BadInput(f"{name} must be {wanted}, not {type(X).__name__}")
        if len(X.shape) != 2 or 0 in X.shape or X.dtype != kind:
            got = f"{X.dtype} of shape {X.shape}"
            raise BadInput(
                f"{name} must be a {np.dtype(kind)} matrix with elements in it, not {got}"
            )
        if not isinstance(X, np.ndarray) and X.strides[1] != X.dtype.itemsize:
            raise BadInput(f"{name} must be stored by rows on the device: pass a copy")
    _check_shapes(A, B, C, beta)


def _check_shapes(A, B, C, beta):
    (M, K), N = A.shape, B.shape[1]
    if B.shape[0] != K:
        raise BadInput(
            f"A has {K} columns and B {B.shape[0]} rows: they must be the same number, K"
        )
    if C is not None and tuple(C.shape) != (M, N):
        raise BadInput(f"C must have shape {(M, N)}, as D has, not {tuple(C.shape)}")
    if beta and C is None:
        raise BadInput(f"beta is {beta}, but there is no C: pass one, or beta=0")
    if max((M + 64) * (K + 64), (K + 64) * (N + 64), (M + 64) * (N + 64)) >= 2**31:
        raise BadInput("a matrix is too large: the kernels count elements with 32 bits")
