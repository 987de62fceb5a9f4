"""The checks: right answers pass, and every wrong one gets what, where, the likely cause, and the seed."""

import importlib
import re
import time
import warnings

import numpy as np
import pytest

from course_lib.checks.kit.core import (
    Case,
    Check,
    CheckBroken,
    CheckFailed,
    NotWritten,
    normal,
    poison,
    ragged,
)
from course_lib.errors import BadInput

SEED = 20260


def _cases(rng):
    B, n_in, n_out = ragged(rng, 3, low=3)
    shapes = [
        (B, n_in, n_out, "a ragged batch"),
        (1, n_in, n_out, "one example"),
        (4, 4, 4, "square"),
    ]
    return [
        Case((normal(rng, b, i), normal(rng, i, o), normal(rng, o)), label)
        for b, i, o, label in shapes
    ]


def _affine(X, W, b):
    return X @ W + b


def _n_in(case):
    return case.args[0].shape[1]


CHECK = Check(
    "affine",
    _cases,
    _affine,
    K=_n_in,
    axes=("example", "neuron"),
    diagnoses=[(lambda X, W, b: X @ W, "the bias is missing")],
)


def failure(check, fn, seed=SEED):
    """The whole report that this function gets."""
    with pytest.raises(CheckFailed) as caught:
        check(fn, seed=seed)
    assert f"seed={seed}" in str(caught.value) or isinstance(caught.value, NotWritten)
    return str(caught.value)


def row(text, label):
    """One row of a report, its lines joined."""
    found = re.search(rf"^  {label:<10}(.*(?:\n {{12}}.*)*)", text, re.MULTILINE)
    assert found, f"no row {label!r} in:\n{text}"
    return re.sub(r"\s+", " ", found.group(1))


def in_place(X, W, b):
    X *= 2
    return X / 2 @ W + b


def printing(X, W, b):
    print(X @ W + b)


def fills_nothing(X, W, b):
    return np.zeros((X.shape[0], W.shape[1]), np.float32)


def stops_short(X, W, b):
    Z = X @ W + b
    Z[:, -1] = 0
    return Z


def one_nan(X, W, b):
    Z = X @ W + b
    Z[0, 1] = np.nan
    return Z


def raises(X, W, b):
    return X @ W @ W @ W @ W


def quits(X, W, b):
    raise SystemExit


def misspelt(X, W, b):
    return X @ w + b  # noqa: F821


def half(X, W, b):
    return (X.astype(np.float16) @ W.astype(np.float16) + b).astype(np.float32)


def ragged_rows(X, W, b):
    return np.array([None, 1], dtype=object)


def affine(X):
    return X


def unequal_if(X, W, b):
    return 0 if X > 0 else 1


def exactly(Z):
    return np.float64(Z)


WRONG = {
    "author's diagnosis": (lambda X, W, b: X @ W, "the bias is missing"),
    "transposed": (lambda X, W, b: (X @ W + b).T, "transposed: rows and columns are swapped"),
    "zeros": (fills_nothing, "all zeros"),
    "NaN": (one_nan, "NaN"),
    "infinity": (lambda X, W, b: (X @ W + b) / np.float32(0), "infinity"),
    "factor": (
        lambda X, W, b: np.float32(0.5) * (X @ W + b),
        "0.5 times the expected one everywhere",
    ),
    "sum for mean": (
        lambda X, W, b: len(X) * (X @ W + b),
        "times the expected one: a sum instead of a mean?",
    ),
    "mean for sum": (
        lambda X, W, b: (X @ W + b) / np.float32(W.shape[1]),
        "divided by the length of axis 1 of W",
    ),
    "sign": (lambda X, W, b: -(X @ W + b), "the sign is flipped"),
    "offset": (
        lambda X, W, b: X @ W + b + np.float32(0.25),
        "0.25 more than expected in every entry",
    ),
    "constant": (
        lambda X, W, b: np.full((len(X), len(b)), 7, np.float32),
        "every entry is 7, whatever the input",
    ),
    "float64": (lambda X, W, b: exactly(X @ W + b), "a float64 slipped in"),
    "whole numbers": (lambda X, W, b: (X @ W + b).astype(np.int64), "the fractions are cut off"),
    "half precision": (half, "right to about 3 digits only"),
    "shape": (lambda X, W, b: (X @ W + b)[..., None], "but the shape is not"),
    "one number": (lambda X, W, b: (X @ W + b).sum(), "the sum runs over all axes"),
    "missing sum": (
        lambda X, W, b: X[:, :, None] * W[None] + b / np.float32(X.shape[1]),
        "a sum over axis 1 is",
    ),
    "None": (lambda X, W, b: None, "no `return` was reached"),
    "prints": (printing, "it prints its result instead of returning it"),
    "a list": (lambda X, W, b: (X @ W + b).tolist(), "a Python list: make it an array"),
    "a tuple": (lambda X, W, b: (X @ W + b,), "an extra comma"),
    "objects": (ragged_rows, "an array of Python objects"),
    "a function": (lambda X, W, b: (X @ W + b).sum, "did you forget the parentheses"),
    "reversed": (lambda X, W, b: (X @ W + b)[:, ::-1], "reversed order along axis 1"),
    "one slice": (stops_short, "only the last entries along axis 1 are wrong"),
    "square only": (lambda X, W, b: X @ W.T if len(X) != len(b) else X @ W + b, None),
    "shapes do not fit": (raises, "shapes that do not fit"),
    "exit": (quits, "use return"),
    "name": (misspelt, "a name that does not exist"),
    "signature": (affine, "must take the arguments of the call below"),
    "truth of an array": (unequal_if, "`if` and `and` want one truth value"),
    "a text": (lambda X, W, b: "Z", None),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_gets_its_likely_cause(name):
    wrong, cause = WRONG[name]
    report = failure(CHECK, wrong)
    assert report.startswith("✘ affine: ")
    assert "Traceback" not in report and len(report.splitlines()) < 22
    if cause:
        assert cause in row(report, "cause")


def test_the_reference_passes_on_many_seeds(capsys):
    for seed in range(60):
        CHECK(_affine, seed=seed)
    assert capsys.readouterr().out.count("3 cases right") == 60


def test_success_is_one_green_line_with_the_seed(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    CHECK(_affine, seed=7)
    assert capsys.readouterr().out == "\x1b[32m✔ affine: 3 cases right (seed 7)\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    CHECK(_affine, seed=7)
    assert capsys.readouterr().out == "✔ affine: 3 cases right (seed 7)\n"


def test_the_place_is_named_with_its_axes_and_the_formula_of_the_tolerance():
    def one_entry(X, W, b):
        Z = X @ W + b
        Z[2, 1] += np.float32(1e-3)
        return Z

    cases = Check(
        "affine", lambda rng: _cases(rng)[:1], _affine, K=_n_in, axes=("example", "neuron")
    )
    report = failure(cases, one_entry)
    assert "1 of " in row(report, "what")
    assert "result[2, 1] (example 2, neuron 1, counted from 0)" in row(report, "where")
    assert re.search(
        r"4 \* K \* eps\(float32\) \* largest \|wanted\| = 4 \* \d \* 1\.2e-07",
        row(report, "allowed"),
    )
    assert abs(float(row(report, "got")) - float(row(report, "wanted")) - 1e-3) < 1e-5
    assert "X (" in row(report, "call") and "float32" in row(report, "call")


def test_right_on_square_shapes_only():
    def confused(X, W, b):
        return (
            X @ W + b
            if X.shape[0] == X.shape[1]
            else np.resize(X @ W.T if len(b) == len(W) else X, 3)
        )

    report = failure(CHECK, confused)
    assert "square" in row(report, "right on")
    assert "right on square shapes only" in row(report, "cause")


def test_a_changed_input_is_refused_even_when_the_result_is_right():
    report = failure(CHECK, in_place)
    assert "changes its argument X" in row(report, "what")
    assert "write into the caller's array" in row(report, "cause")


def test_the_cases_of_the_author_are_not_spoilt_by_a_student_who_changes_them():
    first = CHECK.draw(SEED)[0].args[0].copy()
    failure(CHECK, in_place)
    assert np.array_equal(first, CHECK.draw(SEED)[0].args[0])


def test_returning_the_input_is_recognised():
    identity = Check(
        "relu",
        lambda rng: [Case((normal(rng, 3, 5),)), Case((normal(rng, 4, 2),))],
        lambda Z: np.maximum(Z, 0),
    )
    assert "returns its argument Z unchanged" in row(failure(identity, lambda Z: Z), "cause")
    assert "returns its argument Z unchanged" in row(failure(identity, lambda Z: Z.copy()), "cause")


def test_broadcasting_to_a_square_is_recognised():
    check = Check(
        "error",
        lambda rng: [Case((normal(rng, n), normal(rng, n))) for n in (4, 7)],
        lambda a, y: a - y,
    )
    assert "met and broadcast to (n, n)" in row(
        failure(check, lambda a, y: a[:, None] - y), "cause"
    )


def test_rows_that_a_mask_drops_are_recognised():
    w = np.array([0.5, 0.0, 2.0, 0.0, 1.0])
    check = Check("weigh", lambda rng: [Case((normal(rng, 5, 3), w))], lambda X, w: X * w[:, None])
    found = failure(check, lambda X, w: X[w > 0] * w[w > 0][:, None])
    assert "the rows where w is 0 are missing" in row(found, "cause")


@pytest.mark.parametrize("largest, right", [(99, 30), (9, 8)])
def test_a_search_that_ends_too_early_is_recognised(largest, right):
    def search(n):
        return next((k for k in range(largest + 1) if k * k >= n), 0)

    numbers = [1, 30, 50, 900, 40_000, 90_000]
    check = Check("root", lambda rng: [Case((n,)) for n in numbers], lambda n: int(np.ceil(n**0.5)))
    cause = row(failure(check, search), "cause")
    assert cause == (
        f"right up to {right}, and 0 where the right number is larger: a search that ends too early?"
    )


def test_a_search_is_not_told_from_one_number_alone():
    check = Check("n", lambda rng: [Case((n,)) for n in (0, 0, 1, 50, 90)], lambda n: n)
    assert "ends too early" not in failure(check, lambda n: int(n == 1))


def test_a_factor_close_to_1_is_not_told_where_a_case_is_right():
    cases = lambda rng: [Case((np.full(5, 60_000.0),)), Case((np.full(5, 40_000.0),))]  # noqa: E731
    check = Check("same", cases, lambda x: x, dtype=None)
    said = failure(check, lambda x: np.where(x > 50_000, x - 1.5, x))
    assert "times the expected" not in said


def test_none_in_a_part_is_no_missing_return():
    check = Check("two", lambda rng: [Case((3.5,))], lambda x: (x, 2 * x), parts=("x", "twice"))
    cause = row(failure(check, lambda x: (x, None)), "cause")
    assert "twice is None where it should hold a value" in cause


def test_whole_numbers_where_floats_belong_and_the_reverse():
    half_step = Check("half", lambda rng: [Case((2.0 * rng.integers(1, 9, 5),))], lambda x: x / 2)
    assert "give the array a float dtype, float64" in row(
        failure(half_step, lambda x: x.astype(int) // 2), "cause"
    )
    count = Check("argmax", lambda rng: [Case((normal(rng, 4, 3),))], lambda A: A.argmax(axis=1))
    assert "use an integer dtype" in row(
        failure(count, lambda A: A.argmax(axis=1).astype(float)), "cause"
    )
    assert "differ" in row(failure(count, lambda A: A.argmin(axis=1)), "what")
    count(lambda A: A.argmax(axis=1).astype(np.int32), seed=SEED)


def test_a_boolean_result():
    check = Check(
        "is_right",
        lambda rng: [Case((rng.integers(0, 2, 9), rng.integers(0, 2, 9)))],
        lambda y, p: y == p,
    )
    check(lambda y, p: y == p, seed=1)
    failure(check, lambda y, p: y != p, seed=1)


def test_numbers_too_close_for_six_digits_are_shown_with_more():
    check = Check("unit", lambda rng: [Case((1.0,))], lambda x: x)
    report = failure(check, lambda x: 1 + 1e-9)
    assert row(report, "got") == "1.000000001" and row(report, "wanted") == "1"


def test_nan_is_wrong_and_infinity_is_right_only_where_it_is_wanted():
    check = Check("log", lambda rng: [Case((np.array([0.0, 1, 2]),))], np.log)
    check(lambda x: np.log(np.maximum(x, 0)), seed=1)
    failure(check, lambda x: np.full(3, np.nan))
    failure(check, lambda x: np.log(x + 1e-3))


# Results of other forms --------------------------------------------------------------------------------------


GRADS = Check(
    "backward",
    lambda rng: [Case((normal(rng, 3, 2), normal(rng, 2, 4))) for _ in range(2)],
    lambda P, Q: [(P, P[0]), (Q, Q[0])],
    each=("dW", "db"),
    axes={"dW": ("input", "neuron")},
)


def test_parameters_are_named_by_part_and_layer():
    report = failure(GRADS, lambda P, Q: [(P, P[0]), (2 * Q, Q[1])])
    assert "entries of dW[1] differ; also wrong: db[1]" in row(report, "what")
    assert "dW[1][0, 0] (input 0, neuron 0, counted from 0)" in row(report, "where")
    assert "2 times the expected one everywhere" in row(report, "cause")
    assert "has 1 part, not 2" in row(failure(GRADS, lambda P, Q: [(P, P[0])]), "what")
    assert "dW[0] is None" in row(failure(GRADS, lambda P, Q: [(None, P[0]), (Q, Q[0])]), "what")
    GRADS(lambda P, Q: [[P, P[0]], [Q, Q[0]]], seed=3)


def test_parts_of_a_tuple_and_of_a_dict_are_named():
    pair = Check(
        "forward",
        lambda rng: [Case((normal(rng, 3, 2),))],
        lambda X: (X + 1, X + 2),
        parts=("Z", "A"),
    )
    assert "entries of A differ" in row(failure(pair, lambda X: (X + 1, X + 1)), "what")
    named = Check(
        "stats", lambda rng: [Case((normal(rng, 9),))], lambda x: {"low": x.min(), "high": x.max()}
    )
    assert "lacks the keys ['low']" in row(failure(named, lambda x: {"high": x.max()}), "what")
    named(lambda x: {"high": x.max(), "low": x.min()}, seed=1)


FILL = Check(
    "fill", lambda rng: [Case((normal(rng, 3, 4), poison(3, 4)))], lambda X, out: 2 * X, inplace=1
)


def test_in_place_functions():
    def right(X, out):
        out[...] = 2 * X

    def half_done(X, out):
        out[:2] = 2 * X[:2]

    FILL(right, seed=1)
    assert "4 entries were never written" in row(failure(FILL, half_done), "cause")
    assert "you return a new array" in row(failure(FILL, lambda X, out: 2 * X), "cause")


def test_filling_without_returning_is_recognised():
    check = Check("double", lambda rng: [Case((normal(rng, 3),))], lambda x: 2 * x)

    def fills(x):
        x *= 2

    assert "fills x but does not return it" in row(failure(check, fills), "cause")


def test_post_reads_a_result_and_a_result_it_cannot_read_is_reported():
    check = Check(
        "forward",
        lambda rng: [Case((normal(rng, 3),))],
        lambda x: {"A": x},
        post=lambda cache: cache["A"],
    )
    check(lambda x: {"A": x, "Z": 0}, seed=1)
    assert "is a tuple of 1" in row(failure(check, lambda x: (x,)), "what")


# Tolerance, seeds, prints, warnings ---------------------------------------------------------------------------


def test_the_tolerance_forgives_rounding_and_nothing_more():
    K = 2000
    check = Check(
        "dot",
        lambda rng: [Case((normal(rng, K), normal(rng, K)), scale=60.0)],
        np.dot,
        K=K,
        dtype=None,
    )
    backwards = lambda x, y: float(sum((x * y)[::-1].tolist()))  # noqa: E731
    for seed in range(20):
        check(lambda x, y: (x * y).sum(dtype=np.float32), seed=seed)
        check(backwards, seed=seed)
    allowed = 4 * K * np.finfo(np.float32).eps * 60
    check(lambda x, y: np.dot(x.astype(float), y) + 0.99 * allowed, seed=SEED)
    failure(check, lambda x, y: np.dot(x.astype(float), y) + 1.01 * allowed)


@pytest.mark.filterwarnings("error")
def test_huge_garbage_is_refused_without_a_warning_of_numpys():
    check = Check("f", lambda rng: [Case((normal(rng, 8),), "x")], lambda x: 2 * x)
    with pytest.raises(CheckFailed, match="8 of 8 entries"):
        check(lambda x: np.float32(1e9) * np.cos(7 * x), seed=1)


def test_the_seed_is_fresh_and_can_be_replayed(capsys, monkeypatch):
    monkeypatch.delenv("COURSE_SEED", raising=False)
    for _ in range(4):
        CHECK(_affine)
    seeds = re.findall(r"seed (\d+)", capsys.readouterr().out)
    assert len(set(seeds)) > 1
    monkeypatch.setenv("COURSE_SEED", "31415")
    CHECK(_affine)
    assert "(seed 31415)" in capsys.readouterr().out
    monkeypatch.setenv("COURSE_SEED", "pi")
    with pytest.raises(BadInput, match="COURSE_SEED must be a whole number"):
        CHECK(_affine)


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others():
    X1, X2, X3 = (CHECK.draw(seed)[0].args[0] for seed in (5, 5, 6))
    assert np.array_equal(X1, X2) and not np.array_equal(X1[0, :2], X3[0, :2])


def test_what_a_student_prints_is_shown_when_it_fails_and_not_when_it_passes(capsys):
    def chatty(X, W, b):
        print("shapes", X.shape)
        return X @ W

    assert "shapes (" in row(failure(CHECK, chatty), "printed")
    CHECK(lambda X, W, b: [print("hello"), X @ W + b][1], seed=1)
    assert "hello" not in capsys.readouterr().out


def test_a_flood_of_output_and_a_huge_result_stay_short():
    def flood(X, W, b):
        for _ in range(20_000):
            print("x" * 100)
        return np.zeros((1500, 1500), np.float32)

    started = time.process_time()
    report = failure(CHECK, flood)
    assert len(report) < 1500 and time.process_time() - started < 5


def test_warnings_are_kept_and_told(capsys):
    def overflowing(X, W, b):
        np.exp(np.float32(1000))
        return X @ W + b

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CHECK(overflowing, seed=1)
    assert "right, but there was a warning: overflow" in capsys.readouterr().out
    assert "overflow" in row(
        failure(CHECK, lambda X, W, b: [np.exp(np.float32(1000)), X][1]), "warned"
    )


def test_an_error_shows_the_students_line():
    report = failure(CHECK, raises)
    assert "of raises: return X @ W @ W @ W @ W" in row(report, "at")
    assert row(report, "what").startswith("it stopped with ValueError: matmul")


# Blanks, and mistakes of authors ------------------------------------------------------------------------------


def test_a_blank_is_not_written_yet():
    def blank(X, W, b):
        raise NotImplementedError("write affine: about 1 line, 3 minutes")

    with pytest.raises(NotWritten, match="affine is not written yet"):
        CHECK(blank)


def test_jupyter_shows_the_report_alone(monkeypatch):
    with pytest.raises(CheckFailed) as caught:
        CHECK(lambda X, W, b: X @ W, seed=1)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\n".join(caught.value._render_traceback_()) == str(caught.value)
    monkeypatch.delenv("NO_COLOR")
    coloured = "\n".join(caught.value._render_traceback_())
    assert (
        "\x1b[1m" in coloured and "\x1b[31m" not in coloured
    )  # red on red cannot be read in the dark theme
    assert re.sub(r"\x1b\[\d+m", "", coloured) == str(caught.value)
    assert max(map(len, str(caught.value).splitlines())) < 112


def test_something_that_is_no_function():
    with pytest.raises(CheckFailed) as caught:
        CHECK(np.zeros(3))
    assert str(caught.value).startswith(
        "✘ affine must be a function, not a NumPy array (3,) float64"
    )
    assert "without calling it" in row(str(caught.value), "cause")


@pytest.mark.parametrize("number", range(16))
def test_an_answer_that_is_no_function_breaks_no_check(number):
    module = importlib.import_module(f"course_lib.checks.ch{number:02}")
    checks = {name: check for name, check in vars(module).items() if name.startswith("check_")}
    for check in checks.values():
        with pytest.raises(CheckFailed):
            check(7)
    assert checks


@pytest.mark.parametrize(
    ("check", "what"),
    [
        (Check("f", lambda rng: [], abs), "an empty one"),
        (Check("f", lambda rng: [1, 2], abs), "list of Case"),
        (Check("f", lambda rng: 1 / 0, abs), "its cases raise ZeroDivisionError"),
        (
            Check("f", lambda rng: [Case((1.0,))], lambda x: 1 / 0),
            "its reference raises ZeroDivisionError",
        ),
        (Check("f", lambda rng: [Case((1.0,))], lambda x: None), "its reference returns None"),
        (
            Check("f", lambda rng: [Case((1.0,))], lambda x: np.array([None])),
            "its reference returns",
        ),
    ],
)
def test_a_broken_check_says_that_it_is_not_the_students_fault(check, what):
    with pytest.raises(CheckBroken, match="not your fault") as caught:
        check(lambda x: x, seed=4)
    assert what in str(caught.value) and "seed 4" in str(caught.value)


def test_a_check_is_refused_when_it_is_written_wrongly():
    with pytest.raises(BadInput, match="cases must be a function"):
        Check("f", [], abs)
    with pytest.raises(BadInput, match="a diagnosis is"):
        Check("f", lambda rng: [], abs, diagnoses=["text"])


def test_right_answers_to_one_seed_are_wrong_for_another():
    with pytest.raises(CheckFailed, match="the bias is missing"):
        CHECK.right_answers(lambda X, W, b: X @ W, SEED)
    answers = CHECK.right_answers(_affine, SEED)
    misses = [
        [CHECK.result(*pair).misses for pair in zip(CHECK.draw(seed), answers, strict=True)]
        for seed in (SEED, SEED + 1)
    ]
    assert not any(misses[0]) and all(misses[1])


def test_a_known_wrong_function_that_raises_matches_only_the_same_error():
    check = Check(
        "affine",
        _cases,
        _affine,
        K=_n_in,
        diagnoses=[
            (lambda X, W, b: X[:, :-1] @ W, "the last input is cut"),
            (lambda X, W, b: W @ W @ W @ X @ X, "too often"),
        ],
    )
    assert row(failure(check, lambda X, W, b: X[:, :-1] @ W), "cause") == "the last input is cut"
    assert "shapes that do not fit" in row(
        failure(check, lambda X, W, b: X[:-1] @ W.T @ W @ W @ X), "cause"
    )
