"""The cause of a failure of ranks, proved: a known mistake gives the same results and findings in every rehearsal."""

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.compare import close
from course_lib.checks.kit.known.explain import pair_cause, planted_cause, python_slips, slip_cause
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.parts import seldom
from course_lib.checks.kit.ranks.remembered import rehearsed
from course_lib.checks.kit.ranks.running import run_case
from course_lib.machines.rehearsal.apart import not_apart
from course_lib.machines.rehearsal.memory.unwritten import is_unwritten

SLIPS = 120  # of the solution: so many are tried
EACH = 0.5  # seconds for a rehearsal of one of them: some never end
SENT = re.compile(
    r"\b(?:\d+ )?(?:u?int|float)\d+\b"
)  # 5 float32: so many of them, and of which dtype

WHICH = re.compile(r", number \d+ of \d+.*")  # request is never waited for


@dataclass(frozen=True)
class Known:
    """The sentences of known mistakes that did in all rehearsals what the student's function did, or None.

    planted: of the task's planted answers; slip: of its solution with one slip, looked for when it is asked for.
    """

    planted: str | None = None
    find: Callable = lambda: None

    @property
    def slip(self):
        """Of the slips, or None."""
        return self.find()


@guess
def proved(check, fn, runs, seed):
    """The `Known` mistakes that explain what the runs show."""
    if any(run.fatal and run.fatal["tool"] == "timeout" for run in runs) or _is_empty(runs):
        return Known()
    order = sorted(runs, key=lambda run: (not run.amiss, run.n))
    rest: list = []

    def fits(known):
        if not all(_alike(check, run, _again(check, known, run)) for run in order):
            return False
        rest[:] = rest or _unseen(check, fn, runs, seed)
        return all(_alike(check, run, _again(check, known, run)) for run in rest)

    def is_kept(known):
        return all(_is_kept(run, _again(check, known, run)) for run in order)

    place = check.cases.__module__, check.name, fits

    @guess
    def find():
        missed = [run for run in runs if run.wrong]
        if missed and all(map(_is_unwritten, missed)):
            return None  # anything may leave it so
        return slip_cause(*place, _slips) or (_is_telling(runs) and pair_cause(*place, is_kept))

    return Known(planted_cause(*place, answer=fn), find)


def _is_empty(runs):
    """Is all that is wrong an empty list? Many mistakes end in one."""
    missed = [miss for run in runs for _, miss in run.wrong]
    return bool(missed) and all(m.kind == "structure" and not len(m.got) for m in missed)


def _is_unwritten(run):
    """Is all that is wrong from np.empty?"""
    return bool(run.wrong) and all(
        miss.kind == "values" and is_unwritten(miss.got[miss.wrong]) for _, miss in run.wrong
    )


def _is_telling(runs):
    """Do wrong numbers show that nobody hits by chance? Two mistakes are found among thousands."""
    missed = [miss for run in runs if not run.fatal for _, miss in run.wrong]
    return any(len(seldom(miss.got)) > 1 for miss in missed if miss.kind == "values")


def _slips(task):
    return python_slips(task, SLIPS)


def _again(check, known, run):
    """The rehearsal of a run with a known mistake in the student's place.

    In this process, which is faster, unless a buffer was read or written early: reads are found in one apart only.
    """
    early = not run.fatal and any(error["tool"] == "buffer" for error in run.report.errors)
    with contextlib.nullcontext() if early else not_apart():
        other = rehearsed(check, known, run, early, EACH)
    if run.want and not other.fatal:
        other.want = run.want
        other.wrong = check.misses(other)
    return other


def _unseen(check, fn, runs, seed):
    """What the student's function does in the cases that an exception has left out: nothing, where none has."""
    if not (runs[-1].fatal and runs[-1].fatal["tool"] == "exception"):
        return []
    rng, last, found = np.random.default_rng(seed), runs[-1], []
    for n in check.ranks:
        for case in check.draw(rng, n, seed):
            found.append((n, case))
    return [run_case(fn, n, case, check, last.schedule) for n, case in found[len(runs) :]]


def _alike(check, mine, other):
    if _found(mine) != _found(other):
        return False
    if mine.fatal:
        stood = mine.fatal["tool"] == "deadlock"
        return _said(mine) == _said(other) and not (stood and _calls(mine) != _calls(other))
    allowed = {*check.out, *check.may_change, check.inplace}
    if _kinds(mine) != _kinds(other) or mine.changed(allowed) != other.changed(allowed):
        return False
    if mine.report.messages != other.report.messages:  # who sends half of them has made another
        return False
    if (mine.finding or _is_unwritten(mine)) and _calls(mine) != _calls(other):
        return False
    rules = check.rules(mine, None)
    return all(close(a, b, rules) for a, b in zip(mine.values, other.values, strict=True))


def _is_kept(mine, other):
    """Does a known mistake get right what the student's function got right in a rehearsal?"""
    if mine.fatal or other.fatal:
        return bool(mine.fatal)
    missed = {(rank, name) for rank, _, name in _kinds(mine)}
    return all((rank, name) in missed for rank, _, name in _kinds(other))


def _found(run):
    """The tools that spoke: the worst alone where it ended the run; of requests left over, which ones."""
    if run.fatal:
        return run.fatal["tool"]
    return [(e["tool"], *WHICH.findall(e["message"].split("\n")[0])) for e in run.report.errors]


def _kinds(run):
    """What is wrong with which part on which rank; a wrong dtype is told from wrong numbers, and from none."""
    return [(rank, miss.kind, miss.name) for rank, miss in run.wrong]


def _calls(run):
    """What each rank called, in its own order: findings are alike only where the calls are."""
    calls = [(e["rank"], e["op"], str(e["peer"]), e["bytes"]) for e in run.report.events]
    return sorted(calls, key=lambda call: call[0])


def _said(run):
    """What ended the run: of an exception its words, of all else who waits in which call, and what is sent."""
    error = run.fatal
    if error["tool"] == "exception":
        return error["message"].split("\n")[0]
    places = {rank: place["op"] for rank, place in error["ranks"].items()}
    return places, SENT.findall(error["message"])
