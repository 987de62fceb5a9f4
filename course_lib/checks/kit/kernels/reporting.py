"""The words of a kernel's failed check: what, cause, line, which element, which block and thread, the launch."""

import numpy as np

from course_lib.checks.kit.kernels.compiling import source_line
from course_lib.checks.kit.kernels.explain import PART
from course_lib.checks.kit.kernels.faults import cause_of_fault
from course_lib.checks.kit.kernels.reading import read
from course_lib.checks.kit.kernels.running import SECONDS, owner_of, triple
from course_lib.checks.kit.kernels.values import cause_of
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.messages import Report
from course_lib.checks.kit.trees import short
from course_lib.checks.kit.words import add_allowed, count, two_numbers

FATAL, PRINTED = (
    ("crash", "timeout"),
    4,
)  # tools that end a launch; lines shown of what a kernel prints
DIVIDED = "a whole number divided by zero, or % 0 (a GPU would go on with a wrong number)"
LOST = "a function that calls itself without end, or an invalid pointer"
CRASHES = {
    "Floating point": DIVIDED,
    "FPE": DIVIDED,
    "Segmentation": LOST,
    "SEGV": LOST,
    "Bus error": LOST,
    "exit status": "the kernel ends the whole program: a kernel must not call exit() or anything like it",
}


def fault_report(check, run, runs, proved):
    """The report on the first thing that the engine found in a launch. proved: the cause of all that was found."""
    error = run.report.errors[0]
    head = error["message"].partition("\n    ")[0]
    what, _, cause = head.partition(" Likely cause: ")
    what, tool = what.partition(": ")[2] or what, error["tool"]
    right = not run.wrong and not is_fatal(run)
    report = _title(check, runs)
    report.add("what", f"{'the numbers are right, but ' if right else ''}{tool}: {what}")
    own, whole = _own_cause(check, run, error), proved and not proved.startswith(PART)
    said = (proved if whole else own or proved) or read(check, runs, whole=True)
    report.add("cause", said or cause_of_fault(check, run, error, cause.removesuffix(".")))
    report.add("at", source_line(run.report.source, error["line"]) if error["line"] else "")
    report.add("where", _place(run.launch, error))
    report.add(
        "meets", source_line(run.report.source, error["other"]["line"]) if _elsewhere(error) else ""
    )
    if run.wrong:
        first = run.wrong[0]
        report.add("numbers", f"{first.what}, {element(first.name, first.first)} first")
    report.add("also", _also(run.report.errors[1:]))
    return _end(report, check, run, runs)


def _place(launch, error):
    """Row and column of an element of a matrix, which the engine counts flat, and whose it is."""
    array = launch.args.get(error["array"])
    if not isinstance(array, np.ndarray) or array.ndim < 2 or not 0 <= error["index"] < array.size:
        return ""
    at = tuple(int(i) for i in np.unravel_index(error["index"], array.shape))
    owner = owner_of(launch, at) if error["array"] in launch.outs else None
    whose = f", the element of thread {owner[1]} of block {owner[0]}" if owner else ""
    return f"{error['array']}[{error['index']}] is element {at} of {error['array']} {array.shape}{whose}"


def _also(others):
    if not others:
        return ""
    first = (
        f"{others[0]['tool']} in line {others[0]['line']}"
        if others[0]["line"]
        else others[0]["tool"]
    )
    more = f" and {count(len(others) - 1, 'more finding')}" if len(others) > 1 else ""
    return f"{first}{more}; begin with the one above"


def is_fatal(run):
    """Did the launch end before its time?"""
    return any(error["tool"] in FATAL for error in run.report.errors)


def _is_late(run):
    """Was the launch stopped because it took too long?"""
    return any(error["tool"] == "timeout" for error in run.report.errors)


def _elsewhere(error):
    return (
        error["tool"] == "racecheck" and error["other"] and error["other"]["line"] != error["line"]
    )


@guess
def _own_cause(check, run, error):
    """The author's cause for a finding, or that of a crash, or None."""
    seen = {**error, "args": run.launch.args}
    said = next((text for like, text in check.causes if like(seen)), None)
    crashed = CRASHES if error["tool"] == "crash" else {}
    return said or next(
        (text for words, text in crashed.items() if words in error["message"]), None
    )


def numbers_report(check, run, runs, known, where=""):
    """The report on wrong numbers, on writes outside, on changed inputs."""
    bad = run.wrong[0]
    same = [(r, f) for r in runs for f in r.wrong[:1] if (f.kind, f.name) == (bad.kind, bad.name)]
    same.sort(key=lambda pair: pair[0] is not run)  # the one that is shown comes first
    values, at = bad.kind == "values", bad.first
    report = _title(check, runs)
    report.add("what", f"{'' if values else 'the numbers are right, but '}{bad.what}{where}")
    seen, odd = read(check, runs), values and np.isnan(bad.got[at]) and not bad.silent[at]
    report.add("cause", known or (not odd and seen) or cause_of(bad, same))
    report.add("likely", seen if odd and not known else "")
    report.add(
        "where",
        element(bad.name, at) + _axes(check, run.launch, bad, at) + _owner(run.launch, at, bad),
    )
    got, want = two_numbers(bad.got[at], bad.want[at])
    never = values and bad.silent[at]
    report.add("got", f"{got}, as it arrived" if never else got).add(
        "wanted" if values else "before", want
    )
    if values and not never and bad.tolerance:
        add_allowed(report, bad, at)
    errors = run.report.errors
    report.add("also", f"{errors[0]['tool']} has {count(len(errors), 'finding')}" if errors else "")
    return _end(report, check, run, runs)


def limit_report(check, run, what, cause, line=None):
    """The report on a limit that is not kept: all the rest is right."""
    report = Report(f"{check.name}: the numbers are right, but a limit of the task is not met")
    report.add("what", what).add("cause", cause)
    report.add("at", source_line(run.report.source, line) if line else "")
    return _end(report, check, run, [])


def element(name, at):
    """D[3][4], as C would write it."""
    return name + "".join(f"[{i}]" for i in at)


def _title(check, runs):
    wrong, fatal = sum(run.amiss for run in runs), is_fatal(runs[-1])
    if fatal and wrong == 1:
        did = f"was stopped after {SECONDS:g} s" if _is_late(runs[-1]) else "crashed"
        return Report(f"{check.name}: launch {len(runs)} {did}")
    return Report(
        f"{check.name}: {wrong} of {len(runs)} launch{'es' * (len(runs) != 1)} not right yet"
    )


def _axes(check, launch, bad, at):
    axes = launch.axes or check.axes
    axes = axes.get(bad.name, ()) if isinstance(axes, dict) else axes
    if len(axes) != len(at) or bad.kind == "input":
        return ""
    return (
        f" ({', '.join(f'{axis} {i}' for axis, i in zip(axes, at, strict=True))}, counted from 0)"
    )


def _owner(launch, at, bad):
    """Whose element it is, where the launch says so, and such a thread was launched."""
    owner = owner_of(launch, at) if bad.kind != "input" else None
    if owner is None:
        return ""
    block, thread = owner
    there = all(np.less(block, triple(launch.grid))) and all(np.less(thread, triple(launch.block)))
    task = "" if bad.kind == "values" else ", which has nothing to write"
    return f", the element of thread {thread} of block {block}{task}" if there else ""


def _end(report, check, run, runs):
    args = [f"{name} {_short(value)}" for name, value in run.launch.args.items()]
    shared = f", {run.launch.shared}" if run.launch.shared else ""
    report.add("case", run.launch.label)
    where = f"{_shape(run.launch.grid)}, {_shape(run.launch.block)}{shared}"
    report.add("launch", f"{check.kernel}<<<{where}>>>({', '.join(args)})")
    right = [r.launch.label for r in runs if not r.report.errors and not r.wrong and r.launch.label]
    report.add("right on", "; ".join(right))
    printed = run.report.printed.strip().splitlines()
    shown = [short(line, 90) for line in printed[:PRINTED]] + ["..."] * (len(printed) > PRINTED)
    return report.add("printed", "\n".join(shown))


def _shape(shape):
    """A grid or block as one writes it: 256, or dim3(32, 8)."""
    parts = triple(shape)
    used = max((i + 1 for i, n in enumerate(parts) if n > 1), default=1)
    return str(parts[0]) if used == 1 else f"dim3{parts[:used]}"


def _short(value):
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.dtype}"
    return (
        "= NULL"
        if value is None
        else f"= {value.item():g}"
        if value.dtype.kind == "f"
        else f"= {value}"
    )
