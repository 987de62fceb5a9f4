"""Limits for KernelCheck, on what the engine counted: functions (report, launch) -> None, (what, cause), or both and
the line of the source that is to blame. Looked at only where the numbers are right and the engine found nothing.

An author may write any function like these. `.says`, if it has one, goes into the green line: "bytes of A".
"""

import re

import numpy as np

from course_lib.checks.kit.kernels.compiling import line_of
from course_lib.checks.kit.kernels.source import without_comments

RATES = {
    "sectors per request": ("sectors", "requests"),
    "wavefronts per request": ("wavefronts", "requests"),
    "bytes per thread": ("bytes", "threads"),
    "threads per request": ("threads", "requests"),
}
SINGLE = (*RATES, "max_way")  # judged row by row; all else is added up
OPS = {"load": "loads of", "store": "stores to", "atomic": "atomics on"}
FAR = (
    "the threads of a warp access elements that are far apart: let threadIdx.x run along the direction in "
    "which the elements are adjacent in memory"
)
GAPS = "neighbouring threads do not access neighbouring elements: neighbours in threadIdx.x take neighbours in memory"
SHIFTED = (
    "neighbouring threads access neighbouring elements, but the first one lies in the middle of a sector: the "
    "offset or the row length is not a multiple of 32 bytes"
)
BANKS = (
    "threads of one warp ask the same bank for different words: word w lies in bank w % 32. One column of "
    "padding shifts each row by one bank"
)
PAST = (
    "the source has a __shared__ array, but this launch goes past it, straight to global memory: all data must come "
    "through it, with every size"
)


def limit(says):
    """Decorator: what a limit counts, for the green line: "bank conflicts", or "bytes of A", as `looked_at` has it."""

    def wrap(function):
        function.says = says
        return function

    return wrap


def at_most(what, most, cause=None, **where):
    """At most so many `what` in the accesses that match `where` (space, op, array), all matching rows added up.

    what: requests, threads, bytes, sectors, wavefronts; or, for each row by itself, max_way, "sectors per request",
    "wavefronts per request", "bytes per thread", "threads per request". most: a number, or a function of the launch.
    """
    return _bound(
        what, most, cause, where, "at most", lambda n, bound: n <= bound * (1 + 1e-9), max
    )


def at_least(what, least, cause=None, **where):
    """As `at_most`, the other way round; no access at all is too few."""
    return _bound(
        what, least, cause, where, "at least", lambda n, bound: n >= bound * (1 - 1e-9), min
    )


def exactly(what, number, cause=None, **where):
    """As `at_most`: exactly so many, all matching rows added up."""
    return _bound(what, number, cause, where, "exactly", lambda n, bound: n == bound, max)


def at_most_sectors(array, op, per_request, cause=None):
    """No line that loads (stores) the array takes more than so many 32-byte sectors per request, on average."""
    return at_most(
        "sectors per request", per_request, cause or _scattered, space="global", array=array, op=op
    )


def _scattered(row):
    """Why a request takes many sectors: as its first lanes show it."""
    lanes = [offset for offset in row.get("lanes") or () if offset is not None]
    steps = [after - before for before, after in zip(lanes, lanes[1:], strict=False)]
    each, runs = row["lanes_bytes"], 1 + sum(step != row["lanes_bytes"] for step in steps)
    whole = len(lanes) * each >= 32 * runs  # neighbours in pieces that fill a sector at least
    if whole and min(steps, default=0) > 0 and each in steps and len({*steps}) <= 2:
        return SHIFTED
    far = sorted(abs(step) for step in steps)[len(steps) // 2] if steps else 32
    return GAPS if 0 < far < 32 else FAR


def no_bank_conflicts(array=None, cause=None):
    """No access to shared memory (to that array) takes more wavefronts than it must."""

    @limit(f"bank conflicts{f' of {array}' if array else ''}")
    def check(report, launch):
        bad = [
            row
            for row in _rows(report, _shared(array))
            if row["wavefronts"] > row["ideal_wavefronts"]
        ]
        if not bad:
            return None
        row = max(bad, key=lambda row: row["max_way"])
        way = f"{'an' if row['max_way'] in (8, 11, 18) else 'a'} {row['max_way']}-way bank conflict"
        what = (
            f"{way} in the {OPS[row['op']]} {row['array']}: {row['wavefronts']:,} wavefronts where "
            f"{row['ideal_wavefronts']:,} would be enough{_clash(row)}"
        )
        return what, cause or BANKS, row["line"]

    return check


def loads_each_once(*arrays, times=1, cause=None):
    """The bytes loaded of each of these inputs are its size, or so many `times` it (a number, or of the launch).

    Its size is without elements that are NaN: those lie in gaps.
    """
    parts = [
        at_most(
            "bytes",
            lambda launch, name=name: _size(launch, name, times),
            cause
            or "threads load the same elements more than once: load them once, then keep or share them",
            space="global",
            op="load",
            array=name,
        )
        for name in arrays
    ]

    @limit(f"bytes of {', '.join(arrays)}")
    def check(report, launch):
        return next((broken for part in parts if (broken := part(report, launch))), None)

    return check


def uses_shared(array=None, cause=None):
    """The kernel works with shared memory (with an array of that name)."""

    @limit("shared memory")
    def check(report, launch):
        if _rows(report, _shared(array)):
            return None
        if not array and re.search(r"\b__shared__\b", without_comments(report.source)):
            return "the kernel uses no shared memory in this launch", cause or PAST
        named = f" array named {array}" if array else " memory"
        return f"the kernel uses no shared{named}", cause or (
            "the task wants the data in a __shared__ array, which all threads of a block can see"
        )

    return check


def without(word, cause):
    """The source does not hold this word, comments apart."""
    return mentions(word, cause, most=0)


def no_promise(kernel, *arrays):
    """These parameters, which may be one array, are without __restrict__: no run shows what a compiler makes of it."""

    @limit("")
    def check(report, launch):
        head = re.search(rf"\b{kernel}\s*\(([^)]*)\)", without_comments(report.source))
        parts = dict(zip(launch.args, head[1].split(",") if head else (), strict=False))
        if not any("restrict" in parts.get(name, "") for name in arrays):
            return None
        return (
            f"{' or '.join(arrays)} is declared __restrict__",
            "this promises the compiler that no other pointer refers to this memory, but "
            f"{' and '.join(arrays)} may be the same array: use it only on A and B",
        )

    return check


def mentions(word, cause, least=0, most=None):
    """The source holds this word so many times, comments apart: mentions("__syncthreads", "...", least=2)."""

    @limit("")
    def check(report, launch):
        bare = without_comments(report.source)
        at = [
            line_of(bare, m.start()) for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", bare)
        ]
        if len(at) < least:
            return f"{word} appears {len(at)} times in the source, but {least} are needed", cause
        if most is not None and len(at) > most:
            few = f"{most} is enough" if most else "the task does not need it"
            return f"the source contains {word}, but {few}", cause, at[most]
        return None

    return check


def _bound(what, bound, cause, where, words, fits, worst):
    """A limit from a comparison."""

    def check(report, launch):
        allowed, rows = bound(launch) if callable(bound) else bound, _rows(report, where)
        if what in SINGLE:
            counts = [_rate(row, what) for row in rows] or [0]
            amount = worst(counts)
            row = rows[counts.index(amount)] if rows else None
        else:
            amount, row = (
                sum(row[what] for row in rows),
                max(rows, key=lambda row: row[what], default=None),
            )
        if fits(amount, allowed):
            return None
        text = f"{_number(amount)} {subject}, and the task wants {words} {_number(allowed)}"
        more = _lanes(row, launch) if row and what in SINGLE else _by_line(rows, what)
        return text + more, cause(row) if callable(cause) else cause, row["line"] if row else None

    subject = f"{what.replace('_', ' ')} in the {_of(where)}"
    atomics = where.get("op") == "atomic" and "array" not in where
    of = where.get("array") or f"{where.get('space', 'all')} memory"
    return limit("atomics" if atomics else f"{what.replace('_', ' ')} of {of}")(check)


def looked_at(limits):
    """What limits look at, for the green line: "bytes of A, B, sectors per request of B and bank conflicts"."""
    parts: dict = {}
    for check in limits:
        what, _, array = getattr(check, "says", "").partition(" of ")
        parts.setdefault(what, []).extend(
            name for name in array.split(", ") if name and name not in parts[what]
        )
    texts = [
        f"{what} of {', '.join(arrays)}" if arrays else what
        for what, arrays in parts.items()
        if what
    ]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _by_line(rows, what):
    """Which line adds how much, where there are several."""
    lines: dict = {}
    for row in rows:
        lines[row["line"]] = lines.get(row["line"], 0) + row[what]
    said = ", ".join(f"line {line} {_number(n)}" for line, n in sorted(lines.items()) if n)
    return f"\n{said}" if len(lines) > 1 else ""


def _number(n):
    return f"{n:,}" if isinstance(n, (int, np.integer)) else f"{n:,.4g}"


def _size(launch, name, times):
    array = launch.args[name]
    held = array.size - (int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0)
    return int(held * array.itemsize * (times(launch) if callable(times) else times))


def _shared(array):
    return {"space": "shared", **({"array": array} if array else {})}


def _rows(report, where):
    return [
        row for row in report.accesses if all(row[key] == value for key, value in where.items())
    ]


def _rate(row, what):
    over, under = RATES.get(what, ("max_way", None))
    return row[over] / max(row[under], 1) if under else row[over]


def _of(where):
    op = OPS.get(where.get("op", ""), "accesses to")
    return f"{op} {where.get('array') or where.get('space', 'all') + ' memory'}"


def _lanes(row, launch):
    """Where the first lanes of the costliest request go, in words: "; lanes 0, 1, 2 of a warp go to x[0], ..."."""
    taken = [
        (lane, offset) for lane, offset in enumerate(row.get("lanes") or ()) if offset is not None
    ]
    if len(taken) < 3:
        return ""
    array = launch.args.get(row["array"]) if row["space"] == "global" else None
    names = [_element(row, offset, array) for _, offset in taken[:3]]
    return f"\nlanes {', '.join(str(lane) for lane, _ in taken[:3])} of a warp go to {', '.join(names)}"


def _clash(row):
    """Two lanes of the costliest request that meet in a bank, in words."""
    first: dict = {}
    for lane, offset in enumerate(row.get("lanes") or ()):
        if offset is not None and row["lanes_bytes"] == 4:
            other, word = first.setdefault(offset // 4 % 32, (lane, offset // 4))
            if word != offset // 4:
                return (
                    f"\nlanes {other} and {lane} of a warp ask the same bank for words {word} and "
                    f"{offset // 4} of it"
                )
    return ""


def _element(row, offset, array):
    """The element at an offset in bytes: in the shape of an array of the launch, else its word, as banks count."""
    if isinstance(array, np.ndarray):
        at = np.unravel_index(min(offset // array.itemsize, array.size - 1), array.shape)
        return row["array"] + "".join(f"[{i}]" for i in at)
    return f"word {offset // 4}"
