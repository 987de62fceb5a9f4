// NaN on purpose, and arrays of which a part is not written, and not read.
//: all_nan_is_an_input grid=2 block=32 args={"x": np.full(50, np.nan, f4), "count": zeros(1, i4), "n": i4(50)} gives={"count": 50}
__global__ void all_nan_is_an_input(const float *x, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && isnan(x[i]))
        atomicAdd(count, 1);
}
//: nan_to_zero grid=2 block=32 args={"x": np.where(random(60) > 0, np.nan, random(60)).astype(f4), "n": i4(60)} gives={"x": np.nan_to_num(x)}
__global__ void nan_to_zero(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] != x[i])
        x[i] = 0;
}
//: all_nan_replaced block=64 args={"x": np.ma.array(np.full(64, np.nan, f4), mask=False)} gives={"x": np.arange(64)}
__global__ void all_nan_replaced(float *x)
{
    if (!isfinite(x[threadIdx.x]))
        x[threadIdx.x] = threadIdx.x;
}
//: nan_travels block=32 args={"x": np.full(32, np.nan, f8), "y": unset(32, f8)} gives={"y": np.full(32, np.nan)}
__global__ void nan_travels(const double *x, double *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
//: masked_tail_unread grid=2 block=32 args={"x": np.ma.array(random(64, 1), mask=np.arange(64) >= 45), "out": unset(45), "n": i4(45)} gives={"out": 2 * x[:45]}
__global__ void masked_tail_unread(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * x[i];
}
//: masked_padding_of_rows block=(20,4) args={"A": np.ma.array(random((4, 32), 2), mask=np.zeros((4, 1), bool) | (np.arange(32) >= 20)), "sums": zeros(4), "pitch": i4(32)} gives={"sums": A[:, :20].sum(1)}
__global__ void masked_padding_of_rows(const float *A, float *sums, int pitch)
{
    atomicAdd(&sums[threadIdx.y], A[threadIdx.y * pitch + threadIdx.x]);
}
//: written_before_read grid=2 block=32 args={"scratch": unset(64, i4), "out": unset(64, i4)} gives={"out": 3 * np.arange(64)}
__global__ void written_before_read(int *scratch, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[i] = 3 * i;
    out[i] = scratch[i];
}
//: half_of_the_words_written grid=1 block=32 args={"out": np.ma.array(zeros(64, i4), mask=True)} gives={"out": np.arange(64) * (np.arange(64) % 2 == 0)}
__global__ void half_of_the_words_written(int *out) { out[2 * threadIdx.x] = 2 * threadIdx.x; }
//: flags_in_bytes block=32 args={"out": np.ma.array(zeros(33, np.uint8), mask=np.arange(33) < 33), "any": zeros(1, i4)} gives={"any": 1}
__global__ void flags_in_bytes(unsigned char *out, int *any)
{
    out[threadIdx.x] = threadIdx.x == 7;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < 32; ++k)
            *any |= out[k];
}
//: shared_partly_filled grid=2 block=48 args={"x": random(40, 3), "out": unset(2), "n": i4(40)} gives={"out": [x[:20].sum(), x[20:].sum()]}
__global__ void shared_partly_filled(const float *x, float *out, int n)
{
    __shared__ float s[256];
    int half = n / 2;
    if (threadIdx.x < half)
        s[threadIdx.x] = x[blockIdx.x * half + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < half; ++k)
            sum += s[k];
        out[blockIdx.x] = sum;
    }
}
