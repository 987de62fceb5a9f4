"""The words of a report: what, where, which numbers, what is allowed, how to see it again."""

import numpy as np

from course_lib.checks.kit.compare import SLIGHT
from course_lib.checks.kit.messages import TEXT_WIDTH, Report
from course_lib.checks.kit.trees import a_thing, describe, in_full, numbers, short

NEAR = 1000  # an error of so many times the tolerance may still look like rounding
FEW = 12  # numbers that a student can redo by hand


def failure_report(name, axes, result, results, cause, seed):
    """The report on the first wrong case (`result`) of a check: what and why first, then the numbers."""
    miss = result.misses[0]
    wrong = sum(bool(r.misses) for r in results)
    report = Report(f"{name}: {wrong} of {count(len(results), 'case')} not right yet")
    report.add("what", miss.what + _others(result.misses))
    report.add("cause", cause)
    report.add("case", result.case.label)
    if miss.kind == "values":
        add_place(report, miss, _axis_names(axes, miss.name))
    if miss.kind == "error":
        report.add("at", result.answer.line and short(result.answer.line, 110))
    if miss.kind != "changed" and result.inplace is None:
        spoilt = result.changed_names(result.may_change)
        report.add("also", " and ".join(f"it changes its argument {n}" for n in spoilt))
    report.add(
        "right on", ", ".join(r.case.label for r in results if not r.misses and r.case.label)
    )
    report.add("printed", short(result.answer.printed.strip(), 300))
    report.add("warned", "; ".join(short(w, 120) for w in result.answer.warned[:3]))
    return _add_inputs(report, name, result).add("again", again(seed))


def relisted(name):
    """The cause of a list with other entries than before."""
    return (
        f"you change the caller's own list: {name}.reverse(), .pop(), .append(...) and {name}[i] = ... "
        f"do that. Work on a copy, list({name})"
    )


def in_new_form(name, form):
    """The cause of an argument with the old bytes in a `new_form`."""
    kind, other = form.split()[0], "reshape" if form.startswith("shape") else "astype"
    return (
        f"the caller's own {name} has {form} now: `{name}.{kind} = ...` changes the array itself, while "
        f"{name}.{other}(...) makes a new one"
    )


def count(n, noun):
    """ "1 case", "3 cases"."""
    return f"{n} {noun}" + ("" if n == 1 else "s")


def again(seed):
    """How to get the same inputs once more."""
    return (
        f"add seed={seed} to the call of the check for the same inputs"
        if seed is not None
        else None
    )


def not_a_function(name, given):
    """The report for a check that got something else than a function."""
    report = Report(f"{name} must be a function, not {a_thing(given)}")
    return report.add("cause", f"pass the function without calling it: {name}, not {name}(...)")


def plain(value):
    """A value as a row of a report."""
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    return value if isinstance(value, str) else describe(value)


def add_place(report, miss, axes):
    """Rows where, got, wanted, and how far off, at the first wrong entry."""
    at = tuple(int(i) for i in np.argwhere(miss.wrong)[0]) if miss.wrong.ndim else ()
    report.add("where", _index_text(miss.name.removeprefix("the "), at, axes) if at else "")
    got, want = two_numbers(miss.got[at], miss.want[at])
    report.add("got", got).add("wanted", want)
    if miss.tolerance:
        add_allowed(report, miss, at)


def add_allowed(report, miss, at):
    """How far off the number at this place is, and how far off it may be."""
    off, allowed = abs(float(miss.got[at]) - float(miss.want[at])), miss.tolerance.at(at)
    if off <= NEAR * allowed.value or allowed.digits is not None:
        report.add("allowed", f"a difference of {allowed}\nhere it is {off:.2g}")
    else:
        report.add("off by", f"{off:.2g}, far more than rounding" if np.isfinite(off) else "")


def _index_text(name, at, axes):
    words = (
        ", ".join(f"{axis} {i}" for axis, i in zip(axes, at, strict=True))
        if len(axes) == len(at)
        else ""
    )
    return f"{name}[{', '.join(map(str, at))}]" + (f" ({words}, counted from 0)" if words else "")


def _axis_names(axes, name):
    """axes as given to Check: one tuple for all parts, or a dict by part ("dW" serves dW[0], dW[1], ...)."""
    return axes.get(name, axes.get(name.split("[")[0], ())) if isinstance(axes, dict) else axes


def two_numbers(got, want):
    """Both numbers with as many digits as it takes to tell them apart."""
    if got.dtype.kind != "f" and want.dtype.kind != "f":
        return str(got), str(want)
    for digits in (6, 9, 12, 17):
        pair = f"{float(got):.{digits}g}", f"{float(want):.{digits}g}"
        if pair[0] != pair[1]:
            break
    return pair


def _others(misses):
    names = [name for name in dict.fromkeys(m.name for m in misses) if name != misses[0].name]
    return (
        f"; also wrong: {', '.join(names[:3])}" + (" and more" if len(names) > 3 else "")
        if names
        else ""
    )


def _add_inputs(report, name, result):
    """The inputs themselves where they are few, to redo it by hand; else their shapes, where those help."""
    pairs = [*zip(result.names, result.case.args, strict=False), *result.case.kwargs.items()]
    sizes, kind = [numbers(value) for _, value in pairs], result.misses[0].kind
    if pairs and None not in sizes and sum(sizes) <= FEW and kind in ("values", "none", "plain"):
        return report.add("inputs", ", ".join(f"{n} = {in_full(value)}" for n, value in pairs))
    call = _call(name, result)
    long = call and len(call) > TEXT_WIDTH and result.case.label
    return report if long and kind in ("values", *SLIGHT) else report.add("call", call)


def _call(name, result):
    args = [f"{n} {describe(a)}" for n, a in zip(result.names, result.case.args, strict=False)]
    args += [f"{n}={describe(a)}" for n, a in result.case.kwargs.items()]
    return f"{name}({', '.join(args)})" if args else None
