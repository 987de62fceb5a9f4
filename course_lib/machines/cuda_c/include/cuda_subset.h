// The part of CUDA C that the engine understands, for a host C++ compiler. Put in front of every kernel source.
// What a name means is told in the CUDA C++ Programming Guide, "C++ Language Extensions"; here is only how.
#pragma once
#include <stdlib.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // of g++: its Bessel functions and their like take half of a kernel's compile
#include <limits.h>  // as CUDA's own headers do
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../cpu_engine/native/engine.h"

#define COURSE_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)  // a copy is charged to the line of the kernel, not to a line of this file
#define COURSE_COPY inline __attribute__((always_inline, nodebug))
#else
#define COURSE_COPY inline __attribute__((always_inline, artificial))
#endif

#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define warpSize 32
#define __assume __builtin_assume
#ifndef __clang__
#define __builtin_assume(e) ((e) ? (void)0 : __builtin_unreachable())
#endif
#pragma GCC diagnostic ignored "-Wnarrowing"  // of {i, j}, which nvcc takes

#define threadIdx (course::thread_idx())
#define blockIdx (course::block_idx())
#define blockDim (course::block_dim())
#define gridDim (course::grid_dim())

using course::dim3;
using course::uint3;

// glibc has these in sys/types.h, and kernels of its users rest on that
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#include "numbers.h"
#include "vectors.h"

// Loads and stores that say how long a cache shall keep a line: the same access. A store's value is not deduced.
template <class T> struct course_same { typedef T type; };
#define COURSE_LOAD(name) template <class T> COURSE_COPY T name(const T *p) { return *p; }
#define COURSE_STORE(name) \
    template <class T> COURSE_COPY void name(T *p, typename course_same<T>::type v) { *p = v; }
COURSE_LOAD(__ldg) COURSE_LOAD(__ldca) COURSE_LOAD(__ldcg) COURSE_LOAD(__ldcs) COURSE_LOAD(__ldlu) COURSE_LOAD(__ldcv)
COURSE_STORE(__stwb) COURSE_STORE(__stcg) COURSE_STORE(__stcs) COURSE_STORE(__stwt)

// Barriers, votes and shuffles. The line tells one barrier from another, and a number those of one line.
#if defined(COURSE_TRACE) && !defined(__clang__)  // looks long, so that g++ does not inline a function with a barrier
#define COURSE_LINES "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
#define COURSE_STAY asm volatile(COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES)
#else
#define COURSE_STAY
#endif
#ifndef COURSE_TRACE
// The usual barrier, in line with the kernel: if the next thread still waits at the barrier before, it goes on.
COURSE_INLINE bool course_goes_on(int line) {
    course::Thread &me = *course::self, &next = (&me)[1];
    course::Block &block = *me.block;
    if (me.index + 1 >= course::launch.threads) return false;
    if (next.state != course::State::at_block_barrier || next.epoch == block.epoch) return false;
    block.arrived++;
    me.line = line, me.epoch = block.epoch, me.state = course::State::at_block_barrier;
    course::ask_for((&me)[4].stack_pointer);
    course::self = &next;
    course::course_switch(&me.stack_pointer, next.stack_pointer);
    return true;
}
#define COURSE_GOES_ON(line) course_goes_on(line) ||
#define COURSE_PLACED(slot) slot.block == course::self->block->serial ? slot.start : (char *)
#else
#define COURSE_GOES_ON(line)
#define COURSE_PLACED(slot)
#endif
#define COURSE_HERE int line = __builtin_LINE()
COURSE_INLINE void __syncthreads(COURSE_HERE) {
    COURSE_STAY;
    COURSE_GOES_ON(line) course::block_barrier(false, line);
}
#define __syncthreads() __syncthreads(__COUNTER__ << 16 | __LINE__)
COURSE_INLINE int __syncthreads_count(int p, COURSE_HERE) { return course::block_barrier(p != 0, line); }
COURSE_INLINE int __syncthreads_or(int p, COURSE_HERE) { return course::block_barrier(p != 0, line) > 0; }
COURSE_INLINE int __syncthreads_and(int p, COURSE_HERE) { return course::block_barrier(p == 0, line) == 0; }
COURSE_INLINE void __syncwarp(unsigned mask = ~0u, COURSE_HERE) { course::warp_barrier(mask, line); }
COURSE_INLINE void __threadfence() { course::fence(); }
COURSE_INLINE void __threadfence_block() { course::fence(false); }
COURSE_INLINE void __threadfence_system() { course::fence(); }
COURSE_INLINE unsigned __activemask(COURSE_HERE) { return course::active_mask(line); }
COURSE_INLINE void __nanosleep(unsigned) {}
COURSE_INLINE void __trap(COURSE_HERE) { course::failed_assert("__trap() is not reached", line); }
COURSE_INLINE unsigned __ballot_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p != 0, line); }
COURSE_INLINE int __any_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p != 0, line) != 0; }
COURSE_INLINE int __all_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p == 0, line) == 0; }

template <class T> COURSE_INLINE uint64_t course_moved(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes, and so do reductions, scans and matches here");
    return course_bits<uint64_t>(value);
}
template <class T> COURSE_INLINE T course_shuffle(unsigned mask, T value, int source, int line) {
    uint64_t bits = course::shuffle(mask, course_moved(value), source, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}
// The source lane as CUDA defines it: lanes outside of the own segment of `width` lanes keep their own value.
#define COURSE_SHUFFLE(name, Lane, expression)                                                             \
    template <class T> COURSE_INLINE T name(unsigned mask, T v, Lane given, int width = 32, COURSE_HERE) { \
        int n = (int)given, me = course::lane(), base = me & ~(width - 1), end = base + width;             \
        return course_shuffle(mask, v, expression, line);                                                  \
    }
COURSE_SHUFFLE(__shfl_sync, int, base + (n & (end - base - 1)))
COURSE_SHUFFLE(__shfl_up_sync, unsigned, me - n < base ? me : me - n)
COURSE_SHUFFLE(__shfl_down_sync, unsigned, me + n >= end ? me : me + n)
COURSE_SHUFFLE(__shfl_xor_sync, int, (me ^ (n & 31)) < end ? me ^ (n & 31) : me)

// What all lanes that have come showed, from the first lane to the last one.
template <class T, class F> COURSE_INLINE T course_fold(unsigned lanes, F next) {
    T all = course_bits<T>(course::shown(__builtin_ctz(lanes)));
    while (lanes &= lanes - 1) all = next(all, course_bits<T>(course::shown(__builtin_ctz(lanes))));
    return all;
}
#define COURSE_REDUCE(name, expression)                                        \
    template <class T> COURSE_INLINE T name(unsigned mask, T v, COURSE_HERE) { \
        unsigned lanes = course::exchange(mask, course_moved(v), line);         \
        return course_fold<T>(lanes, [](T a, T b) -> T { return expression; }); \
    }
COURSE_REDUCE(__reduce_add_sync, T(unsigned(a) + unsigned(b))) COURSE_REDUCE(__reduce_min_sync, b < a ? b : a)
COURSE_REDUCE(__reduce_max_sync, a < b ? b : a) COURSE_REDUCE(__reduce_and_sync, a & b)
COURSE_REDUCE(__reduce_or_sync, a | b) COURSE_REDUCE(__reduce_xor_sync, a ^ b)
template <class T> COURSE_INLINE unsigned __match_any_sync(unsigned mask, T v, COURSE_HERE) {
    return course::equal(course::exchange(mask, course_moved(v), line));
}
template <class T> COURSE_INLINE unsigned __match_all_sync(unsigned mask, T v, int *all, COURSE_HERE) {
    unsigned lanes = course::exchange(mask, course_moved(v), line);
    return (*all = course::equal(lanes) == lanes) ? lanes : 0;
}

// cp.async, as cuda_pipeline_primitives.h has it: traced, a copy arrives when its thread waits for it; else at once.
COURSE_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zfill = 0, COURSE_HERE) {
    course::copy_begins(to, from, bytes, zfill, line);
}
COURSE_INLINE void __pipeline_commit() { course::copies_commit(); }
COURSE_INLINE void __pipeline_wait_prior(size_t prior) { course::copies_arrive(prior); }

// Atomics: one indivisible read-modify-write, announced to the tracer as such.
template <bool of_block = false, class T, class F> COURSE_INLINE T course_atomic(T *p, int line, F next) {
#ifdef COURSE_TRACE  // one OS thread, so nothing can come between; and these two calls are not traced
    T old = course_bits<T>(course::atomic_load(p, sizeof(T), line, of_block));
    course::atomic_store(p, sizeof(T), course_bits<uint64_t>(next(old)));
#else
    T old, wanted;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do {
        wanted = next(old);
    } while (!__atomic_compare_exchange(p, &old, &wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
#endif
    return old;
}
#define COURSE_ATOMIC_AS(name, of_block, expression)                                              \
    template <class T> COURSE_INLINE T name(T *p, typename course_same<T>::type v, COURSE_HERE) { \
        return course_atomic<of_block>(p, line, [v](T old) -> T { return expression; });          \
    }
#define COURSE_ATOMIC(name, expression)                                                         \
    COURSE_ATOMIC_AS(name, false, expression) COURSE_ATOMIC_AS(name##_block, true, expression)  \
    COURSE_ATOMIC_AS(name##_system, false, expression)
COURSE_ATOMIC(atomicAdd, old + v)
COURSE_ATOMIC(atomicSub, old - v)
COURSE_ATOMIC(atomicExch, ((void)old, v))
COURSE_ATOMIC(atomicMin, v < old ? v : old)
COURSE_ATOMIC(atomicMax, old < v ? v : old)
COURSE_ATOMIC(atomicInc, old >= v ? T(0) : T(old + 1))
COURSE_ATOMIC(atomicDec, old == 0 || old > v ? v : T(old - 1))
COURSE_ATOMIC(atomicAnd, old & v)
COURSE_ATOMIC(atomicOr, old | v)
COURSE_ATOMIC(atomicXor, old ^ v)
#define COURSE_CAS(name, of_block)                                                                             \
    template <class T> COURSE_INLINE T name(T *p, typename course_same<T>::type compare,                       \
                                            typename course_same<T>::type v, COURSE_HERE) {                    \
        T found = course_atomic<of_block>(p, line, [=](T old) -> T { return old == compare ? v : old; });      \
        if (found == compare) course::guess_held();                                                            \
        return found;                                                                                          \
    }
COURSE_CAS(atomicCAS, false) COURSE_CAS(atomicCAS_block, true) COURSE_CAS(atomicCAS_system, false)
COURSE_INLINE long long clock64() { return (long long)course::ticks(); }
#define clock() ((int)course::ticks())  // not a function: the C library has one

// A `__shared__` declaration is rewritten to one of these.
#define COURSE_SHARED(name, ...)                                                                       \
    *(course::Same<__VA_ARGS__> *)({                                                                   \
        static thread_local course::SharedSlot slot;                                                   \
        constexpr course::Shape shape = course::shape_of<__VA_ARGS__>();                               \
        COURSE_PLACED(slot) course::shared_array(slot, #name, sizeof(__VA_ARGS__), alignof(__VA_ARGS__), shape); \
    })
#define COURSE_DYNAMIC_SHARED(name, ...) \
    (course::Same<__VA_ARGS__> *)course::dynamic_shared(#name, course::shape_of<__VA_ARGS__>().element)
#define assert(e) ((e) ? (void)0 : course::failed_assert(#e, __LINE__))
