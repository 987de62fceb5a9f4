"""One run of a bench: the JSON's dict. Everything is measured here; tables and targets are made from the dict alone."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from course_lib.measure import machine
from course_tools.bench.frame.bench import SCHEMA, Bench, Result
from course_tools.bench.frame.conditions import load
from course_tools.bench.frame.progress import Progress

NAMES = ("net", "B", "p", "size", "n", "shape", "which")  # by which a case is known


def measure(bench: Bench, settings: Any) -> Result:
    """Run everything; return the JSON's dict. Raises WorkerError or BadInput where our own part does not start."""
    began, before = time.monotonic(), load()
    progress = Progress(f"course bench {bench.name}", 0)
    try:
        found = bench.measure(settings, progress)
    finally:
        progress.close()
    shown = asdict(settings)
    del shown["python"]  # a path of this machine is nobody's business
    return {
        "schema": SCHEMA,
        "benchmark": bench.name,
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "settings": shown | found.pop("settings", {}),
        "machine": asdict(machine()),
        "seconds": round(time.monotonic() - began, 1),
        "load": {"before": before, "after": load()},
        **found,
    }


def failures(result: Result) -> list[str]:
    """What did not work, each in a line; what is not installed or cannot be is no failure."""
    return [line for line in _errors(result, "") if ": failed: " in line]


def _errors(value: Any, where: str) -> Iterator[str]:
    """ "case: way: error" of every "error" in a result."""
    if isinstance(value, dict):
        if isinstance(value.get("error"), str):
            yield f"{where}: {value['error']}"
        for key, item in value.items():
            yield from _errors(item, key if where in ("", key) else f"{where}: {key}")
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _errors(item, _called(item, where))


def _called(case: dict[str, Any], where: str) -> str:
    known = [f"{name} = {case[name]}" for name in NAMES if name in case]
    return ", ".join([where, *known])
