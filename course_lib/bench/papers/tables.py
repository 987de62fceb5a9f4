"""The rows as tables: for a terminal, and for docs/papers.md."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any

from course_lib.bench.figures import DRAWN, Style, figures
from course_lib.bench.papers.claim import STATUSES, Row
from course_lib.bench.papers.texts import TEXTS
from course_lib.bench.summary import noise
from course_lib.bench.tables import Table, training_tables
from course_lib.plots import Figure

WIDTH = 110


def machine_name(result: dict[str, Any]) -> str:
    """The GPU's name, or the processor's with its cores."""
    if "device" in result["parts"].get("gpu", {}):
        return result["parts"]["gpu"]["device"]
    cores = result["machine"]["usable"]
    return f"{result['machine']['cpu'] or 'unknown processor'}, {cores} core{'s' if cores != 1 else ''}"


def counts(rows: list[Row]) -> str:
    """How many rows have which status, in a line."""
    told = Counter(row.status for row in rows)
    return f"{len(rows)} claims: " + ", ".join(f"{told[status]} {status}" for status in STATUSES)


def plain(rows: list[Row]) -> str:
    """All rows as text, text by text."""
    parts = ([f"{text} {name}", *map(_paragraph, _of(rows, text))] for text, name in TEXTS.items())
    return "\n\n".join("\n\n".join(part) for part in parts)


def _of(rows: list[Row], text: str) -> list[Row]:
    return [row for row in rows if row.text == text]


def _paragraph(row: Row) -> str:
    lines = [
        f"{row.id} ({row.where})",
        f"said: {row.says}",
        f"{row.status}: {row.found}" if row.found else row.status,
    ]
    lines += [f"why: {row.why}"] if row.why else []
    head, *rest = lines
    indented = (
        textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ") for line in rest
    )
    return "\n".join([head, *indented])


def markdown(rows: list[Row], text: str) -> str:
    """The rows of one text for the document."""
    lines = ["| where | said | here | why they differ |", "| --- | --- | --- | --- |"]
    for row in _of(rows, text):
        here = f"**{row.status}**" + (f": {row.found}" if row.found else "")
        cells = (row.where, row.says, here, row.why)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def figure_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Figures 7 to 10 of [000] as tables: seconds an epoch, GFLOP/s and ratios."""
    made = result["parts"].get("figures")
    if made:
        yield from training_tables(made)


def drawn(result: dict[str, Any]) -> dict[str, Figure]:
    """{file name: Figure}: time, GFLOP/s and speed-up by batch size; none where that part was left out."""
    from course_lib.bench.catalogue import WAY
    from course_lib.bench.files import slug

    made = result["parts"].get("figures")
    if not made or len(made["settings"]["batches"]) < 2:
        return {}
    T = made["settings"]["threads"]
    labels = {key: WAY[key].label for key in (*DRAWN, "numpy-threads", "torch-1") if key in WAY}
    peak = noise(made)["median"], f"sgemm on {T} thread{'s' if T > 1 else ''}"
    stem = f"papers-{slug(machine_name(result))}"
    return figures(
        made,
        Style(stem, labels, "loops", "the Numba loops", "the compiled loops on one thread", peak),
    )


def parts_line(result: dict[str, Any]) -> str:
    """When each part was measured, how long it took, and how busy the machine was."""
    told = []
    for name, made in result["parts"].items():
        before = made["load"]["before"]
        busy = "" if before is None else f", load average {before:g} before"
        quick = ", a glance" if made["quick"] else ""
        told.append(f"{name} {made['when']}, {made['seconds']:.0f} s{busy}{quick}")
    return "; ".join(told)
