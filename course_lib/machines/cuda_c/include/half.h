// half and bfloat16: 16 bits to store, float to compute with, then rounded to the nearest, of two equally near ones to
// the even. A float has more than twice the digits, so +, -, *, / and the root are rounded as if they were done once.
// Read only for sources that include cuda_fp16.h or cuda_bf16.h.
#pragma once

#define COURSE_MEMBER inline __attribute__((always_inline))

// A float for a double whose exact value is x + rest: where it is not equal it is odd, so a second rounding is right.
COURSE_INLINE float course_odd(double x, double rest) {
    float f = (float)x;
    double left = f - f == 0 ? (x - f) + rest : 0;
    if (left == 0) return f;
    unsigned bits = __float_as_uint(f == 0 ? copysignf(0, (float)(x != 0 ? x : left)) : f);
    if (f != 0 && (left < 0) != (f < 0)) bits--;
    return __uint_as_float(bits | 1);
}
COURSE_INLINE float course_fused(double x, double y, double z) {  // x y is exact; the error of the sum is, too
    double product = x * y, sum = product + z, part = sum - product;
    return course_odd(sum, (product - (sum - part)) + (z - part));
}

// 16 bits with `digits` of the number behind the point.
template <int digits> COURSE_INLINE unsigned short course_narrow(float f) {
    constexpr int bias = digits == 7 ? 127 : 15;
    unsigned short sign = __float_as_uint(f) >> 16 & 0x8000;
    if (f != f) return 0x7fff;
    if (digits == 7) return (__float_as_uint(f) + 0x7fff + (__float_as_uint(f) >> 16 & 1)) >> 16;
    float size = fabsf(f);
    if (size >= 65520) return sign | 0x7c00;
    int exponent = size < 6.103515625e-5f ? 1 - bias : int(__float_as_uint(size) >> 23) - 127;
    return sign | (((exponent + bias - 1) << digits) + (int)rintf(ldexpf(size, digits - exponent)));
}
template <int digits> COURSE_INLINE float course_widen(unsigned short bits) {
    if (digits == 7) return __uint_as_float((unsigned)bits << 16);
    unsigned exponent = bits >> 10 & 31, shifted = (unsigned)(bits & 0x7fff) << 13;
    float normal = __uint_as_float(exponent == 31 ? shifted | 0x7f800000 : shifted + (112 << 23));
    return copysignf(exponent ? normal : (bits & 1023) * 5.9604644775390625e-8f, bits & 0x8000 ? -1 : 1);
}
#ifdef __FLT16_MANT_DIG__
template <> COURSE_MEMBER unsigned short course_narrow<10>(float f) {
    return f != f ? 0x7fff : course_bits<unsigned short>((_Float16)f);
}
template <> COURSE_MEMBER float course_widen<10>(unsigned short bits) { return course_bits<_Float16>(bits); }
#endif


// Name and value of the functions of one number x, as __hneg and __hneg2, hexp and h2exp.
#define COURSE_SIGNS(each) each(__hneg, __hneg2, -x) each(__habs, __habs2, fabsf(x)) each(operator-, operator-, -x)
#define COURSE_MATH1(each, f, value) each(h##f, h2##f, value)
#define COURSE_MATH(e)                                                                                                 \
    COURSE_MATH1(e, exp, expf(x)) COURSE_MATH1(e, exp2, exp2f(x)) COURSE_MATH1(e, exp10, exp10f(x))                    \
    COURSE_MATH1(e, log, logf(x)) COURSE_MATH1(e, log2, log2f(x)) COURSE_MATH1(e, log10, log10f(x))                    \
    COURSE_MATH1(e, sqrt, sqrtf(x)) COURSE_MATH1(e, rsqrt, 1 / sqrt((double)x)) COURSE_MATH1(e, rcp, 1 / x)            \
    COURSE_MATH1(e, sin, sinf(x)) COURSE_MATH1(e, cos, cosf(x)) COURSE_MATH1(e, tanh, tanhf(x))                        \
    COURSE_MATH1(e, floor, floorf(x)) COURSE_MATH1(e, ceil, ceilf(x)) COURSE_MATH1(e, trunc, truncf(x)) COURSE_MATH1(e, rint, rintf(x))
#define COURSE_OPERATORS(each) each(+, add) each(-, sub) each(*, mul) each(/, div)
#define COURSE_COMPARISONS(each) each(==, eq) each(!=, ne) each(<, lt) each(<=, le) each(>, gt) each(>=, ge)

#define COURSE_FROM(T) COURSE_MEMBER course_small(T v) : course_stored(course_narrow<digits>(course_odd((double)v, 0))) {}
#define COURSE_TWO(name, value) friend COURSE_MEMBER course_small name(course_small a, course_small b) { return value; }
#define COURSE_ONE(name, two, value) friend COURSE_MEMBER course_small name(course_small a) { float x = a; return value; }
#define COURSE_OPERATOR(op, name)                                                                                      \
    COURSE_TWO(operator op, (float)a op (float)b) COURSE_TWO(__h##name, a op b) COURSE_TWO(__h##name##_rn, a op b)     \
    COURSE_TWO(__h##name##_sat, __saturatef(a op b))                                                                   \
    friend COURSE_MEMBER course_small &operator op##=(course_small &a, course_small b) { return a = a op b; }
#define COURSE_COMPARE(op, name)                                                                                       \
    friend COURSE_MEMBER bool operator op(course_small a, course_small b) { return (float)a op (float)b; }             \
    friend COURSE_MEMBER bool __h##name(course_small a, course_small b) { return a op b; }
template <int digits> struct course_small {  // digits behind the point: 10 of a half, 7 of a bfloat16
    unsigned short course_stored;
    course_small() = default;
    COURSE_MEMBER course_small(float f) : course_stored(course_narrow<digits>(f)) {}
    COURSE_FROM(double) COURSE_FROM(int) COURSE_FROM(unsigned) COURSE_FROM(long) COURSE_FROM(unsigned long)
    COURSE_FROM(course_ll) COURSE_FROM(course_ull)
    COURSE_MEMBER operator float() const { return course_widen<digits>(course_stored); }
    COURSE_OPERATORS(COURSE_OPERATOR) COURSE_COMPARISONS(COURSE_COMPARE) COURSE_SIGNS(COURSE_ONE) COURSE_MATH(COURSE_ONE)
    COURSE_TWO(__hmax, fmaxf(a, b)) COURSE_TWO(__hmin, fminf(a, b))
    friend COURSE_MEMBER course_small __hfma(course_small a, course_small b, course_small c) {
        return course_fused((float)a, (float)b, (float)c);
    }
    friend COURSE_MEMBER bool __hisnan(course_small a) { return (float)a != (float)a; }
    friend COURSE_MEMBER int __hisinf(course_small a) { return (a == INFINITY) - (a == -INFINITY); }
};
template <int digits> constexpr char course::kind<course_small<digits>, true> = digits == 10 ? 'f' : 'u';  // as in NumPy

#define COURSE_PAIRED(T, name, ...) friend COURSE_COPY T name(const course_pair &a, const course_pair &b) { return __VA_ARGS__; }
#define COURSE_PAIRED1(one, name, value) friend COURSE_COPY course_pair name(const course_pair &a) { return {one(a.x), one(a.y)}; }
#define COURSE_PAIRED_OPERATOR(op, name)                                                                               \
    COURSE_PAIRED(course_pair, operator op, {a.x op b.x, a.y op b.y}) COURSE_PAIRED(course_pair, __h##name##2, a op b) \
    friend COURSE_COPY course_pair &operator op##=(course_pair &a, const course_pair &b) { return a = a op b; }
#define COURSE_PAIRED_COMPARE(op, name)                                                                                \
    COURSE_PAIRED(course_pair, __h##name##2, {a.x op b.x, a.y op b.y}) COURSE_PAIRED(bool, __hb##name##2, a.x op b.x && a.y op b.y)
template <int digits> struct alignas(4) course_pair {  // moves as one access, as the vector types do
    typedef course_small<digits> H;
    union {
        struct { H x, y; };
        unsigned course_all;
    };
    course_pair() = default;
    COURSE_COPY course_pair(H x, H y) : course_all(x.course_stored | (unsigned)y.course_stored << 16) {}
    COURSE_COPY course_pair(const course_pair &o) : course_all(o.course_all) {}
    COURSE_COPY course_pair &operator=(const course_pair &o) { return course_all = o.course_all, *this; }
    COURSE_OPERATORS(COURSE_PAIRED_OPERATOR) COURSE_COMPARISONS(COURSE_PAIRED_COMPARE)
    COURSE_SIGNS(COURSE_PAIRED1) COURSE_MATH(COURSE_PAIRED1) COURSE_PAIRED(course_pair, __h2div, a / b)
    COURSE_PAIRED(course_pair, __hmax2, {__hmax(a.x, b.x), __hmax(a.y, b.y)})
    COURSE_PAIRED(course_pair, __hmin2, {__hmin(a.x, b.x), __hmin(a.y, b.y)})
    friend COURSE_COPY course_pair __hfma2(const course_pair &a, const course_pair &b, const course_pair &c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    friend COURSE_COPY float __low2float(const course_pair &a) { return a.x; }
    friend COURSE_COPY float __high2float(const course_pair &a) { return a.y; }
};
template <int digits> COURSE_INLINE course_pair<digits> atomicAdd(course_pair<digits> *p, const course_pair<digits> &v, COURSE_HERE) {
    course_pair<digits> old, now;
    old.course_all = course_atomic(&p->course_all, line, [&](unsigned bits) { return now.course_all = bits, (now + v).course_all; });
    return old;
}
typedef course_small<10> __half, half;
typedef course_pair<10> __half2, half2;
typedef course_small<7> __nv_bfloat16, nv_bfloat16;
typedef course_pair<7> __nv_bfloat162, nv_bfloat162;

#define COURSE_BETWEEN(name, H, from, From) COURSE_FUNCTION(__##from##2##name##_rn, H, (From x), x) COURSE_TO_INTEGER(name, H, from, From)
#define COURSE_INTO2(f, H, parameters, x, y) COURSE_FUNCTION(f, H##2, parameters, H##2(x, y))
#define COURSE_CONVERSIONS(name, H)                                                                                    \
    COURSE_FUNCTION(__float2##name, H, (float x), x) COURSE_FUNCTION(__float2##name##_rn, H, (float x), x)             \
    COURSE_FUNCTION(__double2##name, H, (double x), x) COURSE_FUNCTION(__##name##2float, float, (H x), x)              \
    COURSE_BETWEEN(name, H, int, int) COURSE_BETWEEN(name, H, uint, unsigned) COURSE_BETWEEN(name, H, ll, course_ll)   \
    COURSE_BETWEEN(name, H, short, short) COURSE_BETWEEN(name, H, ushort, unsigned short)                              \
    COURSE_BETWEEN(name, H, ull, course_ull) COURSE_INTO2(__float2##name##2_rn, H, (float x), x, x)                    \
    COURSE_INTO2(__floats2##name##2_rn, H, (float x, float y), x, y) COURSE_INTO2(__##name##2##name##2, H, (H x), x, x) \
    COURSE_INTO2(__halves2##name##2, H, (H x, H y), x, y) COURSE_INTO2(make_##name##2, H, (H x, H y), x, y)            \
    COURSE_INTO2(__float22##name##2_rn, H, (float2 v), v.x, v.y) COURSE_INTO2(__low2##name##2, H, (H##2 v), v.x, v.x)  \
    COURSE_INTO2(__high2##name##2, H, (H##2 v), v.y, v.y) COURSE_INTO2(__lows2##name##2, H, (H##2 a, H##2 b), a.x, b.x) \
    COURSE_INTO2(__highs2##name##2, H, (H##2 a, H##2 b), a.y, b.y) COURSE_FUNCTION(__low2##name, H, (H##2 v), v.x)     \
    COURSE_FUNCTION(__high2##name, H, (H##2 v), v.y) COURSE_FUNCTION(__##name##22float2, float2, (H##2 v), float2(v.x, v.y)) \
    COURSE_FUNCTION(__##name##_as_ushort, unsigned short, (H x), x.course_stored) COURSE_BITS(__ushort_as_##name, H, unsigned short)
COURSE_CONVERSIONS(half, __half) COURSE_CONVERSIONS(bfloat16, __nv_bfloat16)
