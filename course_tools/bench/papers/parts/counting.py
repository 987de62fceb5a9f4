"""The part that is counted: what the CPU engine sees of the kernels that [000] and [003] describe. No times."""

import contextlib
import sys
from typing import Any

import numpy as np

from course_tools.bench.frame import Progress
from course_tools.bench.papers.settings import Settings

RUNGS = ("naive", "shared", "register_16x4", "warptile")  # [003] algorithms 1 and 2, section 4.2
SIDE = 128  # of the square product that is counted
GLOBAL = ("requests", "sectors", "ideal_sectors")


def count(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Counts of the products of [003], and of the tiles of [000] section 4."""
    # the device says what runs kernels; standard output is the JSON's
    with contextlib.redirect_stdout(sys.stderr):
        return {
            "side": SIDE,
            "products": {rung: _product(rung) for rung in RUNGS},
            "update": update_wavefronts(),
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
    largest = np.abs(exact).max()
    return {
        "flops": 2 * SIDE**3,
        **{name: report.total(name) for name in ("wavefronts", "ideal_wavefronts")},
        "difference": float(off / largest),
        "blas_difference": float(np.abs(A @ B - exact).max() / largest),
        **{name: report.total(name, space="global") for name in GLOBAL},
        "loads": report.total("requests", space="global", op="load"),
    }


def update_wavefronts() -> list[dict[str, Any]]:
    """Wavefronts of eq. 10 by batch size: tiles as [000] first had them, without padding; transposed; padded."""
    ways = {
        "neuron a row": ("-DAS_STORED", "-DPAD=0"),
        "example a row": ("-DPAD=0",),
        "padded": ("-DAS_STORED",),
    }
    found = []
    for B in (32, 64, 96):
        shapes = ((B, 64), (B, 32), (64, 32))
        reports = {name: _launched("update", shapes, options) for name, options in ways.items()}
        counts = {name: report.total("wavefronts") for name, report in reports.items()}
        found.append({"B": B, "wavefronts": counts})
    return found


def _delta() -> dict[str, dict[str, int]]:
    """Wavefronts of eq. 9's product for the output layer, W's tile written down a column: without padding and with."""
    found = {}
    for name, pad in (("unpadded", 0), ("padded", 1)):
        report = _launched("transposed", ((64, 10), (64, 10)), (f"-DPAD={pad}",))
        found[name] = {
            op: report.total("wavefronts", op=op, array="w_tile") for op in ("store", "load")
        }
    return found


def _global() -> dict[str, dict[str, int]]:
    """Requests and sectors in global memory of eq. 9's product and of eq. 10, all sizes multiples of 32."""
    found = {}
    for kernel, widths in (("transposed", (64, 64)), ("update", (64, 32, 32))):
        report = _launched(kernel, tuple((64, n) for n in widths), ())
        found[kernel] = {name: report.total(name, space="global") for name in GLOBAL}
    return found


def _launched(kernel: str, shapes: tuple[tuple[int, int], ...], options: tuple[str, ...]) -> Any:
    """The tracer's report of one launch of our kernel of that name, a thread for each element, on random matrices."""
    from course_lib.gpu import device
    from course_lib.gpu.mlp.activations import ACTIVATIONS
    from course_lib.gpu.mlp.kernels import Kernels

    rng, kernels = np.random.default_rng(0), Kernels(each=1, options=options, traced=True)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
    left, right, *more = map(device.gpuarray.to_gpu, arrays)
    if kernel == "update":
        kernels.update(left, right, more[0], more[0], -0.1, 1.0)
    else:
        out = device.gpuarray.empty((shapes[0][0], shapes[1][0]), np.float32)
        kernels.transposed(left, right, out, ACTIVATIONS["identity"])
    return kernels.reports[-1][1]
