// Complex numbers of cuComplex.h: a float2 or double2 each, and functions whose names end in f for the first.
#pragma once
#define COURSE_COMPLEX(f, T, name)                                                                                     \
    typedef T##2 name;                                                                                                 \
    COURSE_FUNCTION(make_##name, name, (T x, T y), {x, y})                                                             \
    COURSE_FUNCTION(cuCreal##f, T, (name a), a.x) COURSE_FUNCTION(cuCimag##f, T, (name a), a.y)                        \
    COURSE_FUNCTION(cuConj##f, name, (name a), {a.x, -a.y}) COURSE_FUNCTION(cuCabs##f, T, (name a), hypot##f(a.x, a.y)) \
    COURSE_FUNCTION(cuCadd##f, name, (name a, name b), {a.x + b.x, a.y + b.y})                                         \
    COURSE_FUNCTION(cuCsub##f, name, (name a, name b), {a.x - b.x, a.y - b.y})                                         \
    COURSE_FUNCTION(cuCmul##f, name, (name a, name b), {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x})                 \
    COURSE_FUNCTION(cuCfma##f, name, (name a, name b, name c), cuCadd##f(cuCmul##f(a, b), c))                          \
    COURSE_INLINE name cuCdiv##f(name a, name b) { /* scaled, so that no square runs over */                           \
        T s = fabs##f(b.x) + fabs##f(b.y), x = b.x / s, y = b.y / s, n = (x * x + y * y) * s;                          \
        return {(a.x * x + a.y * y) / n, (a.y * x - a.x * y) / n};                                                     \
    }
COURSE_COMPLEX(f, float, cuFloatComplex) COURSE_COMPLEX(, double, cuDoubleComplex)
typedef cuFloatComplex cuComplex;
COURSE_FUNCTION(make_cuComplex, cuComplex, (float x, float y), {x, y})
COURSE_FUNCTION(cuComplexFloatToDouble, cuDoubleComplex, (cuFloatComplex a), {a.x, a.y})
COURSE_FUNCTION(cuComplexDoubleToFloat, cuFloatComplex, (cuDoubleComplex a), {(float)a.x, (float)a.y})
