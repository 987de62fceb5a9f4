"""What the raw runs say: medians, quartiles, ratios; and a table of them, as text for a terminal and as Markdown."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Result = dict[str, Any]  # what stands in the JSON, whole or a part of it
Runs = Sequence[float | None]  # one for each round; None where it had no turn
Show = Callable[[float], str]


def known(values: Runs | None) -> list[float]:
    """The runs there are."""
    return [value for value in values or () if value is not None]


def quartiles(values: Runs) -> tuple[float, float, float]:
    """(median, lower, upper quartile) of the runs there are."""
    found = known(values)
    return float(np.median(found)), float(np.quantile(found, 0.25)), float(np.quantile(found, 0.75))


def median(values: Runs | None) -> float | None:
    """Of the runs there are; None without any."""
    return quartiles(values)[0] if values and known(values) else None


def medians(found: Mapping[str, Runs]) -> dict[str, float]:
    """The median of each."""
    return {name: quartiles(values)[0] for name, values in found.items()}


def ratio(top: Runs | None, bottom: Runs | None) -> float | None:
    """Median of top / bottom of the rounds in which both ran: what slowed one down slowed the other. None without."""
    pairs = zip(top, bottom, strict=True) if top and bottom else ()
    return median([t / b for t, b in pairs if t is not None and b is not None])


def runs(case: Result | None, key: str) -> list[float | None] | None:
    """The seconds of a way in a case, round by round; None where it did not run."""
    return None if case is None else case["ways"].get(key, {}).get("seconds")


def quickest(*series: Runs | None) -> Runs | None:
    """The series with the smallest median; None where there is none."""
    return min((one for one in series if one), key=lambda one: quartiles(one)[0], default=None)


class Table(NamedTuple):
    """title: one line; header and rows: cells as text; the first column is text, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def plain(table: Table) -> str:
    """For a terminal: columns aligned. A row with fewer cells than the header ends in a text, which may be longer."""
    lines = [table.header, *table.rows]
    whole = [row for row in lines if len(row) == len(table.header)]
    widths = [max(len(row[c]) for row in whole) for c in range(len(table.header))]
    widths[0] = max(len(row[0]) for row in lines)
    head, *shown = [_line(row, widths) for row in lines]
    return "\n".join([table.title, "", head, "-" * (sum(widths) + 2 * len(widths) - 2), *shown])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    rest = [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=False)]
    return "  ".join([row[0].ljust(widths[0]), *rest]).rstrip()


def markdown(table: Table) -> str:
    """For a document."""
    filled = [line + ("",) * (len(table.header) - len(line)) for line in table.rows]
    columns = list(zip(*filled, strict=True))[1:] or [()] * (len(table.header) - 1)
    rules = ("---", *("---:" if _of_numbers(cells) else "---" for cells in columns))
    filled = [table.header, rules, *filled]
    return "\n".join([f"**{table.title}**", "", *("| " + " | ".join(row) + " |" for row in filled)])


def _of_numbers(cells: Iterable[str]) -> bool:
    """Is most of a column a number, perhaps with a unit, or a range of them? The rest may say why there is none."""
    texts = [cell for cell in cells if cell]
    return 2 * sum(bool(re.match(r"[-+]?\d(?!.*, [^x])", text)) for text in texts) >= len(texts)


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


def spread(values: Runs, show: Show = digits) -> str:
    """The quartiles of several runs; nothing for a single one, which has none."""
    _, low, high = quartiles(values)
    return f"{show(low)} to {show(high)}" if len(known(values)) > 1 else ""


def typical(values: Runs | None, show: Show = digits) -> str:
    """The median; nothing without runs."""
    return show(quartiles(values)[0]) if values and known(values) else ""


def timed_row(
    head: tuple[str, ...], row: Result, more: Callable[[Runs], Iterable[str]], show: Show = digits
) -> tuple[str, ...]:
    """A line (*head, median, quartiles, *more(runs)); where there are no runs, head and the reason."""
    if "seconds" not in row:
        return (*head, row["error"])
    first = f"{head[0]} ({row['note']})" if row.get("note") else head[0]
    found = row["seconds"]
    return (first, *head[1:], typical(found, show), spread(found, show), *more(found))


def percent(share: float | None) -> str:
    """A share as 85 %; nothing without one."""
    return "" if share is None else f"{100 * share:.0f} %"


def tiny(value: float | None) -> str:
    """1.2e-06; nothing without a value."""
    return "" if value is None else f"{value:.1e}"


def count(n: int, what: str) -> str:
    """1 thread, 2 threads."""
    return f"{n} {what}{'s' if n != 1 else ''}"
