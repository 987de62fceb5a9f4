"""A result in words and tables: the report for a terminal, and the made blocks of docs/bench-*.md."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.frame.bench import Bench, Part, Result
from course_tools.bench.frame.conditions import machine_line, settings_line, versions_line
from course_tools.bench.frame.results import ROOT, recorded
from course_tools.bench.frame.tables import Table, markdown, plain

FIGURES = "../benchmarks/results/"  # seen from docs/
MARK = re.compile(r"(<!-- made: ([a-z]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
Makers = Mapping[str, Callable[[Result], str]]


def report(bench: Bench, result: Result) -> str:
    """Everything as text, figures apart."""
    parts = [part for make in bench.sections.values() for part in make(result)]
    shown = list(_texts([*parts, bench.target_table(result)], plain, lambda figures: iter(())))
    head = _head(bench, result)
    return "\n\n".join(["\n".join(head), *(text for text in shown if text not in head)])


def _head(bench: Bench, result: Result) -> list[str]:
    how = settings_line(result, bench.how(result))
    lines = [machine_line(result), *bench.before(result), versions_line(result), how]
    return [*lines, *bench.notes(result)]


def _texts(parts: Sequence[Part], table, figures) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield table(part)
        elif isinstance(part, str):
            yield part
        else:
            yield from figures(part)


def write_document(bench: Bench) -> None:
    """The document of the clone, its made blocks anew from all recorded results."""
    rewrite(bench.document, blocks(bench, recorded(bench.name)))


def blocks(bench: Bench, results: Sequence[Result]) -> Makers:
    """The makers of the document's blocks, which show all results."""

    def section(make):
        return lambda result: "\n\n".join(_texts(list(make(result)), markdown, drawn))

    makers = {name: section(make) for name, make in bench.sections.items()}
    makers["targets"] = lambda result: markdown(bench.target_table(result))
    makers["machine"] = lambda result: "\n".join(f"- {line}" for line in _head(bench, result))
    return for_each(results, makers, bench.title)


def for_each(results: Sequence[Result], makers: Makers, title: Any) -> dict[str, Any]:
    """Makers of blocks that show all results, each under its title; they get no result of their own."""

    def each(make: Callable[[Result], str]) -> Callable[[Result], str]:
        def one(result):
            return f"*{title(result)}*\n\n{make(result)}" if title(result) else make(result)

        return lambda _: "\n\n".join(map(one, results))

    return {block: each(make) for block, make in makers.items()}


def rewrite(document: Path, makers: Makers) -> None:
    """A document of the clone, its made blocks anew."""
    path = ROOT / document
    path.write_text(written(path.read_text(encoding="utf-8"), makers), encoding="utf-8")


def written(document: str, makers: Makers) -> str:
    """The document with its marked blocks made anew. Raises BadInput for a mark that nobody makes, or none at all."""
    found = [name for _, name, _, _ in MARK.findall(document)]
    if sorted(found) != sorted(makers):
        raise BadInput(f"the document's marked blocks are {found}; they must be {sorted(makers)}")
    return MARK.sub(lambda match: f"{match[1]}\n{makers[match[2]]({})}\n\n{match[4]}", document)


def drawn(figures: Mapping) -> list[str]:
    """Figures as Markdown shows them, each with its alt text, whose brackets would end it."""
    alts = {name: re.sub(r"[\[\]\n]", _harmless, figure.alt) for name, figure in figures.items()}
    return [f"![{alt}]({FIGURES}{name})" for name, alt in alts.items()]


def _harmless(sign: re.Match) -> str:
    return {"[": "(", "]": ")", "\n": " "}[sign[0]]
