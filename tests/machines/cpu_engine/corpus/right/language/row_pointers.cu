// Parameters that point to whole rows.
//: pointers_to_rows grid=2 block=(16,2) args={"A": random((4, 16), 4), "out": unset((4, 16))} gives={"out": A[:, ::-1]}
__global__ void pointers_to_rows(const float (*A)[16], float (*const __restrict__ out)[16])
{
    int row = blockIdx.x * 2 + threadIdx.y;
    const float *const a = A[row];
    out[row][threadIdx.x] = a[15 - threadIdx.x];
}
