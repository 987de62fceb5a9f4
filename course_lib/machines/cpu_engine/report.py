"""What a traced launch found: errors, and a profile of its accesses, as plain data that a notebook can assert on."""

from dataclasses import dataclass, field

from course_lib.machines.cpu_engine.messages import fragment, message, own_array
from course_lib.machines.trace_page import aligned, page

# What explains most comes first: an access in a wrong place ends its thread, which then misses barriers; a barrier that
# not all threads reach orders nothing, which racecheck finds; and who loses a race may read what is not yet written.
ORDER = ("memcheck", "ubsan", "crash", "timeout", "synccheck", "racecheck", "initcheck")
ABOUT = ("tool", "kind", "array", "index", "count", "shape")
SIDE = ("line", "block", "thread", "op")
COUNTS: tuple[str, ...] = ("line", "space", "op", "array", "requests", "threads", "bytes")
COUNTS += ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts", "max_way")
COSTLIEST = ("lanes_block", "lanes_warp", "lanes_bytes", "lanes")


@dataclass(frozen=True)
class Report:
    """errors: dicts with tool, kind, line, array, index (of the element, counted flat), shape (of the array, in
    elements), block, thread, op, count, message, and other: the access it collides with (line, block, ...), or None.

    tool is memcheck, racecheck, initcheck, synccheck, ubsan, crash or timeout; block and thread are (x, y, z).
    accesses: dicts with line, space (global, shared, constant), op (load, store, atomic), array, requests (of a warp),
    threads, bytes (asked for by threads), sectors and ideal_sectors (32 bytes each; global), wavefronts,
    ideal_wavefronts and max_way (shared). Of the request with the most sectors (global) or wavefronts (shared), of
    equals that of the first block and warp: lanes, for each of the 32 lanes the offset in the array (bytes) where its
    access starts, or None for a lane that took no part; lanes_bytes, what each asked for; lanes_block (x, y, z) and
    lanes_warp, whose it is.
    notes: as errors, of what is no error but worth a look: threads that all store the same value to one place.
    printed: what the kernel printed. seconds: of the run; nothing about a GPU. source, kernel: what was traced.
    As the value of a notebook's cell it is shown as a page (machines/trace_page); print(report) is the same as text.
    """

    errors: list[dict]
    accesses: list[dict]
    printed: str = ""
    seconds: float = 0.0
    source: str = field(default="", repr=False)
    notes: list[dict] = field(default_factory=list)
    kernel: str = field(default="", repr=False)

    @property
    def ok(self):
        """True where no check found anything: which is no proof that the kernel is right."""
        return not self.errors

    def total(self, name, **where):
        """Sum of one number over the accesses that match: total("sectors", space="global", op="load")."""
        return sum(row[name] for row in self.accesses if all(row[k] == v for k, v in where.items()))

    def intensity(self, flops):
        """Flops per byte moved from or to global memory, 32 bytes a sector, as if there were no cache."""
        return flops / (32 * self.total("sectors", space="global"))

    def table(self):
        """(header, rows) of the profile; a number that does not apply is left empty."""
        names = tuple(name for name in COUNTS if name not in ("threads", "ideal_wavefronts"))
        rows = []
        for row in self.accesses:
            each = f"{row['sectors'] / row['requests']:.1f}" if row["sectors"] else ""
            rows.append((*(row[name] or "" for name in names), each))
        return (*(name.replace("_", " ") for name in names), "sectors each"), rows

    def __str__(self):
        found = [error["message"] for error in self.errors] or ["no check found anything"]
        found += [note["message"] for note in self.notes]
        return "\n".join([*found, "", *aligned(*self.table())])

    def _repr_html_(self):
        return page(self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


def make_report(answer, launch, source, printed, seconds, kernel=""):
    """A Report from the rows of the engine. launch: (grid, block)."""
    lines, errors = source.splitlines(), []
    for *about, here, other in _merged(answer["errors"]):
        error = dict(zip(ABOUT, about, strict=True)) | _side(here, launch)
        error["other"] = _side(other, launch) if other[0] else None
        line = lines[error["line"] - 1] if 0 < error["line"] <= len(lines) else ""
        if error["kind"] == "local":
            error.update(own_array(error["array"], line))
        elif error["tool"] == "ubsan":
            error.update(own_array(error["array"], line), array="")
        elif error["kind"] == "fragment":
            error.update(fragment(error["index"], line))
        error["message"] = message(error, line)
        errors.append(error)
    # a value that is not defined, which a shuffle took, may be what an access went by
    undefined = any(e["tool"] == "synccheck" and e["index"] >= 0 for e in errors)
    order = sorted(ORDER, key="synccheck".__ne__) if undefined else ORDER
    errors.sort(key=lambda error: (order.index(error["tool"]), error["line"]))
    accesses = [_access(row, launch[0]) for row in answer["accesses"]]
    errors, notes = _graded(errors)
    return Report(_without_shadows(errors), accesses, printed, seconds, source, notes, kernel)


def _access(cells, grid):
    row = dict(zip(COUNTS + COSTLIEST, cells, strict=True))
    lanes = [None if offset < 0 else offset for offset in row["lanes"]]
    return row | {"lanes": lanes, "lanes_block": _unravel(row["lanes_block"], grid)}


def _merged(rows):
    """The engine's rows; stores of one value count with those of other values at the same lines, if there are such."""
    same = [row for row in rows if row[1].startswith("same ")]
    kept, notes = [list(row) for row in rows if row not in same], []
    races = [row for row in kept if row[0] == "racecheck"]
    for row in same:
        worse = [race for race in races if _place(race) == _place(row)]
        if worse:
            min(worse, key=lambda race: race[1] != row[1].removeprefix("same "))[4] += row[4]
        else:
            notes.append(row)
    return kept + notes


def _place(row):
    return row[2], *sorted((row[6][0], row[7][0]))


def _graded(found):
    """(errors, notes): a race that leaves the same value, whoever wins, is a note."""
    errors = [f for f in found if not f["kind"].startswith("same ")]
    return errors, [f | {"kind": f["kind"].removeprefix("same ")} for f in found if f not in errors]


def _without_shadows(errors):
    """Who reads in a race may read before anything is written: which is one mistake, not two."""
    races = [error for error in errors if error["tool"] == "racecheck"]
    places = {(error["array"], side["line"]) for error in races for side in (error, error["other"])}

    def is_shadow(error):
        no_race = error["tool"] == "initcheck" and error["kind"] != "travels"
        return no_race and (error["array"], error["line"]) in places

    return [error for error in errors if not is_shadow(error)]


def _side(row, launch):
    side, (grid, block) = dict(zip(SIDE, row, strict=True)), launch
    side["warp"] = side["thread"] // 32
    return dict(side, block=_unravel(side["block"], grid), thread=_unravel(side["thread"], block))


def _unravel(index, shape):
    return index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1])
