// The part of CUDA C that the engine understands, for a host C++ compiler. Put in front of every kernel source.
// What a name means is told in the CUDA C++ Programming Guide, "C++ Language Extensions"; here is only how.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine.h"

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
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDA_ARCH__ 800
#define warpSize 32

#define threadIdx (course::thread_idx())
#define blockIdx (course::block_idx())
#define blockDim (course::block_dim())
#define gridDim (course::grid_dim())

using course::dim3;
using course::uint3;

// Vector types move as one access of their whole size, as they do on a GPU: hence the copies through `all`.
#define COURSE_VECTOR(name, T, bytes, parameters, ...)                                     \
    struct alignas(bytes) name {                                                           \
        typedef T course_all __attribute__((vector_size(bytes)));                          \
        union {                                                                            \
            struct { T __VA_ARGS__; };                                                     \
            course_all all;                                                                \
        };                                                                                 \
        name() = default;                                                                  \
        COURSE_COPY name(const name &o) : all(o.all) {}                                    \
        COURSE_COPY name &operator=(const name &o) { return all = o.all, *this; }          \
    };                                                                                     \
    static COURSE_COPY name make_##name parameters {                                       \
        name v;                                                                            \
        v.all = name::course_all{__VA_ARGS__};                                             \
        return v;                                                                          \
    }
#define COURSE_VECTOR2(name, T, bytes) COURSE_VECTOR(name, T, bytes, (T x, T y), x, y)
#define COURSE_VECTOR4(name, T) COURSE_VECTOR(name, T, 16, (T x, T y, T z, T w), x, y, z, w)
COURSE_VECTOR2(float2, float, 8) COURSE_VECTOR2(int2, int, 8) COURSE_VECTOR2(uint2, unsigned, 8)
COURSE_VECTOR4(float4, float) COURSE_VECTOR4(int4, int) COURSE_VECTOR4(uint4, unsigned)
COURSE_VECTOR2(double2, double, 16)
struct float3 { float x, y, z; };
struct int3 { int x, y, z; };
COURSE_INLINE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
COURSE_INLINE int3 make_int3(int x, int y, int z) { return {x, y, z}; }

// Arithmetic. The fast intrinsics are more accurate here than on a GPU. Some are macros, because a C library has
// functions of these names, or will have.
// Of two numbers, the one that is no NaN; but if traced, a variable without a first value is not lost.
#ifdef COURSE_TRACE
#define COURSE_NO_NUMBER(x, y) ((x != x && !course::is_unset(float(x))) || (y != y && course::is_unset(float(y))))
#else
#define COURSE_NO_NUMBER(x, y) (x != x)
#endif
template <class A, class B> COURSE_INLINE auto min(A a, B b) {
    decltype(a + b) x = a, y = b;
    return y < x || COURSE_NO_NUMBER(x, y) ? y : x;
}
template <class A, class B> COURSE_INLINE auto max(A a, B b) {
    decltype(a + b) x = a, y = b;
    return y > x || COURSE_NO_NUMBER(x, y) ? y : x;
}
#ifdef COURSE_TRACE
#define fmaxf(a, b) max(float(a), float(b))
#define fminf(a, b) min(float(a), float(b))
#define fmax(a, b) max(double(a), double(b))
#define fmin(a, b) min(double(a), double(b))
#endif
COURSE_INLINE float course_rsqrtf(float x) { return 1 / sqrtf(x); }
COURSE_INLINE double course_rsqrt(double x) { return 1 / sqrt(x); }
#define rsqrtf course_rsqrtf
#define rsqrt course_rsqrt
#define __expf expf
#define __logf logf
#define __log2f log2f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
COURSE_INLINE float __fdividef(float x, float y) { return x / y; }
COURSE_INLINE float __fadd_rn(float x, float y) { volatile float s = x + y; return s; }
COURSE_INLINE float __fmul_rn(float x, float y) { volatile float p = x * y; return p; }
COURSE_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
COURSE_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
COURSE_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
COURSE_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
COURSE_INLINE int __ffs(int x) { return __builtin_ffs(x); }
template <class To, class From> COURSE_INLINE To course_bits(From x) {
    To y = To();
    memcpy(&y, &x, sizeof x < sizeof y ? sizeof x : sizeof y);
    return y;
}
COURSE_INLINE int __float_as_int(float x) { return course_bits<int>(x); }
COURSE_INLINE unsigned __float_as_uint(float x) { return course_bits<unsigned>(x); }
COURSE_INLINE float __int_as_float(int x) { return course_bits<float>(x); }
COURSE_INLINE float __uint_as_float(unsigned x) { return course_bits<float>(x); }
COURSE_INLINE long long __double_as_longlong(double x) { return course_bits<long long>(x); }
COURSE_INLINE double __longlong_as_double(long long x) { return course_bits<double>(x); }
template <class T> COURSE_COPY T __ldg(const T *p) { return *p; }

// Barriers, votes and shuffles. The line tells one barrier from another, and a number those of one line.
#if defined(COURSE_TRACE) && !defined(__clang__)  // looks long, so that g++ does not inline a function with a barrier
#define COURSE_LINES "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
#define COURSE_STAY asm volatile(COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES COURSE_LINES)
#else
#define COURSE_STAY
#endif
#define COURSE_HERE int line = __builtin_LINE()
COURSE_INLINE void __syncthreads(COURSE_HERE) {
    COURSE_STAY;
    course::block_barrier(false, line);
}
#define __syncthreads() __syncthreads(__COUNTER__ << 16 | __LINE__)
COURSE_INLINE int __syncthreads_count(int p, COURSE_HERE) { return course::block_barrier(p != 0, line); }
COURSE_INLINE int __syncthreads_or(int p, COURSE_HERE) { return course::block_barrier(p != 0, line) > 0; }
COURSE_INLINE int __syncthreads_and(int p, COURSE_HERE) { return course::block_barrier(p == 0, line) == 0; }
COURSE_INLINE void __syncwarp(unsigned mask = ~0u, COURSE_HERE) { course::warp_barrier(mask, line); }
COURSE_INLINE void __threadfence() { course::fence(); }
COURSE_INLINE void __threadfence_block() {}
COURSE_INLINE void __threadfence_system() { course::fence(); }
COURSE_INLINE unsigned __activemask(COURSE_HERE) { return course::active_mask(line); }
COURSE_INLINE void __nanosleep(unsigned) {}
COURSE_INLINE void __trap() { __builtin_trap(); }
COURSE_INLINE unsigned __ballot_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p != 0, line); }
COURSE_INLINE int __any_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p != 0, line) != 0; }
COURSE_INLINE int __all_sync(unsigned mask, int p, COURSE_HERE) { return course::ballot(mask, p == 0, line) == 0; }

template <class T> COURSE_INLINE T course_shuffle(unsigned mask, T value, int source, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = course::shuffle(mask, bits, source, line);
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
        unsigned lanes = course::exchange(mask, course_bits<uint64_t>(v), line); \
        return course_fold<T>(lanes, [](T a, T b) -> T { return expression; }); \
    }
COURSE_REDUCE(__reduce_add_sync, T(unsigned(a) + unsigned(b))) COURSE_REDUCE(__reduce_min_sync, b < a ? b : a)
COURSE_REDUCE(__reduce_max_sync, a < b ? b : a) COURSE_REDUCE(__reduce_and_sync, a & b)
COURSE_REDUCE(__reduce_or_sync, a | b) COURSE_REDUCE(__reduce_xor_sync, a ^ b)
template <class T> COURSE_INLINE unsigned __match_any_sync(unsigned mask, T v, COURSE_HERE) {
    return course::equal(course::exchange(mask, course_bits<uint64_t>(v), line));
}
template <class T> COURSE_INLINE unsigned __match_all_sync(unsigned mask, T v, int *all, COURSE_HERE) {
    unsigned lanes = course::exchange(mask, course_bits<uint64_t>(v), line);
    return (*all = course::equal(lanes) == lanes) ? lanes : 0;
}

// Atomics: one indivisible read-modify-write, announced to the tracer as such.
template <class T, class F> COURSE_INLINE T course_atomic(T *p, int line, F next) {
#ifdef COURSE_TRACE  // one OS thread, so nothing can come between; and these two calls are not traced
    T old = course_bits<T>(course::atomic_load(p, sizeof(T), line));
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
template <class T> struct course_same { typedef T type; };  // not deduced: atomicAdd(float *, int) is fine
#define COURSE_ATOMIC(name, expression)                                                                             \
    template <class T> COURSE_INLINE T name(T *p, typename course_same<T>::type v, COURSE_HERE) {                   \
        return course_atomic(p, line, [v](T old) -> T { return expression; }); \
    }
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
template <class T>
COURSE_INLINE T atomicCAS(T *p, typename course_same<T>::type compare, typename course_same<T>::type v, COURSE_HERE) {
    T found = course_atomic(p, line, [=](T old) -> T { return old == compare ? v : old; });
#ifdef COURSE_TRACE
    if (found == compare) course::guess_held();
#endif
    return found;
}
COURSE_INLINE long long clock64() { return (long long)course::ticks(); }
#define clock() ((int)course::ticks())  // not a function: the C library has one

// A `__shared__` declaration is rewritten to one of these.
#define COURSE_SHARED(name, ...)                                                                       \
    *(course::Same<__VA_ARGS__> *)({                                                                   \
        static thread_local course::SharedSlot slot;                                                   \
        constexpr course::Shape shape = course::shape_of<__VA_ARGS__>();                               \
        course::shared_array(slot, #name, sizeof(__VA_ARGS__), alignof(__VA_ARGS__), shape);           \
    })
#define COURSE_DYNAMIC_SHARED(name, ...) (__VA_ARGS__ *)course::dynamic_shared(#name, sizeof(__VA_ARGS__))
#define assert(e) ((e) ? (void)0 : course::failed_assert(#e, __LINE__))
