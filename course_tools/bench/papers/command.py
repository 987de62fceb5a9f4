"""`course bench papers`: its options, and what it does in its own way, for it is measured in parts."""

import argparse
from pathlib import Path
from typing import Any

from course_lib.measure import machine
from course_tools.bench.frame import slug
from course_tools.bench.frame.bench import Basics
from course_tools.bench.frame.command import Command
from course_tools.bench.frame.document import rewrite
from course_tools.bench.frame.results import dump, rounded
from course_tools.bench.papers import recorded, rows
from course_tools.bench.papers.claim import Result
from course_tools.bench.papers.documents import errata_blocks, papers_blocks, report
from course_tools.bench.papers.measuring import measure_papers
from course_tools.bench.papers.settings import PARTS, QUICK, Settings
from course_tools.bench.papers.tables import drawn, machine_name

DOCUMENT, ERRATA = Path("docs/papers.md"), Path("docs/errata.md")


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


class PapersCommand(Command):
    """--reuse may be joined with --parts; the claims' rows stand in the JSON; there are two documents."""

    def renews(self, options: argparse.Namespace) -> bool:
        return bool(options.parts)

    def is_quick(self, result: Result) -> bool:
        return any(part["quick"] for part in result["parts"].values())

    def measure(self, settings: Settings, known: Result | None) -> Result:
        return measure_papers(settings, known)

    def text(self, result: Result) -> str:
        """The rows are made from the digits that are kept."""
        kept = rounded(result)
        return dump({**kept, "rows": [row._asdict() for row in rows(kept)]})

    def report(self, result: Result) -> str:
        return report(result)

    def write_documents(self) -> None:
        rewrite(DOCUMENT, papers_blocks(recorded()))
        rewrite(ERRATA, errata_blocks())


BENCH = Basics(
    name="papers",
    about="Every number of the five texts that the course rests on, listed with where it stands, and measured "
    "again: training by batch size, leapfrogging, ranks, a GPU where there is one, counts by the CPU engine, MNIST, "
    "KDD Cup 1999, Fashion-MNIST. In one run; about 9 minutes, where there is a GPU twice as long.",
    documents=(DOCUMENT, ERRATA),
    settings=Settings,
    quick=QUICK,
    help="about a minute: Net-1h, few examples, short runs. A glance, no more",
    python=("--torch-python", "a Python with PyTorch, if that is not this one"),
    options=OPTIONS,
    chosen=chosen,
    stem=lambda result: f"papers-{slug(machine_name(result))}",
    figures=drawn,
)
COMMAND = PapersCommand(BENCH)
