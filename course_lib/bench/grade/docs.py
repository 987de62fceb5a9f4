"""The report of `bench grade` as text, and the made blocks of docs/bench-grade.md: one part for each machine."""

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.bench.grade.tables import (
    grader_table,
    killed_line,
    memory_table,
    noise_note,
    same_line,
    solved_table,
    target_table,
)
from course_lib.bench.report import machine_line, machine_name, versions_line
from course_lib.bench.tables import markdown, plain

Result = dict[str, Any]


def settings_line(result: Result) -> str:
    """How it was measured."""
    s = result["settings"]
    return (
        f"{result['when']}: {s['cores']} core{'s' if s['cores'] > 1 else ''}, {s['workers']} submissions side by side, "
        f"seed {s['seed']}; {result['seconds']:.0f} s in all"
        f"{' (--quick: a glance, not a measurement)' if s['quick'] else ''}"
    )


def _lines(result: Result) -> list[str]:
    return [machine_line(result), versions_line(result), settings_line(result), noise_note(result)]


def report(result: Result) -> str:
    """Everything as text."""
    tables = [
        grader_table(result),
        solved_table(result),
        memory_table(result),
        target_table(result),
    ]
    words = [same_line(result), killed_line(result)]
    return "\n\n".join(["\n".join(_lines(result)), *map(plain, tables), *words])


def blocks(results: Sequence[Result]) -> dict[str, Callable[[Result], str]]:
    """The makers of the document's blocks, which show all machines."""
    from course_lib.bench.docs import for_each

    return for_each(results, BLOCKS, machine_name)


BLOCKS: dict[str, Callable[[Result], str]] = {
    "machine": lambda result: "\n".join(f"- {line}" for line in _lines(result)),
    "targets": lambda result: markdown(target_table(result)),
    "graders": lambda result: f"{markdown(grader_table(result))}\n\n{same_line(result)}",
    "solved": lambda result: markdown(solved_table(result)),
    "memory": lambda result: markdown(memory_table(result)),
    "killed": killed_line,
}
