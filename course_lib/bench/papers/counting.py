"""The part that is counted: what the CPU engine sees of the kernels that [000] and [003] describe. No times."""

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.bench.papers.settings import Settings
from course_lib.bench.progress import Progress

RUNGS = (
    "naive",
    "shared",
    "register_16x4",
    "warptile",
)  # [003] algorithms 1 and 2, section 4.2, its last words
SIDE = 128  # of the square product that is counted


def count(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Counts of the products of [003], and of the tiles of [000] section 4."""
    with contextlib.redirect_stdout(
        sys.stderr
    ):  # the device says what runs kernels; standard output is the JSON's
        products = {rung: _product(rung) for rung in RUNGS}
        return {
            "side": SIDE,
            "products": products,
            "update": _update(),
            "delta": _delta(),
            "global": _global(),
        }


def _product(rung: str) -> dict[str, Any]:
    """One product of SIDE^3, traced: requests of a warp and sectors in global memory, wavefronts in shared memory."""
    from course_lib.gpu import trace_gemm

    rng = np.random.default_rng(0)
    A, B = (rng.uniform(-1, 1, (SIDE, SIDE)).astype(np.float32) for _ in "AB")
    D, report = trace_gemm(A, B, kernel=rung)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    off, allowed = np.abs(D - exact).max(), SIDE * 2.0**-24 * (np.abs(A) @ np.abs(B)).max()
    if not (report.ok and off <= allowed):
        raise ArithmeticError(f"{rung}: not the product, or not clean: {report}")
    shared = {
        "wavefronts": report.total("wavefronts"),
        "ideal_wavefronts": report.total("ideal_wavefronts"),
    }
    return {
        "flops": 2 * SIDE**3,
        **shared,
        "difference": float(off / np.abs(exact).max()),
        "blas_difference": float(np.abs(A @ B - exact).max() / np.abs(exact).max()),
        **{
            name: report.total(name, space="global")
            for name in ("requests", "sectors", "ideal_sectors")
        },
        "loads": report.total("requests", space="global", op="load"),
    }


def _update() -> list[dict[str, Any]]:
    """Wavefronts of eq. 10 by batch size: tiles as [000] first had them, without padding; transposed; padded."""
    ways = {
        "neuron a row": ("-DAS_STORED", "-DPAD=0"),
        "example a row": ("-DPAD=0",),
        "padded": ("-DAS_STORED",),
    }
    rng, found = np.random.default_rng(0), []
    for B in (32, 64, 96):
        arrays = [
            rng.standard_normal(shape, dtype=np.float32) for shape in ((B, 64), (B, 32), (64, 32))
        ]
        counts = {name: _wavefronts("update", arrays, options) for name, options in ways.items()}
        found.append({"B": B, "wavefronts": counts})
    return found


def _delta() -> dict[str, dict[str, int]]:
    """Wavefronts of eq. 9's product for the output layer, W's tile written down a column: without padding and with."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in ((64, 10), (64, 10))]
    return {
        name: {
            op: _wavefronts("transposed", arrays, (f"-DPAD={pad}",), op=op, array="w_tile")
            for op in ("store", "load")
        }
        for name, pad in (("unpadded", 0), ("padded", 1))
    }


def _global() -> dict[str, dict[str, int]]:
    """Requests and sectors in global memory of eq. 9's product and of eq. 10, all sizes multiples of 32."""
    rng, found = np.random.default_rng(0), {}
    for kernel, shapes in {
        "transposed": ((64, 64), (64, 64)),
        "update": ((64, 64), (64, 32), (64, 32)),
    }.items():
        report = _launched(
            kernel, [rng.standard_normal(shape, dtype=np.float32) for shape in shapes], ()
        )
        found[kernel] = {
            name: report.total(name, space="global")
            for name in ("requests", "sectors", "ideal_sectors")
        }
    return found


def _wavefronts(
    kernel: str, arrays: Sequence[np.ndarray], options: tuple[str, ...], **where: str
) -> int:
    """Shared wavefronts of one launch of our kernel of that name."""
    return _launched(kernel, arrays, options).total("wavefronts", **where)


def _launched(kernel: str, arrays: Sequence[np.ndarray], options: tuple[str, ...]) -> Any:
    """The tracer's report of one launch of our kernel of that name, a thread for each element."""
    from course_lib.gpu import device
    from course_lib.gpu.mlp.activations import ACTIVATIONS
    from course_lib.gpu.mlp.kernels import Kernels

    kernels = Kernels(each=1, options=options, traced=True)
    left, right, *more = (device.gpuarray.to_gpu(array) for array in arrays)
    if kernel == "update":
        kernels.update(left, right, more[0], more[0], -0.1, 1.0)
    else:
        out = device.gpuarray.empty((arrays[0].shape[0], arrays[1].shape[0]), np.float32)
        kernels.transposed(left, right, out, ACTIVATIONS["identity"])
    return kernels.reports[-1][1]
