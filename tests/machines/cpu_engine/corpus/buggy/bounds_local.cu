// An index outside a thread's own array.
//: register_tile_one_too_many block=32 args={"A": random(288), "out": zeros(32), "n": i4(9)}
__global__ void register_tile_one_too_many(const float *A, float *out, int n)
{
    float acc[8];
    for (int k = 0; k < n; k++)
        acc[k] = A[threadIdx.x * 9 + k];  // <- memcheck acc
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += acc[k];
    out[threadIdx.x] = sum;
}

//: fixed_index_past_the_end block=16 args={"A": random(16), "out": zeros(16)}
__global__ void fixed_index_past_the_end(const float *A, float *out)
{
    float pair[2];
    pair[0] = A[threadIdx.x];
    pair[1] = -pair[0];
    pair[2] = 1.0f;  // <- memcheck pair
    out[threadIdx.x] = pair[0] * pair[1];
}

//: own_histogram_bad_digit block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void own_histogram_bad_digit(const int *A, int *out)
{
    int seen[10] = {0};
    for (int k = 0; k < 4; k++)
        seen[A[(threadIdx.x + k) % 32]] += 1;  // <- memcheck seen
    out[threadIdx.x] = seen[3];
}

//: own_window_before_the_start block=32 args={"A": random(40), "out": zeros(32), "back": i4(1)}
__global__ void own_window_before_the_start(const float *A, float *out, int back)
{
    float window[5];
    for (int k = 0; k < 5; k++) window[k] = A[threadIdx.x + k];
    float sum = 0.0f;
    for (int k = 0; k < 5; k++) sum += window[k - back];  // <- memcheck window
    out[threadIdx.x] = sum;
}

//: two_level_tile_row block=32 args={"A": random(128), "out": zeros(32), "rows": i4(3)}
__global__ void two_level_tile_row(const float *A, float *out, int rows)
{
    float tile[2][4] = {};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < 4; c++)
            tile[r][c] = A[threadIdx.x * 4 + c] * r;  // <- memcheck tile
    out[threadIdx.x] = tile[0][1] + tile[1][3];
}

//: stack_of_a_search_overflows block=8 args={"depth": i4(20), "out": zeros(8, i4)}
__global__ void stack_of_a_search_overflows(int depth, int *out)
{
    int stack[16], top = 0, visited = 0;
    stack[top++] = threadIdx.x;
    while (visited < depth) {
        visited++;
        stack[top++] = visited;  // <- memcheck stack
    }
    out[threadIdx.x] = stack[top / 2];
}

//: top_k_inserts_one_more block=16 args={"A": random(320), "out": zeros(16), "n": i4(20)}
__global__ void top_k_inserts_one_more(const float *A, float *out, int n)
{
    float best[4] = {-1e9f, -1e9f, -1e9f, -1e9f};
    for (int i = 0; i < n; i++) {
        float x = A[threadIdx.x * n + i];
        int p = 4;
        while (p > 0 && best[p - 1] < x) p--;
        for (int q = 4; q > p; q--) best[q] = best[q - 1];  // <- memcheck best
        if (p < 4) best[p] = x;
    }
    out[threadIdx.x] = best[3];
}

//: by_lane_of_a_larger_block block=48 args={"A": random(48), "out": zeros(48)}
__global__ void by_lane_of_a_larger_block(const float *A, float *out)
{
    float weight[32];
    for (int k = 0; k < 32; k++) weight[k] = 1.0f / (k + 1);
    out[threadIdx.x] = A[threadIdx.x] * weight[threadIdx.x];  // <- memcheck weight
}

//: filter_taps_read_one_more block=32 args={"A": random(40), "out": zeros(32), "taps": i4(4)}
__global__ void filter_taps_read_one_more(const float *A, float *out, int taps)
{
    const float tap[3] = {0.25f, 0.5f, 0.25f};
    float sum = 0.0f;
    for (int k = 0; k < taps; k++)
        sum += tap[k] * A[threadIdx.x + k];  // <- memcheck tap
    out[threadIdx.x] = sum;
}

//: local_struct_member_array clang="takes an array at the end of a struct for one of any length" block=16 args={"A": random(128), "out": zeros(16), "n": i4(7)}
struct Batch { int count; float item[6]; };
__global__ void local_struct_member_array(const float *A, float *out, int n)
{
    Batch batch;
    batch.count = n;
    for (int k = 0; k < n; k++)
        batch.item[k] = A[threadIdx.x * 8 + k];  // <- memcheck
    out[threadIdx.x] = batch.item[2] + batch.item[5] + batch.count;
}
