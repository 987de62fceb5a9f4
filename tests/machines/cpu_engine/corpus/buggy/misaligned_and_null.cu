// Addresses that no array has, and addresses that the type does not allow.
//: float4_from_the_second_float block=8 args={"A": random(64), "out": zeros(8)}
__global__ void float4_from_the_second_float(const float *A, float *out)
{
    float4 v = *(const float4 *)(A + 1 + 4 * threadIdx.x);  // <- memcheck A
    out[threadIdx.x] = v.x + v.w;
}

//: float2_of_odd_rows block=(4, 4) args={"A": random((4, 9)), "out": zeros(16)}
__global__ void float2_of_odd_rows(const float *A, float *out)
{
    const float2 *row = reinterpret_cast<const float2 *>(A + threadIdx.y * 9);
    float2 v = row[threadIdx.x];  // <- memcheck A
    out[threadIdx.y * 4 + threadIdx.x] = v.x - v.y;
}

//: int_from_a_byte_offset block=8 args={"bytes": np.arange(64, dtype=np.uint8), "out": zeros(8, i4)}
__global__ void int_from_a_byte_offset(const unsigned char *bytes, int *out)
{
    out[threadIdx.x] = *(const int *)(bytes + threadIdx.x * 5);  // <- memcheck bytes
}

//: shared_float4_after_a_byte_tail block=8 args={"A": random(40), "out": zeros(8)}
__global__ void shared_float4_after_a_byte_tail(const float *A, float *out)
{
    __shared__ __align__(16) float s[44];
    for (int k = threadIdx.x; k < 40; k += 8) s[k] = A[k];
    __syncthreads();
    float4 v = *reinterpret_cast<float4 *>(&s[threadIdx.x * 5]);  // <- memcheck s
    out[threadIdx.x] = v.x + v.y;
}

//: store_float4_shifted_by_the_row grid=2 block=8 args={"A": random(64), "out": zeros(72)}
__global__ void store_float4_shifted_by_the_row(const float *A, float *out)
{
    float4 v = ((const float4 *)A)[blockIdx.x * 8 + threadIdx.x];
    float4 *to = (float4 *)(out + blockIdx.x * 34);
    to[threadIdx.x] = v;  // <- memcheck out
}

//: double_at_an_odd_float block=8 args={"A": zeros(32), "out": np.zeros(8)}
__global__ void double_at_an_odd_float(const float *A, double *out)
{
    out[threadIdx.x] = *(const double *)(A + 2 * threadIdx.x + 1);  // <- memcheck A
}

//: null_input block=32 args={"A": None, "out": zeros(32)}
__global__ void null_input(const float *A, float *out)
{
    out[threadIdx.x] = A[threadIdx.x] + 1.0f;  // <- memcheck
}

//: null_output block=32 args={"A": random(32), "out": None}
__global__ void null_output(const float *A, float *out)
{
    float x = A[threadIdx.x];
    out[threadIdx.x] = x * x;  // <- memcheck
}

//: optional_bias_not_asked block=32 args={"A": random(32), "bias": None, "out": zeros(32), "rows": i4(4)}
__global__ void optional_bias_not_asked(const float *A, const float *bias, float *out, int rows)
{
    float sum = A[threadIdx.x];
    for (int k = 0; k < rows; k++)
        sum += bias[k * 1000];  // <- memcheck
    out[threadIdx.x] = sum;
}

//: end_of_a_list_followed block=8 args={"next": np.zeros(8, np.uint64), "out": zeros(8, i4)}
struct Node { Node *next; };
__global__ void end_of_a_list_followed(const Node *next, int *out)
{
    const Node *n = next + threadIdx.x;
    int length = 0;
    for (; length < 3; length++) n = n->next;  // <- memcheck
    out[threadIdx.x] = n ? length : 0;
}

//: atomic_at_null block=32 args={"count": None}
__global__ void atomic_at_null(int *count)
{
    atomicAdd(count, 1);  // <- memcheck
}

//: pointer_made_up_from_an_int block=8 args={"out": zeros(8), "where": np.int64(0x12345678)}
__global__ void pointer_made_up_from_an_int(float *out, long long where)
{
    const float *p = (const float *)where;
    out[threadIdx.x] = p[threadIdx.x];  // <- memcheck
}
