// Grids, images and matrices, each with one mistake.

//: corners_never_loaded block=(8,8) args=[random((10, 10)), zeros((8, 8))]
__global__ void corners_never_loaded(const float *in, float *out) {
    __shared__ float tile[10][10];
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    tile[y][x] = in[y * 10 + x];
    if (x == 1) tile[y][0] = in[y * 10], tile[y][9] = in[y * 10 + 9];
    if (y == 1) tile[0][x] = in[x], tile[9][x] = in[90 + x];
    __syncthreads();
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += tile[y + dy][x + dx];  // <- initcheck tile
    out[(y - 1) * 8 + x - 1] = sum / 9;
}

//: ghost_rows_without_second_barrier args=[random((6, 64), 1), zeros(64)]
__global__ void ghost_rows_without_second_barrier(const float *wall, float *result) {
    __shared__ float previous[64], next[64];
    int t = threadIdx.x;
    previous[t] = wall[t];
    __syncthreads();
    for (int row = 1; row < 6; row++) {
        float best = previous[t];
        if (t > 0) best = fminf(best, previous[t - 1]);  // <- racecheck previous
        if (t < 63) best = fminf(best, previous[t + 1]);  // <- racecheck previous
        next[t] = best + wall[row * 64 + t];
        previous[t] = next[t];  // <- racecheck previous
        __syncthreads();
    }
    result[t] = previous[t];
}

//: left_apron_forgotten grid=2 args=[random(144), zeros(128), random(17)]
__global__ void left_apron_forgotten(const float *in, float *out, const float *filter) {
    __shared__ float s[64 + 16];
    int t = threadIdx.x, at = blockIdx.x * 64;
    s[8 + t] = in[at + 8 + t];
    if (t < 8) s[72 + t] = in[at + 72 + t];
    __syncthreads();
    float sum = 0;
    for (int k = -8; k <= 8; k++) sum += s[8 + t + k] * filter[8 + k];  // <- initcheck s
    out[at + t] = sum;
}

//: planes_without_barrier_at_the_end block=(16,4) args=[random((5, 4, 16)), zeros((5, 4, 16))]
__global__ void planes_without_barrier_at_the_end(const float *in, float *out) {
    __shared__ float plane[4][16];
    int x = threadIdx.x, y = threadIdx.y, at = y * 16 + x;
    float behind = in[at], current = in[64 + at];
    for (int z = 1; z < 4; z++) {
        float front = in[(z + 1) * 64 + at];
        plane[y][x] = current;  // <- racecheck plane
        __syncthreads();
        float sum = behind + front;
        if (x > 0) sum += plane[y][x - 1];  // <- racecheck plane
        if (x < 15) sum += plane[y][x + 1];  // <- racecheck plane
        out[z * 64 + at] = sum;
        behind = current;
        current = front;
    }
}

//: clamped_to_the_width block=(16,16) args=[random((16, 16)), zeros((16, 16)), np.int32(16), np.int32(16)]
__device__ int clamped(int i, int low, int high) { return i < low ? low : i > high ? high : i; }
__global__ void clamped_to_the_width(const float *image, float *edges, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y;
    float gx = 0;
    for (int dy = -1; dy <= 1; dy++) {
        int row = clamped(y + dy, 0, h) * w;
        gx += image[row + clamped(x + 1, 0, w - 1)] - image[row + clamped(x - 1, 0, w - 1)];  // <- memcheck image
    }
    edges[y * w + x] = fabsf(gx);
}

//: wavefront_barrier_in_branch block=16 args=[zeros((17, 17), i4)]
__global__ void wavefront_barrier_in_branch(int *score) {
    __shared__ int s[17][17];
    int t = threadIdx.x;
    s[t + 1][0] = -(t + 1);
    s[0][t + 1] = -(t + 1);
    if (t == 0) s[0][0] = 0;
    __syncthreads();
    for (int m = 0; m < 16; m++) {
        if (t <= m) {
            int x = t + 1, y = m - t + 1;
            s[y][x] = max(s[y - 1][x - 1] + (x == y), max(s[y][x - 1], s[y - 1][x]) - 1);
            __syncthreads();  // <- synccheck
        }
    }
    for (int y = 0; y < 17; y++) score[y * 17 + t + 1] = s[y][t + 1];
}

//: pivot_column_in_use block=16 args=[np.eye(16, dtype=f4) * 9 + random((16, 16))]
__global__ void pivot_column_in_use(float *m) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) s[i][t] = m[i * 16 + t];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k) s[t][k] /= s[k][k];  // <- racecheck s
        if (t > k)
            for (int i = k + 1; i < 16; i++) s[i][t] -= s[i][k] * s[k][t];  // <- racecheck s
        __syncthreads();
    }
    for (int i = 0; i < 16; i++) m[i * 16 + t] = s[i][t];
}

//: wraps_below_zero block=(8,8) args=[ones((8, 8), i4), zeros((8, 8), i4)]
__global__ void wraps_below_zero(const int *now, int *next) {
    int x = threadIdx.x, y = threadIdx.y, alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += now[(y + dy) % 8 * 8 + (x + dx) % 8];  // <- memcheck now
    next[y * 8 + x] = alive == 3 || (alive == 2 && now[y * 8 + x]);
}

//: pitch_counts_bytes block=(16,4) args=[random((4, 32)), np.uint64(128)]
__global__ void pitch_counts_bytes(float *image, size_t pitch) {
    float *row = image + threadIdx.y * pitch;
    row[threadIdx.x] *= 2;  // <- memcheck image
}

//: back_substitution_one_row_early block=32 args=[np.triu(random((32, 32))) + np.eye(32, dtype=f4) * 8, random(32)]
__global__ void back_substitution_one_row_early(const float *u, float *x) {
    int t = threadIdx.x;
    for (int k = 31; k >= 0; k--) {
        if (t == k) x[k] /= u[k * 32 + k];  // <- racecheck x
        if (t < k) x[t] -= u[t * 32 + k] * x[k];  // <- racecheck x
        __syncthreads();
    }
}

//: cosine_table_too_short block=(8,8) args=[random((8, 8)), zeros((8, 8))]
__constant__ float cosines[56] = {1, 0.98f, 0.92f, 0.83f, 0.7f, 0.55f, 0.38f, 0.19f};
__global__ void cosine_table_too_short(const float *in, float *out) {
    int u = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int x = 0; x < 8; x++) sum += in[y * 8 + x] * cosines[u * 8 + x];  // <- memcheck cosines
    out[y * 8 + u] = sum;
}

//: pyramid_forgets_who_computed grid=3 block=16 args={"x": random(36), "out": zeros(36)}
__global__ void pyramid_forgets_who_computed(const float *x, float *out) {
    __shared__ float now[16], next[16];
    int t = threadIdx.x, i = blockIdx.x * 12 + t - 2;
    bool inside = i >= 0 && i < 36, computed = false;
    now[t] = inside ? x[i] : 0.f;
    __syncthreads();
    for (int step = 0; step < 2; step++) {
        if (inside && t > step && t < 15 - step) {
            computed = true;  // it should be false again for those whose halo is used up
            next[t] = (now[t - 1] + now[t] + now[t + 1]) / 3.f;
        }
        __syncthreads();
        if (computed) now[t] = next[t];
        __syncthreads();
    }
    if (computed) out[i] = now[t];  // <- racecheck out
}
