"""The command line of a bench: options, what is written where, and in which form it is printed."""

import argparse
import os
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.frame.bench import Basics, Result
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


class Command:
    """The command line of a Bench; of what has the Basics alone, if it has its own ways of all from `renews` on."""

    def __init__(self, bench: Any):
        self.bench = bench

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The options of a bench: its own, then those of all."""
        bench = self.bench
        parser.description = bench.about
        flag, words = bench.python
        for name, how in bench.options.items():
            parser.add_argument(name, **how)
        parser.add_argument(flag, dest="python", metavar="PATH", help=words)
        parser.add_argument("--quick", action="store_true", help=bench.help)
        documents = " and ".join(map(str, bench.documents or (bench.document,)))
        for flags, how in SHARED.items():
            text = how["help"].format(name=bench.name, document=documents)
            parser.add_argument(*flags, **{**how, "help": text})

    def run(self, options: argparse.Namespace) -> int:
        """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
        bench = self.bench
        result = read(options.reuse, bench.name) if options.reuse else None
        settings = None if result and not self.renews(options) else settings_of(bench, options)
        # before the measuring: nobody waits ten minutes for a folder that cannot be made
        out = folder(bench.name, options.record, options.out, bench.document)
        quick = (result and self.is_quick(result)) or (settings and settings.quick)
        if options.record and quick:
            raise BadInput("--record keeps whole runs: leave out --quick")
        try:
            if settings or not result:
                warn_if_busy(bench.name)
                result = self.measure(settings, result)
        except WorkerError as error:
            say(bench.name, f"our own part failed: {error}")
            return 1
        path = out / f"{bench.stem(result)}.json"
        path.write_text(self.text(result), encoding="utf-8")
        return self._show(options, path)

    def _show(self, options: argparse.Namespace, path: Path) -> int:
        """Figures, document, what is printed, from the six digits that are kept; what failed."""
        result = read(path, self.bench.name)
        for name, figure in self.bench.figures(result).items():
            figure.save(path.parent / name)
        if options.record:
            self.write_documents()
        print(self.text(result) if options.json else self.report(result))
        failed = failures(result)
        for line in [*failed, f"{path.name} is in {path.parent}"]:
            say(self.bench.name, line)
        return 1 if failed else 0

    def renews(self, options: argparse.Namespace) -> bool:
        """Is something measured beside what --reuse gives?"""
        return False

    def is_quick(self, result: Result) -> bool:
        """Is it a glance, which is not recorded?"""
        return result["settings"]["quick"]

    def measure(self, settings: Any, known: Result | None) -> Result:
        """The run; known: what --reuse gives."""
        return measure(self.bench, settings)

    def text(self, result: Result) -> str:
        """The JSON."""
        return text(self.bench, result)

    def report(self, result: Result) -> str:
        """For the terminal."""
        return report(self.bench, result)

    def write_documents(self) -> None:
        """The documents of the clone anew."""
        write_document(self.bench)


def settings_of(bench: Basics, options: argparse.Namespace) -> Any:
    """The bench's settings. Raises BadInput."""
    python = interpreter(bench.python[0], options.python)
    wanted = {**(bench.quick if options.quick else {}), **bench.chosen(options)}
    return bench.settings(python=python, quick=options.quick, **wanted)


def interpreter(option: str, python: str | None) -> str | None:
    """The program that an option names, or None where it is not given. Raises BadInput."""
    if python is not None and not (os.path.isfile(python) and os.access(python, os.X_OK)):
        raise BadInput(f"{option} must be a Python interpreter; {python!r} is no program")
    return python
