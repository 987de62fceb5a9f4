"""The words of a kernel's failed check: what, cause, line, which element, which block and thread, the launch."""

import numpy as np

from .kernels_source import source_line
from .kernels_values import cause_of
from .messages import Report
from .trees import short
from .words import NEAR, _two_numbers, count


def fault_report(check, run, runs, known):
    """The report on the first thing that the engine found in a launch."""
    error = run.report.errors[0]
    head = error["message"].partition("\n    ")[0]
    what, _, cause = head.partition(" Likely cause: ")
    tool = error["tool"]
    what = what.partition(": ")[2] if what.startswith(tool) else what
    right = not run.findings and tool not in ("crash", "timeout")
    report = _title(check, runs)
    report.add("what", f"{'the numbers are right, but ' if right else ''}{tool}: {what}")
    report.add("cause", next((text for like, text in check.causes if like(error)), None) or cause)
    report.add("at", source_line(run.report.source, error["line"]) if error["line"] else "")
    if run.findings:
        also = f"; likely cause: {known}" if known else ""
        report.add("numbers", f"{run.findings[0].what}{also}")
    others = len(run.report.errors) - 1
    report.add("also", f"{count(others, 'more finding')}; begin with this one" if others else "")
    return _end(report, check, run, runs)


def numbers_report(check, run, runs, known, where=""):
    """The report on wrong numbers."""
    bad = run.findings[0]
    same = [(r, f) for r in runs for f in r.findings[:1] if (f.kind, f.name) == (bad.kind, bad.name)]
    report = _title(check, runs)
    right = "" if bad.kind == "values" else "the numbers are right, but "
    report.add("what", f"{right}{bad.what}{where}").add("cause", known or cause_of(bad, same))
    at = bad.first
    report.add("where", f"{bad.name}[{']['.join(map(str, at))}]{_axes(check, at)}{_owner(run.launch, at, bad)}")
    never = bad.kind == "values" and bad.unwritten and np.isnan(bad.got[at])
    got, want = _two_numbers(bad.got[at], bad.want[at])
    report.add("got", "nan: as it arrived" if never else got)
    report.add("wanted" if bad.kind == "values" else "before", want)
    _add_allowed(report, bad, at)
    return _end(report, check, run, runs)


def limit_report(check, run, what, cause):
    """The report on a limit that is broken: all the rest is right."""
    report = Report(f"{check.name} is right, but not good yet")
    return _end(report.add("what", what).add("cause", cause), check, run, [run])


def _title(check, runs):
    wrong = sum(bool(run.report.errors or run.findings) for run in runs)
    return Report(f"{check.name}: {wrong} of {len(runs)} launch{'es' * (len(runs) != 1)} not right yet")


def _add_allowed(report, bad, at):
    if not bad.tolerance or not np.isfinite(bad.got[at]):
        return
    off, allowed = abs(float(bad.got[at]) - float(bad.want[at])), bad.tolerance.at(at)
    if off <= NEAR * allowed.value:
        report.add("allowed", f"a difference of {allowed}\nhere it is {off:.2g}")
    else:
        report.add("off by", f"{off:.2g}, far more than rounding")


def _axes(check, at):
    if len(check.axes) != len(at):
        return ""
    return f" ({', '.join(f'{axis} {i}' for axis, i in zip(check.axes, at, strict=True))}, counted from 0)"


def _owner(launch, at, bad):
    if launch.owner is None or bad.kind != "values":
        return ""
    block, thread = launch.owner(launch, *at)
    return f", which thread {thread} of block {block} should write"


def _end(report, check, run, runs):
    args = [f"{name} {_short(value)}" for name, value in run.launch.args.items()]
    report.add("case", run.launch.label)
    report.add("launch", f"{check.kernel}<<<{_dim(run.launch.grid)}, {_dim(run.launch.block)}>>>({', '.join(args)})")
    right = [r.launch.label for r in runs if not r.report.errors and not r.findings and r.launch.label]
    report.add("right on", ", ".join(right))
    return report.add("printed", short(run.report.printed.strip(), 300))


def _dim(shape):
    return str(shape)


def _short(value):
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.dtype}"
    return "= NULL" if value is None else f"= {value:g}"
