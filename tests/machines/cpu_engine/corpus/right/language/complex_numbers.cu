// Complex numbers, as cuComplex.h has them.
#include <cuComplex.h>
//: complex_arithmetic block=32 args={"a": random(64, 1).view("c8"), "b": random(64, 2).view("c8"), "out": unset((5, 32), "c8")} gives={"out": [a + b, a - b, a * b, a / b, a * b + a.conj()]}
__global__ void complex_arithmetic(const cuComplex *a, const cuComplex *b, cuComplex *out)
{
    int i = threadIdx.x;
    cuComplex x = a[i], y = b[i];
    out[i] = cuCaddf(x, y);
    out[32 + i] = cuCsubf(x, y);
    out[64 + i] = cuCmulf(x, y);
    out[96 + i] = cuCdivf(x, y);
    out[128 + i] = cuCfmaf(x, y, cuConjf(x));
}
//: complex_parts block=32 args={"a": random(64, 3, f8).view("c16"), "out": unset((3, 32), f8)} gives={"out": [abs(a), a.real - a.imag, abs(a) ** 2]}
__global__ void complex_parts(const cuDoubleComplex *a, double *out)
{
    int i = threadIdx.x;
    out[i] = cuCabs(a[i]);
    out[32 + i] = cuCreal(a[i]) - cuCimag(a[i]);
    out[64 + i] = cuCreal(cuCmul(a[i], cuConj(a[i])));
}
//: complex_of_other_sizes block=32 args={"a": random(64, 4).view("c8"), "d": unset(32, "c16"), "f": unset(32, "c8"), "turned": unset(32, "c8")} gives={"d": a, "f": a / (2 - 1j), "turned": 1j * a}
__global__ void complex_of_other_sizes(const cuFloatComplex *a, cuDoubleComplex *d, cuFloatComplex *f, cuComplex *turned)
{
    int i = threadIdx.x;
    d[i] = cuComplexFloatToDouble(a[i]);
    f[i] = cuComplexDoubleToFloat(cuCdiv(d[i], make_cuDoubleComplex(2, -1)));
    turned[i] = cuCmulf(make_cuComplex(0, 1), a[i]);
    if (cuCabsf(turned[i]) > 2 || cuCrealf(a[i]) != cuCimagf(turned[i]))
        turned[i] = make_cuFloatComplex(0, 0);
}
