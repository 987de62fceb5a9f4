// Mistakes behind pointers, references, structs and lambdas.
struct Particle { float x, y, vx, vy; };
struct Rgb { unsigned char r, g, b; };

__device__ int wrapped(int i, int n) { return i >= n ? i - n : i; }

//: view_of_the_wrong_width block=(8, 4) args={"A": random((4, 8)), "out": zeros((4, 8)), "width": i4(80)}
struct View {
    float *data;
    int width;
    __device__ float &at(int y, int x) const { return data[y * width + x]; }
};

__global__ void view_of_the_wrong_width(float *A, float *out, int width)
{
    View view = {A, width};
    out[threadIdx.y * 8 + threadIdx.x] = view.at(threadIdx.y, threadIdx.x);  // <- memcheck A
}

//: particles_step_reads_neighbour block=32 args={"p": random((32, 4))}
__global__ void particles_step_reads_neighbour(Particle *p)
{
    int i = threadIdx.x;
    Particle other = p[wrapped(i + 1, 32)];  // <- racecheck p
    p[i].x += 0.1f * other.x;  // <- racecheck p
}

//: particle_one_past_the_end block=33 args={"p": random((32, 4)), "energy": zeros(33)}
__global__ void particle_one_past_the_end(const Particle *p, float *energy)
{
    const Particle &me = p[threadIdx.x];
    energy[threadIdx.x] = me.vx * me.vx + me.vy * me.vy;  // <- memcheck p
}

//: pixels_of_three_bytes block=22 args={"rgb": np.arange(64, dtype=np.uint8), "out": zeros(22, i4)}
__global__ void pixels_of_three_bytes(const Rgb *rgb, int *out)
{
    Rgb p = rgb[threadIdx.x];  // <- memcheck rgb
    out[threadIdx.x] = p.r + p.g + p.b;  // <- memcheck rgb
}

//: lambda_sees_one_too_many block=16 args={"A": random(16), "out": zeros(16)}
__global__ void lambda_sees_one_too_many(const float *A, float *out)
{
    auto at = [&](int i) { return A[i]; };  // <- memcheck A
    out[threadIdx.x] = at(threadIdx.x) - at(threadIdx.x + 1);  // <- memcheck A
}

//: pointers_swapped_without_barrier block=64 args={"A": random(64), "turns": i4(3)}
__global__ void pointers_swapped_without_barrier(float *A, int turns)
{
    __shared__ float one[64];
    __shared__ float two[64];
    float *from = one, *to = two;
    int t = threadIdx.x;
    one[t] = A[t];
    __syncthreads();
    for (int k = 0; k < turns; k++) {
        to[t] = 0.5f * (from[t] + from[(t + 1) & 63]);  // <- racecheck
        float *kept = from;
        from = to;
        to = kept;
    }
    A[t] = from[t];
}

//: pointer_walks_too_far block=8 args={"A": random(64), "out": zeros(8), "n": i4(9)}
__global__ void pointer_walks_too_far(const float *A, float *out, int n)
{
    const float *p = A + threadIdx.x * 8, *end = p + n;
    float sum = 0.0f;
    while (p != end)
        sum += *p++;  // <- memcheck A
    out[threadIdx.x] = sum;
}

//: shared_view_written_and_read block=(8, 8) args={"A": random((8, 8)), "out": zeros((8, 8))}
__device__ void put(float *s, int i, float value) { s[i] = value; }  // <- racecheck s
__device__ float got(const float *s, int i) { return s[i]; }  // <- racecheck s

__global__ void shared_view_written_and_read(const float *A, float *out)
{
    __shared__ float s[64];
    int x = threadIdx.x, y = threadIdx.y;
    put(s, y * 8 + x, A[y * 8 + x]);  // <- racecheck s
    out[y * 8 + x] = got(s, x * 8 + y);  // <- racecheck s
}

//: member_function_past_the_end block=(8, 4) args={"A": random((4, 8)), "out": zeros((4, 8))}
struct Grid {
    const float *cell;
    int w;
    __device__ float east(int y, int x) const { return cell[y * w + x + 1]; }  // <- memcheck A
};

__global__ void member_function_past_the_end(const float *A, float *out)
{
    Grid g = {A, 8};
    out[threadIdx.y * 8 + threadIdx.x] = g.east(threadIdx.y, threadIdx.x);  // <- memcheck A
}

//: two_outputs_confused block=48 args={"A": random(48), "big": zeros(48), "small": zeros(4)}
__global__ void two_outputs_confused(const float *A, float *big, float *small)
{
    int i = threadIdx.x;
    float *to = i % 2 ? big : small;
    to[i] = A[i];  // <- memcheck small
}

//: copied_struct_is_unset block=8 args={"p": np.ma.array(random((8, 4)), mask=arange(32).reshape(8, 4) > 27), "q": zeros((8, 4)), "sum": zeros(8)}
__global__ void copied_struct_is_unset(const Particle *p, Particle *q, float *sum)
{
    Particle mine = p[threadIdx.x];  // <- initcheck p
    mine.x += mine.vx;
    sum[threadIdx.x] = mine.x + mine.y + mine.vy;
    q[threadIdx.x] = mine;
}

//: reference_to_a_shared_slot_of_another block=64 args={"A": random(64), "out": zeros(64)}
__global__ void reference_to_a_shared_slot_of_another(const float *A, float *out)
{
    __shared__ float slot[8];
    float &mine = slot[threadIdx.x / 8];
    if (threadIdx.x % 8 == 0) mine = 0.0f;
    __syncthreads();
    mine += A[threadIdx.x];  // <- racecheck slot
    __syncthreads();
    out[threadIdx.x] = mine;
}
