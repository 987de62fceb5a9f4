"""The check of host code: which copies cross the bus, and how often."""

import numpy as np

from course_lib.checks.ch05.device import Ledger
from course_lib.checks.kit.freeform import at, function_check, require, require_returned

SAXPY = r"""
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


def _check_result(got, a, x, y, times):
    require_returned(got, "repeat_saxpy", "`return` and y, copied back")
    require(
        isinstance(got, np.ndarray),
        f"repeat_saxpy returned {type(got).__name__}, not a NumPy array",
        cause="return y alone, as it is copied back from the device: a NumPy array",
    )
    require(
        got.shape == y.shape and got.dtype == np.float32,
        "not an array like y",
        got=f"{got.dtype} {got.shape}",
        wanted=f"float32 {y.shape}",
    )
    want = y + times * a * x
    wrong = ~np.isclose(got, want, rtol=1e-4, atol=1e-4)
    after = [k for k in range(1, times) if np.allclose(got, y + k * a * x, rtol=1e-4, atol=1e-4)]
    as_before = ", and all of these are as they were" * np.array_equal(got[wrong], y[wrong])
    as_before += f": this is y after {after[0]} of {times} steps" if after else ""
    require(
        not wrong.any(),
        f"{int(wrong.sum()):,} of {len(y):,} numbers are wrong, from y[{wrong.argmax()}] on{as_before}",
        got=_ends(got),
        wanted=_ends(want),
    )


def _ends(y):
    """The first and the last number, which are enough to tell mistakes apart."""
    return f"y[0] = {y[0]:.4f}, y[{len(y) - 1}] = {y[-1]:.4f}"


def _check_books(book, n, times):
    require(
        book.launches == times,
        "the numbers are right, but not the number of launches",
        got=str(book.launches),
        wanted=str(times),
        cause="make one launch per step; each one reads the y that the one before has written",
    )
    told = next((told for what, told in book.calls if what == "launch" and told != n), n)
    require(
        told == n,
        f"the kernel gets n = {told}, but the arrays have {n} elements",
        cause="n counts elements, not bytes or threads: beyond the arrays lies nothing that the kernel should touch",
    )
    require(
        book.sent > 0 or not times,
        "no copy to the device was counted",
        cause="use the device that is passed in: its to_device, from_device, In, Out, gpuarray",
    )
    _check_copies(book, n)


def _check_copies(book, n):
    require(
        book.fetched <= 1,
        f"the numbers are right, but {book.fetched} copies came back from the device",
        wanted="1",
        cause=_fetched_too_often(book),
    )
    require(
        book.sent <= 2,
        f"the numbers are right, but {book.sent} copies went to the device",
        wanted="2",
        cause="x or y is sent more than once: send each once, before the loop"
        if "to device" in _later(book)
        else "before the loop x and y are sent, each once, and nothing else",
    )
    require(
        book.bytes <= 12 * n,
        f"{book.bytes:,} bytes crossed the bus",
        wanted=f"{12 * n:,}",
        cause="x and y go there, y comes back: 4 bytes each for an element",
    )


def _later(book):
    """What happened after the first launch."""
    done = [what for what, _ in book.calls]
    return done[done.index("launch") :]


def _fetched_too_often(book):
    done = [what for what, _ in book.calls]
    if "launch" in done[done.index("to host") :]:
        return "InOut, or a copy back, in every step: y can stay on the device"
    return "after the last step y comes back, once, and nothing else"


def _changed(book, x, y):
    """Why an array of the caller's has changed: a copy back went there, or the host wrote there."""
    if book.filled(x) or book.filled(y):
        return (
            "InOut(y) and memcpy_dtoh(y, ...) write into the caller's y: copy back into a new array"
        )
    return "a statement such as `y[:] = ...`, `y += ...` or `x *= ...` writes into the caller's array: make a new one"


@function_check("repeat_saxpy")
def check_repeat_saxpy(fn, *, rng):
    """Right numbers, a launch a step, and three copies in all."""
    plan = [(1000, 5), (256, 1), (77, 3), (3001, 2)]
    for n, times in plan:
        book = Ledger()
        saxpy = book.SourceModule(SAXPY).get_function("saxpy")
        a, (x, y) = float(rng.uniform(2.2, 3.8)), rng.normal(size=(2, n)).astype(np.float32)
        kept = x.copy(), y.copy()
        got = fn(book, saxpy, a, x, y, times)
        with at(f"n = {n}, times = {times}: {book}"):
            require(
                np.array_equal(x, kept[0]) and np.array_equal(y, kept[1]),
                "x or y, the host's arrays, were changed",
                cause=_changed(book, x, y),
            )
            _check_result(got, a, *kept, times)
            _check_books(book, n, times)
            require(
                np.array_equal(got, book.back),
                "the numbers are right, but not those that came back from the device",
                cause="return the array that was copied back, unchanged: the launches have done the work",
            )
    return f"{len(plan)} runs right, three copies each, whatever the number of steps"
