// Arithmetic: what CUDA's mathematics has beside math.h. Fast functions are more accurate here than on a GPU.
// Some names are macros, because a C library has functions of these names, or will have.
#pragma once
#include <fenv.h>

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
#define COURSE_FUNCTION(name, T, parameters, ...) COURSE_INLINE T name parameters { return __VA_ARGS__; }
#define COURSE_F(name, ...) COURSE_FUNCTION(name, float, (float x), (float)(__VA_ARGS__))
#define COURSE_D(name, ...) COURSE_FUNCTION(name, double, (double x), __VA_ARGS__)
#define COURSE_FF(name, ...) COURSE_FUNCTION(name, float, (float x, float y), __VA_ARGS__)
#define COURSE_II(name, ...) COURSE_FUNCTION(name, int, (int x, int y), int(__VA_ARGS__))
#define COURSE_UU(name, ...) COURSE_FUNCTION(name, unsigned, (unsigned x, unsigned y), unsigned(__VA_ARGS__))
typedef long long course_ll;
typedef unsigned long long course_ull;
COURSE_UU(umin, y < x ? y : x) COURSE_UU(umax, y > x ? y : x)
COURSE_FUNCTION(llmin, course_ll, (course_ll x, course_ll y), y < x ? y : x)
COURSE_FUNCTION(llmax, course_ll, (course_ll x, course_ll y), y > x ? y : x)
COURSE_FUNCTION(ullmin, course_ull, (course_ull x, course_ull y), y < x ? y : x)
COURSE_FUNCTION(ullmax, course_ull, (course_ull x, course_ull y), y > x ? y : x)

COURSE_F(course_rsqrtf, 1 / sqrtf(x)) COURSE_D(course_rsqrt, 1 / sqrt(x)) COURSE_D(course_exp10, pow(10, x))
COURSE_D(course_sinpi, sin(3.14159265358979323846 * fmod(x, 2))) COURSE_D(course_cospi, cos(3.14159265358979323846 * fmod(x, 2)))
COURSE_F(rcbrtf, 1 / cbrtf(x)) COURSE_D(rcbrt, 1 / cbrt(x)) COURSE_D(normcdf, erfc(-x * 0.70710678118654752440) / 2)
COURSE_F(normcdff, normcdf(x)) COURSE_FF(rhypotf, 1 / hypotf(x, y)) COURSE_FF(fdividef, x / y) COURSE_FF(__fdividef, x / y)
COURSE_FUNCTION(norm3df, float, (float x, float y, float z), (float)sqrt((double)x * x + (double)y * y + (double)z * z))
COURSE_FUNCTION(rnorm3df, float, (float x, float y, float z), 1 / norm3df(x, y, z))
COURSE_F(__saturatef, fminf(fmaxf(x, 0.0f), 1.0f)) COURSE_F(__frsqrt_rn, 1 / sqrt((double)x))
COURSE_INLINE void course_sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
COURSE_INLINE void course_sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
COURSE_INLINE void sincospif(float x, float *s, float *c) { *s = (float)course_sinpi(x), *c = (float)course_cospi(x); }
COURSE_INLINE void sincospi(double x, double *s, double *c) { *s = course_sinpi(x), *c = course_cospi(x); }
#define rsqrtf course_rsqrtf
#define rsqrt course_rsqrt
#define exp10f(x) ((float)course_exp10(x))
#define exp10(x) course_exp10(x)
#define sinpif(x) ((float)course_sinpi(x))
#define sinpi(x) course_sinpi(x)
#define cospif(x) ((float)course_cospi(x))
#define cospi(x) course_cospi(x)
#define sincosf course_sincosf
#define sincos course_sincos
#define __sincosf course_sincosf
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf

// The four roundings: to nearest (even), to zero, up, down. Volatile, so that nothing is fused or moved across; not
// inline, or one sum would be taken for the other.
#define COURSE_ROUNDED1(name, T, parameters, value, mode, attribute)  \
    static inline __attribute__((attribute)) T name parameters {      \
        if (mode != FE_TONEAREST) fesetround(mode);                   \
        volatile T course_value = (T)(value);                         \
        if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);           \
        return course_value;                                          \
    }
#define COURSE_ROUNDED(name, T, parameters, value)                              \
    COURSE_ROUNDED1(name##_rn, T, parameters, value, FE_TONEAREST, always_inline) \
    COURSE_ROUNDED1(name##_rz, T, parameters, value, FE_TOWARDZERO, noinline)   \
    COURSE_ROUNDED1(name##_ru, T, parameters, value, FE_UPWARD, noinline)       \
    COURSE_ROUNDED1(name##_rd, T, parameters, value, FE_DOWNWARD, noinline)
#define COURSE_ARITHMETIC(f, T, root, fma, fused)                                                                   \
    COURSE_ROUNDED(__##f##add, T, (volatile T x, volatile T y), x + y)                                              \
    COURSE_ROUNDED(__##f##sub, T, (volatile T x, volatile T y), x - y)                                              \
    COURSE_ROUNDED(__##f##mul, T, (volatile T x, volatile T y), x * y)                                              \
    COURSE_ROUNDED(__##f##div, T, (volatile T x, volatile T y), x / y)                                              \
    COURSE_ROUNDED(__##f##rcp, T, (volatile T x), 1 / x) COURSE_ROUNDED(__##f##sqrt, T, (volatile T x), root(x))    \
    COURSE_ROUNDED(fma, T, (volatile T x, volatile T y, volatile T z), fused(x, y, z))
COURSE_ARITHMETIC(f, float, sqrtf, __fmaf, fmaf) COURSE_ARITHMETIC(d, double, sqrt, __fma, ::fma)

// To an integer: rounded, kept in its range, NaN is 0 (from or to 64 bits, the highest bit alone), as PTX's cvt has it.
template <class To, class From> COURSE_INLINE To course_integer(From x) {
    constexpr To lowest = To(-1) < To(0) ? To(1ull << (sizeof(To) * 8 - 1)) : To(0), highest = To(~lowest);
    if (x != x) return sizeof(To) == 8 || sizeof(From) == 8 ? To(1ull << (sizeof(To) * 8 - 1)) : To(0);
    return x >= (double)highest ? highest : x <= (double)lowest ? lowest : (To)x;
}
#define COURSE_TO_INTEGER(from, From, name, To)                                         \
    COURSE_FUNCTION(__##from##2##name##_rn, To, (From x), course_integer<To>(rint(x)))  \
    COURSE_FUNCTION(__##from##2##name##_rz, To, (From x), course_integer<To>(trunc(x))) \
    COURSE_FUNCTION(__##from##2##name##_ru, To, (From x), course_integer<To>(ceil(x)))  \
    COURSE_FUNCTION(__##from##2##name##_rd, To, (From x), course_integer<To>(floor(x)))
#define COURSE_INTEGER(name, T)                                                                  \
    COURSE_TO_INTEGER(float, float, name, T) COURSE_TO_INTEGER(double, double, name, T)          \
    COURSE_ROUNDED(__##name##2float, float, (volatile T x), x) COURSE_ROUNDED(__##name##2double, double, (volatile T x), x)
COURSE_INTEGER(int, int) COURSE_INTEGER(uint, unsigned) COURSE_INTEGER(ll, course_ll) COURSE_INTEGER(ull, course_ull)
COURSE_ROUNDED(__double2float, float, (volatile double x), x)

template <class To, class From> COURSE_INLINE To course_bits(From x) {
    To y = To();
    memcpy(&y, &x, sizeof x < sizeof y ? sizeof x : sizeof y);
    return y;
}
#define COURSE_BITS(name, To, From) COURSE_FUNCTION(name, To, (From x), course_bits<To>(x))
COURSE_BITS(__float_as_int, int, float) COURSE_BITS(__float_as_uint, unsigned, float)
COURSE_BITS(__int_as_float, float, int) COURSE_BITS(__uint_as_float, float, unsigned)
COURSE_BITS(__double_as_longlong, course_ll, double) COURSE_BITS(__longlong_as_double, double, course_ll)
COURSE_BITS(__double2loint, int, double)
COURSE_FUNCTION(__double2hiint, int, (double x), int(course_bits<course_ll>(x) >> 32))
COURSE_FUNCTION(course_wide, uint64_t, (unsigned low, unsigned high), (uint64_t)high << 32 | low)
COURSE_FUNCTION(__hiloint2double, double, (int high, int low), course_bits<double>(course_wide(low, high)))

COURSE_FUNCTION(__popc, int, (unsigned x), __builtin_popcount(x))
COURSE_FUNCTION(__popcll, int, (course_ull x), __builtin_popcountll(x))
COURSE_FUNCTION(__clz, int, (int x), x ? __builtin_clz((unsigned)x) : 32)
COURSE_FUNCTION(__clzll, int, (course_ll x), x ? __builtin_clzll((course_ull)x) : 64)
COURSE_FUNCTION(__ffs, int, (int x), __builtin_ffs(x)) COURSE_FUNCTION(__ffsll, int, (course_ll x), __builtin_ffsll(x))
COURSE_INLINE course_ull __brevll(course_ull x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    return __builtin_bswap64((x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4);
}
COURSE_FUNCTION(__brev, unsigned, (unsigned x), unsigned(__brevll(x) >> 32))
COURSE_UU(__umul24, (x & 0xffffff) * (y & 0xffffff)) COURSE_UU(__umulhi, (course_ull)x * y >> 32)
COURSE_II(__mul24, (course_ll)(x << 8 >> 8) * (y << 8 >> 8)) COURSE_II(__mulhi, (course_ll)x * y >> 32)
COURSE_FUNCTION(__mul64hi, course_ll, (course_ll x, course_ll y), (course_ll)((__int128)x * y >> 64))
COURSE_FUNCTION(__umul64hi, course_ull, (course_ull x, course_ull y), (course_ull)((unsigned __int128)x * y >> 64))
COURSE_FUNCTION(__usad, unsigned, (unsigned x, unsigned y, unsigned z), (x > y ? x - y : y - x) + z)
COURSE_FUNCTION(__sad, unsigned, (int x, int y, unsigned z), (x > y ? (unsigned)x - y : (unsigned)y - x) + z)
COURSE_II(__hadd, ((course_ll)x + y) >> 1) COURSE_II(__rhadd, ((course_ll)x + y + 1) >> 1)
COURSE_UU(__uhadd, ((course_ull)x + y) >> 1) COURSE_UU(__urhadd, ((course_ull)x + y + 1) >> 1)
#define COURSE_SHIFTED(name, value) COURSE_FUNCTION(__funnelshift_##name, unsigned, (unsigned x, unsigned y, unsigned n), unsigned(value))
COURSE_SHIFTED(l, course_wide(x, y) << (n & 31) >> 32) COURSE_SHIFTED(lc, n > 31 ? x : course_wide(x, y) << n >> 32)
COURSE_SHIFTED(r, course_wide(x, y) >> (n & 31)) COURSE_SHIFTED(rc, n > 31 ? y : course_wide(x, y) >> n)
COURSE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned z = 0;
    for (int i = 0; i < 4; i++) z |= (unsigned)(course_wide(x, y) >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
    return z;
}
template <class T, class Byte> COURSE_INLINE T course_dot4(T x, T y, T sum) {
    for (int i = 0; i < 32; i += 8) sum += T(Byte(x >> i)) * T(Byte(y >> i));
    return sum;
}
COURSE_FUNCTION(__dp4a, int, (int x, int y, int z), course_dot4<int, signed char>(x, y, z))
COURSE_FUNCTION(__dp4a, unsigned, (unsigned x, unsigned y, unsigned z), course_dot4<unsigned, unsigned char>(x, y, z))
