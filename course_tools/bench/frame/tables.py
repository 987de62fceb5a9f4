"""A table, as text for the terminal and as Markdown for docs/, and the words in which numbers stand there."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from course_tools.bench.frame.numbers import Runs, known, quartiles


class Table(NamedTuple):
    """title: one line; header and rows: cells as text; the first column is text, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def plain(table: Table) -> str:
    """For a terminal: columns aligned. A row with fewer cells than the header ends in a text, which may be longer."""
    whole = [row for row in [table.header, *table.rows] if len(row) == len(table.header)]
    widths = [max(len(row[c]) for row in whole) for c in range(len(table.header))]
    widths[0] = max(len(row[0]) for row in [table.header, *table.rows])
    head, *lines = [_line(row, widths) for row in [table.header, *table.rows]]
    return "\n".join([table.title, "", head, "-" * (sum(widths) + 2 * len(widths) - 2), *lines])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    rest = [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=False)]
    return "  ".join([row[0].ljust(widths[0]), *rest]).rstrip()


def markdown(table: Table) -> str:
    """For a document."""
    lines = [table.header, ("---", *("---:" for _ in table.header[1:])), *table.rows]
    filled = [line + ("",) * (len(table.header) - len(line)) for line in lines]
    return "\n".join([f"**{table.title}**", "", *("| " + " | ".join(row) + " |" for row in filled)])


def digits(value: float | None) -> str:
    """Three digits: 10,286; 8.21; 0.0513; -0.48."""
    if not value:
        return "" if value is None else "0"
    if value < 0:
        return f"-{digits(-value)}"
    if value >= 99.95:
        return f"{value:,.0f}"
    places = 1 if value >= 9.995 else 2 if value >= 0.0995 else 4
    return f"{value:.{places}f}"


def spread(values: Runs, show: Callable[[float], str] = digits) -> str:
    """The quartiles of several runs; nothing for a single one, which has none."""
    _, low, high = quartiles(values)
    return f"{show(low)} to {show(high)}" if len(known(values)) > 1 else ""


def typical(values: Runs | None, show: Callable[[float], str] = digits) -> str:
    """The median; nothing without runs."""
    return show(quartiles(values)[0]) if values and known(values) else ""


def timed_row(
    head: tuple[str, ...],
    row: dict[str, Any],
    more: Callable[[Runs], Sequence[str]],
    show: Callable[[float], str] = digits,
) -> tuple[str, ...]:
    """A line (*head, median, quartiles, *more(runs)); where there are no runs, head and the reason."""
    if "seconds" not in row:
        return (*head, row["error"])
    first = f"{head[0]} ({row['note']})" if row.get("note") else head[0]
    found = row["seconds"]
    return (first, *head[1:], typical(found, show), spread(found, show), *more(found))


def count(n: int, what: str) -> str:
    """1 thread, 2 threads."""
    return f"{n} {what}{'s' if n != 1 else ''}"
