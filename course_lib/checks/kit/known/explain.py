"""The cause of a failure, proved: a known mistake in the place of the answer gives what the answer gave, in all cases.

Known mistakes are the planted wrong answers of a task, and then its solution with one slip of the kit's catalogue.
What is found here decides nothing: whatever goes wrong on the way is as if no mistake fitted.
"""

import contextlib
import functools
import itertools

from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.own_numbers import numbers_of, with_other_numbers
from course_lib.checks.kit.known.parts import causes_of_parts, places
from course_lib.checks.kit.known.planted import task_of
from course_lib.checks.kit.known.ties import with_other_ties
from course_lib.checks.kit.limits import Late, at_most, harmless
from course_lib.checks.kit.slips import python
from course_lib.checks.kit.slips.merged import pairs

MOST = 2  # causes that are named where several fit equally well
OF_ONE = "two mistakes, or one that does both:"


def planted_cause(module, name, fits, limit=None, answer=None):
    """The sentence of the planted answer that fits, "either ..., or ..." of two, or None.

    module, name: of the check and of the answer's variable. fits: (what the variable would hold) -> does it give what
    the student's answer gave? limit: seconds for one try, where `fits` has no limit of its own. answer: the student's
    function, whose numbers may stand in the place of a planted answer's own.
    """

    def with_its_numbers(task):
        pairs = harmless(with_other_numbers(task, numbers_of(answer)))
        return ((says, _giver(task, source)) for says, source in pairs)

    known = _cause(module, name, fits, _planted, limit)
    return known or (answer and _cause(module, name, fits, with_its_numbers, limit)) or None


def ties_cause(module, name, fits, is_right, limit=None):
    """The same of planted answers that take the last of equals. is_right: (value) -> does the check pass it?"""

    def turned(task):
        return [(says, _giver(task, source)) for says, source in with_other_ties(task, is_right)]

    return _cause(module, name, fits, turned, limit)


def slip_cause(module, name, fits, slips, limit=None):
    """The same of the solution's slips: (`Task`) -> pairs (sentence, a function that gives the value)."""
    return _cause(module, name, fits, slips, limit)


@guess
def several_causes(module, name, evidence, fits, limit=None):
    """The sentence of several known mistakes that do together what the answer did, or None.

    evidence: what the answer gave, case by case. A part explained is better than nothing, and worse than two mistakes
    that explain all.
    """
    if not evidence.is_telling(evidence.wrong()):
        return _only_pair(module, name, evidence, fits, limit)
    whole, part = _of_parts(module, name, evidence)
    if whole:
        return whole
    two = pair_cause(module, name, fits, evidence.is_kept, limit, 1, evidence.are_against)
    return two or _alone(module, name, evidence, limit) or part


def _alone(module, name, evidence, limit):
    """A planted answer that does in some parts of the result what the answer did there, and more in others."""
    said = _cause(module, name, evidence.is_alone, _planted, limit)
    return said and f"{places([evidence.wrong()], evidence)[0]} alone: {said}"


def _only_pair(module, name, evidence, fits, limit):
    """Two planted answers that do all that the answer did, where no other two do: small numbers alone prove little, and
    truth values nothing."""
    if evidence.says_yes_or_no() or len(evidence.wrong()) < 2:
        return None
    said = pair_cause(module, name, fits, evidence.is_kept, limit, MOST, evidence.are_against)
    return said if said and not said.startswith("either: ") else None


@guess
def pair_cause(module, name, fits, is_kept, limit=None, most=1, are_against=None):
    """The sentence of two planted answers in one source that do together what the answer did, or None.

    is_kept: (value) -> does it get right what the answer got right? Each of the two must, by itself: what only the
    other one mends was never there. are_against: (value, value) -> does one take off what the other adds? Then one
    mistake may do both.
    """
    task = task_of(module, name)
    tests = fits, is_kept, is_kept

    def does_all(sources):
        values = (task.value_of(source) for source in sources)
        return all(_within(limit, test, value) for test, value in zip(tests, values, strict=True))

    def worded(known):
        for says, *sources in known:
            if _fits(functools.partial(list, sources), does_all):
                both = are_against and are_against(*map(task.value_of, sources[1:]))
                yield says.replace("two mistakes:", OF_ONE, 1) if both else says

    return _named(worded(pairs(task) if task else ()), most)


def _of_parts(module, name, evidence):
    task = task_of(module, name)
    known = itertools.chain(_planted(task), python_slips(task)) if task else ()
    return causes_of_parts(known, evidence)


@guess
def _cause(module, name, fits, known, limit):
    task = task_of(module, name)
    return _first(known(task), functools.partial(_within, limit, fits)) if task else None


def _planted(task):
    return [(says, _giver(task, source)) for says, source in task.planted]


def python_slips(task, most=160):
    """The slips of a solution in Python: (sentence, a function that gives what the variable would hold)."""
    found = itertools.islice(python.variants(task.solution), most)
    pairs = harmless((slip.says, slip.source) for slip in found)
    return ((says, _giver(task, source)) for says, source in pairs)


def _giver(task, source):
    return lambda: task.value_of(source)


def _first(known, fits, most=MOST):
    """One sentence of those that fit, or two; None for none."""
    return _named((says for says, value in known if _fits(value, fits)), most)


def _named(fitting, most):
    said = list(itertools.islice(_different(fitting), most))
    return f"either: {said[0]}; or: {said[1]}" if len(said) == 2 else next(iter(said), None)


def _different(sentences):
    """Each once; of a slip at one place and the same slip at several the first."""
    seen: list = []
    for says in sentences:
        if not any(says.startswith(told) or told.startswith(says) for told in seen):
            seen.append(says)
            yield says


def _fits(value, fits):
    try:
        return bool(fits(value()))
    except (Exception, SystemExit):
        return False


def _within(limit, fits, value):
    try:
        with at_most(limit) if limit else contextlib.nullcontext():
            return fits(value)
    except Late:
        return False
