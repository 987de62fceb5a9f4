"""The corpus: of kernels with one mistake each the tool, line and array are found; of right ones nothing is."""

import kernel_corpus
import pytest
from engine_runs import needs_compiler

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler
BUGGY = [case for path in kernel_corpus.files("buggy") for case in kernel_corpus.cases(path)]
RIGHT = [case for path in kernel_corpus.files("right") for case in kernel_corpus.cases(path)]


@pytest.mark.parametrize("case", BUGGY, ids=lambda case: case.name)
def test_mistake_is_found(case):
    assert case.marks, "a case with a mistake says where it is"
    assert kernel_corpus.verdict(case, trace) == ""


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_right_kernel_is_right_and_silent(case):
    assert not case.marks and "gives" in case.told, "a right case says what it gives"
    assert kernel_corpus.verdict(case, trace) == ""
