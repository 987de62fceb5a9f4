// Cooperative groups: the block, tiles of a warp, and the lanes that are active together.
#pragma once

#define COURSE_NO_GRID_SYNC                                                                                   \
    __attribute__((error("a grid's sync() is not supported: the CPU engine runs the blocks one after another. " \
                         "End the kernel there, and launch another one")))
extern "C++" {
namespace cooperative_groups {

// The lanes of `mask`, or the whole block where it is 0. A lane's rank is the number of lanes of the mask before it.
struct thread_group {
    unsigned mask;
    COURSE_COPY void sync(COURSE_HERE) const {
        if (mask) course::warp_barrier(mask, line);
        else course::block_barrier(false, line);
    }
    COURSE_COPY unsigned thread_rank() const {
        unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        return mask ? __builtin_popcount(mask & ((1u << in_block % 32) - 1)) : in_block;
    }
    COURSE_COPY unsigned size() const { return mask ? __builtin_popcount(mask) : blockDim.x * blockDim.y * blockDim.z; }
    COURSE_COPY unsigned num_threads() const { return size(); }
};
struct thread_block : thread_group {
    static COURSE_COPY dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static COURSE_COPY dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static COURSE_COPY dim3 group_dim() { return blockDim; }
    static COURSE_COPY dim3 dim_threads() { return blockDim; }
};
#define COURSE_GROUP_SHUFFLE(name, rank) \
    template <class T> COURSE_COPY T name(T v, unsigned d, COURSE_HERE) const { return from(v, rank, line); }
struct lane_group : thread_group {  // of one warp
    COURSE_COPY unsigned by_rank(unsigned lanes) const {  // bits of lanes as bits of their ranks
        unsigned bits = 0, rank = 0;
        for (unsigned left = mask; left; left &= left - 1) bits |= (lanes >> __builtin_ctz(left) & 1) << rank++;
        return bits;
    }
    // From a rank that the group does not have, a lane takes its own value.
    template <class T> COURSE_COPY T from(T v, unsigned rank, int line) const {
        unsigned left = mask;
        for (rank = rank < size() ? rank : thread_rank(); rank; rank--) left &= left - 1;
        return course_shuffle(mask, v, __builtin_ctz(left), line);
    }
    COURSE_GROUP_SHUFFLE(shfl, d % size()) COURSE_GROUP_SHUFFLE(shfl_up, thread_rank() - d)
    COURSE_GROUP_SHUFFLE(shfl_down, thread_rank() + d) COURSE_GROUP_SHUFFLE(shfl_xor, thread_rank() ^ d)
    COURSE_COPY int any(int p, COURSE_HERE) const { return course::ballot(mask, p != 0, line) != 0; }
    COURSE_COPY int all(int p, COURSE_HERE) const { return course::ballot(mask, p == 0, line) == 0; }
    COURSE_COPY unsigned ballot(int p, COURSE_HERE) const { return by_rank(course::ballot(mask, p != 0, line)); }
    template <class T> COURSE_COPY unsigned match_any(T v, COURSE_HERE) const {
        return by_rank(__match_any_sync(mask, v, line));
    }
    template <class T> COURSE_COPY unsigned match_all(T v, int &all, COURSE_HERE) const {
        return by_rank(__match_all_sync(mask, v, &all, line));
    }
};
struct coalesced_group : lane_group {};
template <unsigned n, class Parent = void> struct thread_block_tile;
template <unsigned n> struct thread_block_tile<n, void> : lane_group {
    static_assert(n && n <= 32 && !(n & (n - 1)), "a tile has 1, 2, 4, 8, 16 or 32 threads here");
    unsigned tile, tiles;
    COURSE_COPY unsigned meta_group_rank() const { return tile; }
    COURSE_COPY unsigned meta_group_size() const { return tiles; }
    static constexpr unsigned size() { return n; }
    static constexpr unsigned num_threads() { return n; }
};
template <unsigned n, class Parent> struct thread_block_tile : thread_block_tile<n> {};
struct grid_group {
    COURSE_NO_GRID_SYNC void sync() const;
    COURSE_COPY uint64_t size() const { return uint64_t(gridDim.x) * gridDim.y * gridDim.z * thread_group{0}.size(); }
    COURSE_COPY uint64_t num_threads() const { return size(); }
    COURSE_COPY uint64_t thread_rank() const {
        uint64_t block = blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
        return block * thread_group{0}.size() + thread_group{0}.thread_rank();
    }
};

COURSE_COPY thread_block this_thread_block() { return {{0}}; }
COURSE_COPY grid_group this_grid() { return {}; }
COURSE_COPY coalesced_group coalesced_threads(COURSE_HERE) { return {{{course::active_mask(line)}}}; }
COURSE_COPY thread_group tiled_partition(const thread_group &g, unsigned n) {  // the lanes of equal rank / n
    unsigned mine = g.thread_rank() / n, all = g.mask ? g.mask : ~0u, lanes = 0, rank = g.mask ? 0 : mine * n / 32 * 32;
    for (; all; all &= all - 1) lanes |= rank++ / n == mine ? all & -all : 0;
    return {lanes};
}
template <unsigned n, class Group> COURSE_COPY thread_block_tile<n, Group> tiled_partition(const Group &g) {
    return {{{{tiled_partition(g, n).mask}}, g.thread_rank() / n, (g.size() + n - 1) / n}};
}
template <class Label> COURSE_COPY coalesced_group labeled_partition(const lane_group &g, Label label, COURSE_HERE) {
    return {{{__match_any_sync(g.mask, label, line)}}};
}
COURSE_COPY coalesced_group binary_partition(const lane_group &g, bool label, COURSE_HERE) {
    return labeled_partition(g, label, line);
}
template <class Group> COURSE_COPY void sync(const Group &g, COURSE_HERE) { g.sync(line); }
COURSE_NO_GRID_SYNC void sync(const grid_group &g);
template <class Group> COURSE_COPY unsigned thread_rank(const Group &g) { return g.thread_rank(); }

#define COURSE_OPERATION(name, expression) \
    template <class T> struct name { COURSE_COPY T operator()(T a, T b) const { return expression; } };
COURSE_OPERATION(plus, a + b) COURSE_OPERATION(less, b < a ? b : a) COURSE_OPERATION(greater, a < b ? b : a)
COURSE_OPERATION(bit_and, a & b) COURSE_OPERATION(bit_or, a | b) COURSE_OPERATION(bit_xor, a ^ b)
template <class T, class F> COURSE_COPY T reduce(const lane_group &g, T v, F next, COURSE_HERE) {
    return course_fold<T>(course::exchange(g.mask, course_moved(v), line), next);
}
// Over the lanes up to this one, or before it: of the first lane, where there is none, CUDA's headers make it 0.
template <class T, class F = plus<T>>
COURSE_COPY T inclusive_scan(const lane_group &g, T v, F next = F(), COURSE_HERE) {
    return course_fold<T>(course::exchange(g.mask, course_moved(v), line) & ~(~1u << course::lane()), next);
}
template <class T, class F = plus<T>>
COURSE_COPY T exclusive_scan(const lane_group &g, T v, F next = F(), COURSE_HERE) {
    unsigned before = course::exchange(g.mask, course_moved(v), line) & ~(~0u << course::lane());
    return before ? course_fold<T>(before, next) : T();
}

}  // namespace cooperative_groups
}
