// Integer functions and conversions.
//: bits grid=2 block=64 args={"x": np.random.default_rng(1).integers(0, 2**32, 128).astype(u4), "out": unset((4, 128), u4)}
//+ gives={"out": [[int(format(v, "032b")[::-1], 2) for v in x], [32 - int(v).bit_length() for v in x], [bin(v).count("1") for v in x], [(int(v) & -int(v)).bit_length() for v in x]]}
__global__ void bits(const unsigned *x, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __brev(x[i]);
    out[128 + i] = __clz(x[i]);
    out[256 + i] = __popc(x[i]);
    out[384 + i] = __ffs(x[i]);
}
//: bits_of_long_words block=64 args={"x": np.random.default_rng(2).integers(0, 2**63, 64).astype(np.uint64), "out": unset((3, 64), i4), "turned": unset(64, np.uint64)}
//+ gives={"out": [[64 - int(v).bit_length() for v in x], [bin(v).count("1") for v in x], [(int(v) & -int(v)).bit_length() for v in x]], "turned": np.array([int(format(int(v), "064b")[::-1], 2) for v in x], np.uint64)}
__global__ void bits_of_long_words(const unsigned long long *x, int *out, unsigned long long *turned)
{
    int i = threadIdx.x;
    out[i] = __clzll(x[i]);
    out[64 + i] = __popcll(x[i]);
    out[128 + i] = __ffsll(x[i]);
    turned[i] = __brevll(x[i]);
}
//: products_of_24_bits grid=3 block=16 args={"x": arange(48, i4) * 40001 - 900000, "out": unset((2, 48), i4), "high": unset((2, 48), i4)}
//+ gives={"out": [3 * x, 3 * abs(x)], "high": [x.astype(np.int64) * 1000003 >> 32, abs(x).astype(np.int64) * 3000000007 >> 32]}
__global__ void products_of_24_bits(const int *x, int *out, int *high)
{
    int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
    out[i] = __mul24(x[i], 3);
    out[48 + i] = __umul24(abs(x[i]), 3u);
    high[i] = __mulhi(x[i], 1000003);
    high[48 + i] = __umulhi((unsigned)abs(x[i]), 3000000007u);
}
//: float_to_int_roundings block=64 args={"x": 50 * random(64, 3), "out": unset((4, 64), i4)} gives={"out": [np.rint(x), np.floor(x), np.ceil(x), np.trunc(x)]}
__global__ void float_to_int_roundings(const float *x, int *out)
{
    int i = threadIdx.x;
    out[i] = __float2int_rn(x[i]);
    out[64 + i] = __float2int_rd(x[i]);
    out[128 + i] = __float2int_ru(x[i]);
    out[192 + i] = __float2int_rz(x[i]);
}
//: int_to_float_and_back block=64 args={"x": arange(64, i4) * 3 - 50, "f": unset(64), "u": unset(64, u4), "d": unset(64, i4)} gives={"f": 2 * x, "u": abs(x), "d": x}
__global__ void int_to_float_and_back(const int *x, float *f, unsigned *u, int *d)
{
    int i = threadIdx.x;
    f[i] = __int2float_rn(x[i]) + __int2float_rz(x[i]);
    u[i] = __float2uint_rn(fabsf(__int2float_rn(x[i])));
    d[i] = __double2int_rn((double)x[i] + 0.25);
}
//: bit_casts block=64 args={"x": random(64, 4), "y": random(64, 5, f8), "negated": unset(64), "high": unset(64, i4), "same": unset(64, f8)} gives={"negated": -x, "high": y.view(np.int64) >> 32, "same": y}
__global__ void bit_casts(const float *x, const double *y, float *negated, int *high, double *same)
{
    int i = threadIdx.x;
    negated[i] = __uint_as_float(__float_as_uint(x[i]) ^ 0x80000000u);
    high[i] = __double2hiint(y[i]);
    same[i] = __longlong_as_double(__double_as_longlong(y[i]));
}
//: minima_of_unsigned block=32 args={"x": arange(32, u4), "out": unset((3, 32), u4)} gives={"out": [np.minimum(x, 20), np.maximum(x, 20), abs(x.astype(i4) - 20)]}
__global__ void minima_of_unsigned(const unsigned int *x, unsigned int *out)
{
    int i = threadIdx.x;
    out[i] = umin(x[i], 20u);
    out[32 + i] = umax(x[i], 20u);
    out[64 + i] = __sad((int)x[i], 20, 0u);
}
//: bytes_permuted block=32 args={"x": arange(32, u4) * u4(0x01030507), "out": unset((2, 32), u4)} gives={"out": [x.byteswap(), (x << u4(8)) | (u4(0x11223344) >> u4(24))]}
__global__ void bytes_permuted(const unsigned *x, unsigned *out)
{
    int i = threadIdx.x;
    out[i] = __byte_perm(x[i], 0, 0x0123);
    out[32 + i] = __funnelshift_l(0x11223344u, x[i], 8);
}
//: dot_of_four_bytes block=32 args={"a": np.random.default_rng(6).integers(-128, 128, 128).astype(np.int8), "b": np.random.default_rng(7).integers(-128, 128, 128).astype(np.int8), "out": unset(32, i4)} gives={"out": (a.astype(i4) * b).reshape(32, 4).sum(1) + 100}
__global__ void dot_of_four_bytes(const int *a, const int *b, int *out)
{
    out[threadIdx.x] = __dp4a(a[threadIdx.x], b[threadIdx.x], 100);
}
