// Runs the blocks of a grid: each CUDA thread of a block is a fiber, each worker an OS thread with one block at a time.
// A thread that waits switches to the next lane of its warp that can run, the last one back to the scheduler.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "containers.h"
#include "engine.h"
#include "fiber.h"

namespace course {

Launch launch;
__thread Thread *self;
uint32_t seen[kMaxThreads][32];
bool poisoned, second_look;
uint64_t changes;
Kernel *Kernel::first;
Symbol *Symbol::first;
static void (*kernel_call)(void **);
static void **kernel_arguments;

namespace {
// A block barrier opens by counting the epoch on: no thread needs to be touched for it.
bool can_run(const Thread &t) {
    return t.state == State::ready || (t.state == State::at_block_barrier && t.epoch != t.block->epoch);
}
unsigned lanes(unsigned warp) { return std::min(32u, launch.threads - warp * 32); }

struct Worker : Block {
    Thread all[kMaxThreads + 4];  // those behind the end are asked for, but never run
    uint64_t given[kMaxThreads], shown[kMaxThreads];  // to a shuffle; shown: when the last warp barrier opened
    char *stacks;
    unsigned stacks_made = 0;

    Worker() : Block() {
        size_t bytes = size_t(kMaxThreads) * kStackBytes;
        stacks = (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) abort();
        shared = (char *)aligned_alloc(4096, kSharedBytes);
    }

    // A thread that does not start on the stack of one that has ended gets its own.
    void *context_of(Thread &t) {
        self = &t;
        if (t.stack) return t.stack_pointer;
        for (; stacks_made <= t.index; stacks_made++)  // running over a stack is a crash, not silent damage
            mprotect(stacks + size_t(stacks_made) * kStackBytes, 4096, PROT_NONE);
        t.stack = stacks + size_t(t.index) * kStackBytes;
        // Not all stacks begin at the same place of a page, or they would fight for the same lines of the cache.
        return course_new_fiber(t.stack + 4096, kStackBytes - 4096 - t.index % 16 * 256);
    }

    Thread *next_lane(const Thread &t) {
        Thread *end = all + t.index / 32 * 32 + lanes(t.index / 32);
        for (Thread *next = all + t.index + 1; next < end; next++)
            if (can_run(*next)) return next;
        return nullptr;
    }

    void begin(unsigned number) {
        const dim3 &grid = launch.grid_dim, &dim = launch.block_dim;
        block_idx = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
        index = number, epoch = arrived = done = shared_top = shared_used = 0, votes[0] = votes[1] = 0;
        mixed = ended_early = false, serial++;
        uint3 at = {0, 0, 0};
        for (unsigned i = 0; i < launch.threads; i++) {
            Thread &t = all[i];
            t.thread_idx = at, t.index = i, t.block = this;
            t.state = State::ready, t.warp_epoch = has_parts, t.line = 0, t.stack = nullptr;
            if (kTraced) memset(seen[i], 0, sizeof seen[i]);
            if (++at.x == dim.x) at.x = 0, at.y++;
            if (at.y == dim.y) at.y = 0, at.z++;
        }
    }

    void run() {
        block_begins();
        for (bool moved = true; moved;) {
            moved = false;
            for (unsigned warp = 0; warp * 32 < launch.threads; warp++) moved |= run_warp(warp);
        }
        if (done < launch.threads) stuck();
    }

    // Runs the lanes of a warp, in order, again and again, until none of them can move.
    bool run_warp(unsigned warp) {
        for (bool moved = false;; moved = true) {
            Thread *t = all + warp * 32;
            t = can_run(*t) ? t : next_lane(*t);
            if (t) {
                course_switch(&scheduler_stack_pointer, context_of(*t));
                warp_stands();
            } else if (!release_warp(warp)) {
                return moved;
            }
        }
    }

    // Lets those lanes go whose warp barrier has all of its lanes: every lane of the mask that is not done.
    bool release_warp(unsigned warp) {
        Thread *lane = all + warp * 32;
        unsigned count = lanes(warp);
        for (unsigned i = 0; i < count; i++) {
            if (lane[i].state != State::at_warp_barrier) continue;
            bool complete = lane[i].mask;
            for (unsigned j = 0; j < count; j++)
                if (lane[i].mask >> j & 1 && lane[j].state != State::done)
                    complete &= lane[j].state == State::at_warp_barrier && lane[j].mask == lane[i].mask;
            if (complete) return release(lane, count, lane[i]), true;
        }
        return gather(lane, count);
    }

    // Lanes that ask who is active, once none of their warp can do anything else: those in one place go on together.
    bool gather(Thread *lane, unsigned count) {
        auto asks = [](const Thread &t) { return t.state == State::at_warp_barrier && !t.mask; };
        Thread *first = std::find_if(lane, lane + count, asks);
        unsigned mask = 0;
        for (Thread *t = first; t < lane + count; t++)
            if (asks(*t) && t->line == first->line) mask |= 1u << (t - lane), t->state = State::ready;
        for (unsigned j = 0; j < count; j++)
            if (mask >> j & 1) lane[j].mask = mask;
        return mask;
    }

    void release(Thread *lane, unsigned count, const Thread &first) {
        unsigned mask = first.mask, ballot = 0;
        bool apart = false;
        for (unsigned j = 0; j < count; j++)
            if (lane[j].state == State::done) mask &= ~(1u << j);
            else ballot |= unsigned(lane[j].vote) << j & mask;
        for (unsigned j = 0; j < count; j++) {
            Thread &t = lane[j];
            if (!(mask >> j & 1)) continue;
            if (t.line != first.line && (first.converged || t.converged))
                barrier_error("different", first.line, t.index, 1, t.line), apart = true;
            t.state = State::ready, t.mask = mask, t.ballot = ballot, t.warp_epoch += !first.converged;
            shown[t.index] = given[t.index];
        }
        if (kTraced && !first.converged) tell_each_other(lane, count, mask);
        for (unsigned j = 0; j < count; j++)
            if (apart && lane[j].meets) lane[j].mask = 0;  // see `meet`
    }

    // What one lane of the mask knew, all of them know now: a barrier of half a warp orders nothing for the other half.
    void tell_each_other(Thread *lane, unsigned count, unsigned mask) {
        uint32_t known[32] = {};
        for (unsigned j = 0; j < count; j++)
            for (unsigned k = 0; k < 32 && mask >> j & 1; k++) known[k] = std::max(known[k], seen[lane[j].index][k]);
        for (unsigned j = 0; j < count; j++)
            if (mask >> j & 1) known[j] = lane[j].warp_epoch;
        for (unsigned j = 0; j < count; j++)
            if (mask >> j & 1) memcpy(seen[lane[j].index], known, sizeof known);
    }

    void leave_for(Thread &t, Thread *next) {
        ask_for(all[t.index + 4].stack_pointer);
        course_switch(&t.stack_pointer, next ? context_of(*next) : scheduler_stack_pointer);
    }

    void wait(Thread &t) { leave_for(t, next_lane(t)), t.state = State::ready; }

    void arrive(Thread &t, bool vote, int line) {
        if (!arrived++) barrier_line = line, mixed = false;
        mixed |= line != barrier_line;
        votes[epoch % 2] += vote;
        t.line = line, t.epoch = epoch, t.state = State::at_block_barrier;
        open_if_complete();
    }

    void finish(Thread &t) {
        t.state = State::done, done++;
        open_if_complete();
    }

    // The block barrier opens when every thread that is not done stands at it.
    void open_if_complete() {
        if (!arrived || arrived + done < launch.threads) return;
        if (kTraced && (mixed || (done && !ended_early))) wrong_barrier();
        votes[++epoch % 2] = 0;  // those of the barrier before the last one: all have read them
        arrived = 0, changes += kTraced;
    }

    void wrong_barrier() {
        unsigned count = 0, other = 0;
        for (unsigned i = launch.threads; i-- > 0;) {
            bool gone = all[i].state == State::done;
            if (mixed ? !gone && all[i].line != barrier_line : gone) other = i, count++;
        }
        barrier_error(mixed ? "different" : "exited", barrier_line, other, count, mixed ? all[other].line : 0);
    }

    // Threads that wait for barriers which cannot open any more, barrier by barrier.
    void stuck() {
        for (Thread *t = all, *end = all + launch.threads; t < end; t++) {
            auto here = [&](const Thread &u) { return u.state != State::done && u.line == t->line; };
            if (here(*t) && std::none_of(all, t, here))
                barrier_error("stuck", t->line, t->index, unsigned(std::count_if(t, end, here)));
        }
    }
};

Worker &worker_of(const Thread &t) { return *static_cast<Worker *>(t.block); }
}  // namespace

void end_thread() {
    self->block->ended_early = true;
    worker_of(*self).finish(*self);
    worker_of(*self).leave_for(*self, nullptr);
    abort();  // nobody switches to a thread that is done
}

extern "C" void course_fiber_main() {
    for (;;) {
        kernel_call(kernel_arguments);
        Thread &t = *self;
        worker_of(t).finish(t);
        Thread *next = worker_of(t).next_lane(t);
        if (!next || next->stack) worker_of(t).leave_for(t, next);
        next->stack = t.stack, self = next;  // a thread that starts needs no switch
    }
}

static List<Worker *> pool;
static unsigned next_block, blocks;
static const unsigned *chosen;  // the numbers of those blocks, or null for all of the grid

static void *work(void *given) {
    Worker &worker = *(Worker *)given;
    for (unsigned i; (i = __atomic_fetch_add(&next_block, 1, __ATOMIC_SEQ_CST)) < blocks; worker.run()) worker.begin(chosen ? chosen[i] : i);
    return nullptr;
}

void run_grid(const Kernel &kernel, void **arguments, unsigned workers, const unsigned *only, unsigned only_count) {
    kernel_call = kernel.call, kernel_arguments = arguments, next_block = 0, chosen = only_count ? only : nullptr;
    blocks = only_count ? only_count : launch.grid_dim.x * launch.grid_dim.y * launch.grid_dim.z;
    workers = std::min(workers, blocks);
    while (pool.count < workers) pool.add(new (aligned_alloc(alignof(Worker), sizeof(Worker))) Worker);
    static List<pthread_t> helpers;
    helpers.resize(workers - 1);
    for (unsigned i = 1; i < workers; i++)
        if (pthread_create(&helpers[i - 1], nullptr, work, pool[i])) abort();
    work(pool[0]);
    for (pthread_t helper : helpers) pthread_join(helper, nullptr);
}

// A barrier in a function is another one for each place from which the function is called.
static int site_of(int line) { return int(unsigned(line) + (call_path() << 16)); }

int block_barrier(bool vote, int line) {
    Thread &me = *self;
    Worker &worker = worker_of(me);
    worker.arrive(me, vote, site_of(line));
    worker.wait(me);
    return worker.votes[me.epoch % 2];
}

int lane() { return self->index % 32; }

unsigned active_mask(int line) {
    Thread &me = *self;
    me.mask = 0, me.line = line, me.state = State::at_warp_barrier;
    worker_of(me).wait(me);
    return me.mask;
}

void warp_barrier(unsigned mask, int line, bool converged, bool meets) {
    Thread &me = *self;
    if (!(mask >> lane() & 1)) {
        barrier_error("mask", line, me.index);
        mask |= 1u << lane();
    }
    unsigned count = lanes(me.index / 32);
    me.mask = count < 32 ? mask & ((1u << count) - 1) : mask;
    me.line = site_of(line), me.converged = converged, me.meets = meets, me.state = State::at_warp_barrier;
    worker_of(me).wait(me);
}

unsigned ballot(unsigned mask, bool vote, int line) {
    self->vote = vote;
    warp_barrier(mask, line, true);
    return self->ballot;
}

// What a lane shows changes only when a barrier opens, and no barrier opens before all lanes let go have run again.
unsigned exchange(unsigned mask, uint64_t bits, int line) {
    worker_of(*self).given[self->index] = bits;
    warp_barrier(mask, line, true);
    return self->mask;
}

// Lanes that are missing have returned (or a block whose size is no multiple of 32 does not have them).
unsigned meet(uint64_t bits, int line) {
    worker_of(*self).given[self->index] = bits;
    warp_barrier(~0u, line, true, true);
    unsigned came = self->mask, there = lanes(self->index / 32), first = self->index / 32 * 32;
    if (came == ~0u || (came && !kTraced)) return came;
    if (came && !self->block->ended_early) {
        if (there < 32) barrier_error("part", line, self->index, there);
        else barrier_error("exited", line, first + __builtin_ctz(~came), __builtin_popcount(~came));
    }
    end_thread();
}

uint64_t shown(int lane) { return worker_of(*self).shown[self->index / 32 * 32 + lane]; }

unsigned equal(unsigned lanes) {
    for (int i = 0; i < 32; i++)
        if (lanes >> i & 1 && shown(i) != shown(lane())) lanes &= ~(1u << i);
    return lanes;
}

// What a GPU leaves undefined: NaN, or a large number. For a second look another one, now above all others, now below.
static uint64_t poison() {
    static bool below;
    poisoned = true;
    return !second_look ? 0x7fff7fff7fff7fff : (below = !below) ? 0xff7e7e7eff7e7e7e : 0x7f7e7e7e7f7e7e7e;
}

uint64_t shuffle(unsigned mask, uint64_t bits, int source, int line) {
    if (exchange(mask, bits, line) >> source & 1) return shown(source);
    bool exists = unsigned(source) < lanes(self->index / 32);
    auto kind = !exists ? "the block does not have" : mask >> source & 1 ? "has returned" : "the mask leaves out";
    barrier_error(kind, line, self->index, 1, 0, source);
    return poison();
}

void *shared_array(SharedSlot &slot, const char *name, size_t bytes, size_t align, const Shape &shape) {
    constexpr unsigned red_zone = 64;
    Block &block = *self->block;
    if (slot.block == block.serial) return slot.start;
    align = std::max(align, size_t(32));  // enough for a fragment; the first thread of this block to come by
    size_t offset = (block.shared_top + red_zone + align - 1) / align * align;
    if (bytes > kSharedLimit - block.shared_used || offset + bytes + red_zone > kSharedBytes) {
        fprintf(stderr, "%s does not fit: a block may have %u bytes of shared memory\n", name, kSharedLimit);
        _exit(3);
    }
    block.shared_top = offset + bytes, block.shared_used += bytes;
    slot.block = block.serial, slot.start = shared_declared(offset, name, bytes, shape);
    memset(slot.start, 0xff, bytes);  // NaN: whoever reads before writing gets to see it
    return slot.start;
}

void *dynamic_shared(const char *name, unsigned element) {
    static thread_local SharedSlot slot;  // all `extern __shared__` arrays of a kernel are the same memory
    return shared_array(slot, name, launch.shared_bytes, 16, {element, {launch.shared_bytes / element, 0, 0, 0}});
}

}  // namespace course
