// Vector types with braces.
//: braces_and_equals block=32 grid=2 args={"out": unset((64, 4)), "x": random((64, 4), 1)} gives={"out": x + [0, 1, 2, 3]}
__global__ void braces_and_equals(float4 *out, const float4 *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = {0, 1, 2, 3};
    v.x += x[i].x;
    v.y += x[i].y;
    v.z += x[i].z;
    v.w += x[i].w;
    out[i] = v;
}
//: braces_alone block=48 args={"out": unset((48, 4)), "x": random((48, 2), 2)} gives={"out": np.concatenate([x[:, ::-1], 0 * x + [0, 3]], 1)}
__global__ void braces_alone(float4 *out, const float2 *x)
{
    float2 p = x[threadIdx.x];
    out[threadIdx.x] = float4{p.y, p.x, 0.f, 3.f};
}
//: zero_of_all block=32 args={"sums": unset((32, 3)), "x": random((32, 7, 3), 3)} rtol=1e-4 gives={"sums": x.sum(1)}
__global__ void zero_of_all(float3 *sums, const float3 *x)
{
    float3 sum = {};
    for (int k = 0; k < 7; ++k) {
        float3 v = x[threadIdx.x * 7 + k];
        sum = make_float3(sum.x + v.x, sum.y + v.y, sum.z + v.z);
    }
    sums[threadIdx.x] = sum;
}
