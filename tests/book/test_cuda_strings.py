"""Kernels in strings have the colours of CUDA C in the book; other strings and the Python around them stay."""

import pytest

pygments = pytest.importorskip("pygments", reason="the extra `book` is not installed")

from pygments.token import Comment, Keyword, Name, String  # noqa: E402 (needs the extra)

from course_tools.book.cuda_strings import PythonWithCuda  # noqa: E402

KERNEL = '''import numpy as np

source = r"""
__global__ void add(float *x, int n)  // one thread an element
{
    x[threadIdx.x] += 1.0f;
}
"""
words = """no kernel: float is a word here"""
'''


def kinds(text):
    return {(part, kind) for kind, part in PythonWithCuda().get_tokens(text)}


def test_a_kernel_is_read_as_cuda():
    found = dict(kinds(KERNEL))
    assert found["__global__"] in Keyword and found["threadIdx"] in Name
    assert (
        found["// one thread an element\n"] in Comment
        or found["// one thread an element"] in Comment
    )
    assert found["import"] in Keyword


def test_other_strings_stay_strings():
    assert any(
        part.startswith("no kernel: float") and kind in String for part, kind in kinds(KERNEL)
    )
    plain = "s = 'the word __global__ in a short string'\n"
    assert any("__global__" in part and kind in String for part, kind in kinds(plain))


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        's = f"""// CUDA\nint {n};"""\n',
        's = """unfinished __global__',
        "%%px\nprint(1)\n",
        "é = '''__device__ int é;'''; x = 1\n",
    ],
)
def test_no_letter_is_lost(text):
    assert (
        "".join(part for _, part in PythonWithCuda(stripnl=False, ensurenl=False).get_tokens(text))
        == text
    )
