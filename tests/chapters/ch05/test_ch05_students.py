"""The checks of chapter 05 against what students write: other right ways pass, wrong ones are told their cause."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.checks import ch05
from course_lib.checks.kit.core import CheckFailed

pytestmark = needs_compiler
SAXPY = "__global__ void saxpy(int n, float a, const float *x, float *y)"
LAYER = (
    "__global__ void column_layer(int M, int N, int ld, const float *Z, const float *b, float *A)"
)
BIAS = "__global__ void bias_gradient(int M, int N, const float *dZ, float *db)"
RELU = "__global__ void relu(int n, const float *x, float *y)"
BEST = "__global__ void class_best(int n, const int *label, const int *score, int *best)"
I = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
IJ = "int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;"
Z = "(Z[j * ld + i] + b[i])"
S, G, B = (
    (ch05.check_saxpy, SAXPY),
    (ch05.check_column_layer, LAYER),
    (ch05.check_bias_gradient, BIAS),
)
R, H = (ch05.check_relu, RELU), (ch05.check_class_best, BEST)

RIGHT = {
    "early-return": (*S, f"{I} if (i >= n) return; y[i] += a * x[i];"),
    "fused": (*S, f"{I} if (i < n) y[i] = fmaf(a, x[i], y[i]);"),
    "grid-stride": (*S, f"{I} for (; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];"),
    "unsigned": (
        *S,
        "unsigned i = threadIdx.x + blockDim.x * blockIdx.x; if (i < n) y[i] += x[i] * a;",
    ),
    "backwards": (*S, f"{I} if (i < n) {{ i = n - 1 - i; y[i] += a * x[i]; }}"),
    "read-only-load": (*S, f"{I} if (i < n) y[i] = a * __ldg(&x[i]) + y[i];"),
    "long-index": (
        *S,
        "size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i];",
    ),
    "pointers": (*S, f"{I} const float *p = x + i; float *q = y + i; if (i < n) *q = a * *p + *q;"),
    "tanh": (*G, f"{IJ} if (i < M && j < N) A[j*ld+i] = 0.5f + 0.5f * tanhf(0.5f * {Z});"),
    "two-sided": (
        *G,
        f"{IJ} if (i >= M || j >= N) return; float z = {Z};"
        "if (z >= 0) A[j*ld+i] = 1 / (1 + expf(-z)); else { float e = expf(z); A[j*ld+i] = e / (1 + e); }",
    ),
    "one-float-exp": (*G, f"{IJ} if (i < M && j < N) A[j*ld+i] = 1.0f / (1.0f + exp(-{Z}));"),
    "fast": (
        *G,
        f"{IJ} int at = j * ld + i; if (i < M && j < N) A[at] = 1 / (1 + __expf(-Z[at] - b[i]));",
    ),
    "pointer-walks": (
        *B,
        f"{I} if (i >= N) return; float s = 0; const float *p = dZ + i;"
        "for (int k = 0; k < M; k++, p += N) s += *p; db[i] = s;",
    ),
    "from-below": (
        *B,
        f"{I} if (i < N) {{ float s = 0; for (int k = M - 1; k >= 0; k--)"
        "s += dZ[k * N + i]; db[i] = s; }",
    ),
    "zero-first": (
        *B,
        f"{I} if (i < N) {{ db[i] = 0; for (int k = 0; k < M; k++)db[i] += dZ[k * N + i]; }}",
    ),
    "double-sum": (
        *B,
        f"{I} if (i < N) {{ double s = 0; for (int k = 0; k < M; k++)"
        "s += dZ[k * N + i]; db[i] = s; }",
    ),
    "while": (
        *R,
        f"{I} while (i < n) {{ y[i] = x[i] > 0 ? x[i] : 0; i += blockDim.x * gridDim.x; }}",
    ),
    "branches": (
        *R,
        f"{I} int all = gridDim.x * blockDim.x; for (int k = i; k < n; k += all)"
        "{ float v = x[k]; if (v < 0) v = 0; y[k] = v; }",
    ),
    "turns": (
        *R,
        "int t = gridDim.x * blockDim.x; for (int k = 0; k * t < n; k++)"
        f"{{ {I} i += k * t; if (i < n) y[i] = fmaxf(0, x[i]); }}",
    ),
    "either-side": (
        *R,
        f"{I} for (; i < n; i += gridDim.x * blockDim.x)if (x[i] > 0) y[i] = x[i]; else y[i] = 0;",
    ),
    "four-at-once": (
        *R,
        f"{I} int all = gridDim.x * blockDim.x; for (int k = i; 4 * k + 3 < n; k += all) {{"
        "float4 v = ((const float4 *)x)[k]; ((float4 *)y)[k] = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0),"
        "fmaxf(v.z, 0), fmaxf(v.w, 0)); } for (int k = n / 4 * 4 + i; k < n; k += all)"
        "y[k] = fmaxf(x[k], 0);",
    ),
    "goes-on": (
        *R,
        f"{I} for (; i < n; i += gridDim.x * blockDim.x) {{ if (x[i] <= 0) {{ y[i] = 0; continue; }}"
        "y[i] = x[i]; }",
    ),
    "tiles-of-blocks": (
        *R,
        "int per = (n + gridDim.x - 1) / gridDim.x, end = min(n, (int)(blockIdx.x + 1) * per);"
        "for (int i = blockIdx.x * per + threadIdx.x; i < end; i += blockDim.x) y[i] = fmaxf(x[i],0);",
    ),
    "other-names": (
        ch05.check_saxpy,
        "__global__ void saxpy(int N, float alpha, const float *in, float *out)",
        f"{I} if (i < N) out[i] = alpha * in[i] + out[i];",
    ),
    "volatile-in-a-cas-loop": (
        *H,
        f"{I} if (i < n) {{ volatile int *p = best + label[i]; int old = *p, was;"
        "do { was = old; old = atomicCAS((int *)p, was, max(was, score[i])); } while (old != was); }",
    ),
    "in-shared": (
        *H,
        f"__shared__ int mine[10]; {I} for (int c = threadIdx.x; c < 10; c += blockDim.x) mine[c] = -2147483647 - 1;"
        "__syncthreads(); if (i < n) atomicMax(&mine[label[i]], score[i]); __syncthreads();"
        "for (int c = threadIdx.x; c < 10; c += blockDim.x) atomicMax(&best[c], mine[c]);",
    ),
    "pointer": (*H, f"{I} if (i < n) atomicMax(best + label[i], score[i]);"),
    "atomic-in-a-loop": (
        *H,
        f"{I} for (; i < n; i += gridDim.x * blockDim.x)atomicMax(&best[label[i]], score[i]);",
    ),
    "what-it-took-is-put-back": (
        *H,
        f"{I} if (i < n) {{ int v = score[i], old;"
        "while ((old = atomicExch(&best[label[i]], v)) > v) v = old; }",
    ),
}
WRONG = {
    "half-the-elements": (*S, f"{I} if (i < n / 2) y[i] += a * x[i];", "y["),
    "off-by-one": (*S, f"{I} if (i < n - 1) y[i] += a * x[i];", "only the last one"),
    "from-one": (*S, f"{I} if (i > 0 && i < n) y[i] += a * x[i];", "y[0]"),
    "guard-by-the-block": (*S, f"{I} if (threadIdx.x < n) y[i] += a * x[i];", "memcheck"),
    "writes-x": (
        ch05.check_saxpy,
        SAXPY.replace("const ", ""),
        f"{I} if (i < n) y[i] += a * x[i], x[i] = 0;",
        "input",
    ),
    "a-semicolon": (*S, f"{I} if (i < n) y[i] += a * x[i]", "does not compile"),
    "y-along-the-row": (
        *G,
        "int j = blockIdx.x * blockDim.x + threadIdx.x,"
        "i = blockIdx.y * blockDim.y + threadIdx.y;"
        f"if (i < M && j < N) A[j * ld + i] = 1 / (1 + expf(-{Z}));",
        "sectors per request",
    ),
    "padding-too": (
        *G,
        f"{IJ} if (i < ld && j < N) A[j * ld + i] = 1 / (1 + expf(-{Z}));",
        "the numbers are right, but",
    ),
    "whole-numbers": (
        *G,
        f"{IJ} if (i < M && j < N) {{ int z = {Z}; A[j * ld + i] = 1 / (1 + expf(-z)); }}",
        "A[",
    ),
    "rows-summed": (
        *B,
        f"{I} if (i < M) {{ float s = 0; for (int k = 0; k < N; k++)"
        "s += dZ[i * N + k]; db[i] = s; }",
        "db[",
    ),
    "atomics-on-nothing": (
        *B,
        f"{I} if (i < N) for (int k = 0; k < M; k++)atomicAdd(&db[i], dZ[k * N + i]);",
        "initcheck",
    ),
    "fixed-step": (*R, f"{I} for (; i < n; i += 192) y[i] = fmaxf(x[i], 0);", "y"),
    "eight-in-a-row": (
        *R,
        f"{I} for (int k = 8 * i; k < n; k += 8 * gridDim.x * blockDim.x)"
        "for (int m = k; m < k + 8 && m < n; m++) y[m] = fmaxf(x[m], 0);",
        "far apart",
    ),
    "volatile": (
        *H,
        f"{I} if (i < n) {{ int c = best[label[i]]; __syncthreads(); best[label[i]] = max(c, score[i]); }}",
        "best",
    ),
    "one-by-one-by-barriers": (
        *H,
        f"{I} for (int t = 0; t < blockDim.x; t++)"
        "{ if (threadIdx.x == t && i < n) best[label[i]] = max(best[label[i]], score[i]); __syncthreads(); }",
        "racecheck",
    ),
    "other-names-far-apart": (
        ch05.check_saxpy,
        "__global__ void saxpy(int N, float alpha, const float *in, float *out)",
        "int i = threadIdx.x * gridDim.x + blockIdx.x; if (i < N) out[i] = alpha * in[i] + out[i];",
        "sectors per request in the loads of x",
    ),
    "other-names-raced": (
        ch05.check_class_best,
        "__global__ void class_best(int n, const int *x, const int *s, int *y)",
        f"{I} if (i < n) y[x[i]] = max(y[x[i]], s[i]);",
        "racecheck",
    ),
    "one-block-saxpy": (
        *S,
        "if (blockIdx.x == 0) for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] += a * x[i];",
        "256 threads read x, where 1000 could have work",
    ),
    "one-block": (
        *R,
        "if (blockIdx.x == 0) for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = fmaxf(x[i], 0);",
        "64 threads read x, where 192 could have work",
    ),
    "one-block-bias": (
        *B,
        "if (blockIdx.x == 0) for (int j = threadIdx.x; j < N; j += 64) { float s = 0;"
        "for (int i = 0; i < M; i++) s += dZ[i * N + j]; db[j] = s; }",
        "64 threads read dZ",
    ),
    "one-block-best": (
        *H,
        "if (blockIdx.x == 0) for (int i = threadIdx.x; i < n; i += blockDim.x)"
        "atomicMax(&best[label[i]], score[i]);",
        "256 threads read label",
    ),
    "four-by-four": (
        *S,
        f"{I} if (4 * i + 3 < n) {{ float4 v = ((const float4 *)x)[i], w = ((float4 *)y)[i];"
        "((float4 *)y)[i] = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w); }"
        "else for (int k = 4 * i; k < n; k++) y[k] += a * x[k];",
        "threads read x, where 1000 could",
    ),
    "volatile-race": (
        *H,
        f"{I} if (i < n) {{ volatile int *b = best; b[label[i]] = max(b[label[i]], score[i]); }}",
        "the source contains volatile",
    ),
    "volatile-exchange": (
        *H,
        f"{I} if (i < n) {{ int b = *(volatile int *)(best + label[i]);"
        "atomicExch(&best[label[i]], max(b, score[i])); }",
        "stores whatever was there",
    ),
    "value-for-address": (
        *H,
        f"{I} if (i < n) atomicMax(best[label[i]], score[i]);",
        "takes an address first",
    ),
    "class-by-class": (
        *H,
        f"{I} for (int c = 0; c < 10; c++) if (i < n && label[i] == c) atomicMax(&best[c], score[i]);",
        "read more than once",
    ),
    "a-comma-in-brackets": (
        *G,
        f"{IJ} if (i < M && j < N) A[i, j] = 1 / (1 + expf(-Z[i, j] - b[i]));",
        "A[",
    ),
    "columns-of-one-block": (
        *G,
        "int j = blockIdx.y * blockDim.y + threadIdx.y; if (j < N)"
        f"for (int i = threadIdx.x; i < M; i += 32) A[j*ld+i] = 1 / (1 + expf(-{Z}));",
        "A[",
    ),
    "stored-by-rows": (
        *G,
        f"{IJ} if (i < M && j < N) A[i * ld + j] = 1 / (1 + expf(-Z[i * ld + j] - b[i]));",
        "read as row-major",
    ),
    "rows-for-columns": (
        *B,
        f"{I} if (i < N) {{ float s = 0; for (int k = 0; k < M; k++) s += dZ[i * N + k];"
        "db[i] = s; }",
        "row and column are swapped",
    ),
    "clears-first": (
        *H,
        f"{I} if (i < 10) best[i] = 0; __syncthreads();if (i < n) atomicMax(&best[label[i]], score[i]);",
        "best",
    ),
    "an-atomic-read-and-an-exchange": (
        *H,
        f"{I} if (i < n && atomicAdd(&best[label[i]], 0) < score[i]) atomicExch(&best[label[i]], score[i]);",
        "stores whatever was there",
    ),
}


def told(check, answer, seed=1):
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=seed)
    return " ".join(str(failure.value).split())


@pytest.mark.parametrize("check, head, body", RIGHT.values(), ids=RIGHT)
def test_another_right_kernel_passes(check, head, body, capsys):
    check(f"{head}\n{{\n{body}\n}}\n", seed=1)
    assert "✔" in capsys.readouterr().out


@pytest.mark.parametrize("check, head, body, words", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_refused(check, head, body, words):
    text = told(check, f"{head}\n{{\n{body}\n}}\n")
    assert words in text, text


# Functions -------------------------------------------------------------------------------------------------------


def sectors_by_numpy(indices, size):
    return np.unique(np.array(indices) * size // 32).size


def by_gpuarray(device, saxpy, a, x, y, times):
    d_x, d_y = device.gpuarray.to_gpu(x), device.gpuarray.to_gpu(y)
    for _ in range(times):
        saxpy(
            np.int32(x.size),
            np.float32(a),
            d_x,
            d_y,
            block=(128, 1, 1),
            grid=((x.size + 127) // 128, 1),
        )
    return d_y.get()


def by_memcpy(device, saxpy, a, x, y, times):
    d_x, d_y, result = device.mem_alloc(x.nbytes), device.mem_alloc(y.nbytes), np.empty_like(y)
    device.memcpy_htod(d_x, x)
    device.memcpy_htod(d_y, y)
    for _ in range(times):
        saxpy(
            np.int32(len(x)), np.float32(a), d_x, d_y, block=(64, 1, 1), grid=(-(-len(x) // 64), 1)
        )
    device.memcpy_dtoh(result, d_y)
    return result


def in_steps(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    kernel = flops / rate if flops / rate > moved / memory else moved / memory
    return kernel + copied / bus + call * calls


def crossover_upwards(sizes, cpu, gpu):
    start = None
    for n in sizes:
        if gpu(n) < cpu(n):
            start = n if start is None else start
        else:
            start = None
    return start


def crossover_all(sizes, cpu, gpu):
    return next((n for i, n in enumerate(sizes) if all(gpu(m) < cpu(m) for m in sizes[i:])), None)


@pytest.mark.parametrize(
    "check, right",
    [
        (ch05.check_sectors, sectors_by_numpy),
        (ch05.check_gpu_seconds, in_steps),
        (ch05.check_repeat_saxpy, by_gpuarray),
        (ch05.check_repeat_saxpy, by_memcpy),
        (ch05.check_crossover, crossover_upwards),
        (ch05.check_crossover, crossover_all),
    ],
)
def test_another_right_function_passes(check, right, capsys):
    check(right, seed=1)
    assert "✔" in capsys.readouterr().out


def one_block(device, saxpy, a, x, y, times):
    d_x, d_y = device.to_device(x), device.to_device(y)
    for _ in range(times):
        saxpy(np.int32(len(x)), np.float32(a), d_x, d_y, block=(256, 1, 1), grid=(1, 1))
    return device.from_device(d_y, y.shape, y.dtype)


def x_twice(device, saxpy, a, x, y, times):
    device.to_device(x)
    return by_gpuarray(device, saxpy, a, x, y, times)


def the_host_does_it(device, saxpy, a, x, y, times):
    return y + np.float32(times) * a * x


def the_host_does_it_as_well(device, saxpy, a, x, y, times):
    by_gpuarray(device, saxpy, a, x, y, times)
    return y + np.float32(times) * a * x


def one_step_too_many(device, saxpy, a, x, y, times):
    return by_gpuarray(device, saxpy, a, x, y, times + 1)


def x_for_y(device, saxpy, a, x, y, times):
    by_gpuarray(device, saxpy, a, x, y, times)
    return device.from_device(device.to_device(x), x.shape, x.dtype)


def half_the_fixed_cost(flops, moved, copied, calls, rate, memory, bus, call=5e-6):
    return in_steps(flops, moved, copied, calls, rate, memory, bus, call)


def always_ten(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    return in_steps(flops, moved, copied, calls, rate, memory, bus)


def one_call(flops, moved, copied, calls, rate, memory, bus, call=10e-6):
    return in_steps(flops, moved, copied, 1, rate, memory, bus, call)


def turned_round(sizes, cpu, gpu):
    sizes.reverse()
    return crossover_upwards(sizes[::-1], cpu, gpu)


def nothing_back(device, saxpy, a, x, y, times):
    device.to_device(x)


def flat_block(device, saxpy, a, x, y, times):
    saxpy(np.int32(len(x)), np.float32(a), device.In(x), device.InOut(y), block=256, grid=(4, 1))
    return y


def plain_array(device, saxpy, a, x, y, times):
    saxpy(np.int32(len(x)), np.float32(a), x, y, block=(256, 1, 1), grid=(4, 1))
    return y


@pytest.mark.parametrize(
    "check, wrong, words",
    [
        (ch05.check_sectors, lambda indices, size: None, "return"),
        (
            ch05.check_sectors,
            lambda indices, size: len(indices) * size // 32,
            "cases not right yet",
        ),
        (ch05.check_sectors, lambda indices, size: True, "cases not right yet"),
        (ch05.check_repeat_saxpy, one_block, "all of these are as they were"),
        (ch05.check_repeat_saxpy, x_twice, "3 copies went to the device"),
        (ch05.check_repeat_saxpy, the_host_does_it, "not the number of launches"),
        (ch05.check_repeat_saxpy, the_host_does_it_as_well, "not those that came back"),
        (ch05.check_repeat_saxpy, one_step_too_many, "6 launches, 2 copies"),
        (ch05.check_repeat_saxpy, x_for_y, "numbers are wrong"),
        (ch05.check_gpu_seconds, half_the_fixed_cost, "call left out"),
        (ch05.check_gpu_seconds, always_ten, "a fixed number"),
        (ch05.check_gpu_seconds, one_call, "calls times call"),
        (ch05.check_crossover, turned_round, "the list of sizes was changed"),
        (ch05.check_crossover, lambda sizes, cpu, gpu: np.array(sizes), "not the crossover"),
        (
            ch05.check_sectors,
            lambda indices, size: {i * size // 32 for i in indices},
            "not one number",
        ),
        (ch05.check_repeat_saxpy, nothing_back, "returned None"),
        (ch05.check_repeat_saxpy, flat_block, "block must be a tuple of three"),
        (ch05.check_repeat_saxpy, plain_array, "In, Out or InOut"),
        (ch05.check_crossover, lambda sizes, cpu, gpu: sizes[-1], "not the crossover"),
        (
            ch05.check_crossover,
            lambda sizes, cpu, gpu: min(n for n in sizes if gpu(n) < cpu(n)),
            "ValueError",
        ),
    ],
)
def test_a_wrong_function_is_refused(check, wrong, words):
    text = told(check, wrong)
    assert words in text, text


@pytest.mark.parametrize("name", ch05.__all__)
def test_what_is_neither_is_refused_and_breaks_nothing(name):
    for value in (None, 3, [1, 2]):
        with pytest.raises(CheckFailed):
            getattr(ch05, name)(value, seed=1)
