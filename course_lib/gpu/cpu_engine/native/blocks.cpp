// Runs the blocks of a grid: each CUDA thread of a block is a fiber, each worker an OS thread with one block at a time.
#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "fiber.h"

namespace course {

Launch launch;
thread_local Thread *self;
Hooks hooks;
Kernel *kernels;
Symbol *symbols;
static void (*kernel_call)(void **);
static void **kernel_arguments;

Kernel::Kernel(const char *name, void (*call)(void **), const Parameter *parameters, unsigned count)
    : name(name), call(call), parameters(parameters), count(count), next(kernels) {
    kernels = this;
}
Symbol::Symbol(const char *name, const volatile void *address, size_t bytes, bool constant)
    : name(name), address((void *)address), bytes(bytes), constant(constant), next(symbols) {
    symbols = this;
}

struct Worker {
    Thread threads[kMaxThreads];
    Block block = {};
    char *stacks;
    std::vector<char *> free_stacks;  // the last one used is on top: it is still in the cache

    Worker() {
        // Each stack ends in a page that may not be touched: running over it is a crash, not silent damage.
        stacks = (char *)mmap(nullptr, size_t(kMaxThreads) * kStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) abort();
        for (unsigned i = 0; i < kMaxThreads; i++) {
            char *stack = stacks + size_t(kMaxThreads - 1 - i) * kStackBytes;
            mprotect(stack, 4096, PROT_NONE);
            free_stacks.push_back(stack);
        }
        block.shared = (char *)aligned_alloc(4096, kSharedBytes + 4096 - kSharedBytes % 4096);
    }
    ~Worker() {
        munmap(stacks, size_t(kMaxThreads) * kStackBytes);
        free(block.shared);
    }
    void begin(unsigned index);
    void run();
    void resume(Thread &t);
    bool run_warp(unsigned warp);
    bool release_warp(unsigned first, unsigned last);
    bool release_block();
    void stuck();
};

void Worker::begin(unsigned index) {
    const dim3 &grid = launch.grid_dim, &dim = launch.block_dim;
    block.block_idx = {index % grid.x, index / grid.x % grid.y, index / (grid.x * grid.y)};
    block.index = index, block.epoch = 0, block.votes = 0, block.ended_early = false;
    block.shared_top = 0, block.serial++;
    block.threads = threads;
    for (unsigned i = 0; i < launch.threads; i++) {
        Thread &t = threads[i];
        t.thread_idx = {i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
        t.block = &block, t.index = i, t.state = State::ready, t.warp_epoch = 0, t.line = 0;
        t.stack = nullptr;
    }
}

// Lets a thread run until it waits or is done. Its stack is given when it starts and taken back at its end, so that a
// kernel without barriers needs one stack only, and that one stays in the cache.
void Worker::resume(Thread &t) {
    if (!t.stack) {
        t.stack = free_stacks.back(), free_stacks.pop_back();
        // Not all stacks begin at the same place of a page, or they would fight for the same lines of the cache.
        t.stack_pointer = course_new_fiber(t.stack + 4096, kStackBytes - 4096 - t.index % 16 * 192);
    }
    self = &t;
    course_switch(&block.scheduler_stack_pointer, t.stack_pointer);
    if (t.state == State::done) free_stacks.push_back(t.stack);
}

// Runs the lanes of a warp, in order, until all of them stand at a block barrier or are done, or nothing moves.
bool Worker::run_warp(unsigned warp) {
    unsigned first = warp * 32, last = first + 32 < launch.threads ? first + 32 : launch.threads;
    bool moved = false, released;
    do {
        for (unsigned i = first; i < last; i++)
            if (threads[i].state == State::ready) {
                resume(threads[i]);
                moved = true;
            }
        if (hooks.warp_ran) hooks.warp_ran(block, warp);
        released = release_warp(first, last);
    } while (released);
    return moved;
}

// Lets those lanes go whose warp barrier has all of its lanes: every lane of the mask that is not done.
bool Worker::release_warp(unsigned first, unsigned last) {
    bool released = false;
    for (unsigned i = first; i < last; i++) {
        if (threads[i].state != State::at_warp_barrier) continue;
        unsigned mask = threads[i].mask;
        bool all = true;
        for (unsigned j = first; j < last; j++)
            if (mask >> (j - first) & 1)
                all = all && (threads[j].state == State::done || (threads[j].state == State::at_warp_barrier && threads[j].mask == mask));
        if (!all) continue;
        for (unsigned j = first; j < last; j++)
            if (threads[j].state == State::at_warp_barrier && threads[j].mask == mask) {
                threads[j].state = State::ready;
                threads[j].warp_epoch++;
            }
        released = true;
    }
    return released;
}

// The block barrier opens when no thread can run and every thread that is not done stands at it.
bool Worker::release_block() {
    unsigned waiting = 0, done = 0, votes = 0, differing = 0;
    const Thread *first = nullptr, *other = nullptr, *gone = nullptr;
    for (unsigned i = 0; i < launch.threads; i++) {
        Thread &t = threads[i];
        if (t.state == State::at_warp_barrier) return false;
        if (t.state == State::done) done++, gone = gone ? gone : &t;
        if (t.state != State::at_block_barrier) continue;
        waiting++, votes += t.vote;
        if (!first) first = &t;
        if (t.line != first->line) differing++, other = other ? other : &t;
    }
    if (!waiting) return false;
    if (other)
        hooks.barrier_error(block, "different", first->line, other->line, other->index, differing);
    else if (done && !block.ended_early)
        hooks.barrier_error(block, "exited", first->line, 0, gone->index, done);
    for (unsigned i = 0; i < launch.threads; i++)
        if (threads[i].state == State::at_block_barrier) threads[i].state = State::ready;
    block.votes = votes;
    block.epoch++;
    return true;
}

// Threads that wait for a barrier which cannot open any more. Their stacks are taken back as they are.
void Worker::stuck() {
    unsigned count = 0, first = 0;
    for (unsigned i = launch.threads; i-- > 0;)
        if (threads[i].state != State::done) {
            free_stacks.push_back(threads[i].stack);
            first = i, count++;
        }
    if (count) hooks.barrier_error(block, "stuck", threads[first].line, 0, first, count);
}

void Worker::run() {
    if (hooks.block_begins) hooks.block_begins(block);
    bool moved = true;
    while (moved) {
        moved = false;
        for (unsigned warp = 0; warp * 32 < launch.threads; warp++) moved |= run_warp(warp);
        moved |= release_block();
    }
    stuck();
    if (hooks.block_ends) hooks.block_ends(block);
}

void run_grid(const Kernel &kernel, void **arguments, unsigned workers, const unsigned *only, unsigned only_count) {
    kernel_call = kernel.call, kernel_arguments = arguments;
    unsigned blocks = only ? only_count : launch.grid_dim.x * launch.grid_dim.y * launch.grid_dim.z;
    if (workers > blocks) workers = blocks;
    std::atomic<unsigned> next{0};
    static std::vector<std::unique_ptr<Worker>> pool;
    while (pool.size() < workers) pool.emplace_back(new Worker);
    auto work = [&](Worker &worker) {
        for (unsigned i; (i = next++) < blocks;) {
            worker.begin(only ? only[i] : i);
            worker.run();
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < workers; i++) helpers.emplace_back(work, std::ref(*pool[i]));
    if (blocks) work(*pool[0]);
    for (auto &helper : helpers) helper.join();
}

static void wait_as(State state, int line) {
    Thread *me = self;
    me->state = state, me->line = line;
    course_switch(&me->stack_pointer, me->block->scheduler_stack_pointer);
}

void end_thread() {
    wait_as(State::done, self->line);
    abort();  // nobody switches to a thread that is done
}

extern "C" void course_fiber_main() {
    kernel_call(kernel_arguments);
    end_thread();
}

void block_barrier(int line) {
    self->vote = false;
    wait_as(State::at_block_barrier, line);
}

int block_barrier_count(bool vote, int line) {
    self->vote = vote;
    wait_as(State::at_block_barrier, line);
    return self->block->votes;
}

int lane() { return self->index % 32; }

static Thread *warp_of(Thread *t) { return t->block->threads + t->index / 32 * 32; }
static unsigned lanes_of(Thread *t) {
    unsigned left = launch.threads - t->index / 32 * 32;
    return left < 32 ? left : 32;
}

unsigned active_mask() {
    unsigned mask = 0;
    for (unsigned i = 0; i < lanes_of(self); i++)
        if (warp_of(self)[i].state != State::done) mask |= 1u << i;
    return mask;
}

void warp_barrier(unsigned mask, int line) {
    if (lanes_of(self) < 32) mask &= (1u << lanes_of(self)) - 1;
    self->mask = mask;
    wait_as(State::at_warp_barrier, line);
}

// Two barriers: all have given before anyone takes, all have taken before anyone gives again.
unsigned ballot(unsigned mask, bool vote, int line) {
    self->vote = vote;
    warp_barrier(mask, line);
    unsigned votes = 0;
    for (unsigned i = 0; i < lanes_of(self); i++)
        if (mask >> i & 1 && warp_of(self)[i].state != State::done && warp_of(self)[i].vote) votes |= 1u << i;
    warp_barrier(mask, line);
    return votes;
}

uint64_t shuffle(unsigned mask, uint64_t bits, int source, int line) {
    self->given = bits;
    warp_barrier(mask, line);
    bool there = source >= 0 && source < (int)lanes_of(self) && (mask >> source & 1);
    uint64_t taken = there ? warp_of(self)[source].given : bits;
    warp_barrier(mask, line);
    return taken;
}

constexpr unsigned kRedZone = 64;

static void too_much_shared(size_t bytes) {
    fprintf(stderr, "the kernel declares %zu bytes of shared memory; a block may have %u\n", bytes, kSharedLimit);
    _exit(3);
}

void *shared_array(SharedSlot &slot, const char *name, size_t bytes, size_t align, int line) {
    Block &block = *self->block;
    if (slot.block != block.serial) {  // the first thread of this block to come by
        if (align < 16) align = 16;
        unsigned offset = (block.shared_top + kRedZone + align - 1) / align * align;
        if (offset + bytes + kRedZone > kSharedBytes) too_much_shared(offset + bytes);
        memset(block.shared + offset, 0xff, bytes);  // NaN: whoever reads before writing gets to see it
        block.shared_top = offset + bytes;
        slot.block = block.serial, slot.offset = offset;
        if (hooks.shared_declared) hooks.shared_declared(offset, name, bytes, line);
    }
    return block.shared + slot.offset;
}

void *dynamic_shared(const char *name, int line) {
    static thread_local SharedSlot slot;  // all `extern __shared__` arrays of a kernel are the same memory
    return shared_array(slot, name, launch.shared_bytes, 16, line);
}

#ifdef COURSE_TRACE
uint3 thread_idx() { return self->thread_idx; }
uint3 block_idx() { return self->block->block_idx; }
dim3 block_dim() { return launch.block_dim; }
dim3 grid_dim() { return launch.grid_dim; }
#endif

}  // namespace course
