// Loads and stores with a hint to the caches.
//: load_hints grid=2 block=64 args={"x": random(100, 1), "out": unset(100), "n": i4(100)} gives={"out": 5 * x}
__global__ void load_hints(const float *__restrict__ x, float *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __ldg(&x[i]) + __ldcs(&x[i]) + __ldcg(&x[i]) + __ldca(&x[i]) + __ldg(x + i);
}
//: store_hints block=64 args={"a": unset(64), "b": unset(64, i4), "c": unset(64, f8), "d": unset(64)} gives={"a": np.arange(64), "b": np.arange(64) * 2, "c": np.arange(64) / 2, "d": 1}
__global__ void store_hints(float *a, int *b, double *c, float *d)
{
    int t = threadIdx.x;
    __stcs(&a[t], (float)t);
    __stcg(b + t, 2 * t);
    __stwb(&c[t], t / 2.0);
    __stwt(&d[t], 1.0f);
}
//: hints_on_vectors grid=2 block=16 args={"x": random(128, 2), "out": unset(128)} gives={"out": 2 * x}
__global__ void hints_on_vectors(const float4 *x, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = __ldcs(x + i), w = __ldg(&x[i]);
    v.x += w.x;
    v.y += w.y;
    v.z += w.z;
    v.w += w.w;
    __stcs(out + i, v);
}
//: softmax_with_streaming grid=4 block=32 args={"out": unset((4, 60)), "inp": random((4, 60), 3), "C": i4(60)} gives={"out": np.exp(inp) / np.exp(inp).sum(1, keepdims=True)}
__global__ void softmax_with_streaming(float *out, const float *inp, int C)
{
    float sum = 0;
    for (int i = threadIdx.x; i < C; i += 32)
        sum += expf(__ldcs(inp + blockIdx.x * C + i));
    for (int d = 16; d; d >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = threadIdx.x; i < C; i += 32)
        __stcs(out + blockIdx.x * C + i, expf(__ldcs(inp + blockIdx.x * C + i)) / sum);
}
