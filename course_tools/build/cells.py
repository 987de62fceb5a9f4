"""What a source file holds: cells, tasks with their planted wrong answers, and a task's solution region."""

import io
import textwrap
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from course_tools.text import count

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True)
class Mutant:
    """A planted wrong answer, and the words that its failure message must hold (`expect`).

    says: the cause in full, which the check prints where an answer does the same; "": the check knows it otherwise.
    """

    name: str
    expect: str
    replace: str | None = None
    with_: str = ""
    body: str | None = None
    says: str = ""

    def apply(self, region):
        """The solution region (dedented text) with this mistake in it."""
        return self.body if self.body is not None else region.replace(self.replace, self.with_)


@dataclass(frozen=True)
class Task:
    """What the header of a task cell declares."""

    name: str
    points: int
    difficulty: int
    minutes: int
    lines: int
    hints: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    in_string: bool = False  # the region stands inside a string: CUDA C

    @property
    def blank(self):
        """What stands in the place of the solution in the student's notebook: Python, or CUDA C."""
        effort = f"about {count(self.lines, 'line')}, {count(self.minutes, 'minute')}"
        said = f'"write {self.name}: {effort}"'
        return f"#error {said}" if self.in_string else f"raise NotImplementedError({said})"


@dataclass(frozen=True)
class Cell:
    """One cell. kind: "code" or "markdown"; line: where it begins in the source; checks: the task that it checks."""

    kind: str
    name: str
    source: str
    line: int
    tags: tuple[str, ...] = ()
    task: Task | None = None
    checks: str | None = None
    deep: bool = False  # it belongs to a section that comes folded
    folds: bool = False  # it begins one
    guess: bool = True  # where it takes a guess, the notebook opens without the author's
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Region:
    """A task cell cut at its markers; `text` is the solution, dedented by `indent`. in_string: the markers stand so."""

    before: str
    indent: str
    text: str
    after: str
    in_string: bool = False

    def filled(self, text):
        """The cell's source with `text` in the place of the solution, without markers."""
        body = textwrap.indent(textwrap.dedent(text).strip("\n"), self.indent)
        return "\n".join(part for part in (self.before, body, self.after) if part)


@dataclass(frozen=True)
class Source:
    """A checked source file. chapter: the folder's name, "01-serial-backprop"; text: with "\\n" line ends."""

    path: Path
    chapter: str
    kind: str
    title: str
    minutes: int
    text: str
    cells: tuple[Cell, ...]
    able: str = ""  # what a reader will be able to do

    @property
    def tasks(self):
        """The task cells in order."""
        return [cell for cell in self.cells if cell.task]

    def check_of(self, task):
        """The check cell of a task cell."""
        return next(cell for cell in self.cells if cell.checks == task.name)


def split(source):
    """Cut a task's source at its markers into a `Region`; raise ValueError if they are not one well-formed pair."""
    lines = source.split("\n")
    begins = [i for i, line in enumerate(lines) if line.strip() == BEGIN]
    ends = [i for i, line in enumerate(lines) if line.strip() == END]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        found = f"{len(begins)} and {len(ends)}"
        raise ValueError(f"it needs one line {BEGIN!r} and one {END!r} after it, not {found}")
    first, last = begins[0], ends[0]
    region = textwrap.dedent("\n".join(lines[first + 1 : last])).strip("\n")
    if not region.strip():
        raise ValueError("its solution region is empty")
    inside = {row not in _comment_rows(source) for row in (first, last)}
    if len(inside) == 2:
        raise ValueError("one of its markers stands inside a string, the other one outside")
    before, after = "\n".join(lines[:first]), "\n".join(lines[last + 1 :])
    indent = lines[first].partition(BEGIN)[0]
    return Region(before, indent, region, after, inside.pop())


def _comment_rows(source):
    """The rows (from 0) that hold a comment of Python's: a marker in any other row stands inside a string."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    try:
        return {token.start[0] - 1 for token in tokens if token.type == tokenize.COMMENT}
    except (tokenize.TokenError, SyntaxError):  # not Python: told elsewhere
        return set(range(source.count("\n") + 1))
