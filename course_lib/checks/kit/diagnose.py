"""The likely cause of a failure: first the author's known wrong functions, then the rules that fit any task."""

import functools
from dataclasses import replace

import numpy as np

from course_lib.checks.kit.causes import likely_cause
from course_lib.checks.kit.compare import SLIGHT, Mismatch, close, compare, part_pairs
from course_lib.checks.kit.forms import cause_of_form
from course_lib.checks.kit.known.explain import (
    planted_cause,
    python_slips,
    several_causes,
    slip_cause,
)
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.own_numbers import with_float32
from course_lib.checks.kit.known.parts import Evidence, names_of, seldom
from course_lib.checks.kit.limits import as_long_as, is_telling
from course_lib.checks.kit.places import misplaced
from course_lib.checks.kit.probe import answer_to, short_error
from course_lib.checks.kit.raised import cause_of_error
from course_lib.checks.kit.trees import leaves, nan_is_inf, numbers, tree_map
from course_lib.checks.kit.words import in_new_form, relisted


@guess
def diagnose(check, result, results, seed, fn=None):
    """A sentence on the likely cause, or None. result: the first wrong one; results: of all cases of the seed.

    fn: the student's function, if it is one.
    """
    miss = result.misses[0]
    spoilt = _spoilt(check, results) if miss.kind == "values" else []
    if not spoilt:
        return _of_what_came(check, result, results, seed, fn)

    def changes_too(mine, other):
        return bool(_undue(check, mine)) == bool(_undue(check, other))

    both = _fits(check, miss, results, seed, changes_too)
    known = planted_cause(check.cases.__module__, check.name, both, _limit(results), fn)
    return known or _or_of_changes(_of_what_came(check, result, results, seed, fn), spoilt)


def _spoilt(check, results):
    """Names of the arguments that are not what they were, and should be."""
    return list(
        dict.fromkeys(r.name_of(c.argument) for r in results for c in _undue(check, r.answer))
    )


def _undue(check, answer):
    return [c for c in answer.changes if c.argument not in {check.inplace, *check.may_change}]


def _or_of_changes(cause, spoilt):
    """A mistake with the same numbers leaves the arguments alone: the numbers may be wrong because they changed."""
    names = " and ".join(spoilt)
    changed = f"your function changes its argument {names}: work on a copy"
    if not cause:
        return changed
    first = cause if cause.startswith("either: ") else f"either: {cause}"
    return f"{first}; or the numbers follow from this: {changed}"


def _of_what_came(check, result, results, seed, fn):
    miss = result.misses[0]
    fits = _fits(check, miss, results, seed)
    return (
        planted_cause(check.cases.__module__, check.name, fits, _limit(results), fn)
        or _of_author(check, miss, results)
        or (miss.kind == "dtype" and _of_float64(check, result, results, seed, fn))
        or (None if miss.kind == "values" else _of_form(check, result, results))
        or (_is_evidence(results) and _is_enough(results) and _of_slip(check, fits, results))
        or (
            miss.kind not in SLIGHT
            and _is_evidence(results)
            and _of_several(check, results, fits, seed)
        )
        or (_of_form(check, result, results) if miss.kind == "values" else None)
        or misplaced(miss, result.names, result.case.args)
    )


def _is_evidence(results):
    """May equal results be a slip's proof? Not where all that is wrong are errors, zeros or NaN."""
    wrong = [r for r in results if r.misses and not r.answer.error]
    return any(m.kind in SLIGHT or is_telling(m.got) for r in wrong for m in r.misses)


def _is_enough(results):
    """Small whole numbers are hit by chance: a slip must give more than two different wrong ones."""
    wrong = [m for r in results if r.misses and not r.answer.error for m in r.misses]
    several = len({repr(m.got) for m in wrong}) > 2
    return several or any(m.kind in SLIGHT or np.size(m.got) > 2 or seldom(m.got) for m in wrong)


def _limit(results):
    """Seconds for a known mistake in all cases."""
    return as_long_as(sum(r.answer.seconds for r in results))


def _of_slip(check, fits, results):
    limit = _limit(results)
    return slip_cause(check.cases.__module__, check.name, fits, python_slips, limit)


def _of_several(check, results, fits, seed):
    """What several known mistakes explain together."""

    def run(fn):
        called = functools.partial(check.call, fn) if check.call else fn
        cases = check.draw(seed)
        return lambda i: _outcome(_answer(check, called, cases[i]))

    def differing(i, got, want):
        return names_of(
            compare(got, want, replace(check.rules(results[i].case, None), scale=None, either=True))
        )

    def named(i, value):
        pairs = part_pairs(value, results[i].want, check.rules(results[i].case, None))
        return {name: got for name, got, _ in pairs}

    labels = [r.case.label for r in results]
    mine = [_outcome(r.answer) for r in results]
    wants = [tree_map(nan_is_inf, r.want) for r in results]
    evidence = Evidence(mine, wants, run, differing, named, labels)
    return several_causes(check.cases.__module__, check.name, evidence, fits, _limit(results))


def _outcome(answer):
    """What an answer gave; of an error its words."""
    return answer.error or tree_map(nan_is_inf, answer.value)


def _of_author(check, miss, results):
    """What the author says of a known wrong function that is not planted, or None."""
    for wrong, text in check.diagnoses if miss.kind not in SLIGHT else ():
        if all(_is_like(check, wrong, r) for r in results):
            return text
    return None


@guess
def _of_float64(check, result, results, seed, fn):
    """The float64 that the function names is why, if with float32 in its place the dtype is right."""
    word, other = with_float32(fn) or (None, None)
    if not word or result.misses[0].got.dtype != np.float64:
        return None
    case = check.draw(seed)[[r is result for r in results].index(True)]
    called = functools.partial(check.call, other) if check.call else other
    if any(m.kind == "dtype" for m in check.result(case, _answer(check, called, case)).misses):
        return None
    told = "`float` as a dtype" if word == "float" else f"the `{word}` in your function"
    return f"a float64 slipped in: {told}. Convert the result back, .astype(np.float32), or use float32 from the start"


def _of_form(check, result, results):
    """What can be told from the results alone."""
    miss = result.misses[0]
    if miss.kind == "changed":
        return _of_side_effect(check, miss, result)
    if miss.kind == "error":
        return cause_of_error(result.answer.error, check.name)
    failing = [r for r in results if r.misses and not r.answer.error]
    special = _about_returning(check, result) or cause_of_form(check, failing, _alike(check))
    if special:
        return special
    same = [
        (m, r) for r in results for m in r.misses if m.kind == miss.kind and m.name == miss.name
    ]
    return likely_cause(same, results, _right_parts(check, miss.name, results))


def _right_parts(check, name, results):
    """(Mismatch with nothing wrong, result) of this part where it is right: a cause must hold there as well."""
    for r in results:
        if r.answer.error or any(m.name == name for m in r.misses):
            continue
        rules = check.rules(r.case, None)
        for part, got, want in part_pairs(r.answer.value, r.want, rules):
            if part == name and np.shape(got) == np.shape(want):
                yield Mismatch("values", name, "", np.asarray(got), np.asarray(want)), r


def _fits(check, miss, results, seed, more=lambda mine, other: True):
    """(function) -> does it do in all cases of the seed what the student's did? more: asked of two Answers as well.

    Of an exception its kind will do where wrong numbers of other cases prove more: its words hang on how one writes it.
    """
    kind_will_do = any(
        r.misses and not r.answer.error and is_telling(r.answer.value) for r in results
    )
    order = sorted(range(len(results)), key=lambda i: not results[i].misses)  # most differ at once
    drawn = check.draw(seed)
    lasting = all(_lasts(case) for case in drawn)

    def fits(fn):
        fn = functools.partial(check.call, fn) if check.call else fn
        cases = drawn if lasting else check.draw(seed)
        others = ((results[i], _answer(check, fn, cases[i])) for i in order)
        return all(
            _same_answer(check, r, other, miss, kind_will_do) and more(r.answer, other)
            for r, other in others
        )

    return fits


def _lasts(case):
    """May it be given again? Functions get copies of numbers and arrays; all else they may use up."""
    return numbers([*case.args, *case.kwargs.values()]) is not None


def _answer(check, fn, case):
    return answer_to(case, fn, check.inplace, check.post)


def _same_answer(check, result, other, miss, kind_will_do=False):
    """Did another function give what the student's gave, and do what it did?"""
    mine = result.answer
    if mine.error or other.error:
        both = mine.error or "", other.error or ""
        return both[0] == both[1] or (kind_will_do and _kind(both[0]) == _kind(both[1]))
    if miss.kind == "changed" and mine.changes != other.changes:
        return False
    if miss.kind == "dtype" and _dtypes(mine.value) != _dtypes(other.value):
        return False
    return _close(check, result, other.value)


def _kind(error):
    return error.partition(":")[0]


def _dtypes(value):
    return [getattr(leaf, "dtype", type(leaf)) for leaf in leaves(value)]


def _alike(check):
    return lambda value, want, result: not compare(value, want, check.rules(result.case, None))


def _of_side_effect(check, miss, result):
    """The result is right; what was changed is not."""
    part, first = miss.name, result.changes({check.inplace, *check.may_change})[0]
    whole = result.name_of(first.argument)
    if first.slight:
        return (
            f"{whole} is restored only up to rounding: x + h - h is not always x. Keep the old value in a "
            "variable and write it back"
        )
    if first.relisted and first.reordered:
        return (
            f"you change the caller's own list: its entries are in another order afterwards, as after {whole}.sort() "
            f"or .reverse(). Work on a copy, list({whole}), or take sorted({whole}), which is one"
        )
    if first.relisted:
        return relisted(whole)
    short = part.split(" of ")[0] if " of " in part else part
    if first.form:
        return in_new_form(short, first.form)
    return (
        f"`{short} += ...`, `{short}[...] = ...` and `out={short}` write into the caller's array, even through "
        f"a second name: work on a copy, {short}.copy()"
    )


def _is_like(check, wrong, result):
    """Did the student get, in this case, what this known wrong function gives?"""
    value = check.truth(wrong, result.case)
    if isinstance(value, Exception) or result.answer.error:
        return (
            isinstance(value, Exception) and short_error(value) == result.answer.error
        )  # the sizes are in the words
    return _close(check, result, value)


def _close(check, result, value):
    """Is the student's result `value`, but for rounding?"""
    return close(result.answer.value, value, check.rules(result.case, None))


def _about_returning(check, result):
    """Returned where the argument should have been filled, or the reverse."""
    answer = result.answer
    if check.inplace is None:
        filled = ", ".join(result.changed_names(result.may_change))
        return (
            f"your function fills {filled} but does not return it"
            if answer.value is None and filled
            else None
        )
    returned = answer.returned
    if returned is not None and not compare(returned, result.want, check.rules(result.case, None)):
        return "you return a new array, but the task changes its argument: write into it with name[...] = ..."
    return None
