// What kernels, the scheduler and the tracer share.
#pragma once
#include <stddef.h>
#include <stdint.h>

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

struct Block;
enum class State : uint8_t { ready, at_block_barrier, at_warp_barrier, done };

struct Thread {  // one CUDA thread: a fiber with a place in its block
    uint3 thread_idx;
    Block *block;
    void *stack_pointer;
    char *stack;
    unsigned index;  // x + y Dx + z Dx Dy
    State state;
    int line;            // of the barrier it waits at
    unsigned mask;       // of the warp barrier it waits at
    unsigned warp_epoch;  // warp barriers passed
    bool vote;
    uint64_t given;  // what it offers to a shuffle
};
extern thread_local Thread *self;

struct Block {  // one block of threads, run by one worker
    uint3 block_idx;
    unsigned index;
    uint64_t serial;     // counts the blocks of this worker
    unsigned epoch;      // block barriers passed
    unsigned votes;      // of the last block_barrier_count
    char *shared;        // the worker's arena
    unsigned shared_top;
    bool ended_early;    // a thread was ended by an error
    Thread *threads;
    void *scheduler_stack_pointer;
};

struct SharedSlot {  // one `__shared__` declaration (of one template instance), for one worker
    uint64_t block = 0;  // serial number of the block it was placed for
    unsigned offset = 0;
};

template <class T> using Same = T;
void *shared_array(SharedSlot &slot, const char *name, size_t bytes, size_t align, int line);
void *dynamic_shared(const char *name, int line);
void block_barrier(int line);
int block_barrier_count(bool vote, int line);
void warp_barrier(unsigned mask, int line);
unsigned ballot(unsigned mask, bool vote, int line);
uint64_t shuffle(unsigned mask, uint64_t bits, int source, int line);
unsigned active_mask();
int lane();
uint64_t ticks();
int print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void failed_assert(const char *text, int line);
#ifdef COURSE_TRACE
uint64_t atomic_load(const void *address, unsigned bytes, int line);
void atomic_store(void *address, unsigned bytes, uint64_t bits);
void fence();
#else
inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif
// Indices never change while a CUDA thread lives, so a compiler may keep them: hence `const`.
#ifdef COURSE_TRACE  // not inline: the tracer must not see these reads
__attribute__((const)) uint3 thread_idx();
__attribute__((const)) uint3 block_idx();
__attribute__((const)) dim3 block_dim();
__attribute__((const)) dim3 grid_dim();
#else
inline uint3 thread_idx() { return self->thread_idx; }
inline uint3 block_idx() { return self->block->block_idx; }
inline dim3 block_dim() { return launch.block_dim; }
inline dim3 grid_dim() { return launch.grid_dim; }
#endif

// Kernels and symbols register themselves before main runs.
struct Parameter {
    unsigned bytes;
    char kind;  // p pointer, f floating point, i signed, u unsigned, b bytes
};
struct Kernel {
    const char *name;
    void (*call)(void **arguments);
    const Parameter *parameters;
    unsigned count;
    Kernel *next;
    Kernel(const char *name, void (*call)(void **), const Parameter *parameters, unsigned count);
};
struct Symbol {  // a __constant__ or __device__ variable
    const char *name;
    void *address;
    size_t bytes;
    bool constant;
    Symbol *next;
    Symbol(const char *name, const volatile void *address, size_t bytes, bool constant);
};
extern Kernel *kernels;
extern Symbol *symbols;

template <class T> struct KindOf { static constexpr char value = T(-1) < T(0) ? (T(1) / T(2) != T(0) ? 'f' : 'i') : 'u'; };
template <class T> struct KindOf<T *> { static constexpr char value = 'p'; };
template <class T, bool class_type> struct Kind { static constexpr char value = KindOf<T>::value; };
template <class T> struct Kind<T, true> { static constexpr char value = 'b'; };

template <class... A> struct Caller {
    template <void (*f)(A...)> struct Of {
        __attribute__((no_sanitize("thread"))) static void call(void **arguments) { spread(arguments, Numbers<sizeof...(A)>()); }
        template <unsigned... i> struct Sequence {};
        template <unsigned n, unsigned... i> struct Count : Count<n - 1, n - 1, i...> {};
        template <unsigned... i> struct Count<0, i...> { typedef Sequence<i...> type; };
        template <unsigned n> using Numbers = typename Count<n>::type;
        template <unsigned... i> __attribute__((no_sanitize("thread"))) static void spread(void **arguments, Sequence<i...>) {
            (void)arguments;
            f(*(A *)arguments[i]...);
        }
    };
    static constexpr Parameter parameters[sizeof...(A) + 1] = {{sizeof(A), Kind<A, __is_class(A) || __is_union(A)>::value}..., {0, 0}};
};
template <class... A> Caller<A...> caller_of(void (*)(A...));

}  // namespace course

#define COURSE_KERNEL(f)                                                                                        \
    static course::Kernel course_kernel_##f(#f, decltype(course::caller_of(f))::Of<f>::call,                    \
                                            decltype(course::caller_of(f))::parameters,                         \
                                            sizeof(decltype(course::caller_of(f))::parameters) / sizeof(course::Parameter) - 1);
#define COURSE_SYMBOL(v, constant) static course::Symbol course_symbol_##v(#v, &v, sizeof v, constant);
