"""`course bench mpi`: options, what is written where, and in which form it is printed."""

import argparse
from pathlib import Path
from typing import Any

from course_lib.bench import files
from course_lib.bench.files import RESULTS, folder, interpreter, read, say, slug, warn_if_busy
from course_lib.bench.mpi_measuring import QUICK, SCHEMA, Settings, failures, measure_mpi
from course_lib.bench.processes import WorkerError
from course_lib.errors import BadInput

DOCUMENT = Path("docs/bench-mpi.md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench mpi`."""
    parser.description = (
        "Allreduces of course_lib.mpi beside MPI's own and PyTorch's, by size; every scheme of training on 1, 2 and 4 "
        "ranks, measured and predicted; what a message and a rank that waits cost. In one run; about 4 minutes."
    )
    add = parser.add_argument
    add(
        "--quick",
        action="store_true",
        help="half a minute: 1 and 2 ranks, few and short runs. A glance, no more",
    )
    add("--json", action="store_true", help="print the JSON instead of the tables")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where mpi-<machine>.json goes (default: benchmarks/results/own in "
        "a clone, else bench-mpi)",
    )
    add(
        "--record",
        action="store_true",
        help=f"write to {RESULTS} and rewrite the made blocks of {DOCUMENT}",
    )
    add(
        "--reuse",
        type=Path,
        metavar="FILE",
        help="measure nothing: make tables and document from this JSON",
    )
    add("--torch-python", metavar="PATH", help="a Python with PyTorch, if that is not this one")


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
    source = read(options.reuse, "mpi", SCHEMA) if options.reuse else _settings(options)
    out = folder(
        "mpi", options.record, options.out, "--record"
    )  # before the measuring: nobody waits in vain
    if options.record and isinstance(source, Settings) and source.quick:
        raise BadInput("--record keeps whole runs: leave out --quick")
    try:
        made = measure_mpi(source) if isinstance(source, Settings) else source
    except WorkerError as error:
        say("mpi", f"our own ranks failed: {error}")
        return 1
    path = out / file_name(made)
    path.write_text(text(made), encoding="utf-8")
    result = read(path, "mpi", SCHEMA)  # the six digits that are kept, not those that are lost
    if options.record:
        write_document()
    from course_lib.bench.mpi_docs import report

    print(text(result) if options.json else report(result))
    for line in failures(result):
        say("mpi", line)
    say("mpi", f"{path.name} is in {out}")
    return 1 if failures(result) else 0


def file_name(result: dict[str, Any]) -> str:
    """One file for each machine: mpi-amd-epyc-2-cores.json."""
    from course_lib.bench.report import machine_name

    return f"mpi-{slug(machine_name(result))}.json"


def text(result: dict[str, Any]) -> str:
    """The result as it is kept, its targets judged."""
    from course_lib.bench.mpi_targets import targets

    return files.text(result, targets)


def recorded() -> list[dict[str, Any]]:
    """All results of `bench mpi` in benchmarks/results, by file name."""
    return files.recorded("mpi", SCHEMA)


def write_document() -> None:
    """docs/bench-mpi.md, its blocks made anew from all recorded results."""
    from course_lib.bench.mpi_docs import blocks

    files.rewrite(DOCUMENT, blocks(recorded()), {})


def _settings(options: argparse.Namespace) -> Settings:
    python = interpreter("--torch-python", options.torch_python)
    warn_if_busy("mpi")
    return Settings(torch_python=python, **(QUICK if options.quick else {}))
