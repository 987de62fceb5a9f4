"""A release as the grader knows it: what its folder holds, and what its manifest says of chapters, cells and points."""

import ast
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput

SCHEMA = 1
COURSE = "fresh inputs"  # the part of a task that is the course's own check


@dataclass(frozen=True)
class Step:
    """One code cell of a release. kind: given, task or check; text: its code (of a task: the blank's)."""

    id: str
    kind: str
    text: str
    points: int = 0
    minutes: int = 0
    of: str = ""  # a check: the task that it checks
    check: str = ""  # a check: "ch01.check_neuron"
    name: str = ""  # a check: what it looks at, "neuron"
    raises: bool = False
    uses: list | None = (
        None  # a task: names of course_lib's packages that its solution uses; None: nobody has looked
    )
    parts: dict | None = (
        None  # a task with partial credit: {part: percent of the points}, COURSE first
    )
    # a task: functions of course_lib that are answers to it, `answers.toml`
    answers: list = field(default_factory=list)
    # a given cell: it rests on such functions, and may raise where they are not there
    shows: bool = False


@dataclass(frozen=True)
class Chapter:
    """One exercise of a release."""

    name: str
    title: str
    digest: str  # sha256 of the exercise's file
    steps: tuple
    source: str = ""  # what the exercise's metadata say of its source

    @property
    def points(self):
        return sum(step.points for step in self.steps)

    @property
    def tasks(self):
        return [step for step in self.steps if step.kind == "task"]

    @property
    def answers(self):
        """Of all tasks."""
        return sorted({name for step in self.steps for name in step.answers})


@dataclass(frozen=True)
class Release:
    """A loaded release. id: a hash of all that decides a result, the secret seed included."""

    folder: Path
    id: str
    seed: int
    chapters: dict
    hidden: dict = field(default_factory=dict)  # chapter -> text of the instructor's module
    tested: bool = False  # solutions, blanks and planted wrong answers were tried
    planted: dict = field(default_factory=dict)


def own(task):
    """The name of the instructor's own check of a task."""
    return f"check_{task.replace('-', '_')}"


def of_part(task, part):
    """The name of the instructor's check of a part of a task."""
    return f"{own(task)}__{part.replace('-', '_')}"


def functions(text, where="the hidden checks"):
    """The functions that a module's text defines. Raises BadInput for what is no Python."""
    try:
        return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{where} is no Python: {error}") from None


def load(folder):
    """The Release in a folder. Raises BadInput for a folder that is none."""
    folder = Path(folder)
    try:
        return _load(folder, (folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{folder} holds no release: {error}. Make one: python -m course_lib release"
        ) from None


def _load(folder, text):
    given = json.loads(text)
    if given["schema"] != SCHEMA:
        raise BadInput(
            f"{folder} is a release of schema {given['schema']}; this grader knows {SCHEMA}"
        )
    chapters = {
        name: Chapter(**row | {"steps": tuple(Step(**step) for step in row["steps"])})
        for name, row in given["chapters"].items()
    }
    hidden = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((folder / "hidden").glob("*.py"))
    }
    digest = hashlib.sha256(json.dumps([text, hidden], sort_keys=True).encode()).hexdigest()
    seed, tested = int(given["seed"]), bool(given["tested"])
    return Release(folder, digest, seed, chapters, hidden, tested, _planted(folder))


def _planted(folder):
    """{chapter: {task: {wrong answer: what the public check says of it}}}, or {}: no result depends on it."""
    file = folder / "planted.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
