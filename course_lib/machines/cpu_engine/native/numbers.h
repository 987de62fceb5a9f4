// Arithmetic: what CUDA's mathematics has beside math.h. Fast functions are more accurate here than on a GPU.
// Some names are macros, because a C library has functions of these names, or will have.
#pragma once
#include <fenv.h>

template <class A, class B> COURSE_INLINE auto min(A a, B b) {  // of two numbers, the one that is no NaN
    decltype(a + b) x = a, y = b;
    return y < x || x != x ? y : x;
}
template <class A, class B> COURSE_INLINE auto max(A a, B b) {
    decltype(a + b) x = a, y = b;
    return y > x || x != x ? y : x;
}
#define COURSE_FUNCTION(name, T, parameters, value) COURSE_INLINE T name parameters { return value; }
#define COURSE_LEAST(prefix, T)                              \
    COURSE_FUNCTION(prefix##min, T, (T x, T y), y < x ? y : x) \
    COURSE_FUNCTION(prefix##max, T, (T x, T y), y > x ? y : x)
COURSE_LEAST(u, unsigned) COURSE_LEAST(ll, long long) COURSE_LEAST(ull, unsigned long long)

COURSE_FUNCTION(course_rsqrtf, float, (float x), 1 / sqrtf(x))
COURSE_FUNCTION(course_rsqrt, double, (double x), 1 / sqrt(x))
COURSE_FUNCTION(course_exp10, double, (double x), pow(10, x))
COURSE_FUNCTION(course_sinpi, double, (double x), sin(3.14159265358979323846 * fmod(x, 2)))
COURSE_FUNCTION(course_cospi, double, (double x), cos(3.14159265358979323846 * fmod(x, 2)))
#define rsqrtf course_rsqrtf
#define rsqrt course_rsqrt
#define exp10f(x) ((float)course_exp10(x))
#define exp10(x) course_exp10(x)
#define sinpif(x) ((float)course_sinpi(x))
#define sinpi(x) course_sinpi(x)
#define cospif(x) ((float)course_cospi(x))
#define cospi(x) course_cospi(x)
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __tanhf tanhf
COURSE_FUNCTION(rcbrtf, float, (float x), 1 / cbrtf(x))
COURSE_FUNCTION(rcbrt, double, (double x), 1 / cbrt(x))
COURSE_FUNCTION(rhypotf, float, (float x, float y), 1 / hypotf(x, y))
COURSE_FUNCTION(rhypot, double, (double x, double y), 1 / hypot(x, y))
COURSE_FUNCTION(norm3d, double, (double x, double y, double z), sqrt(x * x + y * y + z * z))
COURSE_FUNCTION(norm3df, float, (float x, float y, float z), (float)norm3d(x, y, z))
COURSE_FUNCTION(rnorm3df, float, (float x, float y, float z), (float)(1 / norm3d(x, y, z)))
COURSE_FUNCTION(norm4df, float, (float x, float y, float z, float w), (float)sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w))
COURSE_FUNCTION(normcdf, double, (double x), erfc(-x * 0.70710678118654752440) / 2)
COURSE_FUNCTION(normcdff, float, (float x), (float)normcdf(x))
COURSE_FUNCTION(fdividef, float, (float x, float y), x / y)
COURSE_FUNCTION(__fdividef, float, (float x, float y), x / y)
COURSE_FUNCTION(__saturatef, float, (float x), fminf(fmaxf(x, 0.0f), 1.0f))
COURSE_INLINE void course_sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
COURSE_INLINE void course_sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
COURSE_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
#define sincosf course_sincosf
#define __sincosf course_sincosf
#define sincos course_sincos

// The four roundings: to nearest (even), to zero, up, down. Volatile, so that nothing is fused or moved across; not
// inline, or one sum would be taken for the other.
#define COURSE_ROUNDED1(name, T, parameters, value, mode) \
    static inline __attribute__((noinline)) T name parameters { \
        fesetround(mode);                                 \
        volatile T course_value = (T)(value);             \
        fesetround(FE_TONEAREST);                         \
        return course_value;                              \
    }
#define COURSE_ROUNDED(name, T, parameters, value)                     \
    COURSE_INLINE T name##_rn parameters {                             \
        volatile T course_value = (T)(value);                          \
        return course_value;                                           \
    }                                                                  \
    COURSE_ROUNDED1(name##_rz, T, parameters, value, FE_TOWARDZERO)    \
    COURSE_ROUNDED1(name##_ru, T, parameters, value, FE_UPWARD)        \
    COURSE_ROUNDED1(name##_rd, T, parameters, value, FE_DOWNWARD)
#define COURSE_ARITHMETIC(f, T, root, fma, fused)                                      \
    COURSE_ROUNDED(__##f##add, T, (volatile T x, volatile T y), x + y)                 \
    COURSE_ROUNDED(__##f##sub, T, (volatile T x, volatile T y), x - y)                 \
    COURSE_ROUNDED(__##f##mul, T, (volatile T x, volatile T y), x * y)                 \
    COURSE_ROUNDED(__##f##div, T, (volatile T x, volatile T y), x / y)                 \
    COURSE_ROUNDED(__##f##rcp, T, (volatile T x), 1 / x)                               \
    COURSE_ROUNDED(__##f##sqrt, T, (volatile T x), root(x))                            \
    COURSE_ROUNDED(fma, T, (volatile T x, volatile T y, volatile T z), fused(x, y, z))
COURSE_ARITHMETIC(f, float, sqrtf, __fmaf, fmaf) COURSE_ARITHMETIC(d, double, sqrt, __fma, ::fma)
COURSE_FUNCTION(__frsqrt_rn, float, (float x), (float)(1 / sqrt((double)x)))

// To an integer: rounded, kept in its range, NaN is 0 (of 64 bits, the lowest bit pattern with the sign alone).
template <class To> COURSE_INLINE To course_integer(double x) {
    constexpr To lowest = To(-1) < To(0) ? To(1ull << (sizeof(To) * 8 - 1)) : To(0), highest = To(~lowest);
    if (x != x) return sizeof(To) == 8 ? To(1ull << 63) : To(0);
    return x >= (double)highest ? highest : x <= (double)lowest ? lowest : (To)x;
}
#define COURSE_TO_INTEGER(from, From, name, To)                                    \
    COURSE_FUNCTION(__##from##2##name##_rn, To, (From x), course_integer<To>(rint(x)))  \
    COURSE_FUNCTION(__##from##2##name##_rz, To, (From x), course_integer<To>(trunc(x))) \
    COURSE_FUNCTION(__##from##2##name##_ru, To, (From x), course_integer<To>(ceil(x)))  \
    COURSE_FUNCTION(__##from##2##name##_rd, To, (From x), course_integer<To>(floor(x)))
#define COURSE_INTEGER(name, T)                                                                                     \
    COURSE_TO_INTEGER(float, float, name, T) COURSE_TO_INTEGER(double, double, name, T)                             \
    COURSE_ROUNDED(__##name##2float, float, (volatile T x), x) COURSE_ROUNDED(__##name##2double, double, (volatile T x), x)
COURSE_INTEGER(int, int) COURSE_INTEGER(uint, unsigned) COURSE_INTEGER(ll, long long)
COURSE_INTEGER(ull, unsigned long long)
COURSE_ROUNDED(__double2float, float, (volatile double x), x)

template <class To, class From> COURSE_INLINE To course_bits(From x) {
    To y = To();
    memcpy(&y, &x, sizeof x < sizeof y ? sizeof x : sizeof y);
    return y;
}
COURSE_FUNCTION(__float_as_int, int, (float x), course_bits<int>(x))
COURSE_FUNCTION(__float_as_uint, unsigned, (float x), course_bits<unsigned>(x))
COURSE_FUNCTION(__int_as_float, float, (int x), course_bits<float>(x))
COURSE_FUNCTION(__uint_as_float, float, (unsigned x), course_bits<float>(x))
COURSE_FUNCTION(__double_as_longlong, long long, (double x), course_bits<long long>(x))
COURSE_FUNCTION(__longlong_as_double, double, (long long x), course_bits<double>(x))
COURSE_FUNCTION(__double2hiint, int, (double x), int(course_bits<uint64_t>(x) >> 32))
COURSE_FUNCTION(__double2loint, int, (double x), int(course_bits<uint64_t>(x)))
COURSE_FUNCTION(__hiloint2double, double, (int high, int low), course_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low))

COURSE_FUNCTION(__popc, int, (unsigned x), __builtin_popcount(x))
COURSE_FUNCTION(__popcll, int, (unsigned long long x), __builtin_popcountll(x))
COURSE_FUNCTION(__clz, int, (int x), x ? __builtin_clz((unsigned)x) : 32)
COURSE_FUNCTION(__clzll, int, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
COURSE_FUNCTION(__ffs, int, (int x), __builtin_ffs(x))
COURSE_FUNCTION(__ffsll, int, (long long x), __builtin_ffsll(x))
COURSE_INLINE unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}
COURSE_FUNCTION(__brev, unsigned, (unsigned x), unsigned(__brevll(x) >> 32))
COURSE_FUNCTION(__mul24, int, (int x, int y), int((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8)))
COURSE_FUNCTION(__umul24, unsigned, (unsigned x, unsigned y), (x & 0xffffff) * (y & 0xffffff))
COURSE_FUNCTION(__mulhi, int, (int x, int y), int((long long)x * y >> 32))
COURSE_FUNCTION(__umulhi, unsigned, (unsigned x, unsigned y), unsigned((unsigned long long)x * y >> 32))
COURSE_FUNCTION(__mul64hi, long long, (long long x, long long y), (long long)((__int128)x * y >> 64))
COURSE_FUNCTION(__umul64hi, unsigned long long, (unsigned long long x, unsigned long long y), (unsigned long long)((unsigned __int128)x * y >> 64))
COURSE_FUNCTION(__usad, unsigned, (unsigned x, unsigned y, unsigned z), (x > y ? x - y : y - x) + z)
COURSE_FUNCTION(__sad, unsigned, (int x, int y, unsigned z), (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z)
COURSE_FUNCTION(__hadd, int, (int x, int y), int(((long long)x + y) >> 1))
COURSE_FUNCTION(__rhadd, int, (int x, int y), int(((long long)x + y + 1) >> 1))
COURSE_FUNCTION(__uhadd, unsigned, (unsigned x, unsigned y), unsigned(((unsigned long long)x + y) >> 1))
COURSE_FUNCTION(__urhadd, unsigned, (unsigned x, unsigned y), unsigned(((unsigned long long)x + y + 1) >> 1))
COURSE_FUNCTION(course_wide, uint64_t, (unsigned low, unsigned high), (uint64_t)high << 32 | low)
COURSE_FUNCTION(__funnelshift_l, unsigned, (unsigned low, unsigned high, unsigned n), unsigned(course_wide(low, high) << (n & 31) >> 32))
COURSE_FUNCTION(__funnelshift_r, unsigned, (unsigned low, unsigned high, unsigned n), unsigned(course_wide(low, high) >> (n & 31)))
COURSE_FUNCTION(__funnelshift_lc, unsigned, (unsigned low, unsigned high, unsigned n), n > 31 ? low : unsigned(course_wide(low, high) << n >> 32))
COURSE_FUNCTION(__funnelshift_rc, unsigned, (unsigned low, unsigned high, unsigned n), n > 31 ? high : unsigned(course_wide(low, high) >> n))
COURSE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned z = 0;
    for (int i = 0; i < 4; i++) z |= (unsigned)(course_wide(x, y) >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
    return z;
}
#define COURSE_DOT4(T, Byte)                                                                     \
    COURSE_INLINE T __dp4a(T x, T y, T sum) {                                                    \
        for (int i = 0; i < 32; i += 8) sum += T((Byte)(x >> i)) * T((Byte)(y >> i));                \
        return sum;                                                                              \
    }
COURSE_DOT4(int, signed char) COURSE_DOT4(unsigned, unsigned char)
