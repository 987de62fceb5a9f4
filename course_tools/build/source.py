"""chapters/NN-topic/{lecture,exercise}.md to a small model of cells (cells.py), once it keeps every rule (rules.py)."""

import functools
import re
from dataclasses import replace
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import deeper
from course_tools.build.cells import Cell, Region, Source, Task, split
from course_tools.build.papers import named
from course_tools.build.rules import ID, KINDS, NUMBERS, breaches, mutant_of
from course_tools.text import count

__all__ = ["ID", "KINDS", "BadInput", "Cell", "Region", "Source", "SourceError", "count", "find"]
__all__ += ["parse", "read", "split"]

CHAPTER = re.compile(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*")


class SourceError(BadInput):
    """A chapter's source breaks a rule of the format; `problems` has one line for each place."""

    def __init__(self, problems):
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def read(path):
    """Parse one source file; raise `SourceError` with every broken rule, each as file:line: what to do."""
    return parse(Path(path), Path(path).read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=64)  # a `Source` never changes, and the same text is often read again
def parse(path, text):
    """As `read`, from text. The chapter and the kind come from the path."""
    from jupytext import reads

    try:
        notebook = reads(named(text), fmt="md:myst")
    except Exception as error:
        raise SourceError([f"{path}: Jupytext cannot read it: {error}"]) from error
    cells = deeper.marked(_cells(text, notebook))
    problems = [
        f"{path}:{line}: {say}" for line, say in breaches(path.stem, notebook.metadata, cells)
    ]
    if problems:
        raise SourceError(problems)
    course = notebook.metadata["course"]
    cells = tuple(map(_finished, cells))
    head = (path, path.parent.name, path.stem, course["title"], course["minutes"])
    return Source(*head, text, cells, course.get("able", ""))


def _cells(text, notebook):
    """A `Cell` for each cell of the notebook, all of its header in `extra`.

    A text begins, as far as can be told, at the code cell after it; without a name of its own it is called after that
    cell: <name>-text, or end-text after the last.
    """
    rows = text.split("\n")
    fences = [i for i, row in enumerate(rows, 1) if re.match(r"(```+|~~~+)\{code-cell\}", row)]
    code = sum(given.cell_type == "code" for given in notebook.cells)
    fences = [*fences, *[len(rows)] * code][:code]
    line, following = len(rows), "end"
    cells = []
    for given in reversed(notebook.cells):
        meta = dict(given.metadata)
        name, tags = str(meta.get("name") or ""), meta.get("tags", [])
        if given.cell_type == "code":
            line, following = fences.pop(), name
        tags = tuple(tags) if isinstance(tags, list) else ()
        checks = meta.get("checks") if "check" in tags else None
        name = name if name or given.cell_type == "code" else f"{following}-text"
        kind = given.cell_type
        cells.append(Cell(kind, name, given.source, line, tags, None, checks, extra=meta))
    return cells[::-1]


def _finished(cell):
    """A cell that keeps the rules, with its task, and of its header only what belongs into a notebook."""
    extra = {key: cell.extra[key] for key in ("jupyter", "slideshow") if key in cell.extra}
    task = _task(cell) if "task" in cell.tags else None
    return replace(cell, task=task, extra=extra, guess=cell.extra.get("guess", True) is True)


def _task(cell):
    hints = tuple(hint.strip() for hint in cell.extra["hints"])
    mutants = tuple(map(mutant_of, cell.extra["mutants"]))
    numbers = {key: cell.extra[key] for key in NUMBERS}
    in_string = split(cell.source).in_string
    return Task(cell.name, hints=hints, mutants=mutants, in_string=in_string, **numbers)


def find(root, wanted=()):
    """The source files of a clone, sorted; `wanted`: chapters by number or name ("01"), all if empty."""
    there = (Path(root) / "chapters").glob("*")
    folders = sorted(path for path in there if path.is_dir() and not path.name.startswith("."))
    for folder in folders:
        if not CHAPTER.fullmatch(folder.name):
            form = "a chapter's folder is named NN-topic in lower case, such as 03-threads"
            raise BadInput(f"chapters/{folder.name}: {form}")
    for name in wanted:
        if not any(name in (folder.name, folder.name[:2]) for folder in folders):
            known = ", ".join(folder.name for folder in folders) or "none in chapters/"
            raise BadInput(f"no chapter {name!r}: there is {known}")
    chosen = [f for f in folders if not wanted or f.name in wanted or f.name[:2] in wanted]
    files = [folder / f"{kind}.md" for folder in chosen for kind in KINDS]
    return [file for file in files if file.is_file()]
