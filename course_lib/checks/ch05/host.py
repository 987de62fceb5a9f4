"""The check of host code: which copies cross the bus, and how often."""

import numpy as np

from course_lib.checks.ch05.device import Ledger
from course_lib.checks.kit.freeform import property_check, require
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.words import not_a_function

SAXPY = r"""
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


EVERY_STEP = "InOut, or a copy back, in every step: y can stay on the device"


def _cause_of_numbers(got, a, x, y, times, book):
    want = y + times * a * x
    wrong = ~np.isclose(got, want, rtol=1e-4, atol=1e-4)
    if np.array_equal(got, y) and book.fetched > 1:
        return EVERY_STEP
    if np.array_equal(got, y) and times:
        return "y has not changed: what the device wrote was not copied back"
    if np.array_equal(got[wrong], y[wrong]) and wrong[-1]:
        return "the last elements have not changed: the number of blocks is rounded down, or one block is too few"
    if np.array_equal(got, x):
        return "this is x: y is asked for"
    if book.launches != times:
        return f"{book.launches} launches, and {times} were asked for"
    if times > 1 and np.allclose(got, y + a * x, rtol=1e-4, atol=1e-4):
        return "only one step is left: does each launch begin with the old y again?"
    if times > 1 and np.allclose(got, y + times * times * a * x, rtol=1e-4, atol=1e-4):
        return "a is multiplied by times in every step"
    return None


def _check_result(got, a, x, y, times, book):
    cause = (
        "end with `return` and y, copied back"
        if got is None
        else "copy y from the device before returning"
    )
    require(
        isinstance(got, np.ndarray),
        f"repeat_saxpy returned {type(got).__name__}, not a NumPy array",
        cause=cause,
    )
    require(
        got.shape == y.shape and got.dtype == np.float32,
        "not an array like y",
        got=f"{got.dtype} {got.shape}",
        wanted=f"float32 {y.shape}",
    )
    require(
        np.allclose(got, y + times * a * x, rtol=1e-4, atol=1e-4),
        "wrong numbers",
        where=f"n = {len(x)}, times = {times}",
        cause=_cause_of_numbers(got, a, x, y, times, book),
    )


def _check_books(book, n, times):
    where = f"n = {n}, times = {times}: {book}"
    require(
        book.launches == times,
        "another number of launches",
        got=str(book.launches),
        wanted=str(times),
        where=where,
        cause="one launch a step; every one of them reads the y that the one before has written",
    )
    require(
        book.sent > 0 or not times,
        "no copy to the device was counted",
        where=where,
        cause="work with the device that is passed in: its to_device, from_device, In, Out, gpuarray",
    )
    require(
        book.fetched <= 1,
        f"the numbers are right, but {book.fetched} copies came back from the device",
        where=where,
        wanted="1",
        cause=EVERY_STEP,
    )
    require(
        book.sent <= 2,
        f"the numbers are right, but {book.sent} copies went to the device",
        where=where,
        wanted="2",
        cause="x and y are sent anew in every step: to_device once, before the loop",
    )
    require(
        book.bytes <= 12 * n,
        f"{book.bytes:,} bytes crossed the bus",
        where=where,
        wanted=f"{12 * n:,}",
        cause="x and y go there, y comes back: 4 bytes each for an element",
    )


@property_check("repeat_saxpy")
def check_repeat_saxpy(fn, *, rng):
    """Right numbers, a launch a step, and three copies in all."""
    if not callable(fn):
        raise CheckFailed(not_a_function("repeat_saxpy", fn))
    plan = [(1000, 5), (256, 1), (77, 3), (3001, 2)]
    for n, times in plan:
        book = Ledger()
        saxpy = book.SourceModule(SAXPY).get_function("saxpy")
        a, (x, y) = np.float32(rng.uniform(0.5, 2)), rng.normal(size=(2, n)).astype(np.float32)
        kept = x.copy(), y.copy()
        got = fn(book, saxpy, a, x, y, times)
        same = np.array_equal(x, kept[0]) and np.array_equal(y, kept[1])
        require(
            same,
            "x or y, the host's arrays, were changed",
            where=f"n = {n}, times = {times}",
            cause="InOut(y) and memcpy_dtoh(y, ...) write into the caller's y: copy back into a new array",
        )
        _check_result(got, a, *kept, times, book)
        _check_books(book, n, times)
        require(
            np.array_equal(got, book.back),
            "the numbers are right, but not those that came back from the device",
            where=f"n = {n}, times = {times}",
            cause="return what was copied back, as it is: the launches have done the work",
        )
    return f"{len(plan)} runs right, three copies each, whatever the number of steps"
