"""The words of a failed check of ranks: what, cause, which rank, which line, which numbers, how to see it again."""

import re
from dataclasses import replace

import numpy as np

from course_lib.checks.kit.case import Case, Result
from course_lib.checks.kit.causes import likely_cause
from course_lib.checks.kit.compare import SLIGHT
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.messages import Report
from course_lib.checks.kit.places import misplaced
from course_lib.checks.kit.probe import Answer, new_form, reordered, short_error
from course_lib.checks.kit.raised import cause_of_error
from course_lib.checks.kit.ranks.running import FATAL, argument_names
from course_lib.checks.kit.ranks.seen import counted
from course_lib.checks.kit.ranks.slips import SLIPS
from course_lib.checks.kit.tolerance import is_wrong
from course_lib.checks.kit.trees import describe, leaves, paths, short
from course_lib.checks.kit.words import add_place, count, in_new_form, relisted
from course_lib.machines.rehearsal.memory.pending import is_pending
from course_lib.machines.rehearsal.memory.unwritten import is_unwritten

NO_REST = ("exception", "timeout")  # what the other ranks did after these is a consequence


def fault_report(check, fn, run, runs, error, known):
    """The report on what the rehearsal found in a run. known: causes that are proved."""
    report = _title(check, runs)
    tool, (head, *rows) = error["tool"], error["message"].split("\n")
    right = "" if tool in FATAL or run.wrong else "the numbers are right, but "
    report.add("what", right + (head if tool != "exception" else head.removeprefix("exception: ")))
    report.add("cause", _fault_cause(check, error, known))
    label = "at" if tool in NO_REST or len(rows) == 1 else "ranks"
    report.add(label, "\n".join(short(row.strip(), 150) for row in rows))
    if run.wrong:
        rank, miss = run.wrong[0]
        report.add("numbers", _named(check, fn, rank, miss).what)
    others = [e["tool"] for e in run.report.errors if e is not error and e["tool"] != tool]
    report.add("also", ", ".join(dict.fromkeys(others)))
    return _end(report, check, fn, run, runs)


def numbers_report(check, fn, plain, runs, known):
    """The report on wrong results; plain: the runs that have some."""
    run = next((r for r in plain if r.wrong[0][1].kind not in SLIGHT), plain[0])
    rank, miss = run.wrong[0]
    named = _named(check, fn, rank, miss)
    report = _title(check, runs)
    report.add("what", named.what + _others(run, rank))
    report.add("cause", known.planted or known.slip or cause_of(fn, run, plain, runs))
    if miss.kind == "values":
        add_place(report, named, check.axes)
    return _end(report, check, fn, run, runs)


def changed_report(check, fn, run, changed):
    """The report on right results with a spoilt argument."""
    rank, i = changed
    name = argument_names(fn, i + 1)[i]
    report = Report(f"{check.name}: the results are right, but an argument is changed")
    report.add("what", f"rank {rank}'s {name} has changed")
    if form := new_form(run.args[rank][i], run.after[rank][i]):
        return _end(report.add("cause", in_new_form(name, form)), check, fn, run, [])
    if _is_relisted(run.args[rank][i], run.after[rank][i]):
        return _end(report.add("cause", relisted(name)), check, fn, run, [])
    copy = f"work on a copy, {name}.copy()"
    if isinstance(run.args[rank][i], list):
        copy = f"work on copies of its arrays; {name}.copy() copies the list alone"
    report.add(
        "cause",
        f"`{name} += ...`, `{name}[...] = ...`, and a receive or MPI.IN_PLACE with {name} write into "
        f"the caller's array, under a second name too (np.asarray, a slice, reshape): {copy}",
    )
    return _end(report, check, fn, run, [])


def _is_relisted(before, after):
    """Has a list other entries, and not only the same arrays with other numbers?"""
    if not isinstance(before, list):
        return False
    old, new = dict(paths(before)), dict(paths(after))
    others = not any(isinstance(leaf, np.ndarray) for leaf in old.values())
    return others or list(old) != list(new) or reordered(before, after)


def limit_report(check, fn, run, what, cause):
    """The report on a limit that is not kept: all the rest is right."""
    report = Report(f"{check.name}: the numbers are right, but a limit of the task is not met")
    return _end(report.add("what", what).add("cause", cause), check, fn, run, [])


def _is_truth(want):
    return all(np.asarray(leaf).dtype == bool for leaf in leaves(want))


@guess
def cause_of(fn, run, plain, runs):
    """A sentence on the likely cause of wrong results, or None."""
    miss = run.wrong[0][1]
    same = [
        (m, _result(r, at))
        for r in plain
        for at, m in r.wrong
        if m.kind == miss.kind and m.name == miss.name
    ]
    same.sort(key=lambda pair: pair[0] is not miss)
    never = miss.kind == "values" and is_unwritten(miss.got)
    said = (
        (None if never else _of_pending(run) or _of_given_nan(run))
        or _of_roots(plain)
        or _of_none(plain)
    )
    if not said and miss.kind in ("values", "none", "shape", "type"):
        said = _of_ranks(run, plain, runs, miss)
    if _is_truth(miss.want):  # True and False show no pattern
        return said or run.case.shows or None
    return (
        said
        or counted(run)
        or likely_cause(same, [_result(r, at) for r in runs if not r.fatal for at in range(r.n)])
        or _of_places(fn, run)
    )


def _of_places(fn, run):
    """Numbers of a rank's arguments, its own first, in other places."""
    rank, miss = run.wrong[0]
    names = argument_names(fn, len(run.args[rank]))
    for owner in dict.fromkeys([rank, *range(run.n)]):
        whose = "" if run.n == 1 else f"rank {owner}'s "
        if said := misplaced(miss, [whose + name for name in names], run.args[owner]):
            return said
    return None


STARTED = ("irecv", "ireduce", "iallreduce", "ibcast", "igather", "iallgather", "iscatter")


def _of_pending(run):
    """A call that fills its array later, and in a result the NaN that the rehearsal puts there: it was read."""
    started = sorted({e["op"] for e in run.report.events if e["op"].lower().startswith(STARTED)})
    if not started or not any(
        miss.kind == "values" and is_pending(miss.got) for _, miss in run.wrong
    ):
        return None
    return (
        f"the receiving array of {started[0]} holds NaN until Wait returns: the array was read, copied or "
        "returned before Wait"
    )


def _of_given_nan(run):
    """NaN on a rank whose arguments hold some: of what it is not to use."""
    rank, miss = run.wrong[0]
    if miss.kind != "values" or not _has_nan(miss.got) or not any(map(_has_nan, run.args)):
        return None
    holders = [r for r, args in enumerate(run.args) if _has_nan(args)]
    who = "this rank" if holders == [rank] else "another rank"
    who = (
        "a rank, this one or another,"
        if rank in holders[1:] or holders[0] == rank != holders[-1]
        else who
    )
    return f"NaN from the arguments is in the result: {who} uses numbers that it must not look at"


def _has_nan(tree):
    kinds = (np.ndarray, float, np.floating)
    return any(
        np.isnan(leaf).any()
        for leaf in leaves(tree)
        if isinstance(leaf, kinds) and np.asarray(leaf).dtype.kind == "f"
    )


def _of_none(plain):
    """All results are right but those of ranks that are to have none."""
    if all(run.want[rank] is None for run in plain for rank, _ in run.wrong):
        return "the results are right where they are wanted: these ranks are to return None"
    return _of_exchange(plain)


def _of_exchange(plain):
    """One rank has what another one is to have, and that one has nothing."""
    found = []
    for run in plain:
        lacks = [rank for rank, miss in run.wrong if miss.kind == "none"]
        has = [rank for rank, _ in run.wrong if run.want[rank] is None]
        if len(run.wrong) != 2 or len(lacks) != 1 or len(has) != 1:
            return None
        got, want = np.asarray(run.values[has[0]]), np.asarray(run.want[lacks[0]])
        if got.dtype.kind not in "fiu" or got.shape != want.shape or not np.allclose(got, want):
            return None
        found.append(f"rank {has[0]} has the result, and rank {lacks[0]} is to have it")
    return found[0]


ROOTED = {"Reduce", "reduce", "Gather", "Gatherv", "gather"}


def _of_roots(plain):
    """One rank has the right result, and what was called gives results to one rank alone."""
    called = {name for run in plain for calls in run.report.collectives for name in calls}
    rooted = sorted(called & ROOTED)
    wrong = [{rank for rank, _ in run.wrong} for run in plain]
    if not rooted or any(0 in ranks for ranks in wrong):
        return None
    if all(len(ranks) == run.n - 1 for ranks, run in zip(wrong, plain, strict=True)):
        if "bcast" in called:
            return (
                f"{rooted[0]} gives its result only to the root, here rank 0, and the others do not have it from "
                "bcast: what they get is what it returns, x = comm.bcast(x)"
            )
        return f"{rooted[0]} gives its result only to the root, here rank 0: the other ranks need it too"
    if all(_is_empty(miss.got) for run in plain for _, miss in run.wrong):
        return f"{rooted[0]} gives its result only to the root: these ranks got nothing, and need it too"
    return None


def _is_empty(got):
    """None, zeros, or what np.empty holds."""
    return got is None or (isinstance(got, np.ndarray) and (not got.any() or is_unwritten(got)))


def _of_ranks(run, plain, runs, miss):
    """What only ranks can get wrong."""
    wrong = {(r.n, at) for r in plain for at, _ in r.wrong}
    if miss.kind == "shape" and _is_cut_elsewhere(plain):
        return _of_cut(plain)
    if miss.kind == "none":
        others = {(r.n, at) for r in plain for at in range(1, r.n)}
        alone = wrong == others and max(r.n for r in plain) > 2
        return (
            "only rank 0 has the result: the others need it too (Bcast, or the All... version)"
            if alone
            else None
        )
    pairs = [(r, at, m) for r in plain for at, m in r.wrong if m.kind == "values"]
    if len(pairs) < len(wrong) or any(m.want.dtype.kind != "f" or r.n == 1 for r, _, m in pairs):
        return None
    if said := _of_factor(pairs):
        return said
    if all(
        any(_is(m.got, other, m) for at2, other in enumerate(r.want) if at2 != at)
        for r, at, m in pairs
    ):
        return "right results on the wrong ranks: check which rank sends to which"
    if all(any(_is(m.got, arg, m) for arg in r.args[at]) for r, at, m in pairs):
        return "this is the rank's own input: nothing from the other ranks is in it"
    return None


def _of_cut(plain):
    """The right entries, in the right order, in parts of other lengths."""
    if all(sorted(map(len, r.values)) == sorted(map(len, r.want)) for r in plain):
        return (
            "put together, the ranks' results are right, and the parts have the right lengths, but the longer ones are "
            "on other ranks: which ranks have an entry more?"
        )
    return (
        "put together, the ranks' results are right, but they are cut at other places: how many entries "
        "has each rank?"
    )


def _of_factor(pairs):
    """Every number of every rank is p times too large, or too small."""
    tries = (
        (
            lambda n: n,
            "each number is p times too large, p being the number of ranks: did you add something p times, or "
            "forget to divide a mean?",
        ),
        (
            lambda n: 1 / n,
            "each number is p times too small, p being the number of ranks: one division by p too many, or "
            "only one rank's part",
        ),
    )
    several = len({r.n for r, _, _ in pairs}) > 1
    for factor, text in tries if several else ():
        if all(_is(m.got, m.want * factor(r.n), m) for r, _, m in pairs):
            return text
    return None


def _is_cut_elsewhere(plain):
    """Are the arrays of all ranks, end to end, what they should be?"""
    return all(
        all(isinstance(x, np.ndarray) and x.ndim for x in [*r.values, *r.want])
        and len({x.shape[1:] for x in [*r.values, *r.want]}) == 1
        and np.array_equal(np.concatenate(r.values), np.concatenate(r.want))
        for r in plain
    )


def _is(got, other, miss):
    """Is an array another one, but for rounding?"""
    if (
        not isinstance(other, np.ndarray | float | np.floating)
        or np.shape(other) != got.shape
        or not np.size(got)
    ):
        return False
    return not is_wrong(got, np.asarray(other), miss.tolerance.value).any()


def _result(run, rank):
    args, misses = run.args[rank], [miss for at, miss in run.wrong if at == rank]
    names = [f"argument {i + 1} after comm" for i in range(len(args))]
    return Result(Case(args), Answer(run.values[rank]), run.want[rank], misses, names)


def _title(check, runs):
    wrong = sum(run.amiss for run in runs)
    return Report(f"{check.name}: {wrong} of {count(len(runs), 'rehearsal')} not right yet")


def _named(check, fn, rank, miss):
    """A Mismatch that says whose result it is."""
    whole = f"rank {rank}'s result"
    if check.inplace is not None:
        whole = f"{argument_names(fn, check.inplace + 1)[check.inplace]} on rank {rank}"
    what = (
        miss.what.replace("the result", whole, 1)
        if "the result" in miss.what
        else miss.what.replace("result[", f"{whole}[", 1)
    )
    name = whole if miss.name == "the result" else miss.name.replace("result", whole, 1)
    return replace(miss, what=what, name=name)


def _others(run, rank):
    ranks = sorted({at for at, _ in run.wrong} - {rank})
    if not ranks:
        return "" if run.n == 1 else "; the other ranks' are right"
    return (
        "; so on all ranks"
        if len(ranks) == run.n - 1
        else f"; also wrong: rank{'s' * (len(ranks) > 1)} " + ", ".join(map(str, ranks))
    )


def _fault_cause(check, error, known):
    """A planted answer's sentence; the author's; a slip's; the rehearsal's."""
    return (
        known.planted
        or _own_cause(check, error)
        or known.slip
        or error["cause"]
        or _of_exception(error, check.name)
    )


@guess
def _own_cause(check, error):
    """What the author knows of such an error, or everybody."""
    return next((text for fits, text in [*check.causes, *SLIPS] if fits(error)), None)


def _of_exception(error, name):
    """The likely cause of what was raised in the function of that name."""
    raised = error.get("exception")
    return (
        None
        if raised is None or hasattr(raised, "rehearsal")
        else cause_of_error(short_error(raised), name)
    )


def _add_right(report, runs):
    """With how many ranks, and in which cases of several ranks, nothing was wrong; labels with numbers say little."""
    amiss = [r for r in runs if r.amiss]
    right = sorted({r.n for r in runs} - {r.n for r in amiss})
    powers = {r.n for r in runs if r.n & (r.n - 1) == 0}
    alone = ": powers of two alone" if set(right) == powers and len(powers) > 2 else ""
    told = f"{', '.join(map(str, right))} rank{'s' * (right != [1])}{alone}"
    report.add("right for", told if right else "")
    labels = dict.fromkeys(r.case.label for r in runs if r.n > 1)
    wrong = {r.case.label for r in amiss}
    fine = [each for each in labels if each not in wrong and not re.search(r"\d", each)]
    report.add("right on", ", ".join(fine))


def _end(report, check, fn, run, runs):
    label = f", {run.case.label}" if run.case.label else ""
    order = f", in another order (schedule={run.schedule})" if run.schedule is not None else ""
    report.add("case", f"{count(run.n, 'rank')}{label}{order}")
    _add_right(report, runs)
    names = argument_names(fn, len(run.args[0]))
    args = [f"{name} {describe(arg)}" for name, arg in zip(names, run.args[0], strict=True)]
    report.add(
        "call",
        short(f"{check.name}({', '.join(['comm', *args])})", 300)
        + (" on rank 0" if run.n > 1 else ""),
    )
    printed = [
        f"[rank {r}] {line}"
        for r, text in enumerate(run.report.printed)
        for line in text.splitlines()
    ]
    return report.add(
        "printed",
        "\n".join(short(line, 90) for line in printed[:6]) + ("\n..." if printed[6:] else ""),
    )
