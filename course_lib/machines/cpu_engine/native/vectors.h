// The vector types. They move as one access of their whole size (those of 32 bytes as two), as they do on a GPU: hence
// the copies through `all`. Those of three elements move as three.
#pragma once

#define COURSE_VECTOR(name, T, n, first, given, ...)                                                         \
    struct alignas(sizeof(T) * n) name {                                                                     \
        typedef T course_all __attribute__((vector_size(sizeof(T) * n)));                                    \
        union {                                                                                              \
            struct { T __VA_ARGS__; };                                                                       \
            course_all all;                                                                                  \
        };                                                                                                   \
        name() = default;                                                                                    \
        COURSE_COPY constexpr name(decltype(nullptr)) : all{} {}  /* {0} */                                  \
        COURSE_COPY constexpr name first : all{__VA_ARGS__} {}                                               \
        COURSE_COPY name(const name &o) : all(o.all) {}                                                      \
        COURSE_COPY name &operator=(const name &o) { return all = o.all, *this; }                            \
    };                                                                                                       \
    static COURSE_COPY name make_##name given { return {__VA_ARGS__}; }
#define COURSE_WIDE(name, T)                                                                                 \
    struct alignas(16) name {                                                                                \
        typedef T course_all __attribute__((vector_size(16)));                                               \
        union {                                                                                              \
            struct { T x, y, z, w; };                                                                        \
            struct { course_all low, high; };                                                                \
        };                                                                                                   \
        name() = default;                                                                                    \
        COURSE_COPY constexpr name(decltype(nullptr)) : low{}, high{} {}                                     \
        COURSE_COPY constexpr name(T x, T y, T z = 0, T w = 0) : low{x, y}, high{z, w} {}                \
        COURSE_COPY name(const name &o) : low(o.low), high(o.high) {}                                        \
        COURSE_COPY name &operator=(const name &o) { return low = o.low, high = o.high, *this; }             \
    };                                                                                                       \
    static COURSE_COPY name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }
#define COURSE_VECTOR1(name, T) struct name { T x; }; COURSE_INLINE name make_##name(T x) { return {x}; }
#define COURSE_VECTOR2(name, T) COURSE_VECTOR(name, T, 2, (T x, T y), (T x, T y), x, y)
#define COURSE_VECTOR4(name, T) \
    COURSE_VECTOR(name, T, 4, (T x, T y, T z = 0, T w = 0), (T x, T y, T z, T w), x, y, z, w)
#define COURSE_MAKE3(name, T) COURSE_INLINE name make_##name(T x, T y, T z) { return {x, y, z}; }
#define COURSE_VECTOR3(name, T) struct name { T x, y, z; }; COURSE_MAKE3(name, T)
#define COURSE_VECTORS(name, T) COURSE_VECTOR1(name##1, T) COURSE_VECTOR2(name##2, T)

COURSE_VECTORS(char, signed char) COURSE_VECTORS(uchar, unsigned char) COURSE_VECTORS(short, short)
COURSE_VECTORS(ushort, unsigned short) COURSE_VECTORS(int, int) COURSE_VECTORS(uint, unsigned)
COURSE_VECTORS(long, long) COURSE_VECTORS(ulong, unsigned long) COURSE_VECTORS(longlong, long long)
COURSE_VECTORS(ulonglong, unsigned long long) COURSE_VECTORS(float, float) COURSE_VECTORS(double, double)
COURSE_VECTOR3(char3, signed char) COURSE_VECTOR3(uchar3, unsigned char) COURSE_VECTOR3(short3, short)
COURSE_VECTOR3(ushort3, unsigned short) COURSE_VECTOR3(int3, int) COURSE_MAKE3(uint3, unsigned)
COURSE_VECTOR3(long3, long) COURSE_VECTOR3(ulong3, unsigned long) COURSE_VECTOR3(longlong3, long long)
COURSE_VECTOR3(ulonglong3, unsigned long long) COURSE_VECTOR3(float3, float) COURSE_VECTOR3(double3, double)
COURSE_VECTOR4(char4, signed char) COURSE_VECTOR4(uchar4, unsigned char) COURSE_VECTOR4(short4, short)
COURSE_VECTOR4(ushort4, unsigned short) COURSE_VECTOR4(int4, int) COURSE_VECTOR4(uint4, unsigned)
COURSE_VECTOR4(float4, float) COURSE_WIDE(double4, double) COURSE_WIDE(long4, long) COURSE_WIDE(ulong4, unsigned long)
COURSE_WIDE(longlong4, long long) COURSE_WIDE(ulonglong4, unsigned long long)
