"""chapters/NN-topic/{lecture,exercise}.md to a small model of cells. Every rule of the format is checked here."""

import ast
import io
import re
import textwrap
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = ("lecture", "exercise")
ID = re.compile(
    r"[a-z0-9]+(-[a-z0-9]+)*"
)  # a name becomes the id of a cell: kebab-case, at most 60 characters
CHAPTER = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")
TAGS = ("task", "check", "nbval-ignore-output", "raises-exception", "hide-input", "hide-output")
TASK_KEYS = ("points", "difficulty", "minutes", "lines", "hints", "mutants")
CELL_KEYS = ("name", "tags", "checks", "jupyter", "slideshow")
HINTS, MUTANTS = 3, 5


class SourceError(BadInput):
    """A chapter's source breaks a rule of the format; `problems` has one line for each place."""

    def __init__(self, problems):
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Mutant:
    """A planted wrong answer, and the words that its failure message must hold (`expect`)."""

    name: str
    expect: str
    replace: str | None = None
    with_: str = ""
    body: str | None = None

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

    @property
    def tasks(self):
        """The task cells in order."""
        return [cell for cell in self.cells if cell.task]

    def check_of(self, task):
        """The check cell of a task cell."""
        return next(cell for cell in self.cells if cell.checks == task.name)


def count(number, noun):
    """2 lines, 1 line."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def read(path):
    """Parse one source file; raise `SourceError` with every broken rule, each as file:line: what to do."""
    return parse(Path(path), Path(path).read_text(encoding="utf-8"))


def parse(path, text):
    """As `read`, from text. The chapter and the kind come from the path."""
    from jupytext import reads

    try:
        notebook = reads(text, fmt="md:myst")
    except Exception as error:
        raise SourceError([f"{path}: Jupytext cannot read it: {error}"]) from error
    return _Reader(path, text, notebook).source()


def split(source):
    """Cut a task's source at its markers into a `Region`; raise ValueError if they are not one well-formed pair."""
    lines = source.split("\n")
    begins = [i for i, line in enumerate(lines) if line.strip() == BEGIN]
    ends = [i for i, line in enumerate(lines) if line.strip() == END]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise ValueError(
            f"it needs one line {BEGIN!r} and one {END!r} after it, not {len(begins)} and {len(ends)}"
        )
    first, last = begins[0], ends[0]
    region = textwrap.dedent("\n".join(lines[first + 1 : last])).strip("\n")
    if not region.strip():
        raise ValueError("its solution region is empty")
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    inside = {row not in _comment_rows(source) for row in (first, last)}
    if len(inside) == 2:
        raise ValueError("one of its markers stands inside a string, the other one outside")
    return Region(
        "\n".join(lines[:first]), indent, region, "\n".join(lines[last + 1 :]), inside.pop()
    )


def _comment_rows(source):
    """The rows (from 0) that hold a comment of Python's: a marker in any other row stands inside a string."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    try:
        return {token.start[0] - 1 for token in tokens if token.type == tokenize.COMMENT}
    except (tokenize.TokenError, SyntaxError):  # not Python: told elsewhere
        return set(range(source.count("\n") + 1))


def find(root, wanted=()):
    """The source files of a clone, sorted; `wanted`: chapters by number or name ("01"), all if empty."""
    folders = sorted(
        p for p in (Path(root) / "chapters").glob("*") if p.is_dir() and not p.name.startswith(".")
    )
    wrong = [p.name for p in folders if not CHAPTER.fullmatch(p.name)]
    if wrong:
        raise BadInput(
            f"chapters/{wrong[0]}: a chapter's folder is named NN-topic in lower case, such as 03-threads"
        )
    chosen = [p for p in folders if not wanted or any(w in (p.name, p.name[:2]) for w in wanted)]
    for w in wanted:
        if not any(w in (p.name, p.name[:2]) for p in chosen):
            raise BadInput(
                f"no chapter {w!r}: there is {', '.join(p.name for p in folders) or 'none in chapters/'}"
            )
    return [p / f"{kind}.md" for p in chosen for kind in KINDS if (p / f"{kind}.md").is_file()]


class _Reader:
    """Collects all problems of one file, so that an author mends them in one go."""

    def __init__(self, path, text, notebook):
        self.path, self.text, self.notebook = path, text, notebook
        self.kind, self.chapter = path.stem, path.parent.name
        self.problems = []
        self.lines = self._lines()

    def source(self):
        header = self._header()
        cells = self._named([self._cell(i, cell) for i, cell in enumerate(self.notebook.cells)])
        self._check_names(cells)
        self._check_tasks(cells)
        if self.problems:
            raise SourceError(self.problems)
        return Source(
            self.path,
            self.chapter,
            self.kind,
            header["title"],
            header["minutes"],
            self.text,
            tuple(cells),
        )

    def problem(self, line, text):
        self.problems.append(f"{self.path}:{line}: {text}")

    def _lines(self):
        """The line of each cell: of its fence for code; of the code cell after it (or the end) for text."""
        rows = self.text.split("\n")
        fences = [i for i, row in enumerate(rows, 1) if re.match(r"(```+|~~~+)\{code-cell\}", row)]
        lines, seen = [], 0
        for cell in self.notebook.cells:
            lines.append(fences[seen] if seen < len(fences) else len(rows))
            seen += cell.cell_type == "code"
        return lines

    def _header(self):
        course = self.notebook.metadata.get("course")
        course = course if isinstance(course, dict) else {}
        if self.kind not in KINDS:
            self.problem(1, "a source file is named lecture.md or exercise.md")
        if not isinstance(course.get("title"), str) or not course.get("title", "").strip():
            self.problem(1, "the header needs `course: {title: ..., minutes: ...}` with a title")
        self._whole(1, "the header's course minutes", course.get("minutes"), 1, 300)
        if self.notebook.metadata.get("kernelspec", {}).get("name") != "python3":
            self.problem(1, "the header needs the kernelspec python3")
        return {"title": course.get("title"), "minutes": course.get("minutes")}

    def _whole(self, line, what, value, low, high):
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.problem(line, f"{what} must be a whole number from {low} to {high}, not {value!r}")

    def _cell(self, index, cell):
        line, meta = self.lines[index], dict(cell.metadata)
        name, tags = meta.get("name"), meta.get("tags", [])
        if cell.cell_type == "code" and not name:
            self.problem(
                line, "this code cell has no name: add a line `:name: what-it-does` under the fence"
            )
        if name is not None and not (
            isinstance(name, str) and ID.fullmatch(name) and len(name) <= 60
        ):
            self.problem(
                line, f"the name {name!r} must be kebab-case (a-z, 0-9, -), at most 60 characters"
            )
        if not isinstance(tags, list) or any(tag not in TAGS for tag in tags):
            self.problem(
                line, f"{name}: tags must be a list of some of {', '.join(TAGS)}, not {tags!r}"
            )
            tags = []
        if cell.cell_type == "code":
            self._check_code(line, name, cell.source)
        self._check_keys(line, name, meta, tags)
        task = self._task(line, name, meta, cell.source) if "task" in tags else None
        checks = meta.get("checks") if "check" in tags else None
        extra = {key: meta[key] for key in ("jupyter", "slideshow") if key in meta}
        return Cell(
            cell.cell_type, str(name or ""), cell.source, line, tuple(tags), task, checks, extra
        )

    def _check_code(self, line, name, source):
        if not source.strip():
            self.problem(line, f"{name}: an empty code cell")
        if "NBVAL_" in source:
            self.problem(
                line, f"{name}: say it with a tag (nbval-ignore-output), not with an NBVAL_ comment"
            )
        if any(
            row.lstrip().startswith(("%", "!", "?")) or row.rstrip().endswith("?")
            for row in source.split("\n")
        ):
            return  # IPython's own syntax
        try:
            ast.parse(source)
        except SyntaxError as error:
            self.problem(
                line, f"{name}: line {error.lineno} of the cell is not Python: {error.msg}"
            )

    def _check_keys(self, line, name, meta, tags):
        allowed = CELL_KEYS + (TASK_KEYS if "task" in tags else ())
        for key in meta:
            if key in TASK_KEYS and key not in allowed:
                self.problem(line, f"{name}: {key} belongs to a task: add the tag task")
            elif key not in allowed:
                self.problem(line, f"{name}: unknown key {key!r}; known are {', '.join(allowed)}")
        if ("check" in tags) != ("checks" in meta):
            self.problem(
                line,
                f"{name}: a check cell has the tag check and the key `checks: name-of-the-task`",
            )
        if BEGIN in str(meta):
            self.problem(line, f"{name}: a solution marker in the header")

    def _task(self, line, name, meta, source):
        for key, high in (("points", 100), ("difficulty", 3), ("minutes", 120), ("lines", 60)):
            self._whole(line, f"{name}: {key}", meta.get(key), 1, high)
        hints = meta.get("hints", [])
        texts = isinstance(hints, list) and [h for h in hints if isinstance(h, str) and h.strip()]
        if not texts or len(texts) != HINTS or len(hints) != HINTS:
            self.problem(
                line,
                f"{name}: hints must be a list of {HINTS} texts: a nudge, the idea, nearly the code",
            )
            hints = []
        try:
            region = split(source)
        except ValueError as error:
            self.problem(line, f"{name}: {error}")
            region = None
        mutants = self._mutants(line, name, meta.get("mutants", []), region)
        numbers = {key: meta.get(key) for key in ("points", "difficulty", "minutes", "lines")}
        in_string = region is not None and region.in_string
        if in_string and not re.match(r"\w+ *= *\w*('''|\"\"\")", source):
            self.problem(
                line,
                f'{name}: NAME = r""" must open in the first line of the cell: the checks count '
                "lines from there",
            )
        hints = tuple(h.strip() for h in hints)
        return Task(name=str(name), hints=hints, mutants=mutants, in_string=in_string, **numbers)

    def _mutants(self, line, name, given, region):
        if (
            not isinstance(given, list)
            or len(given) < MUTANTS
            or not all(isinstance(m, dict) for m in given)
        ):
            self.problem(
                line, f"{name}: needs a list of at least {MUTANTS} mutants (planted wrong answers)"
            )
            given = [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []
        mutants = tuple(self._mutant(line, name, m, region) for m in given)
        names = [m.name for m in mutants]
        for twice in sorted({n for n in names if names.count(n) > 1}):
            self.problem(line, f"{name}: two mutants are named {twice!r}")
        return mutants

    def _mutant(self, line, name, given, region):
        what = f"{name}: mutant {given.get('name')!r}"
        texts = {key: given.get(key) for key in ("name", "expect", "replace", "with", "body")}
        unknown = sorted(set(given) - set(texts))
        if unknown or any(v is not None and not isinstance(v, str) for v in texts.values()):
            self.problem(
                line,
                f"{what}: keys are name, expect, and replace with `with`, or body; all of them texts",
            )
            return Mutant("", "")
        if not texts["name"] or not ID.fullmatch(texts["name"]):
            self.problem(line, f"{what}: its name must be kebab-case")
        if not (texts["expect"] or "").strip():
            self.problem(line, f"{what}: no `expect`: which words must its failure message hold?")
        replace, with_, body = texts["replace"], texts["with"], texts["body"]
        if (body is None) == (replace is None) or (replace is None) != (with_ is None):
            self.problem(line, f"{what}: needs either replace and with, or body")
            return Mutant("", "")
        mutant = Mutant(texts["name"] or "", texts["expect"] or "", replace, with_ or "", body)
        self._check_mutant(line, what, mutant, region)
        return mutant

    def _check_mutant(self, line, what, mutant, region):
        if region is None:
            return
        found = 1 if mutant.body is not None else region.text.count(mutant.replace)
        if found != 1:
            self.problem(
                line,
                f"{what}: {mutant.replace!r} occurs {count(found, 'time')} in the solution, not once",
            )
            return
        try:
            ast.parse(region.filled(mutant.apply(region.text)))
        except SyntaxError as error:
            self.problem(
                line, f"{what}: the cell with it is not Python: {error.msg}, line {error.lineno}"
            )
        if mutant.body is None and mutant.apply(region.text) == region.text:
            self.problem(line, f"{what}: it changes nothing")

    def _named(self, cells):
        """Give the unnamed text cells their names: <next code cell>-text, and end-text after the last."""
        named = []
        for i, cell in enumerate(cells):
            if cell.kind == "code" or cell.name:
                named.append(cell)
                continue
            after = next((c for c in cells[i + 1 :] if c.kind == "code"), None)
            name = f"{after.name}-text" if after else "end-text"
            named.append(
                Cell("markdown", name, cell.source, cell.line, cell.tags, extra=cell.extra)
            )
        return named

    def _check_names(self, cells):
        seen: dict = {}
        for cell in cells:
            if cell.name in seen and cell.name and cell.kind == "markdown":
                self.problem(
                    cell.line,
                    f'two text cells named {cell.name!r}: name one, +++ {{"name": "..."}}',
                )
            elif cell.name in seen and cell.name:
                self.problem(
                    cell.line,
                    f"the name {cell.name!r} is taken by the cell at line {seen[cell.name]}",
                )
            seen.setdefault(cell.name, cell.line)

    def _check_tasks(self, cells):
        code = [cell for cell in cells if cell.kind == "code"]
        for cell, after in zip(code, [*code[1:], None], strict=True):
            if cell.task and (after is None or after.checks != cell.name):
                self.problem(
                    cell.line,
                    f"{cell.name}: the next code cell must be its check: `checks: {cell.name}`",
                )
            if cell.task and f"{cell.name}-hints" in {c.name for c in cells}:
                self.problem(
                    cell.line, f"{cell.name}: the name {cell.name}-hints is kept for its hints"
                )
            if cell.task is None and (BEGIN in cell.source or END in cell.source):
                self.problem(
                    cell.line, f"{cell.name}: solution markers in a cell without the tag task"
                )
        self._check_checks(code)
        if self.kind == "lecture" and any(c.task or c.checks for c in code):
            self.problem(1, "tasks and checks belong in exercise.md")
        if self.kind == "exercise" and not any(c.task for c in code):
            self.problem(1, "an exercise needs at least one task")

    def _check_checks(self, code):
        tasks = {cell.name for cell in code if cell.task}
        checked = [cell.checks for cell in code if cell.checks]
        for cell in code:
            if cell.checks and cell.checks not in tasks:
                self.problem(cell.line, f"{cell.name}: there is no task {cell.checks!r} to check")
            if cell.checks and cell.name != f"{cell.checks}-check":
                self.problem(
                    cell.line,
                    f"{cell.name}: the check of {cell.checks} is named {cell.checks}-check",
                )
        for name in sorted({n for n in checked if checked.count(n) > 1}):
            self.problem(1, f"{name}: two check cells")
