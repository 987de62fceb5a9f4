"""Several mistakes at once: explained part by part, or as two planted answers in one source (parts, slips/merged)."""

import itertools

import numpy as np
import pytest

from course_lib.checks import ch00, ch06, ch09, ch10, ch12, ch14
from course_lib.checks.kit.known import heard
from course_lib.checks.kit.known.parts import Evidence, causes_of_parts, names_of
from course_lib.checks.kit.known.planted import Task
from course_lib.checks.kit.known.ties import with_other_ties
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.slips import merged

SEED = 4


def cause_of(check, answer):
    """The row of that name in what the check says to an answer."""
    with pytest.raises(CheckFailed) as caught:
        check(answer, seed=SEED)
    return dict(caught.value.report.rows).get("cause")


def evidence_of(answer, right, cases):
    """The Evidence of a function of one number that gives a dict."""

    def differing(i, got, want):
        return {key for key in want if got[key] != want[key]}

    mine, wants = [answer(x) for x in cases], [right(x) for x in cases]
    run = lambda fn: lambda i: fn(cases[i])  # noqa: E731
    return Evidence(mine, wants, run, differing, lambda i, got: got, [f"x = {x}" for x in cases])


def pair(a, b):
    return lambda x: {"a": a(x), "b": b(x)}


def test_each_part_gets_its_own_mistake():
    evidence = evidence_of(
        pair(lambda x: x / 2, lambda x: x + 0.5), pair(lambda x: x, lambda x: x * x), [0.3, 7.7]
    )
    known = [
        ("half of it", lambda: pair(lambda x: x / 2, lambda x: x * x)),
        ("no square", lambda: pair(lambda x: x, lambda x: x + 0.5)),
        ("spoils both", lambda: pair(lambda x: x / 2, lambda x: 0.0)),
    ]
    assert causes_of_parts(known, evidence) == (
        "two mistakes: in a: half of it; and in b: no square",
        None,
    )
    whole, part = causes_of_parts(known[:1], evidence)
    assert whole is None and part == "one of several mistakes, in a: half of it"
    assert causes_of_parts(known[2:], evidence) == (None, None)


def test_what_leaves_the_first_wrong_case_open_is_not_told():
    evidence = evidence_of(
        lambda x: {"a": x / (2 if x < 0 else 3)}, lambda x: {"a": x}, [-0.4, -0.7, 0.3, 7.7]
    )
    third = [("a third of it where x > 0", lambda: lambda x: {"a": x / (1 if x < 0 else 3)})]
    assert causes_of_parts(third, evidence) == (None, None)
    half = [("half of it where x < 0", lambda: lambda x: {"a": x / (2 if x < 0 else 1)})]
    both = causes_of_parts(half + third, evidence)[0]
    assert both.startswith("two mistakes: ") and "half of it" in both and "a third" in both


def test_small_whole_numbers_prove_nothing():
    evidence = evidence_of(pair(lambda x: 2, lambda x: 3), pair(lambda x: 1, lambda x: x), [4, 5])
    assert not evidence.is_telling(evidence.wrong())


def test_two_mistakes_of_a_tuple_are_both_named():
    def scales(delta, eta, lam, B):
        alpha = -eta if delta == "gradient" else -eta / B
        return alpha, 1 - eta * lam, 1 - eta * lam

    said = cause_of(ch09.check_scales, scales)
    assert "in alpha: the sign for equation 8" in said
    assert "in beta_b: the penalty applies only to W" in said


def test_a_right_part_is_not_explained_away():
    def judge(y, predicted):
        return np.mean(y == predicted), 0.25, 0.375, 0.125, 0.625

    assert "mistake" not in (cause_of(ch14.check_judge, judge) or "")


def test_property_is_compared_in_every_case():
    def paper(
        p, n
    ):  # the first number that is wrong is that of a planted answer, the others are not
        rounds = p.bit_length() - 1
        return {
            "root": p * n if p == 8 else p * n + 1,
            "trees": rounds * n,
            "doubling": 0,
            "ring": 0,
        }

    assert cause_of(ch10.check_paper, paper) is None


def test_calls_with_functions_among_the_arguments_are_not_repeated():
    def body(fn, *, rng):
        fn(len)

    assert heard.calls_of(body, lambda f: 1, SEED) == []
    assert len(heard.calls_of(lambda fn, rng: fn(3), lambda x: x, SEED)) == 1


def test_changes_that_touch_the_same_words_are_not_merged():
    task = Task(
        "t", "check", "f", "def f(a, b):\n    return a + 2 * b",
        (("no two", "def f(a, b):\n    return a + b"), ("minus", "def f(a, b):\n    return a - 2 * b"),
         ("three", "def f(a, b):\n    return a + 3 * b")), (),
    )  # fmt: skip
    made = {says: source for says, source, *_ in merged.pairs(task)}
    assert made["two mistakes: no two; and minus"].endswith("return a - b")
    assert "two mistakes: no two; and three" not in made


def test_what_has_no_parts_is_one_part():
    class Miss:
        want, name = (1, 2), "the result"

    assert names_of([Miss]) == {""}


def test_changes_are_found_between_what_is_the_same():
    base = "a = 1; b = 2; c = 3; d = 4"
    for source in (
        base,
        "a = 1; b = 20; c = 3; d = 4",
        "x = 1; b = 2; c = 3; d = 4 + a",
        "a = 1; d = 4",
        "",
    ):
        assert merged.made(base, merged.changes(base, source)) == source
    assert merged.changes(base, "a = 1; b = 2 + e; c = 3; d = 4")[0][0] > 8


TWO = r"""
__global__ void max_plus(int M, int N, int K, const float *A, const float *B, float *D)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < M && j < N) {
        float best = 0.0f;
        for (int k = 0; k < K; k++) {
            const float way = A[i * K + k] + B[j * K + k];
            if (way > best) best = way;
        }
        D[i * N + j] = best;
    }
}
"""


def test_two_mistakes_of_a_kernel_are_both_named():
    said = cause_of(ch06.check_max_plus, TWO)
    assert said.startswith("two mistakes: ")


def test_two_mistakes_of_ranks_are_both_named():
    def backward_two(comm, local, X, A1, Z2, Y):
        (_, _), (W2, _) = local
        e = np.exp(Z2 - Z2.max(axis=1, keepdims=True))
        dZ2 = e / e.sum(axis=1, keepdims=True) - Y  # without 1/B
        dZ1 = dZ2 @ W2.T  # without the slope
        return [(X.T @ dZ1, dZ1.sum(axis=0)), (A1.T @ dZ2, dZ2.sum(axis=0))]

    said = cause_of(ch12.check_backward_two, backward_two)
    assert said.startswith("two mistakes: ")


def test_a_mistake_that_another_undoes_is_not_named():
    def judge(y, predicted):
        tn, fn, fp, tp = np.bincount(2 * y + predicted, minlength=4)  # fp and fn are swapped
        recall, precision = tp / (tp + fn), tp / (tp + fp) if tp + fp else 0.0
        accuracy, majority = (tp + tn) / len(y), max(y.mean(), 1 - y.mean())  # right
        return accuracy, majority, precision, recall, (recall + tn / (tn + fp)) / 2

    said = cause_of(ch14.check_judge, judge)
    assert "majority" not in said
    assert "fp and fn are swapped" in said


def test_a_slip_that_undoes_a_planted_answer_is_not_named():
    said = cause_of(ch00.check_affine, lambda X, W, b: X @ W / (2 * len(W)) + b)
    assert "mistakes" not in (said or "")


def test_a_known_mistake_is_kept_where_the_answer_is_right():
    right, cases = pair(lambda x: x, lambda x: x * x), [0.3, 7.7]
    evidence = evidence_of(pair(lambda x: x, lambda x: x + 0.5), right, cases)
    assert evidence.is_kept(pair(lambda x: x, lambda x: 0.25))
    assert not evidence.is_kept(pair(lambda x: x / 2, lambda x: x + 0.5))


def test_a_pair_that_works_both_ways_may_be_one_mistake():
    evidence = Evidence([], [0.3, 7.7], lambda fn: lambda i: fn([0.3, 7.7][i]), None, None, [])
    assert evidence.are_against(lambda x: x + 1, lambda x: x / 2)
    assert not evidence.are_against(lambda x: x + 1, lambda x: 2 * x)

    def step_bytes(sizes, B, data, model):  # all B rows a message: too many; split biases: too few
        grads = sum((n + 1) * m for n, m in itertools.pairwise(sizes)) / model
        wide = sum(sizes[2::2]) + sum(sizes[2:-1:2])
        return 8 * (grads * (data - 1) / data + B * wide * (model - 1) / model)

    said = cause_of(ch12.check_step_bytes, step_bytes)
    assert said.startswith("two mistakes, or one that does both: ")


def test_a_mistake_may_be_made_in_one_part_alone():
    right, cases = pair(lambda x: x, lambda x: x * x), [0.3, 7.7]
    evidence = evidence_of(pair(lambda x: x, lambda x: x + 0.5), right, cases)
    assert evidence.is_alone(pair(lambda x: x / 2, lambda x: x + 0.5))
    assert not evidence.is_alone(pair(lambda x: x / 2, lambda x: x * x))
    assert not evidence.is_alone(pair(lambda x: x / 2, lambda x: 0.8 if x < 1 else 0))


def test_where_ties_are_free_a_planted_answer_may_take_the_last():
    def best_width(a_by_rows, b_by_rows):
        def sectors(w):
            h = 256 // w
            return (h if a_by_rows else -(-h // 8)) + (-(-w // 8) if b_by_rows else w)

        return min((1, 2, 4, 8, 16, 32), key=sectors)

    assert "256 / w is the number of rows of a block" in cause_of(ch06.check_best_width, best_width)
    source = "def f(x):\n    return min(x, key=abs)"
    task = Task("t", "check_f", "f", source, (("no size", source), ("no search", "f = len")), ())
    assert with_other_ties(task, lambda f: f([1, -1]) == 1) == []
    ((says, turned),) = with_other_ties(task, lambda f: f([1, -1]) == -1)
    assert says == "no size" and "min(list(x)[::-1], key=abs)" in turned
