// Mistakes in shared memory that is declared outside the kernels.
extern __shared__ float both[];
__shared__ int votes[4];

//: dynamic_sum_of_two_arrays block=64 shared=384 args={"A": random(64), "out": zeros(2)}
__global__ void dynamic_sum_of_two_arrays(const float *A, float *out)
{
    float *plain = both, *square = both + 64;
    int t = threadIdx.x;
    plain[t] = A[t];
    square[t] = A[t] * A[t];  // <- memcheck both
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            plain[t] += plain[t + half];
        }
        __syncthreads();
    }
    if (t == 0) out[0] = plain[0];
}

//: second_half_beyond_dynamic block=32 shared=192 args={"A": arange(32), "B": arange(32), "out": zeros(32)}
__global__ void second_half_beyond_dynamic(const float *A, const float *B, float *out)
{
    float *a = both, *b = both + 32;
    a[threadIdx.x] = A[threadIdx.x];
    b[threadIdx.x] = B[threadIdx.x];  // <- memcheck both
    __syncthreads();
    out[threadIdx.x] = a[31 - threadIdx.x];
}

//: votes_of_the_file_not_zeroed block=32 args={"A": arange(32, i4), "out": zeros(4, i4)}
__global__ void votes_of_the_file_not_zeroed(const int *A, int *out)
{
    atomicAdd(&votes[A[threadIdx.x] % 4], 1);  // <- initcheck votes
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = votes[threadIdx.x];
}
