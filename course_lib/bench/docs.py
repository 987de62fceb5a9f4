"""docs/bench-*.md: the blocks between their marks are made from the JSON; the words around them are written."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.bench.figures import figures
from course_lib.bench.profile_tables import profile_tables, shortfall
from course_lib.bench.report import machine_line, settings_line, versions_line
from course_lib.bench.scaling_tables import scaling_tables
from course_lib.bench.tables import (
    markdown,
    noise_note,
    rate_table,
    scheme_tables,
    target_table,
    training_tables,
)
from course_lib.errors import BadInput
from course_lib.plots import Figure

FIGURES = "../benchmarks/results/"  # seen from docs/
MARK = re.compile(r"(<!-- made: ([a-z]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def written(
    document: str,
    result: dict[str, Any],
    blocks: Mapping[str, Callable[[dict[str, Any]], str]] | None = None,
) -> str:
    """The document with its marked blocks made anew; blocks: who makes them, by default those of bench-threads.md.

    Raises BadInput for a mark that nobody makes, or none at all.
    """
    makers, found = (
        BLOCKS if blocks is None else blocks,
        [name for _, name, _, _ in MARK.findall(document)],
    )
    if sorted(found) != sorted(makers):
        raise BadInput(
            f"the document's marked blocks are {found}; they must be {list(makers)}, each once"
        )
    return MARK.sub(lambda match: f"{match[1]}\n{makers[match[2]](result)}\n\n{match[4]}", document)


def for_each(
    results: Sequence[dict[str, Any]],
    makers: Mapping[str, Callable[[dict[str, Any]], str]],
    name: Callable[[dict[str, Any]], str],
) -> dict[str, Callable[[dict[str, Any]], str]]:
    """Makers of blocks that show all results, each under its name; they get no result of their own."""

    def each(make: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
        return lambda _: "\n\n".join(f"*{name(result)}*\n\n{make(result)}" for result in results)

    return {block: each(make) for block, make in makers.items()}


def _machine(result: dict[str, Any]) -> str:
    lines = [machine_line(result), versions_line(result), settings_line(result), noise_note(result)]
    return "\n".join(f"- {line}" for line in lines)


def drawn(made: Mapping[str, Figure]) -> list[str]:
    """Figures as Markdown shows them, each with its alt text."""
    return [f"![{_plain(figure.alt)}]({FIGURES}{name})" for name, figure in made.items()]


def _plain(alt: str) -> str:
    """Alt text for Markdown: its brackets would end it."""
    return alt.replace("[", "(").replace("]", ")").replace("\n", " ")


def _tables(make: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], str]:
    return lambda result: "\n\n".join(markdown(table) for table in make(result))


BLOCKS: dict[str, Callable[[dict[str, Any]], str]] = {
    "machine": _machine,
    "targets": lambda result: markdown(target_table(result)),
    "training": _tables(training_tables),
    "rates": lambda result: markdown(rate_table(result)),
    "scaling": _tables(scaling_tables),
    "figures": lambda result: "\n\n".join(drawn(figures(result))),
    "schemes": _tables(scheme_tables),
    "profile": _tables(profile_tables),
    "shortfall": shortfall,
}
