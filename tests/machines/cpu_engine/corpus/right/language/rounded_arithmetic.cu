// Arithmetic with the rounding in its name.
//: rounded_arithmetic block=64 args={"x": random(64, 8), "y": 2 + random(64, 9), "out": unset((6, 64))} gives={"out": [x + y, x * y, x / y, x * y + x, 1 / y, np.sqrt(y)]}
__global__ void rounded_arithmetic(const float *x, const float *y, float *out)
{
    int i = threadIdx.x;
    out[i] = __fadd_rn(x[i], y[i]);
    out[64 + i] = __fmul_rn(x[i], y[i]);
    out[128 + i] = __fdiv_rn(x[i], y[i]);
    out[192 + i] = __fmaf_rn(x[i], y[i], x[i]);
    out[256 + i] = __frcp_rn(y[i]);
    out[320 + i] = __fsqrt_rn(y[i]);
}
