"""A result in words and tables: the report for a terminal, and the made blocks of docs/bench-*.md."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_lib.measure import Machine
from course_tools.bench.frame.results import ROOT
from course_tools.bench.frame.tables import (
    Result,
    Runs,
    Table,
    count,
    known,
    markdown,
    plain,
    quartiles,
)

FIGURES = "../benchmarks/results/"  # seen from docs/
MARK = re.compile(r"(<!-- made: ([a-z]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
Makers = Mapping[str, Callable[[Result], str]]


def load() -> float | None:
    """Processes that wanted a processor in the last minute, on average; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def say(what: str, text: str) -> None:
    """A line on standard error."""
    print(f"course bench {what}: {text}", file=sys.stderr)


def machine_line(result: Result) -> str:
    """The machine that the numbers come from, in one line."""
    names = {field.name for field in fields(Machine)}
    machine = Machine(**{key: value for key, value in result["machine"].items() if key in names})
    return machine.full


def machine_name(result: Result) -> str:
    """The machine, for a title and a file: its processor and the cores that were used."""
    cpu = result["machine"]["cpu"] or "unknown processor"
    return f"{cpu}, {count(result['settings']['cores'], 'core')}"


def versions_line(versions: Mapping[str, str]) -> str:
    """What ran, with versions."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def load_line(result: Result) -> str:
    """How busy the machine was with other things."""
    before, after = result["load"]["before"], result["load"]["after"]
    return "unknown" if before is None else f"{before:g} before, {after:g} after"


def noise_note(result: Result, what: str, rates: Runs) -> str:
    """How even the machine was during the run, by rates of one thing in GFLOP/s, from all rounds."""
    values = known(rates)
    middle, low, high = quartiles(values)
    text = (
        f"Noise: {what} ran at {middle:.0f} GFLOP/s (quartiles {low:.0f} to {high:.0f}, "
        f"extremes {min(values):.0f} to {max(values):.0f}); load average {load_line(result)}."
    )
    apart = 100 * (high - low) / middle
    if apart > 5:
        text += f" The quartiles lie {apart:.0f} % apart: take differences below that as noise."
    return text


def report(bench: Any, result: Result) -> str:
    """Everything as text, figures apart."""
    parts = [part for make in bench.sections.values() for part in _parts(make(result))]
    shown = _texts([*parts, bench.target_table(result)], plain, lambda figures: ())
    head = _head(bench, result)
    return "\n\n".join(["\n".join(head), *(text for text in shown if text not in head)])


def _head(bench: Any, result: Result) -> list[str]:
    glance = " (--quick: a glance, not a measurement)" if result["settings"]["quick"] else ""
    how = f"{result['when']}: {bench.how(result)}; {result['seconds']:.0f} s in all{glance}"
    versions = versions_line(result["versions"])
    return [machine_line(result), *bench.before(result), versions, how, *bench.notes(result)]


def _parts(made: Any) -> Iterable[Any]:
    """A section is one part, or several: a part is a Table, a text, or {file name: Figure}."""
    return [made] if isinstance(made, Table | str | dict) else made


def _texts(parts: Iterable[Any], table: Any, figures: Any) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield table(part)
        elif isinstance(part, str):
            yield part
        else:
            yield from figures(part)


def blocks(bench: Any, results: Sequence[Result]) -> Makers:
    """The makers of the document's blocks, which show all results."""

    def section(make: Any) -> Callable[[Result], str]:
        return lambda result: "\n\n".join(_texts(_parts(make(result)), markdown, drawn))

    makers = {name: section(make) for name, make in bench.sections.items()}
    makers["targets"] = lambda result: markdown(bench.target_table(result))
    makers["machine"] = lambda result: "\n".join(f"- {line}" for line in _head(bench, result))
    return for_each(results, makers, bench.title)


def for_each(results: Sequence[Result], makers: Makers, title: Any) -> Makers:
    """Makers of blocks that show all results, each under its title; they get no result of their own."""

    def each(make: Callable[[Result], str]) -> Callable[[Result], str]:
        def one(result: Result) -> str:
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
    harmless = str.maketrans("[]\n", "() ")
    return [f"![{each.alt.translate(harmless)}]({FIGURES}{name})" for name, each in figures.items()]
