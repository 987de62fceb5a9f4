"""The corpus: of kernels with one mistake each the tool, line and array are found; of right ones nothing is."""

import kernel_corpus
import pytest
from engine_runs import needs_compiler

from course_lib.machines.cpu_engine import compiler, trace

pytestmark = needs_compiler
BUGGY = [case for path in kernel_corpus.files("buggy") for case in kernel_corpus.cases(path)]
RIGHT = [case for path in kernel_corpus.files("right") for case in kernel_corpus.cases(path)]


def right(case):
    """Is the verdict the one that is due? With clang, a case that says why it is another one must go on to be so."""
    differs = "clang" in case.told and "clang" in compiler._version()
    said = kernel_corpus.verdict(case, trace)
    assert bool(said) == differs, said or "clang's verdict is right now: take `clang=` away"


@pytest.mark.parametrize("case", BUGGY, ids=lambda case: case.name)
def test_mistake_is_found(case):
    assert case.marks, "a case with a mistake says where it is"
    right(case)


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_right_kernel_is_right_and_silent(case):
    assert not case.marks and "gives" in case.told, "a right case says what it gives"
    right(case)
