// Other types than float, vectors, and blocks of other shapes.
//: bytes_past_the_end block=40 args={"text": np.arange(39, dtype=np.uint8), "out": zeros(40, i4)}
__global__ void bytes_past_the_end(const unsigned char *text, int *out)
{
    out[threadIdx.x] = text[threadIdx.x] & 15;  // <- memcheck text
}

//: short_pairs_as_ints block=9 args={"pairs": np.arange(17, dtype=np.int16), "out": zeros(9, i4)}
__global__ void short_pairs_as_ints(const short *pairs, int *out)
{
    out[threadIdx.x] = reinterpret_cast<const int *>(pairs)[threadIdx.x];  // <- memcheck pairs
}

//: long_sums_race block=32 args={"A": np.arange(32, dtype=np.int64), "sum": np.zeros(1, np.int64)}
__global__ void long_sums_race(const long long *A, long long *sum)
{
    sum[0] += A[threadIdx.x];  // <- racecheck sum
}

//: double_shared_race block=48 args={"A": np.ones(48), "out": np.zeros(48)}
__global__ void double_shared_race(const double *A, double *out)
{
    __shared__ double s[48];
    s[threadIdx.x] = A[threadIdx.x] * 0.5;  // <- racecheck s
    out[threadIdx.x] = s[47 - threadIdx.x];  // <- racecheck s
}

//: float4_tile_race block=16 args={"A": random(64), "out": zeros(64)}
__global__ void float4_tile_race(const float4 *A, float *out)
{
    __shared__ float4 tile[16];
    tile[threadIdx.x] = A[threadIdx.x];  // <- racecheck tile
    float4 v = tile[15 - threadIdx.x];  // <- racecheck tile
    out[threadIdx.x * 4] = v.x + v.y + v.z + v.w;
}

//: float4_overlaps_a_scalar block=8 args={"A": random(32), "out": zeros(36)}
__global__ void float4_overlaps_a_scalar(const float4 *A, float *out)
{
    reinterpret_cast<float4 *>(out)[threadIdx.x] = A[threadIdx.x];  // <- racecheck out
    out[threadIdx.x * 4 + 4] = 1.0f;  // <- racecheck out
}

//: bool_flag_before_the_barrier block=64 args={"A": random(64), "out": zeros(64, i4)}
__global__ void bool_flag_before_the_barrier(const float *A, int *out)
{
    __shared__ bool flag[64];
    flag[threadIdx.x] = A[threadIdx.x] > 0.0f;  // <- racecheck flag
    out[threadIdx.x] = flag[threadIdx.x] != flag[(threadIdx.x + 32) % 64];  // <- racecheck flag
}

//: int2_halves_unset block=16 args={"out": zeros(16, i4)}
__global__ void int2_halves_unset(int *out)
{
    __shared__ int2 pair[16];
    pair[threadIdx.x].x = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = pair[15 - threadIdx.x].y;  // <- initcheck pair
}

//: ldg_past_the_end block=32 args={"A": random(31), "out": zeros(32)}
__global__ void ldg_past_the_end(const float *__restrict__ A, float *out)
{
    out[threadIdx.x] = __ldg(&A[threadIdx.x]) * 2.0f;  // <- memcheck A
}

//: ldg_of_unset block=32 args={"A": np.ma.array(random(32), mask=arange(32) == 31), "out": zeros(32)}
__global__ void ldg_of_unset(const float *__restrict__ A, float *out)
{
    out[threadIdx.x] = __ldg(A + threadIdx.x);  // <- initcheck A
}

//: three_dimensional_block_flat block=(4, 3, 3) args={"A": random((3, 3, 4)), "out": zeros((3, 3, 4))}
__global__ void three_dimensional_block_flat(const float *A, float *out)
{
    __shared__ float s[36];
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    s[t] = A[t];  // <- racecheck s
    if (threadIdx.z == 0) __syncwarp(0xfff);
    out[t] = s[35 - t];  // <- racecheck s
}

//: two_dimensional_id_collides block=(8, 4) args={"A": random((4, 8)), "out": zeros(32)}
__global__ void two_dimensional_id_collides(const float *A, float *out)
{
    int t = threadIdx.y + threadIdx.x;
    out[t] = A[threadIdx.y * 8 + threadIdx.x];  // <- racecheck out
}

//: grid_of_two_dimensions_too_tall grid=(2, 3) block=(8, 8) args={"A": random((20, 16)), "out": zeros((20, 16)), "w": i4(16), "h": i4(24)}
__global__ void grid_of_two_dimensions_too_tall(const float *A, float *out, int w, int h)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = -A[y * w + x];  // <- memcheck A
}

//: half_of_the_block_waits block=(5, 7) args={"A": random(35), "out": zeros(35)}
__global__ void half_of_the_block_waits(const float *A, float *out)
{
    int t = threadIdx.y * 5 + threadIdx.x;
    out[t] = A[t];
    if (threadIdx.y >= 3) {
        __syncthreads();  // <- synccheck
        out[t] *= 2.0f;
    }
}

//: unsigned_loop_wraps block=8 args={"A": random(64), "out": zeros(8)}
__global__ void unsigned_loop_wraps(const float *A, float *out)
{
    float sum = 0.0f;
    for (unsigned k = 7; k < 8 || k > 4000000000u; k -= 4)
        sum += A[(int)(threadIdx.x * 8 + k) - 60];  // <- memcheck A
    out[threadIdx.x] = sum;
}

//: char_counter_race block=64 args={"A": random(64), "count": np.zeros(4, np.uint8)}
__global__ void char_counter_race(const float *A, unsigned char *count)
{
    if (A[threadIdx.x] > 0.0f) count[threadIdx.x / 16]++;  // <- racecheck count
}

//: matrix_of_columns_first block=(3, 20) args={"A": random((20, 3)), "out": zeros((3, 20))}
__global__ void matrix_of_columns_first(const float (*A)[3], float *out)
{
    out[threadIdx.x * 20 + threadIdx.y] = A[threadIdx.x * 20][threadIdx.y];  // <- memcheck A
}

//: shared_struct_member_overrun block=32 args={"y": zeros(32)}
struct TwoRows { float a[8]; float b[8]; };
__global__ void shared_struct_member_overrun(float *y) {
    __shared__ TwoRows s;
    int t = threadIdx.x;
    if (t < 8) s.a[t] = 1, s.b[t] = 2;
    __syncthreads();
    y[t] = s.a[t % 9];  // <- memcheck
}

//: bitfields_of_one_word block=2 args={"y": zeros(1, u4)}
struct Bits { unsigned low : 16, high : 16; };
__global__ void bitfields_of_one_word(unsigned *y) {
    __shared__ Bits b;
    if (threadIdx.x == 0) b.low = 0, b.high = 0;
    __syncthreads();
    if (threadIdx.x == 0) b.low = 1; else b.high = 2;  // <- racecheck b
    __syncthreads();
    if (threadIdx.x == 0) y[0] = b.low + b.high;
}

//: packed_bytes_read_modify_write block=64 args={"y": zeros(64, np.uint8)}
__global__ void packed_bytes_read_modify_write(unsigned char *y) {
    unsigned *w = (unsigned *)y;
    int t = threadIdx.x;
    w[t / 4] |= 1u << (t % 4 * 8);  // <- racecheck y
}

//: long_atomic_at_half_an_address block=32 args={"c": zeros(4, i4)}
__global__ void long_atomic_at_half_an_address(int *c) {
    atomicAdd((unsigned long long *)(c + 1), 1ull);  // <- memcheck c
}

//: float_scaled_to_index block=32 args={"n": i4(8), "x": np.linspace(0, 1, 32).astype(f4), "h": zeros(8, i4)}
__global__ void float_scaled_to_index(int n, const float *x, int *h) {
    atomicAdd(&h[(int)(x[threadIdx.x] * n)], 1);  // <- memcheck h
}

//: eight_bytes_at_the_last_four block=1 args={"x": arange(33), "y": zeros(1)}
__global__ void eight_bytes_at_the_last_four(const float *x, float *y) {
    const unsigned long long *p = (const unsigned long long *)x;
    unsigned long long last = p[16];  // <- memcheck x
    y[0] = (float)(last & 0xffff);
}

//: named_union_type_pun_unset block=32 args={"y": zeros(32)}
union Pun { float f; unsigned short h[2]; };
__global__ void named_union_type_pun_unset(float *y) {
    __shared__ Pun s[32];
    s[threadIdx.x].h[0] = 7;
    __syncthreads();
    y[threadIdx.x] = s[31 - threadIdx.x].f;  // <- initcheck s
}

//: vector_loads_along_odd_rows grid=2 block=32 args={"A": random((8, 22)), "B": random((22, 16)), "C": zeros((2, 16))}
template <int BM, int BN, int BK>
__device__ float product_of_rows(const float *A, const float *B, int K, int N)
{
    __shared__ float As[BK * BM], Bs[BK * BN];
    const unsigned rowA = threadIdx.x % (BK / 4 * BM) / (BK / 4), colA = threadIdx.x % (BK / 4);
    const unsigned rowB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4);
    float sum = 0.0f;
    for (int k = 0; k < K; k += BK) {
        float4 four = reinterpret_cast<const float4 *>(&A[rowA * K + colA * 4])[0];  // <- memcheck A
        As[(colA * 4 + 0) * BM + rowA] = four.x;
        As[(colA * 4 + 1) * BM + rowA] = four.y;
        As[(colA * 4 + 2) * BM + rowA] = four.z;
        As[(colA * 4 + 3) * BM + rowA] = four.w;
        reinterpret_cast<float4 *>(&Bs[rowB * BN + colB * 4])[0] =
            reinterpret_cast<const float4 *>(&B[rowB * N + colB * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; i++) sum += As[i * BM] * Bs[i * BN + threadIdx.x % BN];
        __syncthreads();
    }
    return sum;
}
__global__ void vector_loads_along_odd_rows(const float *A, const float *B, float *C)
{
    C[blockIdx.x * 16 + threadIdx.x % 16] = product_of_rows<4, 16, 8>(A + blockIdx.x * 4 * 22, B, 22, 16);
}

//: signed_bytes_as_bins block=64 args={"pixel": (arange(64, i4) * 4).astype(np.uint8), "bins": zeros(256, i4)}
__global__ void signed_bytes_as_bins(const unsigned char *pixel, int *bins)
{
    char value = pixel[threadIdx.x];  // 128 and more are negative
    atomicAdd(&bins[value], 1);  // <- memcheck bins
}

//: pairs_share_a_half block=64 args={"x": random(64).astype(np.float16), "sum": np.zeros(32, np.float16)}
#include <cuda_fp16.h>
__global__ void pairs_share_a_half(const half *x, half *sum)
{
    int i = threadIdx.x / 2;
    sum[i] = __hadd(sum[i], x[threadIdx.x]);  // <- racecheck sum
}

//: low_bits_of_all block=33 args={"n": arange(33, i4), "mask": zeros(33, u4)}
__global__ void low_bits_of_all(const int *n, unsigned *mask)
{
    mask[threadIdx.x] = (1u << n[threadIdx.x]) - 1;  // <- ubsan
}

//: rotated_by_nothing block=8 args={"x": arange(8, u4), "n": arange(8, u4)}
__global__ void rotated_by_nothing(unsigned *x, const unsigned *n)
{
    unsigned v = x[threadIdx.x], by = n[threadIdx.x];
    x[threadIdx.x] = v << by | v >> (32 - by);  // <- ubsan
}

//: histogram_of_not_a_number block=64 args={"x": np.append(arange(63), f4(np.nan)), "bins": zeros(8, i4)}
__global__ void histogram_of_not_a_number(const float *x, int *bins)
{
    int bin = x[threadIdx.x];  // <- ubsan
    atomicAdd(&bins[min(max(bin, 0), 7)], 1);
}

//: brighter_than_white block=32 args={"pixels": arange(32) / 16, "bytes": np.zeros(32, np.uint8)}
__global__ void brighter_than_white(const float *pixels, unsigned char *bytes)
{
    bytes[threadIdx.x] = (unsigned char)(255 * pixels[threadIdx.x]);  // <- ubsan
}

//: below_zero_unsigned block=32 args={"x": arange(32) - 4, "out": zeros(32, u4)}
__global__ void below_zero_unsigned(const float *x, unsigned *out)
{
    out[threadIdx.x] = x[threadIdx.x];  // <- ubsan
}
