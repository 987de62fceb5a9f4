"""The rows as tables, and the figures: for a terminal, and for the documents."""

import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import Any

from course_lib.plots import Figure
from course_tools.bench import frame
from course_tools.bench.papers.claim import STATUSES, Row
from course_tools.bench.papers.data_files import TEXTS
from course_tools.bench.threads.bench import DRAWN
from course_tools.bench.training.catalogue import WAY
from course_tools.bench.training.figures import Style, figures
from course_tools.bench.training.tables import noise

WIDTH = 110


def machine_name(result: dict[str, Any]) -> str:
    """The GPU's name, or the processor's with its cores."""
    if "device" in result["parts"].get("gpu", {}):
        return result["parts"]["gpu"]["device"]
    return frame.machine_name({**result, "settings": {"cores": result["machine"]["usable"]}})


def counts(rows: list[Row]) -> str:
    """How many rows have which status, in a line."""
    told = Counter(row.status for row in rows)
    return f"{len(rows)} claims: " + ", ".join(f"{told[status]} {status}" for status in STATUSES)


def plain(rows: list[Row]) -> str:
    """All rows as text, text by text."""
    parts = []
    for text, title in TEXTS.items():
        parts += [f"{text}: {title}", *(_paragraph(row) for row in rows if row.text == text)]
    return "\n\n".join(parts)


def _paragraph(row: Row) -> str:
    lines = [f"said: {row.says}", f"{row.status}: {row.found}" if row.found else row.status]
    if row.why:
        lines.append(f"why: {row.why}")
    wrapped = [
        textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ") for line in lines
    ]
    return "\n".join([f"{row.id} ({row.where})", *wrapped])


def markdown(header: str, lines: Iterable[tuple[str, ...]]) -> list[str]:
    """A table for a document, line by line; header: with its bars, such as "| where | said |"."""
    rule = "| " + " | ".join(["---"] * (header.count("|") - 1)) + " |"
    cells = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return [header, rule, *(f"| {line} |" for line in cells)]


def drawn(result: dict[str, Any]) -> dict[str, Figure]:
    """{file name: Figure}: time, GFLOP/s and speed-up by batch size; none where that part was left out."""
    made = result["parts"].get("figures")
    if not made or len(made["settings"]["batches"]) < 2:
        return {}
    T = made["settings"]["threads"]
    labels = {key: WAY[key].label for key in (*DRAWN, "numpy-threads", "torch-1") if key in WAY}
    peak = noise(made)["median"], f"sgemm on {frame.count(T, 'thread')}"
    stem, title = f"papers-{frame.slug(machine_name(result))}", "the compiled loops on one thread"
    return figures(made, Style(stem, labels, "loops", "the Numba loops", title, peak))


def parts_line(result: dict[str, Any]) -> str:
    """When each part was measured, how long it took, and how busy the machine was."""
    told = []
    for name, made in result["parts"].items():
        before = made["load"]["before"]
        busy = "" if before is None else f", load average {before:g} before"
        quick = ", a glance" if made["quick"] else ""
        told.append(f"{name} {made['when']}, {made['seconds']:.0f} s{busy}{quick}")
    return "; ".join(told)
