"""What a bench is: everything in which one differs from another."""

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_tools.bench.frame.progress import Progress
from course_tools.bench.frame.tables import Table
from course_tools.bench.frame.targets import Target

Result = dict[str, Any]  # what stands in the JSON
Part = Any  # of a section: a Table, a text, or {file name: Figure}
SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Basics:
    """What the command line needs of a bench: `course bench NAME`, benchmarks/results/STEM.json.

    about: for --help. settings: a dataclass with `quick` and `python`, another Python with the peers. quick: what
    --quick changes in it, and help: what that is. python: (flag, help) of the option for the other Python.
    options: {flag: arguments of add_argument} of its own; chosen: the settings that they make.
    stem: the file's name. figures: {file name: Figure}, saved beside the JSON.
    documents: where it is shown, if that is not docs/bench-NAME.md.
    """

    name: str
    about: str
    settings: Callable[..., Any]
    quick: Mapping[str, Any]
    help: str
    python: tuple[str, str]
    stem: Callable[[Result], str]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chosen: Callable[[Namespace], dict[str, Any]] = lambda options: {}
    figures: Callable[[Result], dict[str, Any]] = lambda result: {}
    documents: tuple[Path, ...] = ()

    @property
    def document(self) -> Path:
        """Where it is shown."""
        return self.documents[0] if self.documents else Path(f"docs/bench-{self.name}.md")


@dataclass(frozen=True, kw_only=True)
class Bench(Basics):
    """A bench that is one run, shown in docs/bench-NAME.md.

    measure: (settings, progress) -> parts of the JSON; its "settings" join those of the frame.
    how: how it was measured, in words. notes: lines on noise for the head; before: lines between machine and versions.
    sections: {block of the document: its parts}, in the order of the report. targets: what was wanted, judged.
    title: who the document shows it under, "" where there is one result alone.
    """

    measure: Callable[[Any, Progress], Result]
    how: Callable[[Result], str]
    notes: Callable[[Result], list[str]]
    sections: Mapping[str, Callable[[Result], Iterable[Part]]]
    targets: Callable[[Result], Iterable[Target]]
    title: Callable[[Result], str]
    before: Callable[[Result], list[str]] = lambda result: []

    def target_table(self, result: Result) -> Table:
        """Each target with what was found, the ends of the quartile ranges, and the verdict."""
        header = ("target", "where", "wanted", "found", "range", "")
        return Table("Targets", header, [target.row() for target in self.targets(result)])
