"""The corpus of kernels for the CPU engine: .cu files of many small kernels, each with what the engine must say of it.

A case begins with a line `//: NAME key=value ...` and runs to the next one. Keys, each a Python expression that may
use np, f4, f8, i4, u4 (dtypes), arange(n, dtype), zeros, ones, unset(shape, dtype) and random(shape, seed):

    kernel=   the kernel's name, if it is not NAME       grid=, block=, shared=   as for `trace`
    args=     a list, or a dict by parameter             gives=  {parameter: expected array}, of a right kernel
    symbols=  {variable: array}                          rtol=   of that comparison (1e-5)

    clang=   what clang makes of it, where that leads to another verdict: then it must

A line `//+ ...` goes on with the one before. A mistake is marked in the source, with one mark or more:

    A[i] = s[63 - i];  // <- racecheck s

The first finding must be of a marked tool and array, in a marked line (or the other line of a race). A case without
a mark is right: nothing may be found. All kernels of a file are compiled together, as one source.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "machines" / "cpu_engine" / "corpus"
HEAD = re.compile(r"//: *(\w+) *(.*)")
MARK = re.compile(
    r"// *<- *(memcheck|racecheck|initcheck|synccheck|ubsan|crash|timeout)(?: +(\w+))?"
)
KEY = re.compile(r"(?:^|\s)(kernel|grid|block|shared|args|gives|symbols|rtol|blocks|clang)=")


@dataclass
class Case:
    """marks: (tool, array or "", line)."""

    name: str
    source: str
    told: dict[str, str] = field(default_factory=dict)
    marks: list[tuple[str, str, int]] = field(default_factory=list)

    def value(self, key, default=None, /, **names):
        """The value of a key, worked out anew: arrays are never shared."""
        return eval(self.told[key], {**NAMES, **names}) if key in self.told else default


def unset(shape, dtype=np.float32):
    """An array that counts as not written yet, whatever it holds."""
    return np.ma.masked_all(shape, dtype)


def random(shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


NAMES = {
    "np": np, "f4": np.float32, "f8": np.float64, "i4": np.int32, "u4": np.uint32, "unset": unset, "random": random,
    "arange": lambda n, dtype=np.float32: np.arange(n, dtype=dtype),
    "zeros": lambda shape, dtype=np.float32: np.zeros(shape, dtype),
    "ones": lambda shape, dtype=np.float32: np.ones(shape, dtype),
}  # fmt: skip


def cases(path):
    """The cases of one file."""
    source = path.read_text(encoding="utf-8")
    found: list[Case] = []
    for number, line in enumerate(source.splitlines(), 1):
        if head := HEAD.match(line):
            found.append(Case(head[1], source))
            text = head[2]
        elif line.startswith("//+"):
            text += " " + line[3:].strip()
        elif found and (mark := MARK.search(line)):
            found[-1].marks.append((mark[1], mark[2] or "", number))
        if head or line.startswith("//+"):
            pieces = KEY.split(text)[1:]
            found[-1].told = dict(zip(pieces[::2], pieces[1::2], strict=True))
    return found


def files(kind):
    """The files of one kind: "buggy" or "right"."""
    return sorted((FOLDER / kind).rglob("*.cu"))


def run(case, trace):
    """(the Report, the arrays by parameter, those expected)."""
    args = case.value("args", [])
    given = args if isinstance(args, dict) else dict(enumerate(args))
    # an expected value speaks of what went in
    wanted = case.value(
        "gives", {}, **{k: np.copy(v) for k, v in given.items() if isinstance(k, str)}
    )
    how = {key: case.value(key) for key in ("shared", "symbols", "blocks") if key in case.told}
    kernel = case.told.get("kernel", case.name).strip().strip('"')
    never_ends = any(tool == "timeout" for tool, *_ in case.marks or ())
    report = trace(
        case.source,
        kernel,
        case.value("grid", 1),
        case.value("block", 64),
        list(given.values()),
        timeout=1 if never_ends else 10,
        **how,
    )
    return report, given, wanted


def verdict(case, trace):
    """ "" if the engine says what it must, else one line on what it said instead."""
    report, given, wanted = run(case, trace)
    said = [
        (e["tool"], e["array"], e["line"], (e["other"] or {}).get("line")) for e in report.errors
    ]
    if case.marks:
        if not said:
            return "nothing found"
        tool, array, *lines = said[0]
        fits = any(tool == t and (not a or a == array) and n in lines for t, a, n in case.marks)
        return "" if fits else f"wanted {case.marks}, got {said}"
    if said:
        return f"a right kernel, but: {said}"
    for name, value in wanted.items():
        got, rtol = np.ma.getdata(given[name]), case.value("rtol", 1e-5)
        if not np.allclose(got, value, rtol=rtol, atol=rtol, equal_nan=True):
            return f"{name} is wrong: {np.ravel(got)[:8]}, wanted {np.ravel(value)[:8]}"
    return ""
