// Grids, images and matrices, all of them right.

//: heat_in_a_pyramid block=(12,12) args={"t": random((12, 12)), "out": unset((8, 8))} gives={"out": (lambda s:
//+ s(s(t)))(lambda a: a[1:-1, 1:-1] + 0.1 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1,
//+ 1:-1]))}
__global__ void heat_in_a_pyramid(const float *t, float *out) {
    __shared__ float now[12][12], next[12][12];
    int x = threadIdx.x, y = threadIdx.y;
    now[y][x] = t[y * 12 + x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < 2; i++) {
        computed = false;
        if (x > i && x < 11 - i && y > i && y < 11 - i) {
            computed = true;
            next[y][x] = now[y][x] + 0.1f * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x]);
        }
        __syncthreads();
        if (i == 1) break;
        if (computed) now[y][x] = next[y][x];
        __syncthreads();
    }
    if (computed) out[(y - 2) * 8 + x - 2] = next[y][x];
}

//: rows_with_apron grid=(2,2) block=(16,4) args={"in_": random((8, 64)), "out": unset((8, 64))} symbols={"taps":
//+ np.float32([1, 2, 3, 4, 5])} gives={"out": [np.convolve(r, [5, 4, 3, 2, 1], "same") for r in in_]} rtol=1e-4
#define STEPS 2
__constant__ float taps[5];
__global__ void rows_with_apron(const float *in, float *out) {
    __shared__ float s[4][(STEPS + 2) * 16];
    const int base = (blockIdx.x * STEPS - 1) * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    in += y * 64 + base;
    out += y * 64 + base;
#pragma unroll
    for (int i = 1; i < 1 + STEPS; i++) s[threadIdx.y][threadIdx.x + i * 16] = in[i * 16];
    s[threadIdx.y][threadIdx.x] = base >= 0 ? in[0] : 0;
    s[threadIdx.y][threadIdx.x + (STEPS + 1) * 16] = 64 - base > (STEPS + 1) * 16 ? in[(STEPS + 1) * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 1 + STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -2; j <= 2; j++) sum += taps[2 + j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
        out[i * 16] = sum;
    }
}

//: planes_in_registers block=(8,8) args={"in_": random((6, 8, 8)), "out": zeros((6, 8, 8))} gives={"out":
//+ np.pad(in_[:-2, 1:-1, 1:-1] + in_[2:, 1:-1, 1:-1] + in_[1:-1, :-2, 1:-1] + in_[1:-1, 2:, 1:-1] + in_[1:-1, 1:-1,
//+ :-2] + in_[1:-1, 1:-1, 2:], 1)}
__global__ void planes_in_registers(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float plane[8][8 + 1];
    int x = threadIdx.x, y = threadIdx.y, at = y * 8 + x;
    bool inner = x > 0 && x < 7 && y > 0 && y < 7;
    float queue[3] = {0, in[at], in[64 + at]};
    for (int z = 1; z < 5; z++) {
        queue[0] = queue[1], queue[1] = queue[2], queue[2] = in[(z + 1) * 64 + at];
        __syncthreads();
        plane[y][x] = queue[1];
        __syncthreads();
        if (inner)
            out[z * 64 + at] = queue[0] + queue[2] + plane[y - 1][x] + plane[y + 1][x] + plane[y][x - 1] + plane[y][x + 1];
    }
}

//: life_on_a_torus grid=2 block=(8,4) args={"now": (random((8, 8)) > 0).astype(np.uint8), "next": unset((8, 8),
//+ np.uint8)} gives={"next": (lambda k: (k == 3) | ((k == 2) & (now > 0)))(sum(np.roll(now, (a, b), (0, 1)) for a
//+ in (-1, 0, 1) for b in (-1, 0, 1) if a or b))}
typedef unsigned char ubyte;
__global__ void life_on_a_torus(const ubyte *now, ubyte *next) {
    uint x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    uint left = (x + 7) % 8, right = (x + 1) % 8, above = (y + 7) % 8 * 8, below = (y + 1) % 8 * 8, row = y * 8;
    uint alive = now[left + above] + now[x + above] + now[right + above] + now[left + row] + now[right + row] +
                 now[left + below] + now[x + below] + now[right + below];
    next[x + row] = alive == 3 || (alive == 2 && now[x + row]) ? 1 : 0;
}

//: alignment_by_diagonals block=16 args={"a": zeros(16, i4), "b": zeros(16, i4), "score": zeros((17, 17), i4)}
//+ gives={"score": np.minimum.outer(np.arange(17), np.arange(17)) - abs(np.subtract.outer(np.arange(17),
//+ np.arange(17)))}
__global__ void alignment_by_diagonals(const int *a, const int *b, int *score) {
    __shared__ int s[17][17];
    int t = threadIdx.x;
    s[t + 1][0] = s[0][t + 1] = -(t + 1);
    if (t == 0) s[0][0] = 0;
    __syncthreads();
    auto fill = [&](int x, int y) {
        int match = s[y - 1][x - 1] + (a[y - 1] == b[x - 1] ? 1 : -1);
        s[y][x] = max(match, max(s[y - 1][x] - 1, s[y][x - 1] - 1));
    };
    for (int m = 0; m < 16; m++) {
        if (t <= m) fill(t + 1, m - t + 1);
        __syncthreads();
    }
    for (int m = 14; m >= 0; m--) {
        if (t <= m) fill(t + 16 - m, 16 - t);
        __syncthreads();
    }
    for (int y = 0; y < 17; y++) {
        score[y * 17 + t + 1] = s[y][t + 1];
        if (t == 0) score[y * 17] = s[y][0];
    }
}

//: factors_in_place block=16 args={"m": (np.tri(16) @ np.tri(16).T).astype(f4)} gives={"m": ones((16, 16))}
__global__ void factors_in_place(float *m) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) s[i][t] = m[i * 16 + t];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k) s[t][k] /= s[k][k];
        __syncthreads();
        if (t > k)
            for (int i = k + 1; i < 16; i++) s[i][t] -= s[i][k] * s[k][t];
        __syncthreads();
    }
    for (int i = 0; i < 16; i++) m[i * 16 + t] = s[i][t];
}

//: transposed_along_diagonals grid=(4,4) block=(16,4) args={"in_": random((64, 64)), "out": unset((64, 64))}
//+ gives={"out": in_.T}
__global__ void transposed_along_diagonals(const float *in, float *out);
__global__ void transposed_along_diagonals(const float *in, float *out) {
    __shared__ float tile[16][17];
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    int x = bx * 16 + threadIdx.x, y = by * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += blockDim.y) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 64 + x];
    __syncthreads();
    x = by * 16 + threadIdx.x, y = bx * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += blockDim.y) out[(y + j) * 64 + x] = tile[threadIdx.x][threadIdx.y + j];
}

//: columns_by_sliding_sum block=32 args={"in_": random((20, 32)), "out": unset((20, 32))} gives={"out": [in_[max(i
//+ - 2, 0):i + 3].sum(0) / 5 for i in range(20)]} rtol=1e-4
__global__ void columns_by_sliding_sum(const float *in, float *out) {
    in += threadIdx.x, out += threadIdx.x;
    float sum = 0;
    for (int y = 0; y < 2; y++) sum += in[y * 32];
    for (int y = 0; y < 20; y++) {
        if (y + 2 < 20) sum += in[(y + 2) * 32];
        if (y - 3 >= 0) sum -= in[(y - 3) * 32];
        out[y * 32] = sum * 0.2f;
    }
}

//: pitched_rows block=(16,4) args={"image": random((4, 32)), "pitch": np.uint64(128)} gives={"image": image *
//+ np.where(arange(32) < 16, 2, 1)}
__global__ void pitched_rows(float *image, size_t pitch) {
    float *row = (float *)((char *)image + threadIdx.y * pitch);
    row[threadIdx.x] *= 2;
}

//: bodies grid=2 block=32 args={"p": np.c_[random((64, 3)), ones((64, 1))].astype(f4), "a": unset((64, 4))}
//+ gives={"a": (lambda d: np.c_[(d / ((d ** 2).sum(-1, keepdims=True) + 0.01) ** 1.5).sum(1), zeros((64,
//+ 1))])(p[None, :, :3] - p[:, None, :3])} rtol=1e-3
__device__ float3 &operator+=(float3 &a, const float3 &b) { return a.x += b.x, a.y += b.y, a.z += b.z, a; }
__device__ float3 pull(const float4 &me, const float4 &other) {
    float3 r = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
    float squared = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f, inverse = rsqrtf(squared), s = other.w * inverse * inverse * inverse;
    return make_float3(r.x * s, r.y * s, r.z * s);
}
__global__ void bodies(const float4 *p, float4 *a) {
    extern __shared__ float4 unused[];
    __shared__ float4 tile[32];
    float4 me = p[blockIdx.x * blockDim.x + threadIdx.x];
    float3 sum = {0.0f, 0.0f, 0.0f};
    for (int b = 0; b < gridDim.x; b++) {
        tile[threadIdx.x] = p[b * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) sum += pull(me, tile[i]);
        __syncthreads();
    }
    a[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}
