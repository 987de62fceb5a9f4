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
    float size = exponent == 31 ? __uint_as_float(shifted | 0x7f800000)
               : exponent ? __uint_as_float(shifted + (112 << 23)) : (bits & 1023) * 5.9604644775390625e-8f;
    return bits & 0x8000 ? -size : size;
}
#ifdef __FLT16_MANT_DIG__
template <> COURSE_MEMBER unsigned short course_narrow<10>(float f) {
    return f != f ? 0x7fff : course_bits<unsigned short>((_Float16)f);
}
template <> COURSE_MEMBER float course_widen<10>(unsigned short bits) { return course_bits<_Float16>(bits); }
#endif


#define COURSE_FROM(T) COURSE_MEMBER course_small(T v) : course_stored(course_narrow<digits>(course_odd((double)v, 0))) {}
#define COURSE_OPERATOR(op)                                                                      \
    friend COURSE_MEMBER course_small operator op(course_small a, course_small b) { return (float)a op (float)b; } \
    friend COURSE_MEMBER course_small &operator op##=(course_small &a, course_small b) { return a = a op b; }
#define COURSE_COMPARE(op, name)                                                                 \
    friend COURSE_MEMBER bool operator op(course_small a, course_small b) { return (float)a op (float)b; } \
    friend COURSE_MEMBER bool __h##name(course_small a, course_small b) { return a op b; }
#define COURSE_TWO(name, value) friend COURSE_MEMBER course_small name(course_small a, course_small b) { return value; }
#define COURSE_ONE(name, value) \
    friend COURSE_MEMBER course_small name(course_small a) { float x = a; return value; }
template <int digits> struct course_small {  // digits behind the point: 10 of a half, 7 of a bfloat16
    unsigned short course_stored;
    course_small() = default;
    COURSE_MEMBER course_small(float f) : course_stored(course_narrow<digits>(f)) {}
    COURSE_FROM(double) COURSE_FROM(int) COURSE_FROM(unsigned) COURSE_FROM(long) COURSE_FROM(unsigned long)
    COURSE_FROM(long long) COURSE_FROM(unsigned long long)
    COURSE_MEMBER operator float() const { return course_widen<digits>(course_stored); }

    COURSE_OPERATOR(+) COURSE_OPERATOR(-) COURSE_OPERATOR(*) COURSE_OPERATOR(/)
    COURSE_COMPARE(==, eq) COURSE_COMPARE(!=, ne) COURSE_COMPARE(<, lt) COURSE_COMPARE(<=, le)
    COURSE_COMPARE(>, gt) COURSE_COMPARE(>=, ge)
    COURSE_ONE(operator-, -x) COURSE_ONE(__hneg, -x) COURSE_ONE(__habs, fabsf(x))
    COURSE_TWO(__hadd, a + b) COURSE_TWO(__hsub, a - b) COURSE_TWO(__hmul, a * b) COURSE_TWO(__hdiv, a / b)
    COURSE_TWO(__hadd_rn, a + b) COURSE_TWO(__hsub_rn, a - b) COURSE_TWO(__hmul_rn, a * b)
    COURSE_TWO(__hadd_sat, __saturatef(a + b)) COURSE_TWO(__hmul_sat, __saturatef(a * b))
    COURSE_TWO(__hmax, fmaxf(a, b)) COURSE_TWO(__hmin, fminf(a, b))
    COURSE_ONE(hexp, expf(x)) COURSE_ONE(hexp2, exp2f(x)) COURSE_ONE(hexp10, exp10f(x)) COURSE_ONE(hlog, logf(x))
    COURSE_ONE(hlog2, log2f(x)) COURSE_ONE(hlog10, log10f(x)) COURSE_ONE(hsqrt, sqrtf(x)) COURSE_ONE(hrcp, 1 / x)
    COURSE_ONE(hrsqrt, 1 / sqrt((double)x)) COURSE_ONE(hsin, sinf(x)) COURSE_ONE(hcos, cosf(x))
    COURSE_ONE(htanh, tanhf(x)) COURSE_ONE(hfloor, floorf(x)) COURSE_ONE(hceil, ceilf(x))
    COURSE_ONE(htrunc, truncf(x)) COURSE_ONE(hrint, rintf(x))
    friend COURSE_MEMBER course_small __hfma(course_small a, course_small b, course_small c) {
        return course_fused((float)a, (float)b, (float)c);
    }
    friend COURSE_MEMBER bool __hisnan(course_small a) { return (float)a != (float)a; }
    friend COURSE_MEMBER int __hisinf(course_small a) { return (a == INFINITY) - (a == -INFINITY); }
};
template <int digits> constexpr char course::kind<course_small<digits>, true> = digits == 10 ? 'f' : 'u';  // as in NumPy

#define COURSE_TWICE(name, each) \
    friend COURSE_COPY course_pair name(const course_pair &a, const course_pair &b) { return {each(a.x, b.x), each(a.y, b.y)}; }
#define COURSE_PAIR_OPERATOR(op, name)                                                                              \
    friend COURSE_COPY course_pair operator op(const course_pair &a, const course_pair &b) { return {a.x op b.x, a.y op b.y}; } \
    friend COURSE_COPY course_pair name(const course_pair &a, const course_pair &b) { return a op b; }              \
    friend COURSE_COPY course_pair &operator op##=(course_pair &a, const course_pair &b) { return a = a op b; }
#define COURSE_PAIR_COMPARE(name)                                                                                   \
    COURSE_TWICE(__h##name##2, __h##name)                                                                           \
    friend COURSE_COPY bool __hb##name##2(const course_pair &a, const course_pair &b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define COURSE_EACH(name, each) friend COURSE_COPY course_pair name(const course_pair &a) { return {each(a.x), each(a.y)}; }
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

    COURSE_PAIR_OPERATOR(+, __hadd2) COURSE_PAIR_OPERATOR(-, __hsub2) COURSE_PAIR_OPERATOR(*, __hmul2)
    COURSE_PAIR_OPERATOR(/, __h2div) COURSE_TWICE(__hmax2, __hmax) COURSE_TWICE(__hmin2, __hmin)
    COURSE_PAIR_COMPARE(eq) COURSE_PAIR_COMPARE(ne) COURSE_PAIR_COMPARE(lt) COURSE_PAIR_COMPARE(le)
    COURSE_PAIR_COMPARE(gt) COURSE_PAIR_COMPARE(ge)
    COURSE_EACH(operator-, -) COURSE_EACH(__hneg2, __hneg) COURSE_EACH(__habs2, __habs) COURSE_EACH(h2exp, hexp)
    COURSE_EACH(h2exp2, hexp2) COURSE_EACH(h2exp10, hexp10) COURSE_EACH(h2log, hlog) COURSE_EACH(h2log2, hlog2)
    COURSE_EACH(h2log10, hlog10) COURSE_EACH(h2sqrt, hsqrt) COURSE_EACH(h2rcp, hrcp) COURSE_EACH(h2rsqrt, hrsqrt)
    COURSE_EACH(h2sin, hsin) COURSE_EACH(h2cos, hcos) COURSE_EACH(h2tanh, htanh) COURSE_EACH(h2floor, hfloor)
    COURSE_EACH(h2ceil, hceil) COURSE_EACH(h2trunc, htrunc) COURSE_EACH(h2rint, hrint)
    friend COURSE_COPY course_pair __hfma2(const course_pair &a, const course_pair &b, const course_pair &c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    friend COURSE_COPY bool operator==(const course_pair &a, const course_pair &b) { return __hbeq2(a, b); }
    friend COURSE_COPY bool operator!=(const course_pair &a, const course_pair &b) { return !__hbeq2(a, b); }
    friend COURSE_COPY float __low2float(const course_pair &a) { return a.x; }
    friend COURSE_COPY float __high2float(const course_pair &a) { return a.y; }
};
template <int digits> COURSE_INLINE course_pair<digits> atomicAdd(course_pair<digits> *p, const course_pair<digits> &v, COURSE_HERE) {
    course_pair<digits> old;
    old.course_all = course_atomic(&p->course_all, line, [v](unsigned bits) {
        course_pair<digits> now;
        now.course_all = bits;
        return (now + v).course_all;
    });
    return old;
}
typedef course_small<10> __half, half;
typedef course_pair<10> __half2, half2;
typedef course_small<7> __nv_bfloat16, nv_bfloat16;
typedef course_pair<7> __nv_bfloat162, nv_bfloat162;

#define COURSE_BETWEEN(name, H, from, From)                                 \
    COURSE_FUNCTION(__##from##2##name##_rn, H, (From x), x) COURSE_TO_INTEGER(name, H, from, From)
#define COURSE_CONVERSIONS(name, H)                                                                           \
    COURSE_FUNCTION(__float2##name, H, (float x), x) COURSE_FUNCTION(__float2##name##_rn, H, (float x), x)    \
    COURSE_FUNCTION(__double2##name, H, (double x), x) COURSE_FUNCTION(__##name##2float, float, (H x), x)     \
    COURSE_BETWEEN(name, H, int, int) COURSE_BETWEEN(name, H, uint, unsigned) COURSE_BETWEEN(name, H, ll, long long) \
    COURSE_BETWEEN(name, H, ull, unsigned long long) COURSE_BETWEEN(name, H, short, short)                    \
    COURSE_BETWEEN(name, H, ushort, unsigned short)                                                           \
    COURSE_FUNCTION(__float2##name##2_rn, H##2, (float x), H##2(x, x))                                        \
    COURSE_FUNCTION(__floats2##name##2_rn, H##2, (float x, float y), H##2(x, y))                              \
    COURSE_FUNCTION(__float22##name##2_rn, H##2, (float2 v), H##2(v.x, v.y))                                  \
    COURSE_FUNCTION(__##name##22float2, float2, (H##2 v), float2(v.x, v.y))                                   \
    COURSE_FUNCTION(__##name##2##name##2, H##2, (H x), H##2(x, x))                                            \
    COURSE_FUNCTION(__halves2##name##2, H##2, (H x, H y), H##2(x, y))                                         \
    COURSE_FUNCTION(make_##name##2, H##2, (H x, H y), H##2(x, y))                                             \
    COURSE_FUNCTION(__low2##name, H, (H##2 v), v.x) COURSE_FUNCTION(__high2##name, H, (H##2 v), v.y)          \
    COURSE_FUNCTION(__low2##name##2, H##2, (H##2 v), H##2(v.x, v.x))                                          \
    COURSE_FUNCTION(__high2##name##2, H##2, (H##2 v), H##2(v.y, v.y))                                         \
    COURSE_FUNCTION(__lows2##name##2, H##2, (H##2 a, H##2 b), H##2(a.x, b.x))                                 \
    COURSE_FUNCTION(__highs2##name##2, H##2, (H##2 a, H##2 b), H##2(a.y, b.y))                                \
    COURSE_FUNCTION(__##name##_as_ushort, unsigned short, (H x), x.course_stored)                             \
    COURSE_FUNCTION(__##name##_as_short, short, (H x), (short)x.course_stored)                                \
    COURSE_FUNCTION(__ushort_as_##name, H, (unsigned short x), course_bits<H>(x))                             \
    COURSE_FUNCTION(__short_as_##name, H, (short x), course_bits<H>(x))
COURSE_CONVERSIONS(half, __half) COURSE_CONVERSIONS(bfloat16, __nv_bfloat16)
COURSE_FUNCTION(__lowhigh2highlow, __half2, (__half2 v), __half2(v.y, v.x))
