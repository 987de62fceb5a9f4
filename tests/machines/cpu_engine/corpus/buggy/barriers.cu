// __syncthreads() that some threads of a block do not reach, or not in the same way.
//: barrier_in_the_guard grid=2 block=64 args={"A": arange(100), "out": zeros(100), "n": i4(100)}
__global__ void barrier_in_the_guard(const float *A, float *out, int n)
{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = A[i];
        __syncthreads();  // <- synccheck
        out[i] = s[threadIdx.x / 2];
    }
}

//: barrier_in_each_branch block=64 args={"A": arange(64), "out": zeros(64)}
__global__ void barrier_in_each_branch(const float *A, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t % 2) {
        s[t] = A[t];
        __syncthreads();  // <- synccheck
    } else {
        s[t] = -A[t];
        __syncthreads();  // <- synccheck
    }
    out[t] = s[63 - t];
}

//: loop_of_different_lengths block=32 args={"A": random(32), "out": zeros(32)}
__global__ void loop_of_different_lengths(const float *A, float *out)
{
    __shared__ float s[32];
    s[threadIdx.x] = A[threadIdx.x];
    float sum = 0.0f;
    for (int k = 0; k <= (int)threadIdx.x; k++) {
        __syncthreads();  // <- synccheck
        sum += s[k];
    }
    out[threadIdx.x] = sum;
}

//: halving_with_barrier_inside block=128 args={"A": random(128), "out": zeros(1)}
__global__ void halving_with_barrier_inside(const float *A, float *out)
{
    __shared__ float s[128];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
            __syncthreads();  // <- synccheck
        }
    }
    if (threadIdx.x == 0) out[0] = s[0];
}

//: helper_called_by_one_warp block=64 args={"A": arange(64), "out": zeros(64)}
__device__ float total_of(const float *s, int n)
{
    __syncthreads();  // <- synccheck
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += s[k];
    return sum;
}

__global__ void helper_called_by_one_warp(const float *A, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        out[threadIdx.x] = total_of(s, 64);  // <- synccheck
}

//: break_before_the_barrier block=(8, 8) args={"A": random(64), "out": zeros(64)}
__global__ void break_before_the_barrier(const float *A, float *out)
{
    int t = threadIdx.y * 8 + threadIdx.x;
    float x = A[t];
    for (int k = 0; k < 20; k++) {
        x = x * 0.5f;
        if (fabsf(x) < 0.01f) break;
        __syncthreads();  // <- synccheck
    }
    __syncthreads();  // <- synccheck
    out[t] = x;
}

//: syncthreads_count_in_a_branch block=64 args={"A": random(64), "out": zeros(64, i4)}
__global__ void syncthreads_count_in_a_branch(const float *A, int *out)
{
    int t = threadIdx.x;
    if (t < 48)
        out[t] = __syncthreads_count(A[t] > 0.0f);  // <- synccheck
}

//: diagonal_blocks_wait_alone grid=(2, 2) block=(16, 4) args={"A": random((8, 32)), "out": zeros((8, 32))}
__global__ void diagonal_blocks_wait_alone(const float *A, float *out)
{
    __shared__ float s[4][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    s[threadIdx.y][threadIdx.x] = A[y * 32 + x];
    if (threadIdx.x > threadIdx.y)
        __syncthreads();  // <- synccheck
    out[y * 32 + x] = s[threadIdx.y][threadIdx.x] * 2.0f;
}

//: two_barriers_a_line block=64 args={"A": arange(64), "out": zeros(64)}
__global__ void two_barriers_a_line(const float *A, float *out)
{
    int t = threadIdx.x;
    if (t < 32) __syncthreads(); else __syncthreads();  // <- synccheck
    out[t] = A[t];
}

//: helper_at_two_places clang="merges the two branches, as they hold nothing but the same call" block=64 args={"A": arange(64), "out": zeros(64)}
__device__ void everyone_waits()
{
    __syncthreads();  // <- synccheck
}

__global__ void helper_at_two_places(const float *A, float *out)
{
    int t = threadIdx.x;
    float x = A[t];
    if (t < 40) {
        x += 1.0f;
        everyone_waits();  // <- synccheck
    } else {
        x -= 1.0f;
        everyone_waits();  // <- synccheck
    }
    out[t] = x;
}

//: return_before_the_barrier block=64 args={"A": arange(50), "out": zeros(50), "n": i4(50)}
__global__ void return_before_the_barrier(const float *A, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= n) return;  // <- synccheck
    s[t] = A[t];
    __syncthreads();  // <- synccheck
    out[t] = s[n - 1 - t];
}

//: continue_before_the_barrier block=64 args={"x": random(192), "out": zeros(192)}
__global__ void continue_before_the_barrier(const float *x, float *out)
{
    __shared__ float s[64];
    for (int i = threadIdx.x; i < 192; i += 64) {
        if (x[i] < 0.0f) continue;
        s[threadIdx.x] = x[i];
        __syncthreads();  // <- synccheck
        out[i] = s[63 - threadIdx.x];
    }
}
