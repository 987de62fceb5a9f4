"""Kernels in strings have the colours of CUDA C in the book; other strings and the Python around them stay."""

import re
from pathlib import Path

import cuda_cases
import pytest

pygments = pytest.importorskip("pygments", reason="the extra `book` is not installed")

from pygments.token import Comment, Keyword, Name, String  # noqa: E402 (needs the extra)

from course_tools.book.cuda_strings import CUDA, PythonWithCuda  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.parametrize("case", cuda_cases.CASES)
def test_rule(case):
    """tests/browser/test_kernels_browser.py asks JupyterLab the same."""
    text, is_kernel = cuda_cases.CASES[case]
    assert any(part == "float" and kind in Keyword for part, kind in kinds(text)) == is_kernel
    assert any("float" in part and kind in String for part, kind in kinds(text)) != is_kernel


def test_jupyterlab_has_the_same_rule():
    source = (ROOT / "labextension" / "src" / "kernels.ts").read_text(encoding="utf-8")
    (rule,) = re.findall(r"^export const CUDA = /(.*)/;$", source, re.MULTILINE)
    assert rule.replace(r"\/", "/") == CUDA.pattern


def test_fields_of_an_f_string_stay_python():
    found = dict(kinds('s = f"""__global__ void f(float *x) { x[{len(a)}] = 1; }"""\n'))
    assert found["len"] in Name.Builtin and found["a"] in Name


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        "%%px\nprint(1)\n",
        "é = '''__device__ int é;'''; x = 1\n",
        *(text for text, _ in cuda_cases.CASES.values()),
    ],
)
def test_no_letter_is_lost(text):
    tokens = PythonWithCuda(stripnl=False, ensurenl=False).get_tokens(text)
    assert "".join(part for _, part in tokens) == text
