// Vector types: initialised, loaded, cast.
//: float4_copy_with_rest grid=2 block=16 args={"out": unset(103), "x": random(103, 4), "n": i4(103)} gives={"out": x}
__global__ void float4_copy_with_rest(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = blockDim.x * gridDim.x;
    for (int k = i; k < n / 4; k += all)
        reinterpret_cast<float4 *>(out)[k] = reinterpret_cast<const float4 *>(x)[k];
    int rest = i + n / 4 * 4;
    if (rest < n)
        out[rest] = x[rest];
}
//: pixels grid=2 block=(8,4) args={"rgba": np.random.default_rng(5).integers(0, 256, (8, 8, 4)).astype(np.uint8), "grey": np.ma.masked_all((8, 8), np.uint8)} gives={"grey": (rgba[..., 0].astype(i4) * 77 + rgba[..., 1].astype(i4) * 151 + rgba[..., 2].astype(i4) * 28) >> 8}
__global__ void pixels(const uchar4 *rgba, unsigned char *grey)
{
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    uchar4 p = rgba[i];
    grey[i] = (p.x * 77 + p.y * 151 + p.z * 28) >> 8;
}
//: small_integers block=32 args={"c": arange(128, np.int8) - np.int8(60), "s": arange(64, np.int16), "u": arange(64, np.uint16), "out": unset((32, 3), i4)}
//+ gives={"out": np.stack([c.reshape(32, 4).sum(1), s[::2].astype(i4) * s[1::2], u[::2].astype(i4) - u[1::2]], 1)}
__global__ void small_integers(const char4 *c, const short2 *s, const ushort2 *u, int3 *out)
{
    int i = threadIdx.x;
    char4 a = c[i];
    int3 v = make_int3(a.x + a.y + a.z + a.w, s[i].x * s[i].y, u[i].x - u[i].y);
    out[i] = v;
}
//: wide_types block=16 grid=2 args={"d": random((32, 2), 6, f8), "l": arange(64, np.int64).reshape(32, 2) << 33, "t": unset((32, 4), f8)} gives={"d": d[:, ::-1], "l": l * 2, "t": np.concatenate([d, 2 * d], 1)}
__global__ void wide_types(double2 *d, longlong2 *l, double *t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double2 v = d[i];
    d[i] = make_double2(v.y, v.x);
    longlong2 w = l[i];
    l[i] = make_longlong2(w.x * 2, w.y + w.y);
    double4 q = make_double4(v.x, v.y, 2 * v.x, 2 * v.y);
    t[4 * i] = q.x;
    t[4 * i + 1] = q.y;
    t[4 * i + 2] = q.z;
    t[4 * i + 3] = q.w;
}
//: vectors_in_shared block=64 args={"x": random((64, 4), 7)} gives={"x": x[::-1]}
__global__ void vectors_in_shared(float4 *x)
{
    __shared__ float4 s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
//: unsigned_vectors block=32 args={"x": arange(128, u4), "out": unset((32, 2), u4)} gives={"out": np.stack([x[::4] ^ x[3::4], x[1::4] + x[2::4]], 1)}
__global__ void unsigned_vectors(const uint4 *x, uint2 *out)
{
    const uint4 v = x[threadIdx.x];
    uint2 r = make_uint2(v.x ^ v.w, v.y + v.z);
    out[threadIdx.x] = r;
}
//: complex_as_float2 block=50 args={"a": random((50, 2), 8), "b": random((50, 2), 9), "out": unset((50, 2))} gives={"out": (lambda c: np.stack([c.real, c.imag], 1))((a[:, 0] + 1j * a[:, 1]) * (b[:, 0] + 1j * b[:, 1]))}
__global__ void complex_as_float2(const float2 *a, const float2 *b, float2 *out)
{
    float2 p = a[threadIdx.x], q = b[threadIdx.x], r;
    r.x = p.x * q.x - p.y * q.y;
    r.y = p.x * q.y + p.y * q.x;
    out[threadIdx.x] = r;
}
