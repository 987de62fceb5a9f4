"""What an answer gives in every case of a property check, which itself stops at the first failure.

The calls are those that the check makes of a right answer, the task's solution, written down with their arguments.
The student's function and known mistakes are then called with the same arguments, without the check.
"""

import contextlib
import functools
import time
from dataclasses import dataclass, is_dataclass

import numpy as np

from course_lib.checks.kit.compare import Rules, compare, part_pairs
from course_lib.checks.kit.known.explain import (
    planted_cause,
    python_slips,
    several_causes,
    slip_cause,
    ties_cause,
)
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.parts import WHOLE, Evidence, names_of
from course_lib.checks.kit.known.planted import task_of
from course_lib.checks.kit.limits import EACH, Late, as_long_as, at_most
from course_lib.checks.kit.trees import copied, leaves, nan_is_inf, numbers, tree_map

MOST = 60  # calls that are looked at
RULES = Rules(4.0, 4, "float32", None)  # equal but for rounding


@dataclass(frozen=True)
class Call:
    """One call: its arguments, and what the right answer gave: what it returned, or else left in its arguments."""

    args: tuple
    kwargs: dict
    result: object


@guess
def cause_of_property(body, name, value, seed, fails_alike, is_evidence):
    """The sentence of the known mistakes that do all that an answer did, or None.

    body: of the check; name: of the task's variable; fails_alike: (value) -> does it fail in the same words?
    is_evidence: may a slip be told from these words?
    """
    task = task_of(body.__module__, name)
    if not task:
        return None
    begun = time.process_time()
    calls = calls_of(body, task.value_of(task.solution), seed)
    mine = _in_time(value, calls)
    limit = as_long_as(time.process_time() - begun)
    calls = calls[: len(mine)]
    is_evidence = is_evidence or _many_wrong(calls, mine)
    order = _wrong_first(calls, mine)

    def fits(other):
        given = zip(order, _each_answer(other, [calls[i] for i in order]), strict=False)
        return not any(_differing(0, mine[i], got) for i, got in given) and fails_alike(other)

    def is_right(other):
        with contextlib.suppress(Exception, SystemExit):
            body(other, rng=np.random.default_rng(seed))
            return True
        return False

    place = body.__module__, name
    evidence = _evidence(calls, mine) if calls else None
    is_evidence = is_evidence and not (evidence and evidence.says_yes_or_no())
    if evidence and not is_evidence and evidence.is_telling(evidence.wrong()):
        evidence = None
    return (
        planted_cause(*place, fits, limit, value)
        or ties_cause(*place, fits, is_right, limit)
        or (is_evidence and slip_cause(*place, fits, python_slips, limit))
        or (evidence and several_causes(*place, evidence, fits, limit))
    )


def _in_time(value, calls):
    """What the answer gives; nothing where it does not come to an end."""
    try:
        with at_most(EACH):
            return answers_of(value, calls)
    except Late:
        return []


def _wrong_first(calls, mine):
    """The calls' numbers, those that went wrong first: there most other mistakes differ, and no more is tried."""
    return sorted(range(len(calls)), key=lambda i: not _differing(0, mine[i], calls[i].result))


def _many_wrong(calls, mine):
    """More than two wrong answers, no two of them alike."""
    pairs = zip(mine, calls, strict=True)
    return len({repr(got) for got, call in pairs if _differing(0, got, call.result)}) > 2


def _evidence(calls, mine):
    wants = [call.result for call in calls]

    def named(i, result):
        pairs = () if _is_odd(result) else part_pairs(result, wants[i], RULES)
        return {name: got for name, got, _ in pairs}

    return Evidence(mine, wants, _runner(calls), _differing, named, [None] * len(calls))


def _runner(calls):
    return lambda fn: lambda i: _answer(fn, calls[i])


def calls_of(body, right, seed):
    """The Calls that a check makes of a right answer; none where they hold more than numbers."""
    calls: list = []
    if not callable(right):
        return calls
    try:
        with at_most(EACH):
            body(_written_down(right, calls), rng=np.random.default_rng(seed))
    except (Exception, SystemExit, Late):
        return []
    plain = all(numbers([*call.args, *call.kwargs.values()]) is not None for call in calls)
    return calls[:MOST] if plain else []


def _written_down(right, calls):
    @functools.wraps(right)
    def answer(*args, **kwargs):
        given = copied(args), copied(kwargs)
        result = right(*args, **kwargs)
        calls.append(Call(*given, copied(_given(result, args))))
        return result

    return answer


def answers_of(fn, calls):
    """What a function gives in each call; where it raises, the name of the exception."""
    return list(_each_answer(fn, calls))


def _each_answer(fn, calls):
    """The same one by one, when it is asked for."""
    if callable(fn):
        yield from (_answer(fn, call) for call in calls)


def _answer(fn, call):
    args = copied(call.args)
    try:
        return copied(_given(fn(*args, **copied(call.kwargs)), args))
    except (Exception, SystemExit) as error:
        return type(error).__name__  # its words are the student's own


def _given(result, args):
    """What a call gave: of a function that works in place, which returns nothing, its arguments afterwards."""
    return args if result is None else result


def _differing(_, got, want):
    """The parts of one result that are not those of another. Texts of programs, say: what they do the check tells."""
    if is_dataclass(got) and type(got) is type(want):
        return set()
    if _is_odd(got) or _is_odd(want):
        return set() if repr(got) == repr(want) or _equal(got, want) else {WHOLE}
    return names_of(compare(tree_map(nan_is_inf, got), tree_map(nan_is_inf, want), RULES))


def _equal(got, want):
    try:
        return type(got) is type(want) and bool(got == want)
    except ValueError:  # arrays among other things
        return False


def _is_odd(value):
    """Is something else than a number or an array in it? Slices are told apart by their words."""
    return any(not isinstance(leaf, (int, float, np.generic, np.ndarray)) for leaf in leaves(value))
