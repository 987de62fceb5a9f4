// Copies and transposes of matrices.
#define TILE_DIM 32
#define BLOCK_ROWS 8
//: copy_tiles grid=(2,3) block=(32,8) args={"odata": unset((96, 64)), "idata": random((96, 64)), "width": i4(64)} gives={"odata": idata}
__global__ void copy_tiles(float *odata, const float *idata, int width)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = idata[(y + j) * width + x];
}
//: copy_shared grid=(2,2) block=(32,8) args={"odata": unset((64, 64)), "idata": random((64, 64), 2)} gives={"odata": idata}
__global__ void copy_shared(float *odata, const float *idata)
{
    __shared__ float tile[TILE_DIM * TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int width = gridDim.x * TILE_DIM;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[(threadIdx.y + j) * TILE_DIM + threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[(threadIdx.y + j) * TILE_DIM + threadIdx.x];
}
//: transpose_naive grid=(2,3) block=(32,8) args={"odata": unset((64, 96)), "idata": random((96, 64), 3), "width": i4(64), "height": i4(96)}
//+ gives={"odata": idata.T}
__global__ void transpose_naive(float *odata, const float *idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[x * height + (y + j)] = idata[(y + j) * width + x];
}
//: transpose_coalesced grid=(2,3) block=(32,8) args={"odata": unset((64, 96)), "idata": random((96, 64), 4), "width": i4(64), "height": i4(96)}
//+ gives={"odata": idata.T}
__global__ void transpose_coalesced(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
//: transpose_padded_ragged grid=(3,2) block=(32,8) args={"odata": unset((70, 45)), "idata": random((45, 70), 5), "width": i4(70), "height": i4(45)}
//+ gives={"odata": idata.T}
__global__ void transpose_padded_ragged(float *__restrict__ odata, const float *__restrict__ idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
//: transpose_diagonal grid=(2,2) block=(16,16) args={"odata": unset((32, 32)), "idata": random((32, 32), 6), "width": i4(32), "height": i4(32)}
//+ gives={"odata": idata.T}
__global__ void transpose_diagonal(float *odata, float *idata, int width, int height)
{
    __shared__ float tile[16][17];
    int blockIdx_x, blockIdx_y;
    if (width == height) {
        blockIdx_y = blockIdx.x;
        blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        int bid = blockIdx.x + gridDim.x * blockIdx.y;
        blockIdx_y = bid % gridDim.y;
        blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x;
    }
    int x = blockIdx_x * 16 + threadIdx.x, y = blockIdx_y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = idata[x + y * width];
    __syncthreads();
    x = blockIdx_y * 16 + threadIdx.x;
    y = blockIdx_x * 16 + threadIdx.y;
    odata[x + y * height] = tile[threadIdx.x][threadIdx.y];
}
//: transpose_swizzled grid=(2,2) block=(32,32) args={"odata": unset((64, 64)), "idata": random((64, 64), 7), "n": i4(64)} gives={"odata": idata.T}
__global__ void transpose_swizzled(float *odata, const float *idata, int n)
{
    __shared__ float tile[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx ^ ty] = idata[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    odata[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty ^ tx];
}
//: transpose_in_place grid=(3,3) block=(16,16) args={"A": random((40, 40), 8), "n": i4(40)} gives={"A": A.T}
__global__ void transpose_in_place(float *A, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < y && y < n) {
        float upper = A[x * n + y];
        A[x * n + y] = A[y * n + x];
        A[y * n + x] = upper;
    }
}
