"""What a bench is, everything in which one differs from another, and its command line."""

import argparse
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_lib.measure import machine
from course_tools.bench.frame import document, results
from course_tools.bench.frame.document import load, say
from course_tools.bench.frame.processes import WorkerError
from course_tools.bench.frame.rounds import Progress
from course_tools.bench.frame.tables import Result, Table
from course_tools.bench.frame.targets import Target

BUSY = 0.3  # of a core: above that, somebody else is at work
# fmt: off
SHARED: dict[tuple[str, ...], dict[str, Any]] = {
    ("--json",): {"action": "store_true", "help": "print the JSON instead of the tables"},
    ("--out",): {"type": Path, "metavar": "FOLDER", "help": "where the JSON and the figures go (default: "
                 "benchmarks/results/own in a clone, else bench-{name})"},
    ("--record", "--docs"): {"action": "store_true", "help": f"write to {results.RESULTS} and rewrite the made "
                             "blocks of {documents}"},
    ("--reuse",): {"type": Path, "metavar": "FILE", "help": "measure nothing: make tables, figures and document from "
                   "this JSON"},
}
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Bench:
    """`course bench NAME`: a run, its JSON benchmarks/results/STEM.json, its document docs/bench-NAME.md.

    about: for --help. settings: a dataclass with `quick` and `python`, another Python with the peers. quick: what
    --quick changes in it, and help: what that is. python: (flag, help) of the option for the other Python.
    options: {flag: arguments of add_argument} of its own; chosen: the settings that they make.
    measure: (settings, progress) -> parts of the JSON; its "settings" join those of the frame.
    how: how it was measured, in words. notes: lines on noise for the head; before: lines between machine and versions.
    sections: {block of the document: its parts}, in the order of the report. targets: what was wanted, judged.
    title: who the document shows it under, "" where there is one result alone. figures: {file name: Figure}.
    """

    name: str
    about: str
    settings: Callable[..., Any]
    quick: Mapping[str, Any]
    help: str
    python: tuple[str, str]
    stem: Callable[[Result], str]
    measure: Callable[[Any, Progress], Result]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chosen: Callable[[argparse.Namespace], dict[str, Any]] = lambda options: {}
    figures: Callable[[Result], dict[str, Any]] = lambda result: {}
    how: Callable[[Result], str] = lambda result: ""
    notes: Callable[[Result], list[str]] = lambda result: []
    before: Callable[[Result], list[str]] = lambda result: []
    sections: Mapping[str, Callable[[Result], Any]] = field(default_factory=dict)
    targets: Callable[[Result], Iterable[Target]] = lambda result: ()
    title: Callable[[Result], str] = lambda result: ""

    @property
    def documents(self) -> tuple[Path, ...]:
        """Where it is shown."""
        return (Path(f"docs/bench-{self.name}.md"),)

    def target_table(self, result: Result) -> Table:
        """Each target with what was found, the ends of the quartile ranges, and the verdict."""
        header = ("target", "where", "wanted", "found", "range", "")
        return Table("Targets", header, [target.row() for target in self.targets(result)])

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The options of a bench: its own, then those of all."""
        parser.description = self.about
        for name, how in self.options.items():
            parser.add_argument(name, **how)
        parser.add_argument(self.python[0], dest="python", metavar="PATH", help=self.python[1])
        parser.add_argument("--quick", action="store_true", help=self.help)
        documents = " and ".join(map(str, self.documents))
        for flags, how in SHARED.items():
            text = how["help"].format(name=self.name, documents=documents)
            parser.add_argument(*flags, **{**how, "help": text})

    def run(self, options: argparse.Namespace) -> int:
        """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
        result = results.read(options.reuse, self.name) if options.reuse else None
        settings = None if result and not self.renews(options) else self._settings(options)
        # before the measuring: nobody waits ten minutes for a folder that cannot be made
        out = results.folder(self.name, options.record, options.out, self.documents[0])
        quick = (result and self.is_quick(result)) or (settings and settings.quick)
        if options.record and quick:
            raise BadInput("--record keeps whole runs: leave out --quick")
        try:
            if settings or not result:
                self._warn_if_busy()
                result = self.measured(settings, result)
        except WorkerError as error:
            say(self.name, f"our own part failed: {error}")
            return 1
        path = out / f"{self.stem(result)}.json"
        path.write_text(self.text(result), encoding="utf-8")
        return self._show(options, path)

    def _show(self, options: argparse.Namespace, path: Path) -> int:
        """Figures, document, what is printed, from the six digits that are kept; what failed."""
        result = results.read(path, self.name)
        for name, figure in self.figures(result).items():
            figure.save(path.parent / name)
        if options.record:
            self.write_documents()
        print(self.text(result) if options.json else self.report(result))
        failed = results.failures(result)
        for line in [*failed, f"{path.name} is in {path.parent}"]:
            say(self.name, line)
        return 1 if failed else 0

    def _settings(self, options: argparse.Namespace) -> Any:
        python = options.python
        if python is not None and not (os.path.isfile(python) and os.access(python, os.X_OK)):
            words = f"must be a Python interpreter; {python!r} is no program"
            raise BadInput(f"{self.python[0]} {words}")
        wanted = {**(self.quick if options.quick else {}), **self.chosen(options)}
        return self.settings(python=python, quick=options.quick, **wanted)

    def _warn_if_busy(self) -> None:
        busy = load()
        if busy is not None and busy > BUSY:
            words = "other programs are at work, and these times will show it"
            say(self.name, f"warning: the load average is {busy:g}: {words}")

    def renews(self, options: argparse.Namespace) -> bool:
        """Is something measured beside what --reuse gives?"""
        return False

    def is_quick(self, result: Result) -> bool:
        """Is it a glance, which is not recorded?"""
        return result["settings"]["quick"]

    def measured(self, settings: Any, known: Result | None = None) -> Result:
        """The run, as the JSON has it. Raises WorkerError or BadInput where our own part does not start.

        Tables and targets are made from this dict alone. known: what --reuse gives.
        """
        with Progress(f"course bench {self.name}") as progress:
            found, spent = clocked(lambda: self.measure(settings, progress))
        shown = asdict(settings)
        del shown["python"]  # a path of this machine is nobody's business
        return {
            "schema": results.SCHEMA,
            "benchmark": self.name,
            "when": spent.pop("when"),
            "settings": shown | found.pop("settings", {}),
            "machine": asdict(machine()),
            **spent,
            **found,
        }

    def text(self, result: Result) -> str:
        """The JSON; the targets are judged by the digits that are kept."""
        kept = results.rounded(result)
        targets = [{**target._asdict(), "met": target.met} for target in self.targets(kept)]
        return results.dump({**kept, "targets": targets})

    def report(self, result: Result) -> str:
        """For the terminal."""
        return document.report(self, result)

    def write_documents(self) -> None:
        """The documents of the clone anew, from all recorded results."""
        makers = document.blocks(self, results.recorded(self.name))
        document.rewrite(self.documents[0], makers)


def clocked(measure: Callable[[], Result]) -> tuple[Result, Result]:
    """(what it found, {"when", "seconds", "load"}: when that was, how long it took, how busy the machine was)."""
    began, before = time.monotonic(), load()
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    found = measure()
    seconds = round(time.monotonic() - began, 1)
    return found, {"when": when, "seconds": seconds, "load": {"before": before, "after": load()}}
