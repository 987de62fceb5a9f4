"""Asynchronous copies (cp.async) on the CPU engine: where they arrive, and what is told of their misuse."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler

REVERSED = """#include <cuda_pipeline_primitives.h>
__global__ void reversed(const float *A, float *D, int n)
{
    __shared__ __align__(16) float s[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &A[t], 4, t < n ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    D[t] = s[63 - t];
}
"""


def run(*changes, n=64, kernel=REVERSED):
    """(D, Report) of `reversed` with lines changed, on 0, 1, 2, ..."""
    for old, new in changes:
        assert kernel.count(old) == 1
        kernel = kernel.replace(old, new)
    A, D = np.arange(64, dtype=np.float32), np.full(64, np.nan, np.float32)
    return D, trace(kernel, "reversed", (1, 1), (64, 1, 1), [A, D, np.int32(n)])


def test_a_copy_arrives_and_zeros_read_nothing():
    D, report = run(n=40)
    assert report.ok and (np.where(np.arange(64) < 24, 0, 63 - np.arange(64)) == D).all()
    assert report.total("threads", array="A") == 40
    assert report.total("threads", array="s", op="store") == 64


def test_sixteen_bytes_are_one_request_of_a_warp():
    wide = "if (t < 16) __pipeline_memcpy_async(&s[4 * t], &A[4 * t], 16);"
    D, report = run(("__pipeline_memcpy_async(&s[t], &A[t], 4, t < n ? 0 : 4);", wide))
    assert report.ok and (np.arange(64)[::-1] == D).all()
    assert report.total("requests", array="A") == 1 and report.total("sectors", array="A") == 8
    assert report.total("wavefronts", array="s", op="store") == 2


def test_a_part_of_sixteen_bytes_is_filled_with_zeros():
    part = "if (t < 16) __pipeline_memcpy_async(&s[4 * t], &A[4 * t], 16, 4);"
    D, report = run(("__pipeline_memcpy_async(&s[t], &A[t], 4, t < n ? 0 : 4);", part))
    kept = np.where(np.arange(64) % 4 < 3, np.arange(64), 0)
    assert report.ok and (kept[::-1] == D).all()


WAIT = "    __pipeline_wait_prior(0);\n"
EARLY = [  # what is replaced, with what
    (WAIT, ""),
    ("wait_prior(0)", "wait_prior(1)"),
    ("    __pipeline_commit();\n", ""),
    (WAIT + "    __syncthreads();\n", "    __syncthreads();\n" + WAIT),
]


@pytest.mark.parametrize("change", EARLY, ids=["no-wait", "wait-for-less", "no-commit", "late"])
def test_who_reads_a_copy_on_its_way_is_told(change):
    D, report = run(change)
    assert not (np.arange(64)[::-1] == D).all()
    [told] = [e for e in report.errors if e["kind"] == "travels"]
    assert told["array"] == "s" and "D[t] = s[63 - t]" in told["message"]
    assert "`__pipeline_wait_prior(0)` is missing before the barrier" in told["message"]


def test_a_wait_is_no_barrier():
    _, report = run(("    __syncthreads();\n", ""))
    assert "racecheck" in {error["tool"] for error in report.errors}


def test_a_copy_over_what_others_still_read_is_a_race():
    again = "D[t] = s[63 - t];\n    __pipeline_memcpy_async(&s[t], &A[63 - t], 4);"
    _, report = run(("D[t] = s[63 - t];", again))
    assert "racecheck" in {error["tool"] for error in report.errors}


MISUSE = [
    ("4, t < n ? 0 : 4", "3", "a size that there is not"),
    ("4, t < n ? 0 : 4", "4, 5", "of which the last `zfill` become 0"),
    ("4, t < n ? 0 : 4", "8", "not a multiple of the access size"),
    ("&s[t], &A[t], 4, t < n ? 0 : 4", "&D[t], &A[t], 4", "destination is not shared memory"),
    ("&s[t], &A[t], 4, t < n ? 0 : 4", "&D[t], &s[t], 4", "have changed places"),
    ("&A[t], 4, t < n ? 0 : 4", "&A[t + 1], 4", "outside of it"),
]


@pytest.mark.parametrize(("old", "new", "words"), MISUSE)
def test_misuse_is_told(old, new, words):
    _, report = run((old, new))
    first = report.errors[0]
    assert first["tool"] == "memcheck" and first["line"] == 6 and words in first["message"]
