"""Limits for KernelCheck: functions (report, launch) -> None, or (what, cause), on what the engine counted.

An author may write any function like these. `.says`, if it has one, goes into the green line.
"""

from .kernels_source import source_line, without_comments

RATES = {"sectors a request": ("sectors", "requests"), "wavefronts a request": ("wavefronts", "requests"),
         "bytes a thread": ("bytes", "threads")}  # fmt: skip


def limit(says):
    """Decorator: what a limit looked at, for the green line."""

    def wrap(function):
        function.says = says
        return function

    return wrap


def at_most(what, most, cause, **where):
    """At most so many `what` in the accesses that match `where` (space, op, array).

    what: requests, threads, bytes, sectors, wavefronts (all matching rows added up); or, row by row, max_way,
    "sectors a request", "wavefronts a request", "bytes a thread". most: a number, or a function of the launch.
    """

    @limit(f"{what} of {_of(where)}")
    def check(report, launch):
        allowed = most(launch) if callable(most) else most
        rows = _rows(report, where)
        if what in RATES or what == "max_way":
            counts = [(_rate(row, what), row) for row in rows]
            worst = max(counts, key=lambda pair: pair[0], default=(0, None))
            if worst[0] <= allowed:
                return None
            return f"{worst[0]:.4g} {what} where {allowed:.4g} will do, {_at(report, worst[1])}", cause
        total = sum(row[what] for row in rows)
        return None if total <= allowed else (f"{total:,} {what} of {_of(where)}, and {allowed:,} will do", cause)

    return check


def at_most_sectors(array, op, per_request, cause=None):
    """No load or store of the array takes more than so many 32-byte sectors a request of a warp, on average."""
    text = cause or ("neighbouring threads (threadIdx.x) go to elements that are far apart: let threadIdx.x run along "
                     "the direction in which the elements lie side by side")
    return at_most("sectors a request", per_request, text, space="global", array=array, op=op)


def no_bank_conflicts(array=None, cause=None):
    """No access to shared memory (to that array) takes more wavefronts than its ideal."""

    @limit("bank conflicts")
    def check(report, launch):
        where = {"space": "shared", **({"array": array} if array else {})}
        bad = max((row for row in _rows(report, where) if row["wavefronts"] > row["ideal_wavefronts"]),
                  key=lambda row: row["max_way"], default=None)  # fmt: skip
        if bad is None:
            return None
        what = f"a {bad['max_way']}-way bank conflict in {bad['array']} ({bad['op']}): {bad['wavefronts']:,} wavefronts"
        return f"{what} where {bad['ideal_wavefronts']:,} will do, {_at(report, bad)}", cause or (
                "threads of one warp ask one bank for different words: word w lies in bank w % 32. One column of "
                "padding moves each row on by a bank")  # fmt: skip

    return check


def loads_each_once(*arrays, times=1, cause=None):
    """Every element of these inputs is loaded from global memory so many times (times: a number, or of the launch)."""

    @limit(f"bytes loaded of {' and '.join(arrays)}")
    def check(report, launch):
        for name in arrays:
            most = launch.args[name].nbytes * (times(launch) if callable(times) else times)
            loaded = report.total("bytes", space="global", op="load", array=name)
            if loaded > most:
                text = cause or "threads load the same element again: load it once, and keep it or share it"
                return f"{loaded:,} bytes of {name} are loaded, and {most:,} will do", text
        return None

    return check


def uses_shared(array=None, cause=None):
    """The kernel works with shared memory (with that array)."""

    @limit("shared memory")
    def check(report, launch):
        where = {"space": "shared", **({"array": array} if array else {})}
        if _rows(report, where):
            return None
        return f"the kernel does not use shared memory{f' named {array}' if array else ''}", cause or (
            "the task is to stage the data in a __shared__ array, which all threads of a block see")

    return check


def without(word, cause):
    """The source does not have this word, comments apart."""

    @limit("")
    def check(report, launch):
        lines = without_comments(report.source).splitlines()
        at = next((i for i, line in enumerate(lines, 1) if word in line), None)
        return (f"the kernel uses {word}, {source_line(report.source, at)}", cause) if at else None

    return check


def _rows(report, where):
    return [row for row in report.accesses if all(row[key] == value for key, value in where.items())]


def _rate(row, what):
    if what == "max_way":
        return row["max_way"]
    over, under = RATES[what]
    return row[over] / max(row[under], 1)


def _of(where):
    words = {"load": "loads", "store": "stores", "atomic": "atomics"}
    op = words.get(where.get("op", ""), "accesses")
    return f"{op} of {where['array']}" if "array" in where else f"{where.get('space', '')} {op}".strip()


def _at(report, row):
    return source_line(report.source, row["line"])
