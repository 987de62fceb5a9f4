// What stands between the lines: macros, comments, conditions, strings.
/* __global__ void not_a_kernel(float *x) { __shared__ float s[; } */
#define FOR_EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; \
                            i < (n);                                       \
                            i += blockDim.x * gridDim.x)
#if 0
this is no C at all }}} __shared__
#endif
//: grid_stride_macro grid=2 block=32 args={"x": random(200, 1), "n": i4(200)} gives={"x": 2 * x}
__global__ void grid_stride_macro(float *x, int n)
{
    FOR_EACH(i, n)
    {
        x[i] *= 2;
    }
}
//: comments_and_strings block=32 args={"x": random(32, 2)} gives={"x": x[::-1]}
__global__ void comments_and_strings(float *x)  // a } in a comment, and "one
{
    __shared__ float s[32 /* lanes */];  // __syncthreads();
    const char *text = "}{ // __shared__ float t[3];";
    const char brace = '{', quote = '"';
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads(/* all */);
    x[threadIdx.x] = s[31 - threadIdx.x] + (text[0] == '}' && brace == '{' && quote ? 0 : 1);
}
//: conditional_code block=32 args={"x": random(32, 3)} gives={"x": 3 * x}
#define TIMES 3
__global__ void conditional_code(float *x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 100
    x[threadIdx.x] = 0;
#elif TIMES > 2
    x[threadIdx.x] *= TIMES;
#else
#error "never"
#endif
}
//: statements_on_few_lines block=32 args={"x": random(32, 4)} gives={"x": x[::-1]}
__global__ void statements_on_few_lines(float *x) { __shared__ float s[32]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); x[t] = s[31 - t]; }
//: kernel_over_many_lines grid=2 block=32 args={"x": random(64, 5), "y": random(64, 6)} gives={"y": x * y}
__global__
void
kernel_over_many_lines(
    const float *__restrict__ x,   // the one
    float       *__restrict__ y    /* the other */
)
{
    int i = blockIdx.x
          * blockDim.x
          + threadIdx.x;
    y[i] = y[i]
         * x[i];
}
//: literals block=32 args={"out": unset(32, f8)} gives={"out": 10 + 255 + 1000000 + 0.5 + 1e-3 + 2 ** 33 + 97}
__global__ void literals(double *out) { out[threadIdx.x] = 0b1010 + 0xFFu + 1'000'000 + .5f + 1e-3 + (1ULL << 33) + 'a'; }
//: words_for_operators block=32 args={"x": arange(32, i4)} gives={"x": (x > 3) & (x % 2 == 0)}
__global__ void words_for_operators(int *x) { x[threadIdx.x] = x[threadIdx.x] > 3 and not(x[threadIdx.x] % 2); }
//: declared_first grid=2 block=32 args={"x": arange(64)} gives={"x": x + 4}
__global__ void declared_first(float *x);
__device__ float later(float v);
__global__ void declared_first(float *x) { x[blockIdx.x * 32 + threadIdx.x] = later(x[blockIdx.x * 32 + threadIdx.x]); }
__device__ float later(float v) { return v + 4; }
