// C++ in kernels: operators, methods, lambdas, constants, enumerations, machines of states.
#include <cuda_runtime.h>
__host__ __device__ inline float4 operator+(const float4 &a, const float4 &b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__host__ __device__ inline float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }
__host__ __device__ inline void operator+=(float4 &a, float4 b) { a = a + b; }
__device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
//: operators_on_float4 grid=2 block=32 args={"x": random((60, 4), 1), "out": unset((60, 4)), "n": i4(60)} gives={"out": 2 * x + (x * x).sum(1, keepdims=True) * x}
__global__ void operators_on_float4(const float4 *x, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = 2.0f * x[i];
    v += dot(x[i], x[i]) * x[i];
    out[i] = v;
}
//: struct_with_methods block=32 args={"x": random(32, 2), "y": random(32, 3), "re": unset(32), "n": unset(32, i4)} gives={"re": (x + 1j * y).real ** 2 - y ** 2, "n": np.arange(32) % 3 + 1}
struct Complex {
    float r, i;
    __device__ Complex(float a, float b) : r(a), i(b) {}
    __device__ float magnitude2() const { return r * r + i * i; }
    __device__ Complex operator*(const Complex &a) const { return Complex(r * a.r - i * a.i, i * a.r + r * a.i); }
    __device__ Complex operator+(const Complex &a) const { return Complex(r + a.r, i + a.i); }
};
class Counter {
    int value;

  public:
    __device__ Counter(int start = 1) : value(start) {}
    __device__ Counter &operator++()
    {
        ++value;
        return *this;
    }
    __device__ int get() const { return value; }
};
__global__ void struct_with_methods(const float *x, const float *y, float *re, int *n)
{
    Complex c(x[threadIdx.x], y[threadIdx.x]);
    re[threadIdx.x] = (c * c).r;
    Counter k;
    for (int j = 0; j < threadIdx.x % 3; ++j)
        ++k;
    n[threadIdx.x] = k.get();
}
//: lambdas grid=2 block=32 args={"x": random(64, 4)} gives={"x": np.where(x > 0, 2 * x + 1, -x)}
__global__ void lambdas(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float one = 1;
    auto up = [=](float v) { return 2 * v + one; };
    auto store = [&](float v) { x[i] = v; };
    store(x[i] > 0 ? up(x[i]) : -x[i]);
}
//: constexpr_and_static_assert block=32 args={"x": random(32, 5), "out": unset(32)} gives={"out": x[np.arange(32) // 8 * 8 + 7 - np.arange(32) % 8]}
__host__ __device__ constexpr int power_of_two(int k) { return k == 0 ? 1 : 2 * power_of_two(k - 1); }
enum Sizes { TILE = power_of_two(3), ROWS = 4 };
static_assert(TILE * ROWS == 32, "a warp");
__global__ void constexpr_and_static_assert(const float *x, float *out)
{
    __shared__ float s[ROWS][TILE + 1];
    const int r = threadIdx.x / TILE, c = threadIdx.x % TILE;
    s[r][c] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[r][TILE - 1 - c];
}
//: machine_of_states grid=2 block=40 args={"text": np.frombuffer(b"a bc  def g hij klm" * 4 + b"zzzz", np.uint8).copy(), "words": unset(80, i4), "n": i4(80)}
//+ gives={"words": [len(bytes(text[i:min(i + 9, 80)]).split()) for i in range(80)]}
enum class State { Outside, Inside, Done };
__global__ void machine_of_states(const char *text, int *words, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    State state = State::Outside;
    int at = i, end = min(i + 9, n), found = 0;
    do {
        switch (state) {
        case State::Outside:
            if (at < end && text[at] != ' ') {
                ++found;
                state = State::Inside;
            }
            break;
        case State::Inside:
            if (at < end && text[at] == ' ')
                state = State::Outside;
            break;
        default:
            break;
        }
        if (++at >= end)
            state = State::Done;
    } while (state != State::Done);
    words[i] = found;
}
//: switch_of_operations block=64 args={"x": random(64, 6), "op": arange(64, i4) % 5} gives={"x": np.choose(op, [x + 1, x * 2, -x, -x, np.zeros(64)])}
enum Op { ADD = 0, MUL, NEG, NEG_TOO, OTHER };
__global__ void switch_of_operations(float *x, const int *op)
{
    float &v = x[threadIdx.x];
    switch ((Op)op[threadIdx.x]) {
    case ADD: v += 1; break;
    case MUL: v *= 2; break;
    case NEG:
    case NEG_TOO: v = -v; break;
    default: v = 0;
    }
}
//: union_and_bits block=32 args={"x": random(32, 7), "exponent": unset(32, i4)} gives={"exponent": np.frexp(x)[1] - 1}
union Bits {
    float f;
    unsigned u;
};
__global__ void union_and_bits(const float *x, int *exponent)
{
    Bits b;
    b.f = x[threadIdx.x];
    exponent[threadIdx.x] = (int)((b.u >> 23) & 0xff) - 127;
}
//: local_arrays grid=2 block=32 args={"x": random((64, 9), 10), "median": unset(64)} gives={"median": np.median(x, 1)}
#define SWAP(a, b) { float t_ = fminf(a, b); b = fmaxf(a, b); a = t_; }
__global__ void local_arrays(const float *x, float *median)
{
    float v[9];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 9; ++k)
        v[k] = x[9 * i + k];
    for (int k = 0; k < 5; ++k)
        for (int j = k + 1; j < 9; ++j)
            SWAP(v[k], v[j]);
    median[i] = v[4];
}
//: struct_by_value block=32 grid=2 args={"x": random(64, 11), "scale": np.array((2, 3), np.dtype([("a", f4), ("b", f4)]))[()]} gives={"x": 2 * x + 3}
struct Affine {
    float a, b;
    __device__ float operator()(float v) const { return a * v + b; }
};
__global__ void struct_by_value(float *x, Affine scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = scale(x[i]);
}

//: virtual_functions_of_the_device block=4 args={"y": zeros(4)} gives={"y": [1, 3, 4, 9]}
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Strip : Shape { float s; __device__ Strip(float s) : s(s) {} __device__ float area() const override { return s * 3; } };
__global__ void virtual_functions_of_the_device(float *y) {
    Square a(threadIdx.x == 0 ? 1 : threadIdx.x == 2 ? 2 : 3);
    Strip b(1);
    const Shape &s = threadIdx.x == 1 ? (const Shape &)b : a;
    y[threadIdx.x] = s.area();
}

//: function_pointers_in_a_table block=4 args={"y": zeros(4)} gives={"y": [1, 3, 0, 4]}
typedef float (*Op2)(float, float);
__device__ float plus2(float a, float b) { return a + b; }
__device__ float times2(float a, float b) { return a * b; }
__device__ Op2 table2[2] = {plus2, times2};
__global__ void function_pointers_in_a_table(float *y) {
    int t = threadIdx.x;
    y[t] = table2[t % 2](t == 2 ? 0 : t == 3 ? 2 : t * 3, t == 3 ? 2 : t == 2 ? 0 : 1);
}

//: if_constexpr_and_folds block=4 args={"y": zeros(4)} gives={"y": [6, 7, 8, 9]}
template <class... T> __device__ float all_of(T... v) { return (float(v) + ...); }
template <bool plus> __device__ float maybe(float v) { if constexpr (plus) return v + 1; else return v; }
__global__ void if_constexpr_and_folds(float *y) {
    struct Pair { float a; int b; };
    auto [a, b] = Pair{2, 3};
    y[threadIdx.x] = all_of(a, b, threadIdx.x) + maybe<true>(0.0f);
}

//: names_of_ones_own block=32 args={"x": arange(32), "y": zeros(32)} gives={"y": np.arange(32) + 3}
struct Block { int lane; };
struct Thread { int line; };
__device__ int lane(int i) { return i % 32; }
__device__ int shown(int i) { return i; }
__global__ void names_of_ones_own(const float *x, float *y) {
    Block launch = {1}; Thread self = {2};
    int index = lane(threadIdx.x), element = shown(index), tile = launch.lane, fence = self.line;
    y[element] = x[index] + tile + fence;
}

//: padded_struct_through_shared block=32 args={"x": arange(32, i4), "y": zeros(64, i4)} gives={"y": np.stack([np.arange(32)[::-1], np.arange(32)[::-1] + 1], 1).ravel()}
struct Padded { char c; int i; };
__global__ void padded_struct_through_shared(const int *x, int *y) {
    __shared__ Padded s[32];
    int t = threadIdx.x;
    s[t].c = (char)x[t], s[t].i = x[t] + 1;
    __syncthreads();
    Padded p = s[31 - t];
    y[2 * t] = p.c, y[2 * t + 1] = p.i;
}
