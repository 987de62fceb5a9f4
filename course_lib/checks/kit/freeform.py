"""Checks of one value, and free-form checks with the same look."""

import contextlib
import functools
import re

import numpy as np

from course_lib.checks.kit.case import Case
from course_lib.checks.kit.check import Check
from course_lib.checks.kit.inputs import choose_seed
from course_lib.checks.kit.kinds import CLOCK, WRONG, is_lacking
from course_lib.checks.kit.known.heard import cause_of_property
from course_lib.checks.kit.messages import (
    CheckFailed,
    Report,
    cannot_check,
    not_written,
    say_passed,
)
from course_lib.checks.kit.probe import Answer, blank_in, short_error, students_line
from course_lib.checks.kit.stalls import Stalls
from course_lib.checks.kit.trees import copied
from course_lib.checks.kit.words import again, not_a_function, plain


def check_value(
    name, got, wanted, K=1, c=4.0, dtype=None, diagnoses=(), axes=(), digits=None, parts=()
):
    """Check one answer in a variable: a number, an array, a text, or a tuple of them. Prints or raises like Check.

    diagnoses: (wrong value, "likely cause"). digits: decimals that a number worked out by hand must have right.
    """
    if got is NotImplemented or got is Ellipsis:
        raise not_written(name)
    wrong = [(_giver(value), text) for value, text in diagnoses]
    case = Case(())
    check = Check(
        name, lambda rng: [case], _giver(wanted), K, c, wrong, dtype, axes, parts, digits=digits
    )
    result = check.result(case, Answer(copied(got)))
    if result.misses:
        report = check.report(result, [result], None)
        report.title = f"{name} is not right yet"
        report.rows = [(label, text.replace("the result", name, 1)) for label, text in report.rows]
        raise CheckFailed(report)
    say_passed(name, "right")


class Unmet(Exception):
    """Carries what is wrong, the rows of a failed `require` and its kind up to the check around it."""

    def __init__(self, what, rows, kind=WRONG):
        super().__init__(what, rows)
        self.what, self.rows, self.kind = what, rows, kind


def require(
    condition, what, got=None, wanted=None, where=None, cause=None, kind=WRONG, likely=None
):
    """Inside a `property_check`: fail with this message unless the condition holds (a NaN comparison does not).

    cause: what is certain; likely: what speaks for itself, unproved: a known mistake that does all that the answer did
    takes its place. kind: of the failure, one of `kinds.KINDS`.
    """
    if not np.all(condition):
        given = [
            ("cause", cause),
            ("likely", likely),
            ("where", where),
            ("got", got),
            ("wanted", wanted),
        ]
        rows = [(label, plain(value)) for label, value in given if value is not None]
        raise Unmet(what, rows, kind)


def require_returned(got, name, what):
    """Something must have come back. what: to write there, "`return` and the width" """
    require(got is not None, f"{name} returned None", cause=f"end with {what}")


@contextlib.contextmanager
def at(where):
    """Inside: a `require` that fails says where, before what it says itself."""
    try:
        yield
    except Unmet as unmet:
        told = [text for label, text in unmet.rows if label == "where"]
        rows = [row for row in unmet.rows if row[0] != "where"]
        place = sum(label in ("cause", "likely") for label, _ in rows)
        unmet.rows = [*rows[:place], ("where", "; ".join([where, *told])), *rows[place:]]
        raise


def require_in_time(condition, what, where=None, cause=None):
    """The same of a condition that rests on a clock: a wait that has not run out, threads that met."""
    require(condition, what, where=where, cause=cause, kind=CLOCK)


def property_check(name, changes=False, slow=False):
    """Decorator for a free-form check `def check_x(x, *, rng): ... require(...) ...; return "what holds"`.

    The student calls check_x(x) or check_x(x, seed=...). The look, the seed and the blank are those of Check.
    changes: to change what it is given is the task of x; the check compares with copies.
    slow: known mistakes are not tried; it waits for threads, or for a compiler.
    """

    def wrap(body):
        @functools.wraps(body)
        def check(*given, seed=None, **kwargs):
            seed = choose_seed(seed)
            try:
                text = _patiently(body, given, kwargs, seed)
            except CheckFailed:
                raise
            except (Exception, SystemExit) as error:
                failure = _failure(name, error, given, seed)
                if not slow and len(given) == 1 and not kwargs:
                    _explain(failure, body, name, error, given[0], seed)
            else:
                say_passed(name, text or "right", seed)
                return
            raise failure  # outside the except block, so that no second traceback is chained to it

        check.changes = changes  # type: ignore[attr-defined]
        return check

    return wrap


def cause_of_numbers(check, fn, seed):
    """The cause that a plain `Check` of the same function names, or None: for checks of threads, of wrong numbers.

    The Check looks at nothing but numbers, and so has time to try what is known.
    """
    try:
        check.right_answers(fn, seed)
    except CheckFailed as failure:
        return dict(failure.report.rows).get("cause")
    except Exception:
        return None
    return None


def _patiently(body, given, kwargs, seed):
    """What the body gives. A wait that ran out while the machine stood still is no evidence: then once more."""
    with Stalls() as stalls:
        try:
            return body(*given, rng=np.random.default_rng(seed), **kwargs)
        except Unmet as error:
            if error.kind != CLOCK or not stalls.happened():
                raise
    return body(*given, rng=np.random.default_rng(seed), **kwargs)


def _failure(name, error, given, seed):
    if isinstance(error, NotImplementedError):
        return not_written(name, blank_in(error) or "")
    report = Report(f"{name} is not right yet")
    if isinstance(error, Unmet):
        report.rows = [("what", error.what), *error.rows]
        return CheckFailed(report.add("again", again(seed)), error.kind)
    functions = [fn for fn in given if callable(fn)]
    line = next((text for fn in functions if (text := students_line(error, fn))), None)
    theirs = getattr(
        error, "of_answer", False
    )  # it comes from the process in which an answer is graded
    ours = line is None and not theirs and not _called_wrongly(error, functions)
    if ours or is_lacking(error):
        return cannot_check(name, "it raises", error, seed)
    return CheckFailed(
        report.add("what", f"it stopped with {short_error(error)}")
        .add("at", line)
        .add("again", again(seed))
    )


def _explain(failure, body, name, error, value, seed):
    """Add the cause to a failure that has none, if a known mistake does all that the answer did."""
    if not isinstance(failure, CheckFailed):
        return  # the check is broken
    report = failure.report
    labels = [label for label, _ in report.rows]
    if failure.kind != WRONG or "cause" in labels or "what" not in labels:
        return

    def fails_alike(other):
        try:
            body(other, rng=np.random.default_rng(seed))
        except (Exception, SystemExit) as its:
            return _words(its) == _words(error)
        return False

    cause = cause_of_property(body, name, value, seed, fails_alike, _is_evidence(error))
    if cause:
        rows = [row for row in report.rows if row[0] != "likely"]
        rows.insert(labels.index("what") + 1, ("cause", cause))
        report.rows = rows
        failure.args = (str(report),)


def _is_evidence(error):
    """May equal words be a slip's proof? Only if they tell more than one number, or a yes or no."""
    told = " ".join(text for label, text in error.rows if label == "got") if _unmet(error) else ""
    return _unmet(error) and len(re.findall(r"\d[\d.,]*", f"{error.what} {told}")) > 1


def _unmet(error):
    return isinstance(error, Unmet)


def _words(error):
    """What a failure says, without why."""
    if not isinstance(error, Unmet):
        return short_error(error)
    return error.what, [row for row in error.rows if row[0] not in ("cause", "likely")]


def _called_wrongly(error, functions):
    """Does a student's function refuse the arguments that the task names?"""
    names = [getattr(fn, "__name__", "?") for fn in functions]
    return isinstance(error, TypeError) and any(f"{name}()" in str(error) for name in names)


def _giver(value):
    return lambda: value


def function_check(name, changes=False, slow=False):
    """A `property_check` of a function: whatever else it is given is refused."""

    def wrap(body):
        @property_check(name, changes, slow)
        @functools.wraps(body)
        def check(fn, *, rng):
            if not callable(fn):
                raise CheckFailed(not_a_function(name, fn))
            return body(fn, rng=rng)

        return check

    return wrap
