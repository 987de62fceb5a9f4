// The vector types. Those of at most 16 bytes and 2 or 4 elements move as one access of their whole size, as they do on
// a GPU: hence the copies through `all`. The others move element by element.
#pragma once

#define COURSE_VECTOR(name, T, n, parameters, make, ...)                                                         \
    struct alignas(sizeof(T) * n) name {                                                                         \
        typedef T course_all __attribute__((vector_size(sizeof(T) * n)));                                        \
        union {                                                                                                  \
            struct { T __VA_ARGS__; };                                                                           \
            course_all all;                                                                                      \
        };                                                                                                       \
        name() = default;                                                                                        \
        COURSE_COPY constexpr name(decltype(nullptr)) : all{} {}  /* = {0} */                                    \
        COURSE_COPY constexpr name parameters : all{__VA_ARGS__} {}                                              \
        COURSE_COPY name(const name &o) : all(o.all) {}                                                          \
        COURSE_COPY name &operator=(const name &o) { return all = o.all, *this; }                                \
    };                                                                                                           \
    static COURSE_COPY name make_##name make { return {__VA_ARGS__}; }
#define COURSE_MAKE(name, make, ...) COURSE_INLINE name make_##name make { return {__VA_ARGS__}; }
#define COURSE_STRUCT(name, T, make, ...) struct name { T __VA_ARGS__; }; COURSE_MAKE(name, make, __VA_ARGS__)
#define COURSE_VECTOR12(name, T) COURSE_STRUCT(name##1, T, (T x), x) COURSE_VECTOR(name##2, T, 2, (T x, T y), (T x, T y), x, y)
#define COURSE_VECTOR3(name, T) COURSE_STRUCT(name##3, T, (T x, T y, T z), x, y, z)
#define COURSE_VECTOR4(name, T) COURSE_VECTOR(name##4, T, 4, (T x, T y, T z = 0, T w = 0), (T x, T y, T z, T w), x, y, z, w)
#define COURSE_VECTORS(name, T) COURSE_VECTOR12(name, T) COURSE_VECTOR3(name, T) COURSE_VECTOR4(name, T)
#define COURSE_LONG(name, T) COURSE_VECTOR12(name, T) COURSE_VECTOR3(name, T) \
    struct alignas(16) name##4 { T x, y, z, w; }; COURSE_MAKE(name##4, (T x, T y, T z, T w), x, y, z, w)

COURSE_VECTORS(char, signed char) COURSE_VECTORS(uchar, unsigned char) COURSE_VECTORS(short, short)
COURSE_VECTORS(ushort, unsigned short) COURSE_VECTORS(int, int) COURSE_VECTORS(float, float)
COURSE_VECTOR12(uint, unsigned) COURSE_VECTOR4(uint, unsigned) COURSE_MAKE(uint3, (unsigned x, unsigned y, unsigned z), x, y, z)
COURSE_LONG(double, double) COURSE_LONG(long, long) COURSE_LONG(ulong, unsigned long)
COURSE_LONG(longlong, long long) COURSE_LONG(ulonglong, unsigned long long)
