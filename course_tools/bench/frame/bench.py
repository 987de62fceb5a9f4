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


@dataclass(frozen=True)
class Bench:
    """A bench: `course bench NAME`, docs/bench-NAME.md, benchmarks/results/STEM.json.

    about: for --help. settings: a dataclass with `quick` and `python`, another Python with the peers. quick: what
    --quick changes in it, and help: what that is. python: (flag, help) of the option for the other Python.
    options: {flag: arguments of add_argument} of its own; chosen: the settings that they make.
    measure: (settings, progress) -> parts of the JSON; its "settings" join those of the frame.
    how: how it was measured, in words. notes: lines on noise for the head; before: lines between machine and versions.
    sections: {block of the document: its parts}, in the order of the report. targets: what was wanted, judged.
    stem: the file's name. title: who the document shows it under, "" where there is one result alone.
    figures: {file name: Figure}, saved beside the JSON.
    """

    name: str
    about: str
    settings: Callable[..., Any]
    quick: Mapping[str, Any]
    help: str
    python: tuple[str, str]
    measure: Callable[[Any, Progress], Result]
    how: Callable[[Result], str]
    notes: Callable[[Result], list[str]]
    sections: Mapping[str, Callable[[Result], Iterable[Part]]]
    targets: Callable[[Result], Iterable[Target]]
    stem: Callable[[Result], str]
    title: Callable[[Result], str]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chosen: Callable[[Namespace], dict[str, Any]] = lambda options: {}
    before: Callable[[Result], list[str]] = lambda result: []
    figures: Callable[[Result], dict[str, Any]] = lambda result: {}

    @property
    def document(self) -> Path:
        return Path(f"docs/bench-{self.name}.md")

    def target_table(self, result: Result) -> Table:
        """Each target with what was found, the ends of the quartile ranges, and the verdict."""
        header = ("target", "where", "wanted", "found", "range", "")
        return Table("Targets", header, [target.row() for target in self.targets(result)])
