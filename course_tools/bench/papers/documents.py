"""The report of `bench papers` as text, and the made blocks of docs/papers.md and docs/errata.md."""

import re
from collections.abc import Sequence
from functools import partial

from course_tools.bench.frame.conditions import machine_line
from course_tools.bench.frame.document import Makers, drawn, for_each
from course_tools.bench.frame.tables import markdown
from course_tools.bench.papers import named, rows, tables
from course_tools.bench.papers.claim import Result
from course_tools.bench.papers.data_files import ERRATA, TEXT_OF, TEXTS
from course_tools.bench.training.tables import training_tables

ID = re.compile(r"\b00\d-[a-z0-9-]+")  # of a claim, in the words of another


def report(result: Result) -> str:
    """All claims as text."""
    return named("\n\n".join(["\n".join(_head(result)), tables.plain(rows(result))]))


def _head(result: Result) -> list[str]:
    versions: dict[str, str] = {}
    for made in result["parts"].values():
        versions |= made.get("versions", {})
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [machine_line(result), told, tables.parts_line(result), tables.counts(rows(result))]
    return lines if told else [lines[0], *lines[2:]]


def papers_blocks(results: Sequence[Result]) -> Makers:
    """The makers of the blocks of docs/papers.md, which show all machines."""
    makers: Makers = {name: partial(_claims, text) for name, text in TEXT_OF.items()}
    makers = {"machine": _machine, "figures": _figures, **makers}
    return for_each(results, makers, tables.machine_name)


def _machine(result: Result) -> str:
    return "\n".join(f"- {line}" for line in _head(result))


def _claims(text: str, result: Result) -> str:
    found = {row.id: row for row in rows(result)}
    linked = {name for row in found.values() for name in ID.findall(row.why) if name in found}

    def link(match: re.Match[str]) -> str:
        row = found.get(match[0])
        return f'<a href="#{row.id}">{row.text} {row.where}</a>' if row else match[0]

    lines = []
    for row in found.values():
        if row.text == text:
            anchor = f'<a id="{row.id}"></a>' if row.id in linked else ""
            here = f"**{row.status}**" + (f": {row.found}" if row.found else "")
            why = ID.sub(link, row.why)
            lines.append((anchor + row.where, row.says, here.replace("; ", ";<br>"), why))
    return named("\n".join(tables.markdown("| where | said | here | why they differ |", lines)))


def _figures(result: Result) -> str:
    made = result["parts"].get("figures")
    shown = map(markdown, training_tables(made)) if made else ()
    return "\n\n".join([*shown, *drawn(tables.drawn(result))]) or "This part was left out."


def errata_blocks() -> Makers:
    """The makers of the blocks of docs/errata.md; they need no result."""
    return {name: partial(_errata, text) for name, text in TEXT_OF.items()}


def _errata(text: str, _: Result) -> str:
    found = [erratum for erratum in ERRATA if erratum.text == text]
    lines = [(each.where, each.says, each.right, f"`{each.test}`") for each in found]
    table = tables.markdown("| where | it says | right is | proved by |", lines)
    return named("\n".join([f"**{text}: {TEXTS[text]}**", "", *table]))
