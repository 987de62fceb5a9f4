"""The check of a function against a reference on fresh random cases."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.case import Case, Result, drawn
from course_lib.checks.kit.compare import SLIGHT, Mismatch, Rules, compare, dtypes
from course_lib.checks.kit.diagnose import diagnose
from course_lib.checks.kit.inputs import choose_seed
from course_lib.checks.kit.messages import (
    CheckBroken,
    CheckFailed,
    cannot_check,
    not_written,
    say_passed,
)
from course_lib.checks.kit.probe import answer_to, argument
from course_lib.checks.kit.trees import describe, leaves, short, upcast
from course_lib.checks.kit.words import count, failure_report, not_a_function
from course_lib.errors import BadInput


@dataclass(frozen=True)
class Check:
    """A check of a function against a reference on fresh random cases. Call it with the student's function.

    name: of the student's function. cases: rng -> list of Case. reference: the truth; it gets the case's arguments
    with all floats in float64. K: length of the longest sum (int, or case -> int); c: rounding steps per term.
    diagnoses: (wrong function, "likely cause"): printed when the student's results are that function's on all cases.
    dtype: of float arrays in the result: "input" (that of the inputs), a NumPy dtype, or None for any.
    axes: names for the axes of the result, ("example", "neuron"), or a dict by part; parts: names of a tuple's parts;
    each: names of the pairs in a list, ("dW", "db"). inplace: position or name of the argument that takes the result.
    may_change: arguments that the function may change. post: applied to every result before comparing.
    call: (fn, *arguments) -> the result, where more is looked at than what fn returns.
    """

    name: str
    cases: Callable
    reference: Callable
    K: int | Callable = 1
    c: float = 4.0
    diagnoses: Sequence = ()
    dtype: object = "input"
    axes: tuple | dict = ()
    parts: tuple = ()
    each: tuple = ()
    inplace: int | str | None = None
    may_change: tuple = ()
    post: Callable | None = None
    call: Callable | None = None
    digits: int | None = None  # of a number worked out by hand (check_value)
    python_floats: bool = False  # a number must be a Python float, no NumPy float32

    def __post_init__(self):
        for what in ("cases", "reference"):
            if not callable(getattr(self, what)):
                raise BadInput(
                    f"Check({self.name!r}): {what} must be a function, not {getattr(self, what)!r}"
                )
        for item in self.diagnoses:
            if not (
                isinstance(item, tuple)
                and len(item) == 2
                and callable(item[0])
                and isinstance(item[1], str)
            ):
                raise BadInput(
                    f"Check({self.name!r}): a diagnosis is (wrong function, text), not {item!r}"
                )

    def __call__(self, fn, seed=None):
        """Check `fn`: print one green line, or raise CheckFailed. seed: replays the inputs of an earlier run."""
        if not callable(fn):
            raise CheckFailed(not_a_function(self.name, fn))
        seed = choose_seed(seed)
        answers = self.right_answers(fn, seed)
        warned = sorted({warning for answer in answers for warning in answer.warned})
        notes = [f"right, but there was a warning: {short(w, 120)}" for w in warned[:3]]
        say_passed(self.name, f"{count(len(answers), 'case')} right", seed, notes)

    def only(self, label):
        """The same check with the cases of this label alone: a case can have a share of a task's points."""
        return dataclasses.replace(
            self, cases=lambda rng: [case for case in self.cases(rng) if case.label == label]
        )

    def right_answers(self, fn, seed):
        """The Answers of `fn` to all cases of the seed. Raises CheckFailed where one is not right."""
        called = functools.partial(self.call, fn) if self.call else fn
        answers = [answer_to(case, called, self.inplace, self.post) for case in self.draw(seed)]
        blanks = [answer.blank for answer in answers if answer.blank is not None]
        if blanks:
            raise not_written(self.name, blanks[0])
        cases = self.draw(seed)  # anew: the function may have used something up, an iterator
        results = [
            self.result(case, answer, seed) for case, answer in zip(cases, answers, strict=True)
        ]
        bad = sorted((r for r in results if r.misses), key=lambda r: _slightness(r.misses[0]))
        if bad:
            raise CheckFailed(self.report(bad[0], results, seed, fn))
        return answers

    def draw(self, seed):
        """The cases of a seed, always the same ones."""
        return drawn(self, Case, seed, np.random.default_rng(seed))

    def result(self, case, answer, seed=None):
        """The `Result` of one case: the answer held against the reference."""
        want = self.truth(self.reference, case)
        if isinstance(want, Exception):
            raise cannot_check(self.name, "its reference raises", want, seed) from want
        if want is None or any(
            isinstance(x, np.ndarray) and x.dtype == object for x in leaves(want)
        ):
            raise CheckBroken(self.name, f"its reference returns {describe(want)}", seed)
        result = Result(
            case, answer, want, [], self._argument_names(), self.inplace, self.may_change
        )
        if answer.error:
            result.misses = [Mismatch("error", "the call", f"it stopped with {answer.error}")]
        else:
            misses = compare(answer.value, want, self.rules(case, self.dtype))
            result.misses = sorted(misses, key=_slightness) or self._changes(result)
        return result

    def truth(self, fn, case):
        """What the reference, or a known wrong function, gives in float64; or the exception it raises."""
        args, kwargs = upcast(case.args), upcast(case.kwargs)
        try:
            with np.errstate(all="ignore"):
                value = fn(*args, **kwargs)
                value = (
                    argument(args, kwargs, self.inplace)
                    if self.inplace is not None and value is None
                    else value
                )
                return self.post(value) if self.post else value
        except Exception as error:
            return error

    def rules(self, case, dtype):
        """The rules of comparison for a case; dtype as the field of that name."""
        K = int(self.K(case) if callable(self.K) else self.K)
        working, wanted = dtypes(dtype, [*case.args, *case.kwargs.values()])
        names, digits = (self.parts, self.each), (self.digits, self.python_floats)
        return Rules(self.c, K, working, wanted, *names, case.scale, *digits)

    def report(self, result, results, seed, fn=None):
        """The report on the first wrong case; results: of all cases; fn: the student's function."""
        cause = diagnose(self, result, results, seed, fn)
        return failure_report(self.name, self.axes, result, results, cause, seed)

    def _changes(self, result):
        """Right, but an argument is not what it was."""
        allowed = {self.inplace, *self.may_change}
        spoilt = result.changed_names(allowed)
        parts = list(dict.fromkeys(result.part_of(c) for c in result.changes(allowed)))
        where = (
            ""
            if parts == spoilt
            else ": " + " and ".join(parts[:2]) + (" and more" if len(parts) > 2 else "")
        )
        what = f"the result is right, but your function changes its argument {', '.join(spoilt)}{where}"
        return [Mismatch("changed", parts[0], what)] if spoilt else []

    def _argument_names(self):
        """The names of the positional arguments, from the reference's signature."""
        try:
            parameters = list(inspect.signature(self.reference).parameters.values())
        except (TypeError, ValueError):  # some built-in functions have none
            parameters = []
        names = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        return [*names, *(f"argument {i}" for i in range(len(names), 20))]


def _slightness(miss):
    """Sorts wrong values before a wrong dtype, and both before a right result with a side effect."""
    return SLIGHT.index(miss.kind) + 1 if miss.kind in SLIGHT else 0
