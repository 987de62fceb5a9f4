"""`course bench papers`: its options, and what it does in its own way, for it is measured in parts."""

import argparse
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_lib.measure import machine
from course_tools.bench.frame import Progress, Result, slug
from course_tools.bench.frame.bench import Bench, clocked
from course_tools.bench.frame.document import rewrite
from course_tools.bench.frame.results import SCHEMA, dump, rounded
from course_tools.bench.papers import machine_name, recorded, rows, tables
from course_tools.bench.papers.parts import counting, digits, fashion, kddcup, timing
from course_tools.bench.papers.settings import PARTS, QUICK, Settings

DOCUMENT, ERRATA = Path("docs/papers.md"), Path("docs/errata.md")
MEASURES: dict[str, Callable[[Settings, Progress], Result]] = {
    "figures": timing.figures,
    "leapfrogging": timing.leapfrogging,
    "ranks": timing.ranks,
    "gpu": timing.gpu,
    "counts": counting.count,
    "digits": digits.digits,
    "kddcup": kddcup.kddcup,
    "fashion": fashion.fashion,
}
# fmt: off
OPTIONS: dict[str, dict[str, Any]] = {
    "--threads": {"type": int, "metavar": "N", "help": "threads for all that have several (default: usable "
                  "processors)"},
    "--parts": {"metavar": "P,P", "default": "", "help": f"measure these alone, of {','.join(PARTS)}; with --reuse "
                "the others are kept"},
}
# fmt: on


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """From the command line."""
    threads = min(machine().usable or 1, 64) if options.threads is None else options.threads
    return {"threads": threads, "parts": tuple(filter(None, options.parts.split(","))) or PARTS}


def measure_papers(settings: Settings, progress: Progress) -> Result:
    """The parts that are wanted, each with when it was measured, for how long, and how busy the machine was."""
    parts = {}
    progress.parts = len(settings.parts)
    for name in settings.parts:
        progress.part(name)
        found, spent = clocked(partial(MEASURES[name], settings, progress))
        when, seconds, load = spent.values()
        parts[name] = {"when": when, "seconds": seconds, "quick": settings.quick, "load": load}
        parts[name] |= found
    return parts


class Papers(Bench):
    """--reuse may be joined with --parts; the claims' rows stand in the JSON; there are two documents."""

    documents = (DOCUMENT, ERRATA)

    def renews(self, options: argparse.Namespace) -> bool:
        return bool(options.parts)

    def is_quick(self, result: Result) -> bool:
        return any(part["quick"] for part in result["parts"].values())

    def measured(self, settings: Settings, known: Result | None = None) -> Result:
        """A part for each kind of run. known: a result of this machine whose other parts are kept."""
        here = asdict(machine())
        if known and known["machine"] != here:
            raise BadInput("--parts adds to a result of this machine: --reuse names one of another")
        with Progress("course bench papers") as progress:
            parts = (known or {"parts": {}})["parts"] | measure_papers(settings, progress)
        ordered = {name: parts[name] for name in PARTS if name in parts}
        return {"schema": SCHEMA, "benchmark": "papers", "machine": here, "parts": ordered}

    def text(self, result: Result) -> str:
        """The rows are made from the digits that are kept."""
        kept = rounded(result)
        return dump({**kept, "rows": [row._asdict() for row in rows(kept)]})

    def report(self, result: Result) -> str:
        return tables.report(result)

    def write_documents(self) -> None:
        rewrite(DOCUMENT, tables.papers_blocks(recorded()))
        rewrite(ERRATA, tables.errata_blocks())


BENCH = Papers(
    name="papers",
    about="Every number of the five texts that the course rests on, listed with where it stands, and measured "
    "again: training by batch size, leapfrogging, ranks, a GPU where there is one, counts by the CPU engine, MNIST, "
    "KDD Cup 1999, Fashion-MNIST. In one run; about 9 minutes, where there is a GPU twice as long.",
    settings=Settings,
    quick=QUICK,
    help="about a minute: Net-1h, few examples, short runs. A glance, no more",
    python=("--torch-python", "a Python with PyTorch, if that is not this one"),
    options=OPTIONS,
    chosen=chosen,
    measure=measure_papers,
    stem=lambda result: f"papers-{slug(machine_name(result))}",
    figures=tables.drawn,
)
