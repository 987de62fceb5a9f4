// Stencils and convolutions, whose borders go wrong.
//: blur_without_borders grid=(2, 2) block=(8, 8) args={"A": random((16, 16)), "out": zeros((16, 16)), "n": i4(16)}
__global__ void blur_without_borders(const float *A, float *out, int n)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += A[(y + dy) * n + x + dx];  // <- memcheck A
    out[y * n + x] = sum / 9.0f;
}

//: heat_last_row_included grid=1 block=(12, 12) args={"T": random((12, 12)), "next": zeros((12, 12)), "n": i4(12)}
__global__ void heat_last_row_included(const float *T, float *next, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n)
        next[y * n + x] = T[y * n + x] + 0.1f * (T[(y + 1) * n + x] + T[(y - 1) * n + x] - 2 * T[y * n + x]);  // <- memcheck T
}

//: tile_with_halo_no_barrier grid=2 block=32 args={"A": random(66), "out": zeros(64)}
__global__ void tile_with_halo_no_barrier(const float *A, float *out)
{
    __shared__ float s[34];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t + 1] = A[i + 1];  // <- racecheck s
    if (t == 0) s[0] = A[i];  // <- racecheck s
    if (t == 31) s[33] = A[i + 2];  // <- racecheck s
    out[i] = s[t] - 2.0f * s[t + 1] + s[t + 2];  // <- racecheck s
}

//: halo_corners_forgotten block=(8, 8) args={"A": random((10, 10)), "out": zeros((8, 8))}
__global__ void halo_corners_forgotten(const float *A, float *out)
{
    __shared__ float s[10][10];
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    s[y][x] = A[y * 10 + x];
    if (x == 1) s[y][0] = A[y * 10];
    if (x == 8) s[y][9] = A[y * 10 + 9];
    if (y == 1) s[0][x] = A[x];
    if (y == 8) s[9][x] = A[90 + x];
    __syncthreads();
    float sum = 0.0f;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += s[y + j][x + i];  // <- initcheck s
    out[threadIdx.y * 8 + threadIdx.x] = sum;
}

//: radius_larger_than_the_halo block=32 args={"A": random(36), "out": zeros(32), "radius": i4(3)}
__global__ void radius_larger_than_the_halo(const float *A, float *out, int radius)
{
    __shared__ float s[36];
    for (int k = threadIdx.x; k < 36; k += 32) s[k] = A[k];
    __syncthreads();
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++)
        sum += s[(int)threadIdx.x + 2 + k];  // <- memcheck s
    out[threadIdx.x] = sum;
}

//: time_steps_without_a_grid_barrier grid=2 block=32 args={"U": random(64), "V": zeros(64), "steps": i4(2)}
__global__ void time_steps_without_a_grid_barrier(float *U, float *V, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = (i + 63) % 64, right = (i + 1) % 64;
    for (int s = 0; s < steps; s++) {
        V[i] = 0.5f * (U[left] + U[right]);  // <- racecheck U
        __syncthreads();
        U[i] = V[i];  // <- racecheck U
        __syncthreads();
    }
}

//: convolution_of_channels_swapped block=(6, 6) args={"image": random((3, 8, 8)), "filter": random((3, 3, 3)), "out": zeros((6, 6))}
__global__ void convolution_of_channels_swapped(const float *image, const float *filter, float *out)
{
    float sum = 0.0f;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) {
                float pixel = image[(c * 8 + threadIdx.y + r) * 8 + threadIdx.x + k];
                sum += pixel * filter[(r * 9 + c) * 3 + k];  // <- memcheck filter
            }
    out[threadIdx.y * 6 + threadIdx.x] = sum;
}

//: three_dimensional_pitch grid=(1, 1, 2) block=(4, 4, 2) args={"U": random((4, 4, 6)), "out": zeros((4, 4, 4)), "nx": i4(6), "ny": i4(4)}
__global__ void three_dimensional_pitch(const float *U, float *out, int nx, int ny)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
    out[(z * ny + y) * 4 + x] = U[(z * nx + y) * nx + x];  // <- memcheck U
}

//: gauss_seidel_claims_colours grid=1 block=(16, 8) args={"U": random((8, 16))}
__global__ void gauss_seidel_claims_colours(float *U)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x > 0 && x < 15 && y > 0 && y < 7 && (x & 1) == 0) {
        float a = U[y * 16 + x - 1] + U[y * 16 + x + 1];
        float b = U[(y - 1) * 16 + x] + U[(y + 1) * 16 + x];  // <- racecheck U
        U[y * 16 + x] = 0.25f * (a + b);  // <- racecheck U
    }
}

//: pooling_window_off_the_edge block=(5, 5) args={"A": random((9, 9)), "out": zeros((5, 5))}
__device__ float biggest_of_four(const float *A, int x, int y, int n)
{
    float a = fmaxf(A[y * n + x], A[y * n + x + 1]);  // <- memcheck A
    float b = fmaxf(A[(y + 1) * n + x], A[(y + 1) * n + x + 1]);  // <- memcheck A
    return fmaxf(a, b);
}

__global__ void pooling_window_off_the_edge(const float *A, float *out)
{
    out[threadIdx.y * 5 + threadIdx.x] = biggest_of_four(A, 2 * threadIdx.x, 2 * threadIdx.y, 9);
}

//: wavefront_skips_a_barrier block=16 args={"score": zeros((17, 17), i4), "gap": i4(1)}
__global__ void wavefront_skips_a_barrier(int *score, int gap)
{
    int i = threadIdx.x + 1;
    for (int d = 0; d < 31; d++) {
        int j = d - (int)threadIdx.x + 1;
        if (j >= 1 && j <= 16) {
            int best = max(score[(i - 1) * 17 + j], score[i * 17 + j - 1]);  // <- racecheck score
            score[i * 17 + j] = best + gap;  // <- racecheck score
        }
    }
}
