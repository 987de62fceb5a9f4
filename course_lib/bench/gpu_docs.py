"""The report of `bench gpu` as text, and the made blocks of docs/bench-gpu.md: one part for each device in results/."""

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.bench.gpu_tables import (
    engine_tables,
    gpu_note,
    gpu_tables,
    noise_note,
    product_tables,
    scaling_table,
    target_table,
)
from course_lib.bench.gpu_training_tables import (
    engine_training_tables,
    training_figures,
    training_note,
    training_tables,
)
from course_lib.bench.report import machine_line, versions_line
from course_lib.bench.tables import markdown, plain

Result = dict[str, Any]


def settings_line(result: Result) -> str:
    """How it was measured."""
    s = result["settings"]
    return (
        f"{result['when']}: {s['rounds']} interleaved rounds, runs of about {s['seconds']:g} s, the engine with "
        f"{s['threads']} thread{'s' if s['threads'] > 1 else ''}; {result['seconds']:.0f} s in all"
        f"{' (--quick: a glance, not a measurement)' if s['quick'] else ''}"
    )


def _lines(result: Result) -> list[str]:
    return [
        machine_line(result),
        gpu_note(result),
        versions_line(result),
        settings_line(result),
        noise_note(result),
    ]


def report(result: Result) -> str:
    """All tables as text."""
    tables = [
        *product_tables(result),
        scaling_table(result),
        *engine_tables(result),
        *gpu_tables(result),
        *training_tables(result),
        *engine_training_tables(result),
    ]
    head = "\n".join([*_lines(result), training_note(result)])
    return "\n\n".join([head, *map(plain, tables), plain(target_table(result))])


def blocks(results: Sequence[Result]) -> dict[str, Callable[[Result], str]]:
    """The makers of the document's blocks, which show all devices."""
    from course_lib.bench.docs import for_each

    return for_each(results, BLOCKS, lambda result: result["device"])


def _gpu(result: Result) -> str:
    return "\n\n".join([gpu_note(result), *map(markdown, gpu_tables(result))])


def _training(result: Result) -> str:
    from course_lib.bench.docs import drawn

    tables = map(markdown, training_tables(result))
    return "\n\n".join([training_note(result), *tables, *drawn(training_figures(result))])


BLOCKS: dict[str, Callable[[Result], str]] = {
    "machine": lambda result: "\n".join(f"- {line}" for line in _lines(result)),
    "targets": lambda result: markdown(target_table(result)),
    "products": lambda result: "\n\n".join(map(markdown, product_tables(result))),
    "scaling": lambda result: markdown(scaling_table(result)),
    "engine": lambda result: "\n\n".join(map(markdown, engine_tables(result))),
    "gpu": _gpu,
    "training": _training,
    "small": lambda result: (
        "\n\n".join(map(markdown, engine_training_tables(result))) or training_note(result)
    ),
}
