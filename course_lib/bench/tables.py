"""The tables, as text for the terminal and as Markdown for docs/. A table is (title, header, rows of text)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from course_lib.bench.catalogue import NETS, RATES
from course_lib.bench.predictions import SchemeRow, parts, scheme_rows
from course_lib.bench.summary import Row, machine_rate, noise, quartiles, ratio, rows
from course_lib.bench.targets import targets
from course_lib.measure import format_seconds


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
    filled = (line + ("",) * (len(table.header) - len(line)) for line in lines)
    return "\n".join(
        [f"**{table.title}**", "", *("| " + " | ".join(line) + " |" for line in filled)]
    )


def training_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each net and batch size."""
    found = list(rows(result))
    T = result["settings"]["threads"]
    header = (
        "way",
        "threads",
        "s an epoch",
        "quartiles",
        "GFLOP/s",
        "x loops",
        "x NumPy",
        "% of sgemm",
    )
    for case in result["training"]:
        net, B = case["net"], case["B"]
        rate = {n: machine_rate(case, f"sgemm-{n}") for n in sorted({1, T})}
        told = ", ".join(f"{v[0]:.0f} on {_threads(n)}" for n, v in rate.items() if v)
        title = f"{net} ({'-'.join(map(str, NETS[net]))}), B = {B}; sgemm in the same rounds: {told} GFLOP/s"
        yield Table(
            title, header, [_training_row(row) for row in found if (row.net, row.B) == (net, B)]
        )


def _training_row(row: Row) -> tuple[str, ...]:
    head = (row.label, str(row.threads))
    if row.seconds is None:
        return (*head, row.text)
    label = f"{row.label} ({row.text})" if row.text else row.label
    spread = f"{digits(row.q25)} to {digits(row.q75)}"
    share = None if row.of_sgemm is None else 100 * row.of_sgemm
    numbers = (row.seconds, row.gflops, row.over_loops, row.over_numpy, share)
    seconds, *rest = map(digits, numbers)
    return (label, str(row.threads), seconds, spread, *rest)


def rate_table(result: dict[str, Any]) -> Table:
    """The machine's own rates over the whole run, and how many times that of one thread they are."""
    lines = []
    for key in dict.fromkeys(key for case in result["training"] for key in case["rates"]):
        name, _, threads = key.rpartition("-")
        single = f"{name.removesuffix('-separate')}-1"
        both = ((case["rates"].get(key), case["rates"].get(single)) for case in result["training"])
        times = [found for found in (ratio(*pair) for pair in both) if found is not None]
        pooled = {
            "rates": {key: [v for case in result["training"] for v in case["rates"].get(key, [])]}
        }
        middle, low, high = machine_rate(pooled, key) or (None, None, None)
        over = digits(quartiles(times)[0]) if times else ""
        lines.append(
            (RATES[name], threads, digits(middle), f"{digits(low)} to {digits(high)}", over)
        )
    header = ("product", "threads", "GFLOP/s", "quartiles", "x one thread")
    return Table("The machine's own rate, in the same rounds", header, lines)


def scheme_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each batch size: the schemes of chapter 04."""
    header = (
        "scheme",
        "backward",
        "whole step",
        "quartiles",
        "formula",
        "simulated",
        "x one thread",
    )
    found = list(scheme_rows(result))
    for case in result["schemes"]:
        f = parts(case)
        told = (
            "; ".join(f"{n} = {format_seconds(sum(v))}" for n, v in f.items())
            if f
            else "parts not measured"
        )
        title = f"12 layers of width 1024, tanh, MSE, B = {case['B']}; on one thread {told}"
        yield Table(title, header, [_scheme_row(row) for row in found if case["B"] == row.B])


def _scheme_row(row: SchemeRow) -> tuple[str, ...]:
    if row.whole is None:
        return (row.label, row.text)
    whole, low, high = map(format_seconds, row.whole)
    backward = _time(row.backward[0] if row.backward else None)
    predicted = (_time(row.formula), _time(row.simulated))
    return (row.label, backward, whole, f"{low} to {high}", *predicted, digits(row.over_serial))


def target_table(result: dict[str, Any]) -> Table:
    """Each target, met or not."""
    words = {True: "met", False: "NOT MET", None: "not measured"}
    lines = [
        (t.what, t.where, t.want, "" if t.got is None else f"{t.got:.2f}", words[t.met])
        for t in targets(result)
    ]
    return Table("Targets", ("target", "where", "wanted", "found", ""), lines)


def noise_note(result: dict[str, Any]) -> str:
    """One or two sentences: how even the machine was during the run."""
    n, T = noise(result), result["settings"]["threads"]
    text = (
        f"Noise: over all rounds sgemm on {_threads(T)} ran at {n['median']:.0f} GFLOP/s (quartiles {n['q25']:.0f} "
        f"to {n['q75']:.0f}, extremes {n['min']:.0f} to {n['max']:.0f}); load average {_load(result)}."
    )
    if n["spread"] > 0.05:
        text += f" The quartiles lie {100 * n['spread']:.0f} % apart: take differences below that as noise."
    if n["scaling"] is not None and n["scaling"] < 0.8 * T:
        text += f" That is only {n['scaling']:.2f} times the rate of one: the machine was shared, or has no {T} cores."
    return text


def _load(result: dict[str, Any]) -> str:
    before, after = result["load"]["before"], result["load"]["after"]
    return "unknown" if before is None else f"{before:g} before, {after:g} after"


def _threads(n: int) -> str:
    return f"{n} thread{'s' if n > 1 else ''}"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds)


def digits(value: float | None) -> str:
    """Three digits: 10,286; 8.21; 0.0513."""
    if value is None:
        return ""
    if value >= 99.95:
        return f"{value:,.0f}"
    places = 1 if value >= 9.995 else 2 if value >= 0.0995 else 4
    return f"{value:.{places}f}"
