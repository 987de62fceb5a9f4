// Blocks that store one value to one place, whatever its width and wherever in its word: worth a note, and no error.
//: marks_in_bytes grid=3 block=32 args={"next": (arange(96, i4) * 7 + 1) % 40, "seen": zeros(40, np.bool_)} gives={"seen": ones(40)}
__global__ void marks_in_bytes(const int *next, bool *seen)
{
    seen[next[blockIdx.x * 32 + threadIdx.x]] = true;  // in any byte of a word
}
//: marks_in_halves grid=4 block=64 args={"place": arange(256, i4) % 9, "mark": zeros(9, np.int16)} gives={"mark": 7 * ones(9)}
__global__ void marks_in_halves(const int *place, short *mark) { mark[place[blockIdx.x * 64 + threadIdx.x]] = 7; }
//: one_double_for_all grid=3 block=32 args={"x": random(96, 1), "found": zeros(1, f8)} gives={"found": ones(1)}
__global__ void one_double_for_all(const float *x, double *found)
{
    if (x[blockIdx.x * 32 + threadIdx.x] > -0.5f)
        *found = 1.0;  // two words, which differ
}
//: one_vector_for_all grid=3 block=32 args={"x": random(96, 2), "colour": zeros((2, 4))} gives={"colour": [[0, 0, 0, 0], [0.5, 0, 1, 0.25]]}
__global__ void one_vector_for_all(const float *x, float4 *colour)
{
    if (x[blockIdx.x * 32 + threadIdx.x] > -0.5f)
        colour[1] = make_float4(0.5f, 0.0f, 1.0f, 0.25f);  // four words, which differ
}
//: search_with_masks grid=2 block=32 args={"begin": arange(65, i4) * 3, "end": (arange(192, i4) * 5 + 2) % 64, "now": np.arange(64) % 5 == 0, "later": zeros(64, np.bool_), "cost": np.where(np.arange(64) % 5 == 0, 1, -1).astype(i4)}
//+ gives={"later": np.isin(np.arange(64), end.reshape(64, 3)[::5]) & (np.arange(64) % 5 > 0), "cost": np.where(now, 1, np.where(np.isin(np.arange(64), end.reshape(64, 3)[::5]), 2, -1))}
__global__ void search_with_masks(const int *begin, const int *end, const bool *now, bool *later, int *cost)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (!now[v])
        return;
    for (int e = begin[v]; e < begin[v + 1]; e++)
        if (!now[end[e]]) {
            cost[end[e]] = 2;
            later[end[e]] = true;
        }
}
