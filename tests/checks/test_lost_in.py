"""An error that a worker catches and keeps in a name of its own: the message names the name."""

import pytest

from course_lib.checks.kit.freeform import Unmet
from course_lib.checks.kit.threads import Run, lost_in, require_told


def kept_in_a_name_of_its_own(work):
    error = None

    def child():
        try:
            work()
        except ArithmeticError as caught:
            error = caught  # noqa: F841 (the mistake)

    child()
    if error is not None:
        raise error


def kept_with_nonlocal(work):
    error = None

    def child():
        nonlocal error
        try:
            work()
        except ArithmeticError as caught:
            error = caught

    child()
    if error is not None:
        raise error


def kept_in_a_list(work):
    errors = []

    def child(number):
        try:
            result = work()
            print(number, result)
        except ArithmeticError as error:
            errors.append(error)

    for number in range(2):
        child(number)
    return [number for number in errors]  # noqa: C416 (a function of its own, before Python 3.12)


def test_a_name_of_its_own_is_named():
    told = lost_in(kept_in_a_name_of_its_own)
    assert "`error = ...` in `child` makes a name of its own there" in told
    assert "`nonlocal error`" in told


@pytest.mark.parametrize("answer", [kept_with_nonlocal, kept_in_a_list, print, None, 3])
def test_others_are_not_blamed(answer):
    assert lost_in(answer) == ""


def test_a_lost_error_is_told_with_it():
    with pytest.raises(Unmet) as failed:
        require_told(Run(fn=kept_in_a_name_of_its_own), "a worker")
    assert "`nonlocal error`" in dict(failed.value.rows)["cause"]
