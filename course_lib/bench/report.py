"""The whole report as text, from the JSON's dict alone."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from course_lib.bench.profile_tables import profile_tables
from course_lib.bench.scaling_tables import scaling_tables
from course_lib.bench.tables import (
    noise_note,
    plain,
    rate_table,
    scheme_tables,
    target_table,
    training_tables,
)
from course_lib.measure import Machine


def machine_line(result: dict[str, Any]) -> str:
    """The machine that the numbers come from, in one line."""
    names = {field.name for field in fields(Machine)}
    return str(
        Machine(**{name: value for name, value in result["machine"].items() if name in names})
    )


def machine_name(result: dict[str, Any]) -> str:
    """The machine of `bench mpi` and `bench grade`, for a title and a file."""
    cores = result["settings"]["cores"]
    return (
        f"{result['machine']['cpu'] or 'unknown processor'}, {cores} core{'s' if cores > 1 else ''}"
    )


def versions_line(result: dict[str, Any]) -> str:
    """What ran, with versions."""
    return ", ".join(f"{name} {version}" for name, version in result["versions"].items())


def settings_line(result: dict[str, Any]) -> str:
    """How it was measured."""
    s = result["settings"]
    return (
        f"{result['when']}: {s['rounds']} interleaved rounds, runs of about {s['seconds']:g} s scaled to an epoch of "
        f"{s['epoch']:,} examples, {s['threads']} thread{'s' if s['threads'] > 1 else ''}; "
        f"{result['seconds']:.0f} s in all{' (--quick: a glance, not a measurement)' if s['quick'] else ''}"
    )


def report(result: dict[str, Any]) -> str:
    """All tables as text."""
    return "\n\n".join(_parts(result))


def _parts(result: dict[str, Any]) -> Iterator[str]:
    head = [machine_line(result), versions_line(result), settings_line(result), noise_note(result)]
    yield "\n".join(head)
    for table in training_tables(result):
        yield plain(table)
    yield plain(rate_table(result))
    for table in scaling_tables(result):
        yield plain(table)
    for table in scheme_tables(result):
        yield plain(table)
    for table in profile_tables(result):
        yield plain(table)
    yield plain(target_table(result))
