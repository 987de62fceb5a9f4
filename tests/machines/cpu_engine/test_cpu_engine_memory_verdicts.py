"""Verdicts on memory: which array, how far outside, what was never written, variables without a first value."""

import numpy as np
import pytest
from engine_runs import line, needs_compiler, skip_unless_variables_are_filled

from course_lib.machines.cpu_engine import trace, trace_arrays
from course_lib.machines.pycuda_names import calls, memory

pytestmark = needs_compiler
I = np.int32

OUTSIDE = r"""
__constant__ float weights[8];
__device__ float table[16];
static __device__ float hidden[16];
__device__ int first[4] = {1, 2, 3, 4};
__device__ void put(float *p, int i) { p[i] = 1; }  // put
__global__ void x_only(float *x, float *y, int n) { y[threadIdx.x] = x[n + (int)threadIdx.x]; }  // x_only
__global__ void y_by_a_function(float *x, float *y, int n) { put(y, n + (int)threadIdx.x); }
__global__ void shared(float *x, float *y, int n)
{
    __shared__ float s[16], t[16];
    s[threadIdx.x] = t[threadIdx.x] = 1;
    y[threadIdx.x] = s[n + (int)threadIdx.x];  // shared
}
__global__ void constant(float *x, float *y, int n) { y[0] = weights[n]; }  // constant
__global__ void device(float *x, float *y, int n) { table[n] = 1; }  // device
__global__ void of_this_file(float *x, float *y, int n) { y[0] = hidden[n]; }  // of_this_file
__global__ void filled(float *x, float *y, int n) { first[n] = 1; }  // filled
__global__ void store(float *x, float *y, int n) { weights[threadIdx.x] = x[threadIdx.x]; }  // store
__global__ void constants(float *x, float *y, int n)
{
    const float a[5] = {1, 2, 3, 4, 5};
    static const int b[3] = {3, 2, 1};
    y[threadIdx.x] = a[threadIdx.x % 5] + b[threadIdx.x % 3] + weights[threadIdx.x % 8] + first[threadIdx.x % 4];
}
"""
FAR = (16, 1024, 30_000, 1 << 20, 1 << 29, (1 << 31) - 32, -17, -(1 << 20))


def outside(kernel, n):
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    return trace(OUTSIDE, kernel, 1, 16, [x, y, I(n)])


@pytest.mark.parametrize("kernel, array, mark", [
    ("x_only", "x", "x_only"), ("y_by_a_function", "y", "put"), ("shared", "s", "shared"),
    ("device", "table", "device"), ("of_this_file", "hidden", "of_this_file"), ("filled", "first", "filled"),
    ("constant", "weights", "constant"),
])  # fmt: skip
def test_an_index_far_outside_is_told_with_its_own_array(kernel, array, mark):
    """Whatever lies near: other arguments, other shared arrays, variables of the device, the engine's own data."""
    for n in FAR:
        error = outside(kernel, n).errors[0]
        wanted = ("memcheck", "outside", array, n, line(OUTSIDE, mark))
        assert tuple(error[key] for key in ("tool", "kind", "array", "index", "line")) == wanted
    assert ("another name" in error["message"]) == (kernel == "y_by_a_function")


def test_how_far():
    assert "x[1024], which has 16 elements: outside of it, 1,009 elements past" in str(
        outside("x_only", 1024)
    )
    assert "x, 17 elements before its start" in str(outside("x_only", -17))


def test_a_store_to_constant_memory():
    error = outside("store", 0).errors[0]
    assert (error["tool"], error["kind"], error["array"]) == ("memcheck", "constant", "weights")
    assert "may only read it" in error["message"]


def test_constants_of_a_kernel_are_no_wild_access():
    assert outside("constants", 0).ok


OWN = r"""
__global__ void one_too_far(float *x, int n)
{
    float acc[8];
    for (int i = 0; i <= n; i++)
        acc[i] = x[i];  // one_too_far acc
    x[threadIdx.x] = acc[7] + acc[threadIdx.x % 8];
}
__global__ void two_dimensions(float *x, int n)
{
    float acc[2][4];
    for (int i = 0; i < 8; i++) acc[i / 4][i % 4] = x[16 + i];
    x[threadIdx.x] = acc[1][n - 4];  // two_dimensions acc
}
__global__ void constant_index(float *x, int n)
{
    float acc[4];
    for (int i = 0; i < 4; i++) acc[i] = x[16 + i];
    x[threadIdx.x] = acc[4];  // constant_index acc
}
__global__ void beside_shared(float *x, int n)
{
    __shared__ float s[8];
    float own[8];
    for (int i = 0; i < 8; i++) own[i] = x[16 + i];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncthreads();
    float v = own[n];  // beside_shared own
    x[threadIdx.x] = v + s[threadIdx.x % 8];
}
__device__ float get(float (&v)[4], int i) { return v[i]; }  // by_reference v
__global__ void by_reference(float *x, int n)
{
    float acc[4] = {1, 2, 3, 4};
    x[threadIdx.x] = get(acc, n);
}
struct Pair { float w[3]; int z; };
__global__ void member(float *x, int n)
{
    Pair p = {{1, 2, 3}, n};
    x[threadIdx.x] = p.w[n];  // member w
}
__global__ void shared_row(float *x, int n)
{
    __shared__ float tile[8][9];
    if (threadIdx.x < 12) tile[0][threadIdx.x] = 1;  // shared_row tile
    __syncthreads();
    x[threadIdx.x] = tile[0][threadIdx.x % 9];
}
__global__ void fine(float *x, int n)
{
    __shared__ float tile[4][4];
    float *flat = &tile[0][0], acc[4][2];
    flat[threadIdx.x] = 1;
    __syncthreads();
    for (int i = 0; i < n; i++) acc[i % 4][i / 4] = flat[i];
    const float *end = &acc[3][2];
    float sum = 0;
    for (const float *p = &acc[0][0]; p < end; p++) sum += *p;
    x[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(
    "kernel", [part.split("(")[0] for part in OWN.split("__global__ void ")[1:]]
)
def test_a_threads_own_array(kernel):
    report = trace(OWN, kernel, 1, 16, [np.ones(32, np.float32), I(8)])
    if kernel == "fine":
        assert report.ok, report
        return
    (mark,) = [text.split("// ")[1] for text in OWN.splitlines() if f"// {kernel} " in text]
    error = report.errors[0]
    kind = "row" if kernel == "shared_row" else "local"
    wanted = ("memcheck", kind, mark.split()[1], line(OWN, mark))
    assert tuple(error[key] for key in ("tool", "kind", "array", "line")) == wanted, report


UNSET = r"""
__global__ void largest(const float *x, float *y, int n)
{
    float most;
    for (int i = 0; i < n; i++) most = fmaxf(most, x[i]);
    y[threadIdx.x] = most;
}
__global__ void largest_by_if(const float *x, float *y, int n)
{
    float most;
    for (int i = 0; i < n; i++) if (x[i] > most) most = x[i];
    y[threadIdx.x] = most;
}
__global__ void times_zero(const float *x, float *y, int n)
{
    float a[4];
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = a[i] * 0 + x[i];
}
__global__ void register_tile(const float *x, float *y, int n)
{
    float acc[2][2];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) acc[i][j] += x[k + i] * x[k + j];
    for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) y[16 * (2 * i + j) + threadIdx.x] = acc[i][j];
}
__global__ void in_double(const float *x, float *y, int n)
{
    double sum;
    for (int k = 0; k < n; k++) sum += x[k];
    y[threadIdx.x] = sum;
}
__global__ void one_branch(const float *x, float *y, int n)
{
    float v;
    if (threadIdx.x < n) v = x[threadIdx.x];
    y[threadIdx.x] = v;
}
__global__ void straight(const float *x, float *y, int n)
{
    int count;
    count += n;
    y[threadIdx.x] = x[0] * count;
}
"""
SET = r"""
__global__ void guarded(const float *x, float *y, int n)
{
    float v;
    if (threadIdx.x < n) v = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = v;
}
__global__ void three_of_four(const float *x, float *y, int n)
{
    float4 v;
    v.x = 1, v.y = 2, v.z = 3;
    ((float4 *)y)[threadIdx.x] = v;
}
__global__ void nan_on_purpose(const float *x, float *y, int n)
{
    y[threadIdx.x] = fmaxf(x[threadIdx.x], sqrtf(-1.0f)) + fminf(nanf(""), 1.0f) + __int_as_float(0x7fffffff);
}
__global__ void filled_in_a_loop(const float *x, float *y, int n)
{
    float a[8];
    for (int i = 0; i < n; i++) a[i] = x[i];
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    y[threadIdx.x] = sum;
}
__global__ void switched(const float *x, float *y, int n)
{
    int step;
    switch (n) { case 8: step = 1; break; case 16: step = 2; break; }
    y[threadIdx.x] = x[step];
}
__global__ void bits(const unsigned *x, unsigned *y, int n) { y[threadIdx.x] = x[threadIdx.x] & 0xFEFEFEFEu; }
"""


def names(source):
    return [part.split("(")[0] for part in source.split("__global__ void ")[1:]]


@pytest.mark.parametrize("kernel", names(UNSET))
def test_a_variable_without_a_first_value(kernel):
    skip_unless_variables_are_filled()
    x, y = np.full(16, 2, np.float32), np.zeros(64, np.float32)
    report = trace(UNSET, kernel, 1, 16, [x, y, I(8)])
    (error,) = report.errors
    body = (
        UNSET.split(f"{kernel}(")[0].count("\n") + 1,
        UNSET.split(f"{kernel}(")[1].split("\n}")[0],
    )
    assert error["tool"] == "initcheck" and error["kind"] in ("variable", "stored"), report
    assert body[0] < error["line"] <= body[0] + body[1].count("\n"), report


@pytest.mark.parametrize("kernel", names(SET))
def test_no_false_report_of_a_variable(kernel):
    given = np.uint32 if kernel == "bits" else np.float32
    x, y = np.full(16, 2, given), np.zeros(64, given)
    assert trace(SET, kernel, 1, 16, [x, y, I(8)]).ok
    assert kernel != "bits" or (y[:16] == 2).all()


WRITTEN = r"""
__global__ void part(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = -1; }
__global__ void copy(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void add(const float *x, float *y) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
"""


def unset(report):
    return [(e["tool"], e["array"], e["index"], e["count"]) for e in report.errors]


def test_a_mask_says_what_is_not_written_yet():
    x, y = np.ma.masked_all(64, np.int32), np.zeros(64, np.int32)
    assert trace(WRITTEN, "part", 1, 64, [x, I(16)]).ok
    assert x.mask.sum() == 48 and not x.mask[:16].any() and (x.data[:16] == -1).all()
    assert unset(trace(WRITTEN, "copy", 1, 64, [x, y])) == [("initcheck", "x", 16, 48)]
    x[16:] = 5
    assert trace(WRITTEN, "copy", 1, 64, [x, y]).ok and (y[16:] == 5).all()


def test_nan_on_purpose_is_an_input():
    nan, ones = np.full(64, np.nan, np.float32), np.ones(64, np.float32)
    assert trace(WRITTEN, "twice", 1, 64, [nan, ones.copy()]).ok
    assert trace(WRITTEN, "add", 1, 64, [ones, np.ma.array(nan.copy(), mask=False)]).ok
    assert unset(trace(WRITTEN, "add", 1, 64, [ones, nan.copy()])) == [("initcheck", "y", 0, 64)]
    both = trace(WRITTEN, "twice", 1, 64, [nan, nan.copy()])
    assert unset(both) == [("initcheck", "x", 0, 64)], (
        "an output is marked with NaN, so NaN is a mark"
    )


def test_device_arrays_know_through_launches_what_is_written():
    x, y = memory.empty(64, np.int32), memory.empty(64, np.int32)
    assert unset(trace_arrays(WRITTEN, "copy", 1, 64, [x, y])) == [("initcheck", "x", 0, 64)]
    assert trace_arrays(WRITTEN, "part", 1, 64, [x, I(16)]).ok
    assert unset(trace_arrays(WRITTEN, "copy", 1, 64, [x, y])) == [("initcheck", "x", 16, 48)]
    z = memory.empty(64, np.int32)
    module = calls.SourceModule(WRITTEN)
    module.get_function("part")(z, I(20), block=(64, 1, 1))
    assert unset(trace_arrays(WRITTEN, "copy", 1, 64, [z, y])) == [("initcheck", "x", 20, 44)]
    memory.memcpy_dtod(x.gpudata, z.gpudata, z.nbytes)
    assert unset(trace_arrays(WRITTEN, "copy", 1, 64, [x, y])) == [("initcheck", "x", 20, 44)]
    module.get_function("part")(z, I(64), block=(64, 1, 1))
    assert trace_arrays(WRITTEN, "copy", 1, 64, [z, y]).ok
    nan = memory.to_gpu(np.full(64, np.nan, np.float32))
    assert trace_arrays(WRITTEN, "add", 1, 64, [nan, nan]).ok


ENDS = r"""
__global__ void asserts(float *x, int n)
{
    x[threadIdx.x] = 1;
    assert(threadIdx.x < n);  // asserts
}
__global__ void large(float *x, int n)  // large
{
    float many[30000];
    for (int i = 0; i < 30000; i++) many[i] = i + n;
    x[threadIdx.x] = many[(n + threadIdx.x) % 30000];
}
__global__ void fits(float *x, int n)
{
    float many[12000];
    for (int i = 0; i < 12000; i++) many[i] = i + n;
    x[threadIdx.x] = many[(n + threadIdx.x) % 12000];
}
__global__ void takes_long(volatile float *x, int n)
{
    for (int i = 0; i < 2000000000; i++) x[threadIdx.x] += i;  // takes_long
}
"""


@pytest.mark.parametrize("kernel, tool, kind, words", [
    ("asserts", "crash", "assert", "thread (8, 0, 0) of block (0, 0, 0) fails the assertion"),
    ("large", "crash", "stack", "60 KB"),
    ("takes_long", "timeout", None, "timeout="),
])  # fmt: skip
def test_an_end_that_came_too_soon(kernel, tool, kind, words):
    (error,) = trace(ENDS, kernel, 1, 16, [np.ones(16, np.float32), I(8)], timeout=1).errors
    assert error["tool"] == tool and kind in (None, error["kind"]) and words in error["message"]
    assert error["line"] == line(ENDS, kernel)


def test_a_large_array_that_fits():
    x = np.zeros(16, np.float32)
    assert trace(ENDS, "fits", 1, 16, [x, I(8)]).ok and (x == 16 + np.arange(16)).all()
