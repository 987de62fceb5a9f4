"""Code for the host in CUDA C while it is graded: decided by what the compiler makes of it, not by words."""

import ast
from pathlib import Path

import pytest

from course_tools.build import source
from course_tools.grading.sandbox import cuda_host, cuda_words
from tests.support.host_code import DEVICE, HOST

ROOT = Path(__file__).resolve().parents[2]
FOLDED = (
    "a lambda at the top",
)  # the compiler makes a constant of it: nothing is left that could run


@pytest.mark.parametrize("name", HOST)
def test_code_for_the_host_is_refused(name):
    by_words, by_compiler = cuda_words.refused(HOST[name]), cuda_host.refused(HOST[name])
    assert by_words or by_compiler
    assert by_compiler or name in FOLDED


@pytest.mark.parametrize("name", DEVICE)
def test_code_for_the_device_is_not(name):
    assert cuda_words.refused(DEVICE[name]) is None
    assert cuda_host.refused(DEVICE[name]) is None


@pytest.mark.parametrize("chapter", ["05", "06", "07", "08", "09", "15"])
def test_all_solutions_may_be_said(chapter):
    (path,) = (path for path in source.find(ROOT, [chapter]) if path.stem == "exercise")
    texts = [source.split(cell.source) for cell in source.read(path).tasks]
    nodes = [node for one in texts for node in ast.walk(ast.parse(one.filled(one.text)))]
    kernels = [node.value for node in nodes if isinstance(node, ast.Constant)]
    kernels = [one for one in kernels if isinstance(one, str) and "__global__" in one]
    assert kernels
    for kernel in kernels:
        assert cuda_host.refused(kernel) is None, kernel


def test_what_does_not_compile_is_left_to_the_check():
    assert cuda_host.refused("__global__ void k(float *x) { x[0] = ; }") is None
