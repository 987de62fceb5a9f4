"""BLAS's own sgemm, C = alpha A B + beta C: NumPy's matmul cannot add to C. SciPy publishes its address for Cython."""

import ctypes

from numba.extending import get_cython_function_address

_pointers = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)
# lets go of the GIL
_sgemm = _pointers(get_cython_function_address("scipy.linalg.cython_blas", "sgemm"))


def prepared(alpha, A, B, beta, C):
    """A function without arguments that does C = alpha A B + beta C, on these arrays as they then are.

    float32, A (M, K), B (K, N), C (M, N); A and B may be transposed views, C's rows are contiguous. Nothing is copied.
    BLAS counts columns first, as Fortran does: what we call C is C^T to it, and C^T = B^T A^T.
    """
    (M, K), N = A.shape, B.shape[1]
    numbers = [ctypes.c_int(n) for n in (N, M, K, _leading(B), _leading(A), _leading(C))]
    others: list = [ctypes.c_char(_letter(X)) for X in (B, A)]
    others += [ctypes.c_float(alpha), ctypes.c_float(beta)]
    n, m, k, ldb, lda, ldc = (ctypes.addressof(number) for number in numbers)
    letter_b, letter_a, alpha, beta = (ctypes.addressof(other) for other in others)
    a, b, c = (array.ctypes.data for array in (A, B, C))
    places = (letter_b, letter_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc)
    arguments = [ctypes.c_void_p(place) for place in places]

    def call(keep=(A, B, C, numbers, others)):  # BLAS has addresses: what lies there must live
        _sgemm(*arguments)

    return call


def _letter(X):
    return b"n" if X.strides[1] == X.itemsize else b"t"


def _leading(X):
    """Numbers from one row to the next, or, in a transposed view, from one column to the next."""
    along = 0 if _letter(X) == b"n" else 1
    # of a single row NumPy may tell any stride
    return max(X.strides[along] // X.itemsize, X.shape[1 - along], 1)
