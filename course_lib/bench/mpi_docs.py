"""The report of `bench mpi` as text, and the made blocks of docs/bench-mpi.md: one part for each recorded machine."""

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.bench.mpi_tables import (
    allreduce_tables,
    noise_note,
    part_table,
    scheme_tables,
    settings_table,
    target_table,
)
from course_lib.bench.report import machine_line, machine_name, versions_line
from course_lib.bench.tables import markdown, plain

Result = dict[str, Any]


def settings_line(result: Result) -> str:
    """How it was measured."""
    s = result["settings"]
    return (
        f"{result['when']}: {s['rounds']} interleaved rounds, runs of about {s['seconds']:g} s scaled to an epoch of "
        f"{s['epoch']:,} examples, {s['cores']} core{'s' if s['cores'] > 1 else ''}; {result['seconds']:.0f} s in all"
        f"{' (--quick: a glance, not a measurement)' if s['quick'] else ''}"
    )


def _lines(result: Result) -> list[str]:
    return [machine_line(result), versions_line(result), settings_line(result), noise_note(result)]


def report(result: Result) -> str:
    """All tables as text."""
    tables = [
        settings_table(result),
        *allreduce_tables(result),
        part_table(result),
        *scheme_tables(result),
        target_table(result),
    ]
    return "\n\n".join(["\n".join(_lines(result)), *map(plain, tables)])


def blocks(results: Sequence[Result]) -> dict[str, Callable[[Result], str]]:
    """The makers of the document's blocks, which show all machines."""
    from course_lib.bench.docs import for_each

    return for_each(results, BLOCKS, machine_name)


BLOCKS: dict[str, Callable[[Result], str]] = {
    "machine": lambda result: "\n".join(f"- {line}" for line in _lines(result)),
    "targets": lambda result: markdown(target_table(result)),
    "waiting": lambda result: markdown(settings_table(result)),
    "allreduces": lambda result: "\n\n".join(map(markdown, allreduce_tables(result))),
    "parts": lambda result: markdown(part_table(result)),
    "schemes": lambda result: "\n\n".join(map(markdown, scheme_tables(result))),
}
