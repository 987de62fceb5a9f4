"""What a traced launch found: errors, and a profile of its accesses, as plain Python data that a notebook can assert on."""

from dataclasses import dataclass, field

from .messages import message


@dataclass(frozen=True)
class Report:
    """errors: dicts with tool, line, array, index, block, thread, count, message (and other: the access it collides with).

    tool is memcheck, racecheck, initcheck, synccheck, crash or timeout; block and thread are (x, y, z).
    accesses: dicts with line, space (global, shared, constant), op (load, store, atomic), array, requests (of a warp), threads,
    bytes (asked for by threads), sectors and ideal_sectors (32 bytes each; global), wavefronts, ideal_wavefronts and max_way (shared).
    printed: what the kernel printed. seconds: of the traced run; says nothing about a GPU.
    """

    errors: list[dict]
    accesses: list[dict]
    printed: str = ""
    seconds: float = 0.0
    source: str = field(default="", repr=False)

    @property
    def ok(self):
        """True where no check found anything: which is no proof that the kernel is right."""
        return not self.errors

    def total(self, name, **where):
        """Sum of one number over the accesses that match: total("sectors", space="global", op="load")."""
        return sum(row[name] for row in self.accesses if all(row[key] == value for key, value in where.items()))

    def table(self):
        """(header, rows) of the profile."""
        header = ("line", "space", "op", "array", "requests", "sectors", "per request", "ideal", "wavefronts", "max way")
        rows = []
        for row in self.accesses:
            per = f"{row['sectors'] / row['requests']:.1f}" if row["space"] == "global" else ""
            shared = row["space"] == "shared"
            rows.append((row["line"], row["space"], row["op"], row["array"], row["requests"], *(
                (row["sectors"], per, row["ideal_sectors"], "", "") if not shared else ("", "", "", row["wavefronts"], row["max_way"]))))  # fmt: skip
        return header, rows

    def __str__(self):
        header, rows = self.table()
        cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in [header, *rows]]
        widths = [max(len(str(row[i])) for row in cells) for i in range(len(header))]
        lines = ["  ".join(str(cell).rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        found = [error["message"] for error in self.errors] or ["no check found anything"]
        return "\n".join([*found, "", *lines])


def make_report(answer, launch, source, sizes, printed, seconds):
    """A Report from the engine's JSON. launch: (grid, block). sizes: array name -> number of elements."""
    lines = source.splitlines()
    errors = []
    for found in answer["errors"]:
        error = dict(found, **_where(found, launch))
        if found.get("other"):
            error["other"] = dict(found["other"], **_where(found["other"], launch))
        error["elements"] = sizes.get(found["array"])
        error["message"] = message(error, lines[found["line"] - 1] if 0 < found["line"] <= len(lines) else "")
        errors.append(error)
    return Report(errors, answer["accesses"], printed, seconds, source)


def _where(found, launch):
    grid, block = launch
    return {"block": _unravel(found["block"], grid), "thread": _unravel(found["thread"], block), "thread_linear": found["thread"]}


def _unravel(index, shape):
    return index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1])
