// What kernels, the scheduler and the tracer share.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define COURSE_UNTRACED __attribute__((no_sanitize("thread")))

namespace course {

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct Launch {  // one kernel launch: the same for all blocks
    dim3 grid_dim, block_dim;
    unsigned shared_bytes;  // dynamic shared memory
    unsigned threads;       // in a block
};
extern Launch launch;
extern const bool has_parts;  // of the program: it has barriers of some lanes of a warp

struct Block;
enum class State : uint8_t { ready, at_block_barrier, at_warp_barrier, done };

struct alignas(64) Thread {  // one CUDA thread: a fiber with a place in its block
    uint3 thread_idx;
    unsigned index;  // x + y Dx + z Dx Dy
    Block *block;
    void *stack_pointer;
    char *stack;              // null before it starts and after its end
    int line;                 // of the barrier it waits at: see `site_of`
    unsigned epoch;           // of the block barrier it waits at
    unsigned mask;            // of the warp barrier it waits at (0: of whoever comes); then the lanes that it let go
    unsigned warp_epoch;      // warp barriers passed
    unsigned ballot;          // the last one of its warp
    State state;
    bool vote, converged;     // what it gives to a vote; waits in a vote or shuffle, which lanes must make in one place
    bool meets;               // in a call on a fragment
};
extern "C" void course_switch(void **save, void *to);  // saves here, goes on there: see fiber.h
extern __thread Thread *self;  // unlike thread_local, __thread needs no call to find out whether it is initialised

struct Block {  // one block of threads, run by one worker
    uint64_t serial;           // counts the blocks of this worker
    unsigned index, epoch;     // block barriers passed
    uint3 block_idx;
    unsigned arrived, done;    // threads at the next barrier, and those that have returned
    int barrier_line;          // of the first that arrived
    unsigned votes[2];         // given at the barriers of even and odd epochs
    bool mixed, ended_early;   // threads arrived at different barriers; a thread was ended by an error
    char *shared;              // the worker's arena
    unsigned shared_top, shared_used;
    void *scheduler_stack_pointer;
};

struct SharedSlot {  // one `__shared__` declaration (of one template instance), for one worker
    uint64_t block = 0;  // serial number of the block it was placed for
    char *start = nullptr;
};
struct Shape {  // of an array: bytes of an element, and up to four dimensions
    unsigned element = 0, dimensions[4] = {0, 0, 0, 0};
};
template <class T> using Same = T;
template <class T> constexpr void fill(Shape &s, T *, int) { s.element = sizeof(T); }
template <class T, size_t n> constexpr void fill(Shape &s, T (*)[n], int at) {
    if (at < 4) s.dimensions[at] = n;
    fill(s, (T *)nullptr, at + 1);
}
template <class T> constexpr Shape shape_of() {
    Shape s;
    fill(s, (T *)nullptr, 0);
    return s;
}

// Hundreds of stacks do not fit into the first cache: where a later thread left off is asked for now.
inline void ask_for(const void *stack_pointer) {
    for (int i = 0; i < 320; i += 64) __builtin_prefetch((const char *)stack_pointer + i);
}

void *shared_array(SharedSlot &slot, const char *name, size_t bytes, size_t align, const Shape &shape);
void *dynamic_shared(const char *name, unsigned element);
#if defined(COURSE_TRACE) && defined(__clang__)  // no function with a barrier is inlined in two places
__attribute__((noduplicate))
#endif
int block_barrier(bool vote, int line);  // how many threads voted
void warp_barrier(unsigned mask, int line, bool converged = false, bool meets = false);  // converged: orders no memory
unsigned ballot(unsigned mask, bool vote, int line);
unsigned exchange(unsigned mask, uint64_t bits, int line);  // each lane shows its bits; the lanes that have come
unsigned meet(uint64_t bits, int line);                     // the same for all 32 lanes; orders no memory
uint64_t shown(int lane);                                   // what it showed
unsigned equal(unsigned lanes);                             // those of them that showed the same as this one
uint64_t shuffle(unsigned mask, uint64_t bits, int source, int line);
unsigned active_mask(int line);
int lane();
uint64_t ticks();
void failed_assert(const char *text, int line);
#ifdef COURSE_TRACE
uint64_t atomic_load(const void *address, unsigned bytes, int line, bool of_block);  // atomic in its block alone?
void atomic_store(void *address, unsigned bytes, uint64_t bits);
// A fragment of a matrix in memory, from `start` on, a line each `ld` elements; one that was used before it was set.
void tile(const void *start, unsigned ld, unsigned bytes, bool stored, int line);
void element(const void *address, unsigned bytes, bool stored, int line);  // of it, about to be loaded or stored
void fragment_unset(int which, int line);
// A copy that travels to shared memory until its thread waits for all but the last `prior` groups; a commit ends a group.
void copy_begins(void *to, const void *from, size_t bytes, size_t zeros, int line);
void copies_commit();
void copies_arrive(size_t prior);
void guess_held();  // the last atomic was an atomicCAS, and found what its thread expected
void fence(bool of_all = true);  // for all blocks, or for its own one
// Not inline, for the tracer must not see these reads; indices never change while a thread lives, hence `const`.
#define COURSE_INDEX COURSE_UNTRACED __attribute__((noinline, const)) inline
#else
#define COURSE_INDEX inline
inline void tile(const void *start, unsigned, unsigned, bool, int line) { meet((uint64_t)start, line); }
inline void element(const void *, unsigned, bool, int) {}
inline void copy_begins(void *to, const void *from, size_t bytes, size_t zeros, int) {
    __builtin_memcpy(to, from, bytes - zeros), __builtin_memset((char *)to + bytes - zeros, 0, zeros);
}
inline void copies_commit() {}
inline void guess_held() {}
inline void copies_arrive(size_t) {}
inline void fence(bool = true) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif
COURSE_INDEX uint3 thread_idx() { return self->thread_idx; }
COURSE_INDEX uint3 block_idx() { return self->block->block_idx; }
COURSE_INDEX dim3 block_dim() { return launch.block_dim; }
COURSE_INDEX dim3 grid_dim() { return launch.grid_dim; }

// Kernels and symbols register themselves before main runs.
struct Parameter {
    unsigned bytes;
    char kind;  // p pointer, f floating point, i signed, u unsigned, b bytes
};
template <auto f> struct Launcher {};
template <class... A> constexpr auto kernel_of(void (*f)(A...)) { return f; }  // not a C function of the same name
struct Kernel {
    const char *name;
    void (*call)(void **arguments);
    const Parameter *parameters;  // after the last one, one of no bytes
    Kernel *next;
    template <auto f> COURSE_UNTRACED Kernel(const char *name, Launcher<f> l)
        : name(name), call(l.call), parameters(l.parameters), next(first) { first = this; }
    static Kernel *first;
};
struct Symbol {  // a __constant__ or __device__ variable
    const char *name;
    uint64_t address, bytes;
    bool constant;
    unsigned element;
    Symbol *next;
    template <class T> COURSE_UNTRACED Symbol(const char *name, T &v, bool constant)
        : name(name), address((uint64_t)&v), bytes(sizeof v), constant(constant), element(shape_of<T>().element),
          next(first) { first = this; }
    static Symbol *first;
};

template <class T, bool is_class> constexpr char kind = T(-1) < T(0) ? (T(1) / T(2) != T(0) ? 'f' : 'i') : 'u';
template <class T> constexpr char kind<T *, false> = 'p';
template <class T> constexpr char kind<T, true> = 'b';

template <class... A, void (*f)(A...)> struct Launcher<f> {
    struct Run {  // braces promise that the arguments are taken from the left to the right
        COURSE_UNTRACED Run(A... a) { f(a...); }
    };
    COURSE_UNTRACED static void call(void **arguments) { Run{*(A *)*arguments++...}; }
    static constexpr Parameter parameters[] = {{sizeof(A), kind<A, __is_class(A) || __is_union(A)>}..., {0, 0}};
};

// Is it the NaN that variables without a first value start from, if traced (see unset.py)? That of g++, also as a
// double made a float, or that of clang.
constexpr uint32_t kUnset = 0x7ffead01;
#ifdef __clang__
constexpr uint32_t kUnsetInteger = 0xaaaaaaaa;
#else
constexpr uint32_t kUnsetInteger = kUnset;
#endif
__attribute__((always_inline)) inline bool is_unset(float x) {
    uint32_t bits = 0, size = 0;
    __builtin_memcpy(&bits, &x, sizeof bits), size = bits & ~0u >> 1;
    return bits == ~0u || size == kUnset || size == 0x7ff5680b;
}

// The rest is the engine's own business.
constexpr unsigned kStackBytes = 64 << 10;   // for one CUDA thread
constexpr unsigned kSharedLimit = 48 << 10;  // what CUDA gives a block without asking for more
constexpr unsigned kSharedBytes = 64 << 10;  // a worker's arena for it: the arrays and the red zones between them
constexpr unsigned kMaxThreads = 1024;

void run_grid(const Kernel &kernel, void **arguments, unsigned workers, const unsigned *only, unsigned only_count);
[[noreturn]] void end_thread();  // the current CUDA thread stops here, by an error

// Where a barrier stands: its line, and in the upper 16 bits a number that tells it from others in that line.
constexpr int line_of_site(int site) { return site & 0xffff; }

// What a barrier of this block found wrong: `count` threads (the first of them `thread`) are elsewhere (in `other_line`) or
// gone; or of a shuffle: `thread` takes from `lane`, which (says the kind) is not there. The kinds: see messages.toml.
void barrier_error(const char *kind, int line, unsigned thread, unsigned count = 1, int other_line = 0, int lane = -1);

extern uint32_t seen[kMaxThreads][32];  // warp barriers of each lane of its warp that a thread knows to be passed
extern bool poisoned, second_look;  // a shuffle gave poison; the launch runs again, with another poison
extern uint64_t changes;  // counts all but the reads of a warp's lanes, one after the other, that nothing came of
#ifdef COURSE_TRACE  // what the tracer wants to know
void block_begins();
void warp_stands();  // all lanes of a warp stand still
char *shared_declared(size_t offset, const char *name, size_t bytes, const Shape &shape);  // where it lies
unsigned call_path();  // a number for the calls by which the thread came here
constexpr bool kTraced = true;
#else
constexpr bool kTraced = false;
constexpr unsigned call_path() { return 0; }
inline void block_begins() {}
inline void warp_stands() {}
inline char *shared_declared(size_t offset, const char *, size_t, const Shape &) {
    return self->block->shared + offset;
}
#endif
}  // namespace course

#define COURSE_KERNEL(f) COURSE_KERNEL_AS(f, #f, f)
#define COURSE_KERNEL_AS(id, name, ...) \
    static course::Kernel course_kernel_##id(name, course::Launcher<course::kernel_of(__VA_ARGS__)>());
#define COURSE_SYMBOL(v, constant) static course::Symbol course_symbol_##v(#v, v, constant);
