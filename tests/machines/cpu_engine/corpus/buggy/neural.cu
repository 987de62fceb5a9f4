// The kernels of a neural network.
//: softmax_maximum_overwritten grid=2 block=64 args={"in": random((2, 64)), "out": zeros((2, 64))}
__global__ void softmax_maximum_overwritten(const float *in, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float x = in[blockIdx.x * 64 + t];
    s[t] = x;
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    float most = s[0];  // <- racecheck s
    s[t] = expf(x - most);  // <- racecheck s
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = expf(x - most) / s[0];
}

//: layernorm_mean_before_barrier grid=3 block=32 args={"in": random((3, 48)), "out": zeros((3, 48)), "n": i4(48)}
__global__ void layernorm_mean_before_barrier(const float *in, float *out, int n)
{
    __shared__ float mean;
    const float *row = in + blockIdx.x * n;
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < n; k++) sum += row[k];
        mean = sum / n;  // <- racecheck mean
    }
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        out[blockIdx.x * n + k] = row[k] - mean;  // <- racecheck mean
}

//: layernorm_row_too_long grid=4 block=32 args={"in": random((4, 40)), "gamma": ones(40), "out": zeros((4, 40)), "n": i4(40)}
__global__ void layernorm_row_too_long(const float *in, const float *gamma, float *out, int n)
{
    const float *x = in + blockIdx.x * n;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < n; k += 32) sum += x[k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    for (int k = threadIdx.x; k < 64; k += 32)
        out[blockIdx.x * n + k % n] = (x[k % n] - sum / n) * gamma[k];  // <- memcheck gamma
}

//: dense_backward_weights grid=2 block=32 args={"x": random((4, 8)), "dy": random((4, 8)), "dw": zeros((8, 8))}
__global__ void dense_backward_weights(const float *x, const float *dy, float *dw)
{
    int pair = blockIdx.x * 32 + threadIdx.x, row = pair % 4, in = pair / 4 % 8;
    for (int o = 0; o < 8; o++)
        dw[in * 8 + o] += x[row * 8 + in] * dy[row * 8 + o];  // <- racecheck dw
}

//: bias_gradient_accumulates_into_empty block=16 args={"dy": random((8, 16)), "db": unset(16)}
__global__ void bias_gradient_accumulates_into_empty(const float *dy, float *db)
{
    float sum = 0.0f;
    for (int r = 0; r < 8; r++) sum += dy[r * 16 + threadIdx.x];
    db[threadIdx.x] += sum;  // <- initcheck db
}

//: embedding_of_an_unknown_token block=(8, 4) args={"token": np.array([3, 0, 7, 12], i4), "table": random((10, 8)), "out": zeros((4, 8))}
__global__ void embedding_of_an_unknown_token(const int *token, const float *table, float *out)
{
    int word = token[threadIdx.y];
    out[threadIdx.y * 8 + threadIdx.x] = table[word * 8 + threadIdx.x];  // <- memcheck table
}

//: embedding_gradient_plain block=(8, 4) args={"token": np.array([3, 0, 3, 1], i4), "dy": random((4, 8)), "dtable": zeros((10, 8))}
__global__ void embedding_gradient_plain(const int *token, const float *dy, float *dtable)
{
    dtable[token[threadIdx.y] * 8 + threadIdx.x] += dy[threadIdx.y * 8 + threadIdx.x];  // <- racecheck dtable
}

//: attention_scores_wrong_head grid=2 block=(8, 8) args={"q": random((2, 8, 4)), "k": random((2, 8, 4)), "scores": zeros((2, 8, 8))}
__global__ void attention_scores_wrong_head(const float *q, const float *k, float *scores)
{
    int head = blockIdx.x, i = threadIdx.y, j = threadIdx.x;
    float dot = 0.0f;
    for (int d = 0; d < 4; d++)
        dot += q[(head * 8 + i) * 4 + d] * k[(head * 8 + j) * 8 + d];  // <- memcheck k
    scores[(head * 8 + i) * 8 + j] = dot * 0.5f;
}

//: causal_softmax_reads_masked block=(8, 8) args={"scores": np.ma.array(random((8, 8)), mask=np.triu(np.ones((8, 8), bool), 1)), "out": zeros((8, 8))}
__global__ void causal_softmax_reads_masked(const float *scores, float *out)
{
    int i = threadIdx.y, j = threadIdx.x;
    float e = expf(scores[i * 8 + j]);  // <- initcheck scores
    out[i * 8 + j] = j <= i ? e : 0.0f;
}

//: cross_entropy_bad_label block=16 args={"prob": np.full((16, 10), 0.1, f4), "label": np.full(16, 10, i4), "loss": zeros(16)}
__global__ void cross_entropy_bad_label(const float *prob, const int *label, float *loss)
{
    int i = threadIdx.x;
    loss[i] = -logf(prob[i * 10 + label[i]]);  // <- memcheck prob
}

//: loss_summed_without_atomic grid=2 block=32 args={"y": random(64), "target": random(64), "loss": zeros(1)}
struct Meter { float *total; int n; };
__device__ void add_to(Meter m, float x)
{
    *m.total += x / m.n;  // <- racecheck loss
}

__global__ void loss_summed_without_atomic(const float *y, const float *target, float *loss)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float d = y[i] - target[i];
    Meter meter = {loss, 64};
    add_to(meter, d * d);
}

//: adam_moment_of_wrong_length grid=2 block=32 args={"w": random(60), "g": random(60), "m": zeros(30), "n": i4(60)}
__global__ void adam_moment_of_wrong_length(float *w, const float *g, float *m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float moment = 0.9f * m[i] + 0.1f * g[i];  // <- memcheck m
    m[i] = moment;
    w[i] -= 0.01f * moment;
}

//: relu_backward_by_rows_and_columns grid=(2, 1) block=(16, 4) args={"z": random((4, 32)), "dy": random((4, 32)), "dz": zeros((4, 32)), "rows": i4(4), "columns": i4(32)}
__global__ void relu_backward_by_rows_and_columns(const float *z, const float *dy, float *dz, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = threadIdx.y;
    int i = r * columns + c;
    dz[i] = z[i] > 0.0f ? dy[i] : dy[c * columns + r] * 0.0f;  // <- memcheck dy
}

//: hidden_layer_shared_inputs grid=2 block=48 args={"x": random((2, 64)), "w": random((48, 64)), "y": zeros((2, 48))}
__global__ void hidden_layer_shared_inputs(const float *x, const float *w, float *y)
{
    __shared__ float row[64];
    row[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum += row[k] * w[threadIdx.x * 64 + k];  // <- initcheck row
    y[blockIdx.x * 48 + threadIdx.x] = tanhf(sum);
}

//: online_softmax_unset_maximum block=8 args={"in": random((8, 6)), "out": zeros(8)}
__global__ void online_softmax_unset_maximum(const float *in, float *out)
{
    float most, sum = 0.0f;  // <- initcheck
    for (int k = 0; k < 6; k++) {
        float x = in[threadIdx.x * 6 + k];
        float bigger = fmaxf(most, x);  // <- initcheck
        sum = sum * expf(most - bigger) + expf(x - bigger);  // <- initcheck
        most = bigger;
    }
    out[threadIdx.x] = most + logf(sum);
}

//: batchnorm_two_threads_a_channel block=(2, 16) args={"in": random((32, 16)), "mean": zeros(16)}
__global__ void batchnorm_two_threads_a_channel(const float *in, float *mean)
{
    int channel = threadIdx.y;
    float sum = 0.0f;
    for (int r = threadIdx.x; r < 32; r += 2) sum += in[r * 16 + channel];
    mean[channel] = sum / 32.0f;  // <- racecheck mean
}
