"""`course bench papers`: the measuring. Everything here ends up in one dict, the JSON, a part for each kind of run."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from course_lib.errors import BadInput
from course_lib.measure import machine
from course_tools.bench.frame import Progress
from course_tools.bench.frame.bench import SCHEMA
from course_tools.bench.frame.conditions import load
from course_tools.bench.papers.parts import counting, digits, fashion, kddcup, timing
from course_tools.bench.papers.settings import PARTS, Settings

MEASURES: dict[str, Callable[[Settings, Progress], dict[str, Any]]] = {
    "figures": timing.figures,
    "leapfrogging": timing.leapfrogging,
    "ranks": timing.ranks,
    "gpu": timing.gpu,
    "counts": counting.count,
    "digits": digits.digits,
    "kddcup": kddcup.kddcup,
    "fashion": fashion.fashion,
}


def measure_papers(settings: Settings, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the parts that are wanted; return the JSON's dict. known: a result of this machine whose parts are kept."""
    here = asdict(machine())
    if known and known["machine"] != here:
        raise BadInput("--parts adds to a result of this machine: --reuse names one of another")
    parts = dict(known["parts"]) if known else {}
    progress = Progress("course bench papers", len(settings.parts))
    for name in settings.parts:
        progress.part(name)
        parts[name] = _timed(MEASURES[name], settings, progress)
    progress.close()
    ordered = {name: parts[name] for name in PARTS if name in parts}
    return {"schema": SCHEMA, "benchmark": "papers", "machine": here, "parts": ordered}


def _timed(
    measure: Callable[[Settings, Progress], dict[str, Any]], settings: Settings, progress: Progress
) -> Any:
    """A part, with when it was measured, for how long, and how busy the machine was."""
    began, before = time.monotonic(), load()
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    found = measure(settings, progress)
    spent = {"when": when, "seconds": round(time.monotonic() - began, 1), "quick": settings.quick}
    return spent | {"load": {"before": before, "after": load()}} | found
