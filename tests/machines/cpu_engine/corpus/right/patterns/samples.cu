// In the manner of vendors' samples: finance, random numbers, transforms, filters, many bodies.
//: vectorAdd grid=5 block=256 args={"A": random(1100, 1), "B": random(1100, 2), "C": unset(1100), "numElements": i4(1100)} gives={"C": A + B}
__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < numElements) {
        C[i] = A[i] + B[i] + 0.0f;
    }
}
//: black_scholes grid=2 block=128 args={"call": unset(200), "put": unset(200), "S": 20 + random(200), "X": 20 + 5 * random(200, 2), "T": 2 + random(200, 3), "R": f4(0.02), "V": f4(0.3), "n": i4(200)}
//+ rtol=1e-3 gives={"put": (lambda call: X * np.exp(-R * T) - S + call)((lambda N, d: S * N(d) - X * np.exp(-R * T) * N(d - V * np.sqrt(T)))(lambda d: np.array([0.5 * (1 + __import__("math").erf(v / 2 ** 0.5)) for v in d]), (np.log(S / X) + (R + V * V / 2) * T) / (V * np.sqrt(T))))}
__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0)
        cnd = 1.0f - cnd;
    return cnd;
}
__launch_bounds__(128)
__global__ void black_scholes(float *call, float *put, const float *S, const float *X, const float *T, float R, float V, int n)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt >= n)
        return;
    float sqrtT = __fdividef(1.0F, rsqrtf(T[opt]));
    float d1 = __fdividef(__logf(S[opt] / X[opt]) + (R + 0.5f * V * V) * T[opt], V * sqrtT);
    float d2 = d1 - V * sqrtT;
    float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2), expRT = __expf(-R * T[opt]);
    call[opt] = S[opt] * CNDD1 - X[opt] * expRT * CNDD2;
    put[opt] = X[opt] * expRT * (1.0f - CNDD2) - S[opt] * (1.0f - CNDD1);
}
//: binomial_option grid=3 block=32 args={"S": np.array([20, 25, 30], f4), "X": np.array([21, 20, 33], f4), "value": unset(3), "steps": i4(40), "u": f4(1.05), "p": f4(0.52), "disc": f4(0.999)}
//+ rtol=1e-3 gives={"value": [(lambda C: sum(C(40, k) * p ** k * (1 - p) ** (40 - k) * max(0, S[o] * u ** (2 * k - 40.0) - X[o]) for k in range(41)) * float(disc) ** 40)(__import__("math").comb) for o in range(3)]}
#define MAX_STEPS 64
__global__ void binomial_option(const float *S, const float *X, float *value, int steps, float u, float p, float disc)
{
    __shared__ float call[MAX_STEPS + 1];
    const float spot = S[blockIdx.x], strike = X[blockIdx.x];
    for (int i = threadIdx.x; i <= steps; i += blockDim.x)
        call[i] = fmaxf(spot * powf(u, 2.0f * i - steps) - strike, 0.0f);
    for (int now = steps; now > 0; --now) {
        float mine[2];
        __syncthreads();
        for (int i = threadIdx.x, k = 0; i < now; i += blockDim.x, ++k)
            mine[k] = disc * (p * call[i + 1] + (1.0f - p) * call[i]);
        __syncthreads();
        for (int i = threadIdx.x, k = 0; i < now; i += blockDim.x, ++k)
            call[i] = mine[k];
    }
    if (threadIdx.x == 0)
        value[blockIdx.x] = call[0];
}
//: xorshift_streams grid=2 block=48 args={"state": arange(96, u4) + 1, "out": unset((5, 96))}
//+ gives={"state": __import__("functools").reduce(lambda s, _: (lambda a: (lambda b: b ^ (b << u4(5)))(a ^ (a >> u4(17))))(s ^ (s << u4(13))), range(5), state)}
__global__ void xorshift_streams(unsigned int *state, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = blockDim.x * gridDim.x;
    unsigned int s = state[i];
    for (int k = 0; k < 5; k++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        out[k * all + i] = (float)s * 2.3283064365386963e-10f;
    }
    state[i] = s;
}
//: sobol_one_dimension grid=2 block=32 args={"directions": np.uint32(1) << (u4(31) - arange(32, u4)), "output": unset(200), "n": u4(200)}
//+ gives={"output": [int(format(i ^ (i >> 1), "032b")[::-1], 2) / 2.0 ** 32 for i in range(200)]}
__global__ void sobol_one_dimension(const unsigned int *directions, float *output, unsigned int n)
{
    __shared__ unsigned int v[32];
    if (threadIdx.x < 32)
        v[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    unsigned int i0 = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
    for (unsigned int i = i0; i < n; i += stride) {
        unsigned int gray = i ^ (i >> 1), X = 0;
        for (unsigned int k = 0; k < __ffs(1 << 30) + 1; k++)
            X ^= v[k] & -((gray >> k) & 1u);
        output[i] = (float)X * (1.0f / 4294967296.0f);
    }
}
//: fast_walsh block=32 grid=2 args={"data": random(256, 1)} shared=512
//+ gives={"data": ((-1.0) ** np.array([[bin(a & b).count("1") for a in range(128)] for b in range(128)]) @ data.reshape(2, 128).T).T.ravel()}
__global__ void fast_walsh(float *data)
{
    extern __shared__ float s_data[];
    const int N = 128;
    float *mine = data + (blockIdx.x << 7);
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        s_data[pos] = mine[pos];
    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0;
        D0 = D0 + D2;
        D2 = T - D2;
        T = D1;
        D1 = D1 + D3;
        D3 = T - D3;
        T = D0;
        s_data[i0] = D0 + D1;
        s_data[i1] = T - D1;
        T = D2;
        s_data[i2] = D2 + D3;
        s_data[i3] = T - D3;
    }
    // 128 is an odd power of two: one butterfly of two remains
    __syncthreads();
    for (int k = threadIdx.x; k < N / 2; k += blockDim.x) {
        float a = s_data[2 * k], b = s_data[2 * k + 1];
        s_data[2 * k] = a + b;
        s_data[2 * k + 1] = a - b;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < N; k += blockDim.x)
        mine[k] = s_data[k];
}
//: convolution_rows grid=(2,3) block=(16,4) args={"dst": unset((12, 64)), "src": random((12, 64), 1), "w": i4(64)} symbols={"c_Kernel": np.array([1, 2, 4, 2, 3], f4)}
//+ gives={"dst": [np.convolve(row, [1, 2, 4, 2, 3], "same") for row in src]}
#define KERNEL_RADIUS 2
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 2
#define ROWS_HALO_STEPS 1
__constant__ float c_Kernel[KERNEL_LENGTH];
__global__ void convolution_rows(float *dst, float *src, int w)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
    src += baseY * w + baseX;
    dst += baseY * w + baseX;
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = src[i * ROWS_BLOCKDIM_X];
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (w - baseX > i * ROWS_BLOCKDIM_X) ? src[i * ROWS_BLOCKDIM_X] : 0;
    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}
//: convolution_2d_halo grid=(3,2) block=(12,12) args={"N": random((15, 20), 2), "P": unset((15, 20)), "height": i4(15), "width": i4(20)} symbols={"mask5": arange(25).reshape(5, 5) / f4(10)}
//+ gives={"P": [[(np.pad(N, 2)[y:y + 5, x:x + 5] * np.arange(25).reshape(5, 5) / 10).sum() for x in range(20)] for y in range(15)]}
__constant__ float mask5[5][5];
__global__ void convolution_2d_halo(const float *N, float *P, int height, int width)
{
    __shared__ float Ns[12][12];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row_o = blockIdx.y * 8 + ty, col_o = blockIdx.x * 8 + tx, row_i = row_o - 2, col_i = col_o - 2;
    if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width))
        Ns[ty][tx] = N[row_i * width + col_i];
    else
        Ns[ty][tx] = 0.0f;
    __syncthreads();
    if (ty < 8 && tx < 8) {
        float output = 0.0f;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                output += mask5[i][j] * Ns[i + ty][j + tx];
        if (row_o < height && col_o < width)
            P[row_o * width + col_o] = output;
    }
}
//: dct8x8 grid=(2,3) block=(8,8) args={"dst": unset((24, 16)), "src": random((24, 16), 1), "pitch": i4(16)}
//+ gives={"dst": (lambda D: np.block([[D @ src[8 * r:8 * r + 8, 8 * c:8 * c + 8] @ D.T for c in (0, 1)] for r in (0, 1, 2)]))(np.array([[(0.125 if u == 0 else 0.25) ** 0.5 * np.cos((2 * x + 1) * u * np.pi / 16) for x in range(8)] for u in range(8)]))}
__global__ void dct8x8(float *dst, const float *src, int pitch)
{
    __shared__ float block[64], half_way[64], D[64];
    int tx = threadIdx.x, ty = threadIdx.y, at = ty * 8 + tx, where = (blockIdx.y * 8 + ty) * pitch + blockIdx.x * 8 + tx;
    D[at] = sqrtf(ty ? 0.25f : 0.125f) * cosf((2 * tx + 1) * ty * 3.14159265f / 16);
    block[at] = src[where];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += D[ty * 8 + i] * block[i * 8 + tx];
    half_way[at] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += half_way[ty * 8 + i] * D[tx * 8 + i];
    dst[where] = sum;
}
//: nbody_tiles grid=2 block=32 shared=512 args={"pos": random((64, 4), 1), "acc": unset((64, 3)), "n": i4(64)} rtol=1e-3
//+ gives={"acc": [sum(pos[j, 3] * (pos[j, :3] - pos[i, :3]) / (((pos[j, :3] - pos[i, :3]) ** 2).sum() + 0.01) ** 1.5 for j in range(64)) for i in range(64)]}
__device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__global__ void nbody_tiles(float4 *pos, float *acc, int n)
{
    extern __shared__ float4 sharedPos[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = pos[index];
    float3 a = make_float3(0.0f, 0.0f, 0.0f);
    for (int tile = 0; tile < n / blockDim.x; tile++) {
        sharedPos[threadIdx.x] = pos[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (unsigned int counter = 0; counter < blockDim.x; counter++)
            a = bodyBodyInteraction(a, mine, sharedPos[counter]);
        __syncthreads();
    }
    acc[3 * index] = a.x;
    acc[3 * index + 1] = a.y;
    acc[3 * index + 2] = a.z;
}
//: mandelbrot grid=(2,2) block=(16,8) args={"image": unset((14, 30), i4), "w": i4(30), "h": i4(14), "limit": i4(40)}
//+ gives={"image": [[next((k for k, z in enumerate(__import__("itertools").accumulate(range(40), lambda z, _: z * z + complex(x / 16 - 1.5, y / 8 - 0.875) if abs(z) < 1e6 else z, initial=0j)) if abs(z) ** 2 > 4 or k == 40)) for x in range(30)] for y in range(14)]}
__global__ void mandelbrot(int *image, int w, int h, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    double cr = x / 16.0 - 1.5, ci = y / 8.0 - 0.875, zr = 0, zi = 0;
    int k = 0;
    while (k < limit && zr * zr + zi * zi <= 4.0) {
        double next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        ++k;
    }
    image[y * w + x] = k;
}
//: sobel grid=(3,2) block=(8,8) args={"in": np.random.default_rng(3).integers(0, 255, (14, 20)).astype(np.uint8), "out": zeros((14, 20), np.uint8), "w": i4(20), "h": i4(14)}
//+ gives={"out": (lambda p: np.pad(np.minimum(255, abs(p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]) + abs(p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:] - p[2:, :-2] - 2 * p[2:, 1:-1] - p[2:, 2:])), 1))(np.random.default_rng(3).integers(0, 255, (14, 20)))}
__device__ unsigned char ComputeSobel(unsigned char ul, unsigned char um, unsigned char ur, unsigned char ml, unsigned char mr,
                                      unsigned char ll, unsigned char lm, unsigned char lr)
{
    short Horz = ur + 2 * mr + lr - ul - 2 * ml - ll;
    short Vert = ul + 2 * um + ur - ll - 2 * lm - lr;
    short Sum = (short)(abs((int)Horz) + abs((int)Vert));
    return (unsigned char)min((int)Sum, 0xff);
}
__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const unsigned char *p = in + y * w + x;
    out[y * w + x] = ComputeSobel(p[-w - 1], p[-w], p[-w + 1], p[-1], p[1], p[w - 1], p[w], p[w + 1]);
}
//: haar_wavelet grid=2 block=32 args={"id": random(128, 1), "od": unset(128)}
//+ gives={"od": np.concatenate([np.concatenate([(p[::2] + p[1::2]) / 2 ** 0.5, (p[::2] - p[1::2]) / 2 ** 0.5]) for p in id.reshape(2, 64)])}
__global__ void haar_wavelet(const float *id, float *od)
{
    __shared__ float shared[64];
    const int tid = threadIdx.x, bdim = blockDim.x, base = 2 * bdim * blockIdx.x;
    shared[tid] = id[base + tid];
    shared[tid + bdim] = id[base + tid + bdim];
    __syncthreads();
    float data0 = shared[2 * tid], data1 = shared[2 * tid + 1];
    od[base + tid] = (data0 + data1) * 0.70710678118654752440f;
    od[base + tid + bdim] = (data0 - data1) * 0.70710678118654752440f;
}
//: cg_step grid=1 block=64 args={"x": zeros(50), "r": random(50, 1), "p": random(50, 1), "Ap": unset(50), "n": i4(50), "steps": i4(60)} rtol=1e-3
//+ gives={"x": np.linalg.solve(3 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1), r)}
__device__ float block_dot(const float *a, const float *b, int n, float *s)
{
    s[threadIdx.x] = threadIdx.x < n ? a[threadIdx.x] * b[threadIdx.x] : 0;
    for (int half = 32; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
    }
    __syncthreads();
    float sum = s[0];
    __syncthreads();
    return sum;
}
__global__ void cg_step(float *x, float *r, float *p, float *Ap, int n, int steps)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    float rr = block_dot(r, r, n, s);
    for (int k = 0; k < steps && rr > 1e-12f; k++) {
        if (i < n)
            Ap[i] = 3 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
        float alpha = rr / block_dot(p, Ap, n, s);
        if (i < n) {
            x[i] += alpha * p[i];
            r[i] -= alpha * Ap[i];
        }
        float now = block_dot(r, r, n, s);
        if (i < n)
            p[i] = r[i] + now / rr * p[i];
        rr = now;
        __syncthreads();
    }
}
//: monte_carlo_pi grid=3 block=64 args={"seed": np.random.default_rng(1).integers(1, 2**31, 192).astype(u4), "hits": zeros(1, i4), "turns": i4(50)}
//+ gives={"hits": sum((np.float32((s >> u4(8)) / f4(2**24))**2 + np.float32((t >> u4(8)) / f4(2**24))**2 < 1).sum() for s, t in (lambda g: list(zip(g[1::2], g[2::2])))(list(__import__("itertools").accumulate(range(100), lambda s, _: u4(1664525) * s + u4(1013904223), initial=seed))))}
__global__ void monte_carlo_pi(const unsigned *seed, int *hits, int turns)
{
    unsigned s = seed[blockIdx.x * blockDim.x + threadIdx.x];
    int mine = 0;
    for (int k = 0; k < turns; ++k) {
        s = 1664525u * s + 1013904223u;
        float x = (s >> 8) * (1.0f / 16777216.0f);
        s = 1664525u * s + 1013904223u;
        float y = (s >> 8) * (1.0f / 16777216.0f);
        mine += x * x + y * y < 1.0f;
    }
    atomicAdd(hits, mine);
}
