"""The check on a 1F1B schedule: complete, without deadlock, as lean and as quick as 1F1B. Any such order is right."""

from itertools import pairwise

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.trees import a_thing
from course_lib.checks.kit.words import count
from course_lib.errors import BadInput
from course_lib.mpi.pipeline import (
    Costs,
    PipelineSchedule,
    bubble,
    in_flight,
    predicted_bubble,
    simulate,
)

KINDS = ("forward", "backward", "delta", "grad")
UNEVEN = (1.0, 1.5, 0.75)  # forward, delta, grad


@function_check("one_f_one_b")
def check_one_f_one_b(one_f_one_b, *, rng):
    """`one_f_one_b(p, m)` -> list of (rank, kind, stage, micro)."""
    p, m = int(rng.integers(5, 8)), int(rng.integers(9, 14))
    plans = [(4, 8), (2, 3), (p, m), (4, 4), (4, 2), (3, 1), (1, 3)]
    for p, m in plans:
        where = f"p = {p}, m = {m}"
        plan = _plan(one_f_one_b(p, m), p, m, where)
        _complete(plan, where)
        _keeps(plan, where)
        _waits(plan, where)
    return f"{len(plans)} schedules: complete, at most p - r micro-batches on rank r, 1F1B's bubble"


def _plan(tasks, p, m, where):
    """The answer as a PipelineSchedule."""
    require(tasks is not None, "it returns None", where=where, cause="end with `return tasks`")
    listed = not isinstance(tasks, str | dict) and hasattr(tasks, "__iter__")
    require(listed, "a list of tasks is wanted", got=a_thing(tasks), where=where)
    tasks = list(tasks)
    require(len(tasks), "there is no task in the list", where=where)
    _four_each(tasks, where)
    _of_their_ranks(tasks, p, m, where)
    try:
        return PipelineSchedule(tasks, p, m)
    except BadInput as error:
        require(False, str(error), where=where)


def _four_each(tasks, where):
    """Each task is (rank, kind, stage, micro)."""
    for task in tasks:
        good = isinstance(task, tuple | list) and len(task) == 4
        good = good and all(isinstance(task[i], int | np.integer) for i in (0, 2, 3))
        form = "each task must be (rank, kind, stage, micro)"
        nested = isinstance(task, list) and bool(task) and isinstance(task[0], tuple | list)
        cause = "lists in the list: make one list of all tasks, += instead of append"
        require(good, form, got=str(task)[:80], where=where, cause=cause if nested else None)


def _of_their_ranks(tasks, p, m, where):
    """Kinds, stages and micro-batches that there are; what all tasks together show is told."""
    kinds = {str(task[1]) for task in tasks} - set(KINDS)
    words = f'a kind must be "forward" or "backward", not {", ".join(sorted(map(repr, kinds)))}'
    require(not kinds, words, where=where)
    swapped = all(task[3] == task[0] for task in tasks)
    wrong = next((task for task in tasks if task[2] != task[0]), None)
    require(
        wrong is None,
        f"rank r has stage r: there is no task {wrong}",
        where=where,
        cause="stage and micro-batch are exchanged: (rank, kind, stage, micro)"
        if swapped
        else None,
    )
    micros = [task[3] for task in tasks]
    require(
        all(0 <= micro < m for micro in micros),
        f"the micro-batches are 0 to {m - 1}; yours go from {min(micros)} to {max(micros)}",
        where=where,
        cause=_beyond(tasks, p, m),
    )


def _beyond(tasks, p, m):
    """Why there are micro-batches beyond 0 to m - 1; None: it is not known."""
    micros = [task[3] for task in tasks]
    if (min(micros), max(micros)) == (1, m):
        return "they are counted from 1"
    if m < p and any(task[1] == "forward" and task[3] >= m for task in tasks):
        return "p - r forwards are started even where m is smaller: there are only m"
    return None


def _complete(plan, where):
    """Each task once, and no rank that waits for ever."""
    try:
        plan.check()
    except BadInput as error:
        what, *ranks = str(error).split("\n")
        require(False, "\n".join([what, *(row.strip() for row in ranks)]), where=where)


def _first(plan, rank):
    """How many forwards a rank does before its first task of another kind."""
    kinds = [task.kind for task in plan.of(rank)]
    return next((n for n, kind in enumerate(kinds) if kind != "forward"), len(kinds))


def _keeps(plan, where):
    """No more micro-batches than 1F1B keeps."""
    p, m = plan.p, plan.m
    for rank, kept in enumerate(in_flight(plan)):
        most, cause = min(p - rank, m), None
        if all(_first(plan, each) == m for each in range(p)):
            cause = f"rank {rank} does all m forwards before its first backward: that is GPipe"
        elif _first(plan, rank) > most:
            cause = (
                f"rank {rank} starts {_first(plan, rank)} forwards before its first backward: "
                f"p - rank = {p - rank} are enough to bridge the way to the last rank and back"
            )
        elif two := _in_a_row(plan, rank):
            cause = (
                f"rank {rank} does F{two[0]} and F{two[1]} without a backward between them: after its "
                "first backward, each backward makes room for one forward"
            )
        require(
            kept <= most,
            f"rank {rank} keeps {kept} micro-batches at once; 1F1B keeps {most}",
            where=where,
            cause=cause,
        )


def _in_a_row(plan, rank):
    """The micro-batches of two forwards in a row, after the rank's first backward; None: there are none."""
    tasks = plan.of(rank)[_first(plan, rank) :]
    pairs = ((a.micro, b.micro) for a, b in pairwise(tasks) if a.kind == b.kind == "forward")
    return next(pairs, None)


def _waits(plan, where):
    """No larger bubble than 1F1B's, whatever the tasks take."""
    p, m = plan.p, plan.m
    for f, d, g in ((1.0, 1.0, 1.0), UNEVEN):
        share = bubble(simulate(plan, Costs(f, d, g)))
        least = predicted_bubble("1f1b", p, m, 1, f, d, g)
        require(
            share <= least + 1e-9,
            f"the bubble is {share:.4f}; 1F1B's is {least:.4f}",
            where=where + f", forward {f:g}, backward {d + g:g}",
            cause=_too_few(plan) or _out_of_order(plan),
        )


def _too_few(plan):
    """The first rank that starts too few forwards, in words; None: there is none."""
    for rank in range(plan.p):
        started, wanted = _first(plan, rank), min(plan.p - rank, plan.m)
        if started < wanted:
            return (
                f"rank {rank} starts {count(started, 'forward')} before its first backward, and then "
                f"waits: min(p - rank, m) = {wanted} bridge the way to the last rank and back"
            )
    return None


def _out_of_order(plan):
    """The first rank whose backwards do not come in the order of its forwards, in words; None: there is none."""
    for rank in range(plan.p):
        forwards, others = (
            [task.micro for task in plan.of(rank) if (task.kind == "forward") == wanted]
            for wanted in (True, False)
        )
        if list(dict.fromkeys(others)) != forwards:
            return (
                f"on rank {rank} the backwards come in another order than the forwards: the micro-batch that "
                "went up first comes back first, and another one has to be waited for"
            )
    return None
