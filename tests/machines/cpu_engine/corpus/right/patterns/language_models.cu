// The kernels of a language model, forward and backward.
//: encoder_forward grid=2 block=64 args={"out": unset((3, 5, 8)), "inp": np.array([[1, 4, 0, 2, 2], [3, 1, 1, 0, 4], [2, 2, 3, 1, 0]], i4), "wte": random((5, 8), 1), "wpe": random((5, 8), 2), "B": i4(3), "T": i4(5), "C": i4(8)}
//+ gives={"out": wte[inp] + wpe}
__global__ void encoder_forward(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = B * T * C;
    if (idx < N) {
        int bt = idx / C, b = bt / T, t = bt % T, c = idx % C;
        int ix = inp[b * T + t];
        float *out_btc = out + b * T * C + t * C + c;
        const float *wte_ix = wte + ix * C + c;
        const float *wpe_tc = wpe + t * C + c;
        *out_btc = *wte_ix + *wpe_tc;
    }
}
//: encoder_backward grid=2 block=64 args={"dwte": zeros((5, 8)), "dwpe": zeros((5, 8)), "dout": random((3, 5, 8), 1), "inp": np.array([[1, 4, 0, 2, 2], [3, 1, 1, 0, 4], [2, 2, 3, 1, 0]], i4), "B": i4(3), "T": i4(5), "C": i4(8)}
//+ gives={"dwpe": dout.sum(0), "dwte": [dout[inp == v].sum(0) for v in range(5)]}
__global__ void encoder_backward(float *dwte, float *dwpe, const float *dout, const int *inp, int B, int T, int C)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * T * C) {
        int bt = idx / C, b = bt / T, t = bt % T, c = idx % C;
        int ix = inp[b * T + t];
        const float *dout_btc = dout + b * T * C + t * C + c;
        atomicAdd(dwte + ix * C + c, *dout_btc);
        atomicAdd(dwpe + t * C + c, *dout_btc);
    }
}
//: layernorm_forward grid=2 block=128 args={"out": unset((7, 45)), "mean": unset(7), "rstd": unset(7), "inp": random((7, 45), 1), "weight": random(45, 2), "bias": random(45, 3), "N": i4(7), "C": i4(45)} rtol=1e-4
//+ gives={"mean": inp.mean(1), "rstd": 1 / np.sqrt(inp.var(1) + 1e-5), "out": (inp - inp.mean(1, keepdims=True)) / np.sqrt(inp.var(1, keepdims=True) + 1e-5) * weight + bias}
__device__ float warpReduceSum(float val)
{
    for (int offset = 16; offset > 0; offset /= 2)
        val += __shfl_xor_sync(0xFFFFFFFF, val, offset);
    return val;
}
__device__ float warpReduceMax(float val)
{
    for (int offset = 16; offset > 0; offset /= 2)
        val = fmaxf(val, __shfl_xor_sync(0xFFFFFFFF, val, offset));
    return val;
}
__global__ void layernorm_forward(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd, const float *__restrict__ inp,
                                  const float *__restrict__ weight, const float *__restrict__ bias, int N, int C)
{
    int warp_id = threadIdx.x / 32, lane_id = threadIdx.x % 32, num_warps = blockDim.x / 32;
    int idx = blockIdx.x * num_warps + warp_id;
    if (idx >= N)
        return;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = lane_id; i < C; i += 32)
        sum += x[i];
    sum = warpReduceSum(sum);
    float m = sum / C;
    if (lane_id == 0 && mean != nullptr)
        mean[idx] = m;
    sum = 0.0f;
    for (int i = lane_id; i < C; i += 32) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    sum = warpReduceSum(sum);
    float s = rsqrtf(sum / C + 1e-5f);
    if (lane_id == 0 && rstd != nullptr)
        rstd[idx] = s;
    float *o = out + idx * C;
    for (int c = lane_id; c < C; c += 32) {
        float n = s * (x[c] - m);
        o[c] = n * weight[c] + bias[c];
    }
}
//: layernorm_backward grid=3 block=64 shared=320 args={"dinp": zeros((6, 40)), "dweight": zeros(40), "dbias": zeros(40), "dout": random((6, 40), 1), "inp": random((6, 40), 2), "weight": random(40, 3), "N": i4(6), "C": i4(40)} rtol=1e-3
//+ gives={"dbias": dout.sum(0), "dweight": (dout * (inp - inp.mean(1, keepdims=True)) / np.sqrt(inp.var(1, keepdims=True) + 1e-5)).sum(0),
//+ "dinp": (lambda s, n, d: s * (d - d.mean(1, keepdims=True) - n * (d * n).mean(1, keepdims=True)))(1 / np.sqrt(inp.var(1, keepdims=True) + 1e-5), (inp - inp.mean(1, keepdims=True)) / np.sqrt(inp.var(1, keepdims=True) + 1e-5), dout * weight)}
__global__ void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp, const float *weight, int N, int C)
{
    extern __shared__ float shared[];
    float *dbias_shared = shared, *dweight_shared = shared + C;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        dbias_shared[i] = 0.0f;
        dweight_shared[i] = 0.0f;
    }
    __syncthreads();
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row < N) {
        const float *x = inp + row * C, *d = dout + row * C;
        float m = 0, v = 0;
        for (int i = lane; i < C; i += 32)
            m += x[i];
        m = warpReduceSum(m) / C;
        for (int i = lane; i < C; i += 32)
            v += (x[i] - m) * (x[i] - m);
        float s = rsqrtf(warpReduceSum(v) / C + 1e-5f);
        float dnorm_mean = 0.0f, dnorm_norm_mean = 0.0f;
        for (int i = lane; i < C; i += 32) {
            float norm = (x[i] - m) * s, dnorm = weight[i] * d[i];
            dnorm_mean += dnorm;
            dnorm_norm_mean += dnorm * norm;
        }
        dnorm_mean = warpReduceSum(dnorm_mean) / C;
        dnorm_norm_mean = warpReduceSum(dnorm_norm_mean) / C;
        for (int i = lane; i < C; i += 32) {
            float norm = (x[i] - m) * s, dnorm = weight[i] * d[i];
            atomicAdd(&dbias_shared[i], d[i]);
            atomicAdd(&dweight_shared[i], norm * d[i]);
            dinp[row * C + i] += (dnorm - dnorm_mean - norm * dnorm_norm_mean) * s;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        atomicAdd(&dbias[i], dbias_shared[i]);
        atomicAdd(&dweight[i], dweight_shared[i]);
    }
}
//: softmax_online grid=3 block=(32,4) args={"out": unset((10, 77)), "inp": 5 * random((10, 77), 1), "N": i4(10), "C": i4(77)}
//+ gives={"out": np.exp(inp - inp.max(1, keepdims=True)) / np.exp(inp - inp.max(1, keepdims=True)).sum(1, keepdims=True)}
__global__ void softmax_online(float *out, const float *inp, int N, int C)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= N)
        return;
    float maxval = -INFINITY, sum = 0.f;
    for (int i = lane; i < C; i += 32) {
        float v = inp[row * C + i];
        if (v > maxval) {
            sum = sum * expf(maxval - v) + 1.f;
            maxval = v;
        } else {
            sum += expf(v - maxval);
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        float om = __shfl_down_sync(0xFFFFFFFF, maxval, offset), os = __shfl_down_sync(0xFFFFFFFF, sum, offset);
        if (om > maxval) {
            sum = sum * expf(maxval - om) + os;
            maxval = om;
        } else {
            sum += os * expf(om - maxval);
        }
    }
    maxval = __shfl_sync(0xFFFFFFFF, maxval, 0);
    sum = __shfl_sync(0xFFFFFFFF, sum, 0);
    for (int i = lane; i < C; i += 32)
        out[row * C + i] = expf(inp[row * C + i] - maxval) / sum;
}
//: softmax_block grid=5 block=96 shared=24 args={"out": unset((5, 200)), "inp": 3 * random((5, 200), 2), "C": i4(200)}
//+ gives={"out": np.exp(inp) / np.exp(inp).sum(1, keepdims=True)}
__global__ void softmax_block(float *out, const float *inp, int C)
{
    extern __shared__ float shared2[];
    int idx = blockIdx.x, tid = threadIdx.x, warpId = tid / 32, laneId = tid % 32, warpsPerBlock = blockDim.x / 32;
    float *maxvals = shared2, *sumvals = &shared2[warpsPerBlock];
    const float *x = inp + idx * C;
    float maxval = -INFINITY;
    for (int i = tid; i < C; i += blockDim.x)
        maxval = fmaxf(maxval, x[i]);
    maxval = warpReduceMax(maxval);
    if (laneId == 0)
        maxvals[warpId] = maxval;
    __syncthreads();
    if (tid == 0) {
        float val = maxvals[tid];
        for (int i = 1; i < warpsPerBlock; i++)
            val = fmaxf(val, maxvals[i]);
        maxvals[0] = val;
    }
    __syncthreads();
    float offset = maxvals[0], sumval = 0.0f;
    for (int i = tid; i < C; i += blockDim.x) {
        out[idx * C + i] = expf(x[i] - offset);
        sumval += out[idx * C + i];
    }
    sumval = warpReduceSum(sumval);
    if (laneId == 0)
        sumvals[warpId] = sumval;
    __syncthreads();
    if (tid == 0) {
        float val = sumvals[tid];
        for (int i = 1; i < warpsPerBlock; ++i)
            val += sumvals[i];
        sumvals[0] = val;
    }
    __syncthreads();
    float sum = sumvals[0];
    for (int i = tid; i < C; i += blockDim.x)
        out[idx * C + i] /= sum;
}
//: flash_attention grid=(2,3) block=8 shared=1792 args={"Q": random((3, 16, 16), 1), "K": random((3, 16, 16), 2), "V": random((3, 16, 16), 3), "N": i4(16), "scale": f4(0.25), "O": unset((3, 16, 16))} rtol=1e-4
//+ gives={"O": (lambda P: P / P.sum(-1, keepdims=True))(np.exp(0.25 * Q @ K.transpose(0, 2, 1))) @ V}
__global__ void flash_attention(const float *Q, const float *K, const float *V, int N, float scale, float *O)
{
    extern __shared__ float sram[];
    const int Bc = 8, d = 16;
    float *Qi = sram, *Kj = Qi + Bc * d, *Vj = Kj + Bc * d, *S = Vj + Bc * d;
    int tx = threadIdx.x, base = blockIdx.y * N * d, row = blockIdx.x * Bc + tx;
    float m = -INFINITY, l = 0, o[16] = {0};
    for (int x = 0; x < d; x++)
        Qi[tx * d + x] = Q[base + row * d + x];
    for (int j = 0; j < N / Bc; j++) {
        for (int x = 0; x < d; x++) {
            Kj[tx * d + x] = K[base + (j * Bc + tx) * d + x];
            Vj[tx * d + x] = V[base + (j * Bc + tx) * d + x];
        }
        __syncthreads();
        float row_m = -INFINITY, row_l = 0;
        for (int y = 0; y < Bc; y++) {
            float sum = 0;
            for (int x = 0; x < d; x++)
                sum += Qi[tx * d + x] * Kj[y * d + x];
            sum *= scale;
            S[Bc * tx + y] = sum;
            if (sum > row_m)
                row_m = sum;
        }
        for (int y = 0; y < Bc; y++) {
            S[Bc * tx + y] = __expf(S[Bc * tx + y] - row_m);
            row_l += S[Bc * tx + y];
        }
        float m_new = max(m, row_m);
        float old = __expf(m - m_new), now = __expf(row_m - m_new);
        for (int x = 0; x < d; x++) {
            float pv = 0;
            for (int y = 0; y < Bc; y++)
                pv += S[Bc * tx + y] * Vj[y * d + x];
            o[x] = o[x] * old + now * pv;
        }
        l = l * old + now * row_l;
        m = m_new;
        __syncthreads();
    }
    for (int x = 0; x < d; x++)
        O[base + row * d + x] = o[x] / l;
}
//: causal_scores grid=2 block=64 args={"preatt": unset((9, 9)), "q": random((9, 4), 1), "k": random((9, 4), 2), "T": i4(9), "hs": i4(4)}
//+ gives={"preatt": np.where(np.tri(9) > 0, q @ k.T / 2, -np.inf)}
__global__ void causal_scores(float *preatt, const float *q, const float *k, int T, int hs)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= T * T)
        return;
    int t2 = idx % T, t = idx / T;
    if (t2 > t) {
        preatt[idx] = -INFINITY;
        return;
    }
    float val = 0.0f;
    for (int i = 0; i < hs; i++)
        val += q[t * hs + i] * k[t2 * hs + i];
    val *= 1.0 / sqrtf(hs);
    preatt[idx] = val;
}
//: crossentropy_forward grid=1 block=32 args={"losses": unset(6), "probs": 1.5 + random((6, 9), 1), "targets": np.array([0, 8, 3, 2, 2, 7], i4), "BT": i4(6), "V": i4(9)}
//+ gives={"losses": -np.log(probs[np.arange(6), targets])}
__global__ void crossentropy_forward(float *losses, const float *probs, const int *targets, int BT, int V)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BT) {
        const float *probs_bt = probs + i * V;
        losses[i] = -logf(probs_bt[targets[i]]);
    }
}
//: crossentropy_softmax_backward grid=2 block=32 args={"dlogits": zeros((6, 9)), "dlosses": random(6, 3), "probs": random((6, 9), 1), "targets": np.array([0, 8, 3, 2, 2, 7], i4), "BT": i4(6), "V": i4(9)}
//+ gives={"dlogits": (probs - np.eye(9)[targets]) * dlosses[:, None]}
__global__ void crossentropy_softmax_backward(float *dlogits, const float *dlosses, const float *probs, const int *targets, int BT, int V)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BT * V; i += gridDim.x * blockDim.x) {
        int bt = i / V, v = i % V;
        float indicator = v == targets[bt] ? 1.0f : 0.0f;
        dlogits[i] += (probs[i] - indicator) * dlosses[bt];
    }
}
//: gelu_forward grid=2 block=64 args={"out": unset(100), "inp": 3 * random(100, 1), "N": i4(100)} gives={"out": 0.5 * inp * (1 + np.tanh((2 / np.pi) ** 0.5 * (inp + 0.044715 * inp ** 3)))}
#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
__global__ void gelu_forward(float *out, const float *inp, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float xi = inp[i];
        float cube = 0.044715f * xi * xi * xi;
        out[i] = 0.5f * xi * (1.0f + tanhf(GELU_SCALING_FACTOR * (xi + cube)));
    }
}
//: gelu_backward grid=2 block=64 args={"dinp": unset(100), "inp": 3 * random(100, 1), "dout": random(100, 2), "N": i4(100)} rtol=1e-3
//+ gives={"dinp": dout * ((lambda g: (g(inp.astype(f8) + 1e-5) - g(inp.astype(f8) - 1e-5)) / 2e-5)(lambda x: 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3)))))}
__global__ void gelu_backward(float *dinp, const float *inp, const float *dout, const int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float x = (float)inp[i];
        float cube = 0.044715f * x * x * x;
        float tanh_arg = GELU_SCALING_FACTOR * (x + cube);
        float tanh_out = tanhf(tanh_arg);
        float coshf_out = coshf(tanh_arg);
        float sech_out = 1.0f / (coshf_out * coshf_out);
        float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x);
        dinp[i] = (float)(local_grad * (float)dout[i]);
    }
}
//: adamw_update grid=2 block=64 args={"params": random(90, 1), "grads": random(90, 2), "m": random(90, 3), "v": 1 + random(90, 4), "num": np.int64(90), "lr": f4(1e-3), "beta1": f4(0.9), "beta2": f4(0.95), "c1": f4(0.271), "c2": f4(0.142), "eps": f4(1e-8), "decay": f4(0.1)}
//+ gives={"m": 0.9 * m + 0.1 * grads, "v": 0.95 * v + 0.05 * grads ** 2, "params": params - lr * ((0.9 * m + 0.1 * grads) / c1 / (np.sqrt((0.95 * v + 0.05 * grads ** 2) / c2) + 1e-8) + 0.1 * params)}
__device__ inline float lerp(float start, float end, float weight) { return fma(weight, end, fma(-weight, start, start)); }
__global__ void adamw_update(float *params, float *grads, float *m, float *v, long long num, float lr, float beta1, float beta2,
                             float c1, float c2, float eps, float decay)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num)
        return;
    float grad = grads[i], m_now = m[i], v_now = v[i];
    m_now = lerp(grad, m_now, beta1);
    m[i] = m_now;
    v_now = lerp(grad * grad, v_now, beta2);
    v[i] = v_now;
    m_now /= c1;
    v_now /= c2;
    params[i] -= lr * (m_now / (sqrtf(v_now) + eps) + decay * params[i]);
}
//: rmsnorm grid=4 block=64 args={"o": unset((4, 100)), "x": random((4, 100), 1), "weight": random(100, 2), "size": i4(100)} gives={"o": x / np.sqrt((x ** 2).mean(1, keepdims=True) + 1e-5) * weight}
__global__ void rmsnorm(float *o, const float *x, const float *weight, int size)
{
    __shared__ float shared_ss;
    __shared__ float parts[2];
    x += (size_t)blockIdx.x * size;
    o += (size_t)blockIdx.x * size;
    float ss = 0.0f;
    for (int j = threadIdx.x; j < size; j += blockDim.x)
        ss += x[j] * x[j];
    ss = warpReduceSum(ss);
    if ((threadIdx.x & 31) == 0)
        parts[threadIdx.x >> 5] = ss;
    __syncthreads();
    if (threadIdx.x == 0)
        shared_ss = 1.0f / sqrtf((parts[0] + parts[1]) / size + 1e-5f);
    __syncthreads();
    ss = shared_ss;
    for (int j = threadIdx.x; j < size; j += blockDim.x)
        o[j] = weight[j] * (ss * x[j]);
}
//: rotary_embedding grid=6 block=8 args={"q": random((6, 16), 1), "pos": i4(5)} rtol=1e-4
//+ gives={"q": (lambda a: np.stack([q[:, ::2] * np.cos(a) - q[:, 1::2] * np.sin(a), q[:, ::2] * np.sin(a) + q[:, 1::2] * np.cos(a)], -1).reshape(6, 16))(5 / 10000.0 ** (np.arange(8) / 8))}
__global__ void rotary_embedding(float *q, int pos)
{
    int i = threadIdx.x, size = blockDim.x * 2;
    float angle = pos / powf(10000.0f, (2 * i) / (float)size), fcr, fci;
    sincosf(angle, &fci, &fcr);
    float *pair = q + blockIdx.x * size + 2 * i;
    float q0 = pair[0], q1 = pair[1];
    pair[0] = q0 * fcr - q1 * fci;
    pair[1] = q0 * fci + q1 * fcr;
}
//: matmul_bias_relu grid=(2,2) block=(8,8) args={"out": unset((12, 14)), "inp": random((12, 9), 1), "weight": random((14, 9), 2), "bias": None, "BT": i4(12), "C": i4(9), "OC": i4(14)} gives={"out": np.maximum(0, inp @ weight.T)}
__global__ void matmul_bias_relu(float *out, const float *inp, const float *weight, const float *bias, int BT, int C, int OC)
{
    int bt = blockIdx.x * blockDim.x + threadIdx.x, oc = blockIdx.y * blockDim.y + threadIdx.y;
    if (bt < BT && oc < OC) {
        float val = (bias != NULL) ? bias[oc] : 0.0f;
        for (int i = 0; i < C; i++)
            val += weight[oc * C + i] * inp[bt * C + i];
        out[bt * OC + oc] = val > 0.f ? val : 0.f;
    }
}
