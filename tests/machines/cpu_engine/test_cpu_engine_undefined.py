"""Shifts and casts that C++ leaves undefined: told where they happen, and nowhere else; counts stay what they are."""

import numpy as np
import pytest
from engine_runs import line, needs_compiler, run

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler
HEAD = """__global__ void k(const int *s, const float *x, const double *d, long long *out, int n) {
int t = threadIdx.x;
"""
# the value that thread 0 computes where s[0] = 32, x[0] = NaN, d[0] = 1e30, n = -1: its kind, type, and by how many
UNDEFINED = {
    "1 << s[t]": ("shift", "int", 32),
    "1u << n": ("shift", "unsigned int", -1),
    "s[t] >> s[t]": ("shift", "int", 32),
    "1ll << 2 * s[t]": ("shift", "long long int", 64),
    "1ull >> (s[t] + 33ull)": ("shift", "long long unsigned int", 65),
    "1 << (unsigned char)(s[t] + 200)": ("shift", "int", 232),
    "1 << 33": ("shift", "int", 33),
    "(int)x[t]": ("cast", "float", -1),
    "(unsigned)(n * 1.0f)": ("cast", "float", -1),
    "(int)d[t]": ("cast", "double", -1),
    "(long long)(d[t] * 2)": ("cast", "double", -1),
    "(unsigned char)(s[t] * 8.0f)": ("cast", "float", -1),
}
OTHER_NAMES = {"long long int": "long long", "long long unsigned int": "unsigned long long"}
DEFINED = {
    "1u << (s[t] - 1)": 2**31,
    "-1 >> (s[t] - 1)": -1,
    "1ll << (s[t] + 30)": 2**62,
    "s[t] < 32 ? 1 << s[t] : 0": 0,
    "(unsigned char)255.9f": 255,
    "(unsigned char)(-0.9f - 0 * s[t])": 0,
    "(int)(-67108864.0f * s[t])": -(2**31),
    "(unsigned)(134217727.0 * s[t] + 31.5)": 2**32 - 1,
    "__float2int_rz(x[t])": 0,
    "__double2int_rz(d[t])": 2**31 - 1,
    "__double2int_rz(x[t])": -(2**31),
    "__double2uint_rn(x[t])": 2**31,
    "__float2ll_rn(x[t])": -(2**63),
}


def given(threads=1):
    s = np.full(threads, 32, np.int32)
    x, d = np.full(threads, np.nan, np.float32), np.full(threads, 1e30)
    return [s, x, d, np.zeros(threads, np.int64), np.int32(-1)]


@pytest.mark.parametrize("value", UNDEFINED)
def test_it_is_told(value):
    args = given()
    report = trace(f"{HEAD}out[t] = 7;\nout[t] = {value};\n}}", "k", 1, 1, args)
    kind, name, by = UNDEFINED[value]
    (error,) = report.errors
    assert (error["tool"], error["kind"], error["line"]) == ("ubsan", kind, 4), report
    assert error["type"] in (name, OTHER_NAMES.get(name)) and error["index"] == by, error
    assert error["array"] == "" and error["thread"] == error["block"] == (0, 0, 0)
    assert f"`{error['type']}`" in error["message"], error["message"]
    assert args[3][0] == 7  # its thread ends


@pytest.mark.parametrize("how", ["plain", "traced"])
def test_what_is_defined_is_right_and_silent(how):
    rows = "".join(f"out[{i}] = {value};\n" for i, value in enumerate(DEFINED))
    args = given()
    args[3] = np.zeros(len(DEFINED), np.int64)
    run(how, HEAD + rows + "}", "k", 1, 1, args)
    assert dict(zip(DEFINED, args[3].tolist(), strict=True)) == DEFINED


def test_only_its_own_thread_ends():
    source = r"""__global__ void k(const float *x, int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = (int)x[threadIdx.x];  // cast
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = s[threadIdx.x] + 1;
}"""
    x, out = np.arange(64, dtype=np.float32), np.zeros(32, np.int32)
    x[40:44] = np.inf
    report = trace(source, "k", 1, 64, [x, out])
    (error,) = report.errors
    assert error["line"] == line(source, "cast") and error["count"] == 4
    assert error["thread"] == (40, 0, 0) and "(4 times)" in error["message"]
    assert out.tolist() == list(range(1, 33))


@pytest.mark.parametrize(
    "value", ["1 << s[t] % 8", "1 << s[t]", "(int)x[t]", "(int)(x[t] * 3)", "s[t] << n"]
)
def test_what_is_checked_is_read_once(value):
    args = given(32)
    args[0][:], args[1][:], args[4] = 3, 5, np.int32(2)
    report = trace(f"{HEAD}out[t] = {value};\n}}", "k", 1, 32, args)
    assert report.ok, report
    loads = [(row["line"], row["requests"]) for row in report.accesses if row["op"] == "load"]
    assert loads == [(3, 1)], report
