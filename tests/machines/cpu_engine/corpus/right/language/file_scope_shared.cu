// Shared memory that is declared outside the kernel, or with its words in another order.
//: several_arrays_in_dynamic block=64 grid=2 shared=1088 args={"out": unset(128), "x": random(128, 1)} gives={"out": np.concatenate([p[::-1] * 2 + 5 + np.arange(64) for p in x.reshape(2, 64)])}
extern __shared__ float array[];
__global__ void several_arrays_in_dynamic(float *out, const float *x)
{
    double *array0 = (double *)array;
    float *array1 = (float *)&array0[64];
    short *array2 = (short *)&array1[64];
    unsigned char *array3 = (unsigned char *)&array2[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    array0[t] = 2.0 * x[i];
    array1[t] = (float)t;
    array2[t] = 5;
    array3[t] = 0;
    __syncthreads();
    out[i] = (float)array0[63 - t] + array1[t] + array2[63 - t] + array3[0];
}
//: tile_at_file_scope block=64 grid=2 args={"x": random(128, 1)} gives={"x": x.reshape(2, 64)[:, ::-1].ravel()}
__shared__ float file_tile[64];
__device__ void load_tile(const float *x) { file_tile[threadIdx.x] = x[threadIdx.x]; }
__global__ void tile_at_file_scope(float *x)
{
    x += blockIdx.x * 64;
    load_tile(x);
    __syncthreads();
    x[threadIdx.x] = file_tile[63 - threadIdx.x];
}
//: two_kernels_one_buffer block=64 shared=256 args={"x": random(64, 3)} gives={"x": np.roll(x, -1)}
extern __shared__ unsigned char raw_bytes[];
__global__ void two_kernels_one_buffer(float *x)
{
    float *s = (float *)raw_bytes;
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}
