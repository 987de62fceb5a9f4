"""The command line of a bench: options, what is written where, and in which form it is printed."""

import argparse
import os
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.frame.bench import Bench
from course_tools.bench.frame.conditions import say, warn_if_busy
from course_tools.bench.frame.document import report, write_document
from course_tools.bench.frame.measure import failures, measure
from course_tools.bench.frame.processes import WorkerError
from course_tools.bench.frame.results import RESULTS, folder, read, text

# fmt: off
SHARED: dict[tuple[str, ...], dict[str, Any]] = {
    ("--json",): {"action": "store_true", "help": "print the JSON instead of the tables"},
    ("--out",): {"type": Path, "metavar": "FOLDER", "help": "where the JSON and the figures go (default: "
                 "benchmarks/results/own in a clone, else bench-{name})"},
    ("--record", "--docs"): {"action": "store_true", "help": f"write to {RESULTS} and rewrite the made blocks of "
                             "{document}"},
    ("--reuse",): {"type": Path, "metavar": "FILE", "help": "measure nothing: make tables, figures and document from "
                   "this JSON"},
}
# fmt: on


def add_arguments(bench: Bench, parser: argparse.ArgumentParser) -> None:
    """The options of a bench: its own, then those of all."""
    parser.description = bench.about
    flag, words = bench.python
    for name, how in bench.options.items():
        parser.add_argument(name, **how)
    parser.add_argument(flag, dest="python", metavar="PATH", help=words)
    parser.add_argument("--quick", action="store_true", help=bench.help)
    for flags, how in SHARED.items():
        text = how["help"].format(name=bench.name, document=bench.document)
        parser.add_argument(*flags, **{**how, "help": text})


def settings_of(bench: Bench, options: argparse.Namespace) -> Any:
    """The bench's settings. Raises BadInput."""
    python = interpreter(bench.python[0], options.python)
    wanted = {**(bench.quick if options.quick else {}), **bench.chosen(options)}
    return bench.settings(python=python, quick=options.quick, **wanted)


def command(bench: Bench, options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
    known = read(options.reuse, bench.name) if options.reuse else None
    settings = None if known else settings_of(bench, options)
    quick = known["settings"]["quick"] if known else options.quick
    # before the measuring: nobody waits ten minutes for a folder that cannot be made
    out = folder(bench.name, options.record, options.out, bench.document)
    if options.record and quick:
        raise BadInput("--record keeps whole runs: leave out --quick")
    try:
        if not known:
            warn_if_busy(bench.name)
        made = known or measure(bench, settings)
    except WorkerError as error:
        say(bench.name, f"our own part failed: {error}")
        return 1
    path = out / f"{bench.stem(made)}.json"
    path.write_text(text(bench, made), encoding="utf-8")
    return _show(bench, options, path)


def _show(bench: Bench, options: argparse.Namespace, path: Path) -> int:
    """Figures, document, what is printed, from the six digits that are kept; what failed."""
    result = read(path, bench.name)
    for name, figure in bench.figures(result).items():
        figure.save(path.parent / name)
    if options.record:
        write_document(bench)
    print(text(bench, result) if options.json else report(bench, result))
    failed = failures(result)
    for line in [*failed, f"{path.name} is in {path.parent}"]:
        say(bench.name, line)
    return 1 if failed else 0


def interpreter(option: str, python: str | None) -> str | None:
    """The program that an option names, or None where it is not given. Raises BadInput."""
    if python is not None and not (os.path.isfile(python) and os.access(python, os.X_OK)):
        raise BadInput(f"{option} must be a Python interpreter; {python!r} is no program")
    return python
