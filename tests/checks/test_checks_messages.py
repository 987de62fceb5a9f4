"""What a beginner reads: the cause before the numbers, from the case shown; who is to blame; no clutter."""

import re

import numpy as np
import pytest

from course_lib.checks.kit.core import Case, Check, CheckFailed, NotWritten, normal, property_check

SEED = 20260


def failure(check, fn, seed=SEED):
    """The whole report that this function gets."""
    with pytest.raises(CheckFailed) as caught:
        check(fn, seed=seed)
    return str(caught.value)


def row(text, label):
    """One row of a report, its lines joined; "" if it is not there."""
    found = re.search(rf"^  {label:<10}(.*(?:\n {{12}}.*)*)", text, re.MULTILINE)
    return re.sub(r"\s+", " ", found.group(1)) if found else ""


def _vectors(rng):
    return [Case((normal(rng, n),), f"{n} numbers") for n in (5, 8, 3)]


DOUBLE = Check("double", _vectors, lambda x: 2 * x)
WIDE = Check(
    "double",
    lambda rng: [Case((normal(rng, 30, dtype=np.float64),), "30 numbers")],
    lambda x: 2 * x,
)


# The case shown ------------------------------------------------------------------------------------------------


def test_the_cause_speaks_of_the_case_shown():
    def wrong(x):
        return x + 1 if len(x) == 5 else np.full_like(x, np.inf)

    report = failure(DOUBLE, wrong)
    assert "5 numbers" in row(report, "case") and "inf" not in row(report, "cause")


def test_wrong_values_come_before_a_wrong_dtype():
    def wrong(x):
        return np.float64(2) * x.astype(np.float64) if len(x) == 5 else np.full(len(x), np.nan)

    report = failure(DOUBLE, wrong)
    assert (
        "8 numbers" in row(report, "case")
        and "NaN" in row(report, "cause")
        and "dtype" not in report
    )


def test_the_cause_comes_before_the_numbers():
    labels = re.findall(r"^  (\S+(?: \S+)*)  ", failure(DOUBLE, lambda x: -2 * x), re.MULTILINE)
    assert labels[:5] == ["what", "cause", "case", "where", "got"]


def test_the_case_is_named_when_the_code_raises():
    assert row(failure(DOUBLE, lambda x: x[9]), "case") == "5 numbers"


def test_the_formula_of_the_tolerance_is_shown_only_near_it():
    far, near = failure(WIDE, lambda x: 3 * x), failure(WIDE, lambda x: 2 * x + 1e-14)
    assert "eps" not in far and "more than rounding" in row(far, "off by")
    assert "eps(float64)" in row(near, "allowed")


def test_the_label_of_the_scale_is_true():
    scaled = Check("double", lambda rng: [Case((1.0,), scale=50.0)], lambda x: 2 * x)
    report = failure(scaled, lambda x: 2 + 1e-12)
    assert "size of the numbers summed" in row(report, "allowed") and "|wanted|" not in report


def test_few_inputs_are_printed_so_that_the_student_can_redo_it():
    check = Check(
        "dot",
        lambda rng: [Case((np.array([1.5, -2.0]), np.array([3.0, 0.25]), 2), "two")],
        lambda x, w, n: float(x @ w + n),
    )
    report = failure(check, lambda x, w, n: 0.5)
    assert row(report, "inputs") == "x = [1.5, -2], w = [3, 0.25], n = 2" and not row(
        report, "call"
    )
    assert not row(failure(WIDE, lambda x: -x), "inputs")


def test_long_calls_give_way_to_the_label():
    pairs = [(np.ones((3, 4)), np.ones(4)), (np.ones((4, 5)), np.ones(5))]
    check = Check(
        "f",
        lambda rng: [Case((pairs, pairs, pairs, pairs, pairs, pairs), "sizes 3-4-5")],
        lambda params, a, b, c, d, e: params[0][0],
    )
    assert not row(failure(check, lambda *args: np.zeros((3, 4))), "call")
    assert "sizes 3-4-5" in row(failure(check, lambda *args: np.zeros((3, 4))), "case")
    assert "params [((3, 4), (4,)), ((4, 5), (5,))]" in row(
        failure(check, lambda *args: 1 / 0), "call"
    )


# Who is to blame -----------------------------------------------------------------------------------------------


def test_a_blank_in_another_function_is_named():
    def helper(x):
        raise NotImplementedError("write helper: about 1 line")

    def double(x):
        return helper(x)

    with pytest.raises(NotWritten) as caught:
        DOUBLE(double, seed=1)
    text = " ".join(str(caught.value).split())
    assert (
        "helper is not written yet" in text
        and "double calls it" in text
        and "double is not written" not in text
    )


def test_a_blank_in_another_function_is_named_by_free_form_checks_too():
    def helper(x):
        raise NotImplementedError

    def train(x):
        return helper(x)

    @property_check("train")
    def check_train(train, *, rng):
        train(1)

    with pytest.raises(NotWritten, match="helper is not written yet"):
        check_train(train)


def test_a_changed_argument_is_named_by_its_part():
    def cases(rng):
        return [
            Case(
                (
                    [(normal(rng, 3, 4), normal(rng, 4)), (normal(rng, 4, 2), normal(rng, 2))],
                    normal(rng, 3),
                )
            )
        ]

    def wrong(params, x):
        for W, b in params:
            z = b
            z += x @ W
            x = z
        return x

    def right(params, x):
        for W, b in params:
            x = x @ W + b
        return x

    report = failure(Check("run", cases, right), wrong)
    assert "changes its argument params: b of params[0] and b of params[1]" in row(report, "what")
    assert "through a second name: work on a copy" in row(report, "cause") and "b.copy()" in row(
        report, "cause"
    )


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (
            lambda line: line.sort(),
            "its entries are in another order afterwards, as after line.sort()",
        ),
        (lambda line: line.reverse(), "its entries are in another order afterwards"),
        (lambda line: line.append((0, 0.0)), "line[i] = ... do that"),
        (lambda line: line.__setitem__(0, line[1]), "line[i] = ... do that"),
    ],
)
def test_a_list_in_another_order_is_told_from_one_with_other_entries(change, cause):
    def largest(line):
        found = max(line)[1]
        change(line)
        return found

    def cases(rng):
        return [Case(([(2, 0.5), (3, 4.0), (1, 2.5)],))]

    check = Check("largest", cases, lambda line: max(line)[1])
    report = failure(check, largest)
    assert "your function changes its argument line" in row(report, "what")
    assert cause in row(report, "cause")


def test_an_argument_put_back_by_adding_is_put_back_only_up_to_rounding():
    def wrong(x):
        x += 0.1
        y = 2 * (x - 0.1)
        x -= 0.1
        return y

    check = Check(
        "double", lambda rng: [Case((normal(rng, 50, dtype=np.float64),))], lambda x: 2 * x
    )
    assert "only up to rounding" in row(failure(check, wrong), "cause")


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        (lambda x: np.array([2 * x[i] for i in x]), "for i in range(len(x))"),
        (lambda x: np.array([2 * x.tolist()[i] for i in x]), "for i in range(len(x))"),
        (lambda x: 2 * np.array([x[i] for i in range(len(x) + 1)]), "beyond the end"),
        (lambda x: 2 * x[:, 0], "more indices than"),
        (lambda x: 2 * __import__("math").exp(x), "np.exp"),
        (lambda x, eps: 2 * x, "compare the call with its definition"),
    ],
)
def test_errors_of_beginners(wrong, cause):
    assert cause in row(failure(DOUBLE, wrong), "cause")


# Causes that fit any task ---------------------------------------------------------------------------------------


def test_rounded_and_approximate_and_narrow_are_told_apart():
    exact = 2 + 0.0
    assert "rounded to 4 decimals" in row(failure(WIDE, lambda x: np.round(exact * x, 4)), "cause")
    approximate = row(failure(WIDE, lambda x: exact * x * (1 + 3e-12 * np.cos(x))), "cause")
    assert "right to about 11 digits" in approximate and "float32" not in approximate
    assert "float32" in row(
        failure(WIDE, lambda x: (exact * x.astype(np.float32)).astype(float)), "cause"
    )
    assert "float16" in row(
        failure(WIDE, lambda x: (exact * x.astype(np.float16)).astype(float)), "cause"
    )


PAIR = Check(
    "both",
    lambda rng: [Case((normal(rng, n, dtype=np.float64),), f"{n}") for n in (3, 4)],
    lambda x: (3 * x, float(x.sum())),
    parts=("dw", "db"),
)


def test_swapped_and_missing_parts_are_recognised():
    assert "swapped: return dw, db" in row(
        failure(PAIR, lambda x: (float(x.sum()), 3 * x)), "cause"
    )
    only = row(failure(PAIR, lambda x: 3 * x), "cause")
    assert "only dw is returned" in only and "return dw, db" in only
    pairs = Check(
        "grads",
        lambda rng: [Case((normal(rng, 3, 2),))],
        lambda X: [(X, X[0]), (2 * X, X[1])],
        each=("dW", "db"),
    )
    assert "swapped in each pair" in row(
        failure(pairs, lambda X: [(X[0], X), (X[1], 2 * X)]), "cause"
    )


LISTS = Check(
    "steps",
    lambda rng: [Case((normal(rng, n),), f"{n}") for n in (4, 1, 5)],
    lambda x: [v * np.ones(2, np.float32) for v in x],
)


@pytest.mark.parametrize(
    ("indices", "cause"),
    [
        (lambda n: range(n - 1, 0, -1), "stops before entry 0"),
        (lambda n: range(n - 1, 0), "does not run at all"),
        (lambda n: range(n - 1, n - 2, -1), "`return` is inside the loop"),
        (lambda n: range(n - 1), "stops before the last entry"),
    ],
)
def test_a_list_that_was_not_filled_to_the_end(indices, cause):
    def wrong(x):
        out = [None] * len(x)
        for i in indices(len(x)):
            out[i] = x[i] * np.ones(2, np.float32)
        return out

    report = failure(LISTS, wrong)
    assert cause in row(report, "cause") and "no `return`" not in report


def test_a_list_extended_by_an_array():
    def wrong(x):
        out = []
        for v in x:
            out += list(v * np.ones(2, np.float32))
        return out

    assert "append" in row(failure(LISTS, wrong), "cause")


def test_zeros_may_come_from_whole_number_division():
    assert "every number was turned into 0" in row(failure(DOUBLE, lambda x: 2 // 7 * x), "cause")


def test_each_entry_may_have_a_tolerance_of_its_own_size():
    check = Check(
        "tiny", lambda rng: [Case((np.array([1.0, 1e-9]),), scale="entry")], lambda x: 1 * x
    )
    check(lambda x: x * (1 + 1e-16), seed=1)
    assert "result[1]" in row(failure(check, lambda x: np.maximum(x, 2e-9)), "where")
