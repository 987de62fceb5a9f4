// A thread's own variables without a first value.
//: maximum_without_a_start block=32 args={"A": random(256), "out": zeros(32), "n": i4(8)}
__global__ void maximum_without_a_start(const float *A, float *out, int n)
{
    float most;  // <- initcheck
    for (int k = 0; k < n; k++) {
        float x = A[threadIdx.x * n + k];
        if (x > most) most = x;  // <- initcheck
    }
    out[threadIdx.x] = most;  // <- initcheck
}

//: sum_without_a_zero block=32 args={"A": random(256), "out": zeros(32), "n": i4(8)}
__global__ void sum_without_a_zero(const float *A, float *out, int n)
{
    float sum;  // <- initcheck
    for (int k = 0; k < n; k++)
        sum += A[threadIdx.x + k * 32];  // <- initcheck
    out[threadIdx.x] = sum;  // <- initcheck
}

//: own_array_times_zero block=16 args={"A": random(64), "out": zeros(16)}
__global__ void own_array_times_zero(const float *A, float *out)
{
    float a[4];  // <- initcheck
    float beta = 0.0f;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        a[k] = A[threadIdx.x * 4 + k] + beta * a[k];  // <- initcheck
        sum += a[k];
    }
    out[threadIdx.x] = sum;  // <- initcheck out
}

//: register_tile_without_zeros block=16 args={"A": random((16, 4)), "B": random((4, 4)), "C": zeros((16, 4))}
__global__ void register_tile_without_zeros(const float *A, const float *B, float *C)
{
    float acc[4];  // <- initcheck
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            acc[j] += A[threadIdx.x * 4 + k] * B[k * 4 + j];  // <- initcheck
    for (int j = 0; j < 4; j++)
        C[threadIdx.x * 4 + j] = acc[j];  // <- initcheck
}

//: set_in_one_branch block=64 args={"A": random(64), "out": zeros(64)}
__global__ void set_in_one_branch(const float *A, float *out)
{
    float y;  // <- initcheck
    float x = A[threadIdx.x];
    if (x > 0.0f) y = logf(x);  // <- initcheck y
    out[threadIdx.x] = y;  // <- initcheck
}

//: switch_without_default block=32 args={"kind": arange(32, i4) % 5, "out": zeros(32, i4)}
__global__ void switch_without_default(const int *kind, int *out)
{
    int weight;  // <- initcheck
    switch (kind[threadIdx.x]) {
    case 0: weight = 3; break;
    case 1: weight = 5; break;
    case 2: case 3: weight = 7; break;
    }
    out[threadIdx.x] = weight;  // <- initcheck
}

//: int_counter_without_zero block=32 args={"A": random(128), "out": zeros(32, i4), "n": i4(4)}
__global__ void int_counter_without_zero(const float *A, int *out, int n)
{
    int count;  // <- initcheck
    for (int k = 0; k < n; k++)
        if (A[threadIdx.x * n + k] > 0.0f) count++;  // <- initcheck
    out[threadIdx.x] = count;  // <- initcheck
}

//: helper_that_may_not_answer block=32 args={"A": random(32), "out": zeros(32)}
__device__ void root_if_positive(float x, float *answer)
{
    if (x >= 0.0f) *answer = sqrtf(x);
}

__global__ void helper_that_may_not_answer(const float *A, float *out)
{
    float root;  // <- initcheck
    root_if_positive(A[threadIdx.x], &root);  // <- initcheck
    out[threadIdx.x] = root + 1.0f;  // <- initcheck
}

//: struct_half_filled block=32 args={"A": random(32), "out": zeros(32)}
struct Complex { float re, im; };
__global__ void struct_half_filled(const float *A, float *out)
{
    Complex z;  // <- initcheck
    z.re = A[threadIdx.x];
    out[threadIdx.x] = z.re * z.re + z.im * z.im;  // <- initcheck
}

//: window_filled_but_for_the_last block=32 args={"A": random(40), "out": zeros(32), "n": i4(4)}
__global__ void window_filled_but_for_the_last(const float *A, float *out, int n)
{
    float window[5];  // <- initcheck
    for (int k = 0; k < n; k++) window[k] = A[threadIdx.x + k];
    float sum = 0.0f;
    for (int k = 0; k < 5; k++) sum += window[k];  // <- initcheck
    out[threadIdx.x] = sum;  // <- initcheck out
}

//: index_of_the_best_unset block=16 args={"A": -arange(64), "out": zeros(16, i4)}
__global__ void index_of_the_best_unset(const float *A, int *out)
{
    int where;  // <- initcheck
    float best = 0.0f;
    for (int k = 0; k < 4; k++)
        if (A[threadIdx.x * 4 + k] > best) {
            best = A[threadIdx.x * 4 + k];
            where = k;
        }
    out[threadIdx.x] = where;  // <- initcheck
}

//: two_dimensional_tile_unset block=8 args={"A": random(8), "B": random(8), "out": zeros(8)}
__global__ void two_dimensional_tile_unset(const float *A, const float *B, float *out)
{
    float t[2][2];  // <- initcheck
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            t[i][j] = fmaf(A[(threadIdx.x + i) % 8], B[(threadIdx.x + j) % 8], t[i][j]);  // <- initcheck
    out[threadIdx.x] = t[0][0] + t[0][1] + t[1][0] + t[1][1];  // <- initcheck
}
