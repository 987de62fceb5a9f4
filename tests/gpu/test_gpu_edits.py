"""Kernels that are made from others: every change is made once, and every line that differs is shown."""

import pytest

from course_lib.errors import BadInput
from course_lib.gpu.edits import edited, marked

KERNEL = "\nfirst\n    wait;\nlast\n"


def test_changes_are_made_in_turn():
    assert edited(KERNEL, ("first", "second"), ("second\n", "second, third\n")) == (
        "\nsecond, third\n    wait;\nlast\n"
    )


@pytest.mark.parametrize(("old", "times"), [("absent", 0), ("st", 2)])
def test_a_text_that_is_not_there_once_is_refused(old, times):
    with pytest.raises(BadInput, match=f"'{old}' .* not {times} times"):
        edited(KERNEL, (old, "new"))


def test_marks_have_the_numbers_of_both_kernels():
    assert marked(KERNEL, edited(KERNEL, ("first\n", "zeroth\nfirst\n"))) == "+   2  zeroth"
    assert marked(KERNEL, edited(KERNEL, ("last", "end"))) == "-   4  last\n+   4  end"


def test_a_line_that_was_emptied_only_goes():
    assert marked(KERNEL, edited(KERNEL, ("wait;", ""))) == "-   3      wait;"


def test_equal_kernels():
    assert marked(KERNEL, KERNEL) == "no line differs"
