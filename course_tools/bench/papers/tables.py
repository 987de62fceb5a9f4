"""The rows as text for a terminal, as the made blocks of docs/papers.md and docs/errata.md; and the figures."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from course_lib.plots import Figure
from course_tools.bench import frame
from course_tools.bench.frame import Result, document
from course_tools.bench.frame.document import Makers, for_each, machine_line
from course_tools.bench.frame.tables import markdown
from course_tools.bench.papers import machine_name, named, rows
from course_tools.bench.papers.claim import STATUSES, Row
from course_tools.bench.papers.data_files import ERRATA, TEXT_OF, TEXTS
from course_tools.bench.threads.bench import DRAWN
from course_tools.bench.training.catalogue import WAY
from course_tools.bench.training.figures import Style, figures
from course_tools.bench.training.tables import noise, training_tables

WIDTH = 110
ID = re.compile(r"\b00\d-[a-z0-9-]+")  # of a claim, in the words of another


def report(result: Result) -> str:
    """All claims as text, text by text."""
    found, parts = rows(result), ["\n".join(_head(result))]
    for text, title in TEXTS.items():
        parts += [f"{text}: {title}", *(_paragraph(row) for row in found if row.text == text)]
    return named("\n\n".join(parts))


def _paragraph(row: Row) -> str:
    lines = [f"said: {row.says}", f"{row.status}: {row.found}" if row.found else row.status]
    lines += [f"why: {row.why}"] if row.why else []
    fill = partial(textwrap.fill, width=WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join([f"{row.id} ({row.where})", *map(fill, lines)])


def _head(result: Result) -> list[str]:
    """The machine, the versions, when each part was measured, how many claims have which status."""
    versions: dict[str, str] = {}
    for made in result["parts"].values():
        versions |= made.get("versions", {})
    found = rows(result)
    told = Counter(row.status for row in found)
    counts = ", ".join(f"{told[status]} {status}" for status in STATUSES)
    lines = [machine_line(result), document.versions_line(versions), _parts_line(result)]
    return [line for line in [*lines, f"{len(found)} claims: {counts}"] if line]


def _parts_line(result: Result) -> str:
    told = []
    for name, made in result["parts"].items():
        before = made["load"]["before"]
        busy = "" if before is None else f", load average {before:g} before"
        quick = ", a glance" if made["quick"] else ""
        told.append(f"{name} {made['when']}, {made['seconds']:.0f} s{busy}{quick}")
    return "; ".join(told)


def drawn(result: Result) -> dict[str, Figure]:
    """{file name: Figure}: time, GFLOP/s and speed-up by batch size; none where that part was left out."""
    made = result["parts"].get("figures")
    if not made or len(made["settings"]["batches"]) < 2:
        return {}
    T = made["settings"]["threads"]
    labels = {key: WAY[key].label for key in (*DRAWN, "numpy-threads", "torch-1")}
    peak = noise(made)["median"], f"sgemm on {frame.count(T, 'thread')}"
    stem, title = f"papers-{frame.slug(machine_name(result))}", "the compiled loops on one thread"
    return figures(made, Style(stem, labels, "loops", "the Numba loops", title, peak))


def papers_blocks(results: Sequence[Result]) -> Makers:
    """The makers of the blocks of docs/papers.md, which show all machines."""
    makers: Makers = {name: partial(_claims, text) for name, text in TEXT_OF.items()}
    machine = {"machine": lambda result: "\n".join(f"- {line}" for line in _head(result))}
    return for_each(results, {**machine, "figures": _figures, **makers}, machine_name)


def _claims(text: str, result: Result) -> str:
    found = {row.id: row for row in rows(result)}
    linked = {name for row in found.values() for name in ID.findall(row.why) if name in found}

    def link(match: re.Match[str]) -> str:
        row = found.get(match[0])
        return f'<a href="#{row.id}">{row.text} {row.where}</a>' if row else match[0]

    lines = []
    for row in (row for row in found.values() if row.text == text):
        anchor = f'<a id="{row.id}"></a>' if row.id in linked else ""
        here = f"**{row.status}**" + (f": {row.found}" if row.found else "")
        why = ID.sub(link, row.why)
        lines.append((anchor + row.where, row.says, here.replace("; ", ";<br>"), why))
    return named("\n".join(_table("where", "said", "here", "why they differ", lines=lines)))


def _figures(result: Result) -> str:
    made = result["parts"].get("figures")
    shown = map(markdown, training_tables(made)) if made else ()
    return "\n\n".join([*shown, *document.drawn(drawn(result))]) or "This part was left out."


def errata_blocks() -> Makers:
    """The makers of the blocks of docs/errata.md; they need no result."""
    return {name: partial(_errata, text) for name, text in TEXT_OF.items()}


def _errata(text: str, _: Result) -> str:
    found = [erratum for erratum in ERRATA if erratum.text == text]
    lines = [(each.where, each.says, each.right, f"`{each.test}`") for each in found]
    table = _table("where", "it says", "right is", "proved by", lines=lines)
    return named("\n".join([f"**{text}: {TEXTS[text]}**", "", *table]))


def _table(*header: str, lines: Iterable[tuple[str, ...]]) -> list[str]:
    """A table of texts for a document, line by line."""
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return [f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *cells)]
