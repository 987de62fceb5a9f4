"""The report of `bench papers` as text, and the made blocks of docs/papers.md: a part for each machine in results/."""

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.bench.docs import drawn as shown
from course_lib.bench.docs import for_each
from course_lib.bench.papers import rows
from course_lib.bench.papers.errata_docs import BLOCKS as TEXT_OF
from course_lib.bench.papers.tables import (
    counts,
    drawn,
    figure_tables,
    machine_name,
    markdown,
    parts_line,
    plain,
)
from course_lib.bench.report import machine_line
from course_lib.bench.tables import markdown as table_markdown

Result = dict[str, Any]


def _head(result: Result) -> list[str]:
    versions: dict[str, str] = {}
    for made in result["parts"].values():
        versions |= made.get("versions", {})
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return [
        machine_line(result),
        *([told] if told else []),
        parts_line(result),
        counts(rows(result)),
    ]


def report(result: Result) -> str:
    """All claims as text."""
    return "\n\n".join(["\n".join(_head(result)), plain(rows(result))])


def blocks(results: Sequence[Result]) -> dict[str, Callable[[Result], str]]:
    """The makers of the document's blocks, which show all machines."""
    makers: dict[str, Callable[[Result], str]] = {
        "machine": lambda result: _list(_head(result)),
        "figures": _figures,
    }
    makers |= {name: _text(text) for name, text in TEXT_OF.items()}
    return for_each(results, makers, machine_name)


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _text(text: str) -> Callable[[Result], str]:
    return lambda result: markdown(rows(result), text)


def _figures(result: Result) -> str:
    tables = map(table_markdown, figure_tables(result))
    return "\n\n".join([*tables, *shown(drawn(result))]) or "This part was left out."
