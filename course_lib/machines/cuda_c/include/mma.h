// Matrix fragments of tensor cores, nvcuda::wmma, for sources that include <mma.h>. A model: CUDA does not say which lane
// holds which element, nor in what order a tensor core adds. Here the lanes hold them as in PTX's mma.m16n8k16 (tf32:
// m16n8k8), and D = C + a1 b1 + a2 b2 + ... is summed in float32, k rising, rounded to the nearest after each addition.
#pragma once

extern "C++" {
#include "half.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

template <class A, class B> constexpr bool course_is = false;
template <class A> constexpr bool course_is<A, A> = true;
template <class T> struct course_held { typedef T type; };
template <> struct course_held<precision::tf32> { typedef float type; };
constexpr bool course_shaped(bool tf32, int m, int n, int k) {
    return tf32 ? m == 16 && n == 16 && k == 8 : k == 16 && m * n == 256 && (m == 8 || m == 16 || m == 32);
}

template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
    static constexpr bool is_a = course_is<Use, matrix_a>, is_b = course_is<Use, matrix_b>, sums = !is_a && !is_b;
    static constexpr bool tf32 = course_is<T, precision::tf32> || (sums && k == 8), of_half = course_is<T, half>;
    static_assert(sums ? of_half || course_is<T, float> : of_half || tf32 || course_is<T, __nv_bfloat16>,
                  "the CPU engine has fragments of half, __nv_bfloat16 and precision::tf32, and accumulators of float or half");
    static_assert(course_shaped(tf32, m, n, k), "the CPU engine has fragments of the shapes 16 x 16 x 16, 32 x 8 x 16 and "
                                                "8 x 32 x 16, and for precision::tf32 16 x 16 x 8");
    static_assert(sums == course_is<Layout, void>, "a fragment of matrix_a or matrix_b has a layout, row_major or "
                                                   "col_major; an accumulator has none");
    typedef typename course_held<T>::type element_type, storage_element_type;
    static constexpr int M = m, N = n, K = k, outer = is_b ? n : m, inner = sums ? n : k;
    // Do neighbours along k (of an accumulator: in a row) lie side by side in memory? Where they do not, a matrix of 16 bits
    // is read along memory all the same, and turned.
    static constexpr bool along = sums || course_is<Layout, row_major> == is_a, turned = !along && sizeof(element_type) == 2;
    static constexpr int rows = turned ? inner : outer, columns = turned ? outer : inner, num_elements = rows * columns / 32;
    static constexpr int each = course_is<T, precision::tf32> ? 1 : 2;  // side by side in a lane
    element_type x[num_elements];
    static COURSE_COPY int row(int lane, int i) { return i / each % (rows / 8) * 8 + lane / 4; }
    static COURSE_COPY int column(int lane, int i) {
        return i / each / (rows / 8) * 4 * each + lane % 4 * each + i % each;
    }
#ifdef COURSE_TRACE  // until it is loaded or filled it holds a NaN that no computation makes
    static constexpr unsigned unset = 0x7fad7fad;
    COURSE_COPY fragment() {
        for (element_type &element : x) memcpy((void *)&element, &unset, sizeof element);
    }
    COURSE_COPY void check(int which, int line) const {
        for (const element_type &element : x)
            if (!memcmp(&element, &unset, sizeof element)) return course::fragment_unset(which, line);
    }
#else
    COURSE_COPY void check(int, int) const {}
#endif
};

COURSE_COPY float __float_to_tf32(float x) {  // 10 bits behind the point; of two equally near, the one farther from 0
    unsigned bits = __float_as_uint(x);
    return x - x == 0 ? __uint_as_float((bits + 0x1000) & ~0x1fffu) : x;
}

template <class F> COURSE_COPY void fill_fragment(F &f, typename F::element_type value) {
    for (auto &element : f.x) element = value;
}

// A lane moves two neighbours in memory at once where it holds both: 8 rows of 16 bytes are one request of a warp. The
// compiler does not trace this function: it tells the tracer of its accesses itself, with the line of the kernel.
template <bool stored, class F, class T>
COURSE_UNTRACED __attribute__((noinline)) void course_move(F &f, T *p, unsigned ld, bool side_by_side, int line) {
    course::tile(p, ld, sizeof *p, stored, line);
    int lane = course::lane(), each = side_by_side ? F::each : 1;
    for (int i = 0; i < F::num_elements; i += each) {
        size_t row = F::row(lane, i), column = F::column(lane, i), at = side_by_side ? row * ld + column : column * ld + row;
        course::element(p + at, each * sizeof *p, stored, line);
        for (int e = 0; e < each; e++)
            if constexpr (stored) p[at + e] = f.x[i + e];
            else f.x[i + e] = p[at + e];
    }
}
template <class F> COURSE_COPY void load_matrix_sync(F &f, const typename F::element_type *p, unsigned ld, COURSE_HERE) {
    static_assert(!F::sums, "an accumulator is loaded with a layout: mem_row_major or mem_col_major");
    course_move<false>(f, p, ld, F::along || F::turned, line);
}
template <class F>
COURSE_COPY void load_matrix_sync(F &f, const typename F::element_type *p, unsigned ld, layout_t layout, COURSE_HERE) {
    static_assert(F::sums, "a fragment of matrix_a or matrix_b has its layout in its type: it is loaded without one");
    course_move<false>(f, p, ld, layout == mem_row_major, line);
}
template <class F>
COURSE_COPY void store_matrix_sync(typename F::element_type *p, const F &f, unsigned ld, layout_t layout, COURSE_HERE) {
    static_assert(F::sums, "only an accumulator can be stored");
    f.check(4, line);
    course_move<true>(f, p, ld, layout == mem_row_major, line);
}

COURSE_COPY float course_operand(float x) { return __uint_as_float(__float_as_uint(x) & ~0x1fffu); }  // of tf32: what is kept
template <class H> COURSE_COPY float course_operand(H x) { return x; }
// The first lane computes for all of the warp; the others wait meanwhile, each with its fragments on its stack.
template <class D, class A, class B, class C>
COURSE_UNTRACED __attribute__((noinline)) void course_multiply(D &d, const A &a, const B &b, const C &c, int line) {
    struct Lane { D &d; const A &a; const B &b; const C &c; } mine = {d, a, b, c};
    a.check(1, line), b.check(2, line), c.check(3, line);
    unsigned lanes = course::meet((uint64_t)&mine, 1 << 16 | line);  // no load in that line
    float left[A::M][A::K] = {}, right[A::K][A::N] = {}, sum[A::M][A::N] = {};
    if (lanes & ((1u << course::lane()) - 1)) return;
    for (int lane = 0; lane < 32; lane++) {
        if (!(lanes >> lane & 1)) continue;
        const Lane &its = *(const Lane *)course::shown(lane);
        for (int i = 0, r, q; i < A::num_elements; i++)
            r = A::row(lane, i), q = A::column(lane, i), (A::turned ? left[q][r] : left[r][q]) = course_operand(its.a.x[i]);
        for (int i = 0, r, q; i < B::num_elements; i++)
            r = B::row(lane, i), q = B::column(lane, i), (B::turned ? right[r][q] : right[q][r]) = course_operand(its.b.x[i]);
        for (int i = 0; i < C::num_elements; i++) sum[C::row(lane, i)][C::column(lane, i)] = float(its.c.x[i]);
    }
    for (int i = 0; i < A::M; i++)
        for (int q = 0; q < A::K; q++)
            for (int j = 0; j < A::N; j++) sum[i][j] += left[i][q] * right[q][j];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < D::num_elements && lanes >> lane & 1; i++)
            ((const Lane *)course::shown(lane))->d.x[i] = sum[D::row(lane, i)][D::column(lane, i)];
}
template <class D, class A, class B, class C> COURSE_COPY void mma_sync(D &d, const A &a, const B &b, const C &c, COURSE_HERE) {
    constexpr bool roles = D::sums && A::is_a && B::is_b && C::sums;
    constexpr bool shapes = A::M == D::M && A::N == D::N && A::K == D::K && B::M == D::M && B::N == D::N && B::K == D::K &&
                            C::M == D::M && C::N == D::N && C::K == D::K;
    constexpr bool types = A::each == B::each && A::of_half == B::of_half && (A::of_half || (!C::of_half && !D::of_half));
    static_assert(roles, "mma_sync(D, A, B, C) wants an accumulator, a matrix_a, a matrix_b and an accumulator, in this order");
    static_assert(!roles || shapes, "mma_sync(D, A, B, C) wants four fragments of the same M, N, K");
    static_assert(!roles || !shapes || types, "mma_sync(D, A, B, C) wants A and B of one type; but for half, C and D are float");
    if constexpr (roles && shapes && types) course_multiply(d, a, b, c, line);
}

}  // namespace wmma
}  // namespace nvcuda
}
