// Stencils, dynamic programming, factorisations, graphs and clusters.
#include <float.h>
#define BLOCK_SIZE 16
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
//: hotspot grid=(3,3) block=(16,16) args={"power": random((40, 30), 1), "src": random((40, 30), 2), "dst": unset((40, 30)), "cols": i4(30), "rows": i4(40)}
//+ gives={"dst": (lambda p: src + 0.1 * (power + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * src))(np.pad(src, 1, mode="edge"))}
__global__ void hotspot(float *power, float *src, float *dst, int cols, int rows)
{
    __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int y = by * (BLOCK_SIZE - 2) - 1 + ty, x = bx * (BLOCK_SIZE - 2) - 1 + tx;
    int cy = max(0, min(y, rows - 1)), cx = max(0, min(x, cols - 1));
    temp[ty][tx] = src[cy * cols + cx];
    __syncthreads();
    if (IN_RANGE(tx, 1, BLOCK_SIZE - 2) && IN_RANGE(ty, 1, BLOCK_SIZE - 2) && IN_RANGE(x, 0, cols - 1) && IN_RANGE(y, 0, rows - 1))
        dst[y * cols + x] = temp[ty][tx] + 0.1f * (power[y * cols + x] + temp[ty + 1][tx] + temp[ty - 1][tx] + temp[ty][tx + 1] +
                                                  temp[ty][tx - 1] - 4.0f * temp[ty][tx]);
}
//: pathfinder grid=4 block=32 args={"iteration": i4(6), "gpuWall": np.random.default_rng(1).integers(0, 10, (6, 70)).astype(i4), "gpuSrc": np.random.default_rng(2).integers(0, 10, 70).astype(i4), "gpuResults": unset(70, i4), "cols": i4(70)}
//+ gives={"gpuResults": __import__("functools").reduce(lambda s, w: w + np.minimum(np.minimum(s, np.append(s[1:], 10**6)), np.append(10**6, s[:-1])), gpuWall, gpuSrc)}
__global__ void pathfinder(int iteration, int *gpuWall, int *gpuSrc, int *gpuResults, int cols)
{
    const int SIZE = 32;
    __shared__ int prev[SIZE];
    __shared__ int result[SIZE];
    int tx = threadIdx.x, small = SIZE - iteration * 2;
    int blkX = small * blockIdx.x - iteration, blkXmax = blkX + SIZE - 1, xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? SIZE - 1 - (blkXmax - cols + 1) : SIZE - 1;
    int W = tx - 1 < validXmin ? validXmin : tx - 1, E = tx + 1 > validXmax ? validXmax : tx + 1;
    bool isValid = IN_RANGE(tx, validXmin, validXmax);
    if (IN_RANGE(xidx, 0, cols - 1))
        prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, SIZE - i - 2) && isValid) {
            computed = true;
            int shortest = MIN(MIN(prev[W], prev[tx]), prev[E]);
            result[tx] = shortest + gpuWall[cols * i + xidx];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        gpuResults[xidx] = result[tx];
}
//: needleman_wunsch_block grid=1 block=16 args={"sim": np.random.default_rng(3).integers(-4, 5, (16, 16)).astype(i4), "score": np.int64(0) + np.pad(zeros((16, 16), i4), ((1, 0), (1, 0))) - np.arange(17, dtype=i4)[:, None] * (np.arange(17) == 0) - np.arange(17, dtype=i4) * (np.arange(17) == 0)[:, None], "penalty": i4(1)}
//+ gives={"score": (lambda F: [F.__setitem__((i, j), max(F[i-1, j-1] + sim[i-1, j-1], F[i-1, j] - 1, F[i, j-1] - 1)) for i in range(1, 17) for j in range(1, 17)] and F)(score.copy())}
__device__ __host__ int maximum(int a, int b, int c)
{
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}
__global__ void needleman_wunsch_block(const int *sim, long long *score, int penalty)
{
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    int tid = threadIdx.x;
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        ref[ty][tid] = sim[BLOCK_SIZE * ty + tid];
    if (tid == 0)
        temp[0][0] = score[0];
    temp[tid + 1][0] = score[(BLOCK_SIZE + 1) * (tid + 1)];
    temp[0][tid + 1] = score[tid + 1];
    __syncthreads();
    for (int m = 0; m < BLOCK_SIZE; m++) {
        if (tid <= m) {
            int x = tid + 1, y = m - tid + 1;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
        if (tid <= m) {
            int x = tid + BLOCK_SIZE - m, y = BLOCK_SIZE - tid;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        score[(BLOCK_SIZE + 1) * (ty + 1) + tid + 1] = temp[ty + 1][tid + 1];
}
//: lud_diagonal block=16 args={"m": random((20, 20), 5) + 8 * np.eye(20, dtype=f4), "matrix_dim": i4(20), "offset": i4(2)} rtol=1e-4
//+ gives={"m": (lambda a: [(a.__setitem__((slice(k + 1, None), k), a[k+1:, k] / a[k, k]), a.__setitem__((slice(k + 1, None), slice(k + 1, None)), a[k+1:, k+1:] - np.outer(a[k+1:, k], a[k, k+1:]))) for a, k in [(a[2:18, 2:18], k) for k in range(15)]] and a)(m.copy())}
__global__ void lud_diagonal(float *m, int matrix_dim, int offset)
{
    int i, j;
    __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
    int array_offset = offset * matrix_dim + offset;
    for (i = 0; i < BLOCK_SIZE; i++) {
        shadow[i][threadIdx.x] = m[array_offset + threadIdx.x];
        array_offset += matrix_dim;
    }
    __syncthreads();
    for (i = 0; i < BLOCK_SIZE - 1; i++) {
        if (threadIdx.x > i) {
            for (j = 0; j < i; j++)
                shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
            shadow[threadIdx.x][i] /= shadow[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i) {
            for (j = 0; j < i + 1; j++)
                shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
        }
        __syncthreads();
    }
    array_offset = (offset + 1) * matrix_dim + offset;
    for (i = 1; i < BLOCK_SIZE; i++) {
        m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
        array_offset += matrix_dim;
    }
}
//: gaussian_fan1 grid=2 block=16 args={"m": zeros((20, 20)), "a": random((20, 20), 6) + 4, "size": i4(20), "t": i4(3)}
//+ gives={"m": np.where((np.arange(20) == 3) & (np.arange(20)[:, None] > 3), a[:, 3:4] / a[3, 3], 0)}
__global__ void gaussian_fan1(float *m, float *a, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t)
        return;
    *(m + size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
        *(a + size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) / *(a + size * t + t);
}
//: gaussian_fan2 grid=(2,2) block=(16,16) args={"m": random((20, 20), 7), "a": random((20, 20), 8), "b": random(20, 9), "size": i4(20), "t": i4(3)}
//+ gives={"a": a - np.where((np.arange(20) >= 3) & (np.arange(20)[:, None] > 3), m[:, 3:4] * a[3], 0), "b": b - np.where(np.arange(20) > 3, m[:, 3] * b[3], 0)}
__global__ void gaussian_fan2(float *m, float *a, float *b, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t)
        return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= size - t)
        return;
    int xidx = blockIdx.x * blockDim.x + threadIdx.x, yidx = blockIdx.y * blockDim.y + threadIdx.y;
    a[size * (xidx + 1 + t) + (yidx + t)] -= m[size * (xidx + 1 + t) + t] * a[size * t + (yidx + t)];
    if (yidx == 0)
        b[xidx + 1 + t] -= m[size * (xidx + 1 + t) + (yidx + t)] * b[t];
}
//: kmeans_assign grid=2 block=64 args={"points": random((4, 100), 1), "membership": unset(100, i4), "npoints": i4(100), "nclusters": i4(5), "nfeatures": i4(4)} symbols={"c_clusters": np.pad(random(20, 2), (0, 12))}
//+ gives={"membership": ((points.T[:, None] - random(20, 2).reshape(5, 4)) ** 2).sum(-1).argmin(1)}
__constant__ float c_clusters[32];
__global__ void kmeans_assign(const float *points, int *membership, int npoints, int nclusters, int nfeatures)
{
    const unsigned int point_id = blockIdx.x * blockDim.x + threadIdx.x;
    int index = -1;
    if (point_id < npoints) {
        float min_dist = FLT_MAX;
        for (int i = 0; i < nclusters; i++) {
            float ans = 0.0f;
            for (int j = 0; j < nfeatures; j++) {
                float diff = points[point_id + j * npoints] - c_clusters[i * nfeatures + j];
                ans += diff * diff;
            }
            if (ans < min_dist) {
                min_dist = ans;
                index = i;
            }
        }
        membership[point_id] = index;
    }
}
//: bfs_level grid=2 block=16 args={"start": np.array([0, 2, 5, 6, 8, 8, 10], i4), "edges": np.array([1, 2, 0, 3, 4, 5, 4, 5, 0, 1], i4), "mask": np.array([0, 1, 1, 0, 0, 0], np.uint8), "updating": zeros(6, np.uint8), "visited": np.array([1, 1, 1, 0, 0, 0], np.uint8), "cost": np.array([0, 1, 1, -1, -1, -1], i4), "n": i4(6)}
//+ gives={"mask": 0, "updating": [0, 0, 0, 1, 1, 1], "cost": [0, 1, 1, 2, 2, 2]}
__global__ void bfs_level(const int *start, const int *edges, bool *mask, bool *updating, bool *visited, int *cost, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n && mask[tid]) {
        mask[tid] = false;
        for (int i = start[tid]; i < start[tid + 1]; i++) {
            int id = edges[i];
            if (!visited[id]) {
                atomicExch(&cost[id], 2);
                updating[id] = true;  // a node has one parent only in this graph's second level
            }
        }
    }
}
//: bfs_frontier grid=1 block=32 args={"start": np.array([0, 2, 5, 6, 8, 8, 10], i4), "edges": np.array([1, 2, 0, 3, 4, 5, 4, 5, 0, 1], i4), "level": np.array([0, -1, -1, -1, -1, -1], i4), "queue": zeros(8, i4), "tail": zeros(1, i4), "n": i4(6)}
//+ gives={"level": [0, 1, 1, 2, 2, 2]}
__global__ void bfs_frontier(const int *start, const int *edges, int *level, int *queue, int *tail, int n)
{
    __shared__ int head, end;
    if (threadIdx.x == 0) {
        queue[0] = 0;
        *tail = 1;
        head = 0;
        end = 1;
    }
    __syncthreads();
    for (int depth = 1; head < end; ++depth) {
        for (int q = head + threadIdx.x; q < end; q += blockDim.x)
            for (int e = start[queue[q]]; e < start[queue[q] + 1]; ++e)
                if (atomicCAS(&level[edges[e]], -1, depth) == -1)
                    queue[atomicAdd(tail, 1)] = edges[e];
        __syncthreads();
        if (threadIdx.x == 0) {
            head = end;
            end = *tail;
        }
        __syncthreads();
    }
}
//: backprop_layerforward grid=(1,3) block=(16,16) args={"input": random(49, 1), "weights": random((49, 17), 2), "partial_sum": unset((3, 16)), "hid": i4(16)}
//+ gives={"partial_sum": [(input[1 + 16 * b:17 + 16 * b, None] * weights[1 + 16 * b:17 + 16 * b, 1:]).sum(0) for b in range(3)]}
__global__ void backprop_layerforward(float *input, float *weights, float *partial_sum, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = 16 * by + ty + 1;
    __shared__ float input_node[16];
    __shared__ float weight_matrix[16][16];
    if (tx == 0)
        input_node[ty] = input[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = weights[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(16); i++) {
        int power_two = __powf(2, i);
        if (ty % power_two == 0)
            weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    if (tx == 0)
        partial_sum[by * hid + ty] = weight_matrix[tx][ty];
}
//: srad_gradient grid=(3,2) block=(8,8) args={"J": 1.5 + random((13, 20), 1), "C": unset((13, 20)), "cols": i4(20), "rows": i4(13), "q0sqr": f4(0.05)} rtol=1e-4
//+ gives={"C": (lambda p: (lambda n, s, w, e: (lambda g2, l: (lambda q: np.clip(1 / (1 + (q - q0sqr) / (q0sqr * (1 + q0sqr))), 0, 1))((0.5 * g2 - l * l / 16) / (1 + 0.25 * l) ** 2))((n * n + s * s + w * w + e * e) / J ** 2, (n + s + w + e) / J))(p[:-2, 1:-1] - J, p[2:, 1:-1] - J, p[1:-1, :-2] - J, p[1:-1, 2:] - J))(np.pad(J, 1, mode="edge"))}
__global__ void srad_gradient(const float *J, float *C, int cols, int rows, float q0sqr)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    float jc = J[y * cols + x];
    float n = J[max(y - 1, 0) * cols + x] - jc, s = J[min(y + 1, rows - 1) * cols + x] - jc;
    float w = J[y * cols + max(x - 1, 0)] - jc, e = J[y * cols + min(x + 1, cols - 1)] - jc;
    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc;
    float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l)), den = 1 + (.25f * l), qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0f / (1.0f + den);
    C[y * cols + x] = __saturatef(c);
}
//: stencil_3d_registers grid=(2,2) block=(8,8) args={"in": random((6, 14, 14), 1), "out": zeros((6, 14, 14)), "nx": i4(14), "nz": i4(6)}
//+ gives={"out": (lambda a: np.pad(a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1] + a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] - 6 * a[1:-1, 1:-1, 1:-1], 1))(random((6, 14, 14), 1))}
__global__ void stencil_3d_registers(const float *in, float *out, int nx, int nz)
{
    __shared__ float plane[10][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx && y < nx;
    float behind = 0, current = inside ? in[y * nx + x] : 0, ahead = inside ? in[(nx + y) * nx + x] : 0;
    for (int z = 1; z < nz - 1; z++) {
        behind = current;
        current = ahead;
        ahead = inside ? in[((z + 1) * nx + y) * nx + x] : 0;
        __syncthreads();
        plane[ty][tx] = current;
        if (threadIdx.x == 0)
            plane[ty][0] = inside && x > 0 ? in[(z * nx + y) * nx + x - 1] : 0;
        if (threadIdx.x == 7)
            plane[ty][9] = x + 1 < nx && y < nx ? in[(z * nx + y) * nx + x + 1] : 0;
        if (threadIdx.y == 0)
            plane[0][tx] = inside && y > 0 ? in[(z * nx + y - 1) * nx + x] : 0;
        if (threadIdx.y == 7)
            plane[9][tx] = y + 1 < nx && x < nx ? in[(z * nx + y + 1) * nx + x] : 0;
        __syncthreads();
        if (x > 0 && y > 0 && x < nx - 1 && y < nx - 1)
            out[(z * nx + y) * nx + x] = plane[ty][tx + 1] + plane[ty][tx - 1] + plane[ty + 1][tx] + plane[ty - 1][tx] + ahead + behind - 6 * current;
    }
}
//: floyd_warshall_pass grid=(2,2) block=(8,8) args={"dist": np.random.default_rng(4).integers(1, 30, (13, 13)).astype(i4) * (1 - np.eye(13, dtype=i4)), "n": i4(13), "k": i4(5)}
//+ gives={"dist": np.minimum(dist, dist[:, 5:6] + dist[5])}
__global__ void floyd_warshall_pass(int *dist, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n || x == k || y == k)
        return;
    int through = dist[y * n + k] + dist[k * n + x];
    if (through < dist[y * n + x])
        dist[y * n + x] = through;
}
//: game_of_life grid=(3,2) block=(8,8) args={"now": np.random.default_rng(5).integers(0, 2, (15, 21)).astype(np.uint8), "next": np.ma.masked_all((15, 21), np.uint8), "w": i4(21), "h": i4(15)}
//+ gives={"next": (lambda c: (c == 3) | ((c == 2) & (now == 1)))(sum(np.roll(now, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b))}
__global__ void game_of_life(const unsigned char *now, unsigned char *next, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        int alive = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy)
                    alive += now[(y + dy + h) % h * w + (x + dx + w) % w];
        next[y * w + x] = alive == 3 || (alive == 2 && now[y * w + x]);
    }
}
