// Closed namespaces before shared memory, and other names for types.
typedef unsigned int word;
namespace helpers {
__device__ float half_of(float v) { return v / 2; }
namespace inner {
struct Pair {
    float a, b;
};
}  // namespace inner
}  // namespace helpers
namespace {
__device__ int hidden(int v) { return v + 1; }
}
//: after_a_namespace block=64 grid=2 args={"x": random(128, 1)} gives={"x": x.reshape(2, 64)[:, ::-1].ravel() / 2}
__global__ void after_a_namespace(float *x)
{
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = helpers::half_of(x[i]);
    __syncthreads();
    x[i] = s[63 - threadIdx.x];
}
//: shared_struct_of_a_namespace block=32 args={"x": random(64, 2), "out": unset(32)} gives={"out": x[0::2][::-1] - x[1::2][::-1]}
using helpers::inner::Pair;
__global__ void shared_struct_of_a_namespace(const float *x, float *out)
{
    __shared__ Pair s[32];
    s[threadIdx.x].a = x[2 * threadIdx.x];
    s[threadIdx.x].b = x[2 * threadIdx.x + 1];
    __syncthreads();
    const Pair &p = s[31 - threadIdx.x];
    out[threadIdx.x] = p.a - p.b;
}
//: short_names_of_types block=64 args={"x": arange(64, u4), "b": arange(64, np.uint8), "out": unset(64, u4)} gives={"out": x * 2 + b + 1}
__global__ void short_names_of_types(const uint *x, const unsigned char *b, uint *out)
{
    const uint i = threadIdx.x;
    ushort twice = (ushort)(2 * x[i]);
    word w = twice + b[i];
    ulong big = w;
    out[i] = (uint)hidden((int)big);
}
//: own_uchar block=32 args={"b": arange(32, np.uint8)} gives={"b": b + 7}
typedef unsigned char uchar;
__global__ void own_uchar(uchar *b)
{
    __shared__ uchar s[32];
    s[threadIdx.x] = b[threadIdx.x] + 7;
    __syncthreads();
    b[threadIdx.x] = s[threadIdx.x];
}
//: using_alias block=32 grid=2 args={"x": random(64, 3)} gives={"x": x - 1}
using real = float;
namespace kernels {
constexpr int WIDTH = 32;
using ::real;
}
__global__ void using_alias(real *x)
{
    using namespace kernels;
    __shared__ real s[WIDTH];
    s[threadIdx.x] = real(1);
    __syncthreads();
    x[blockIdx.x * WIDTH + threadIdx.x] -= s[WIDTH - 1 - threadIdx.x];
}
