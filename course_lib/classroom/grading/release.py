"""`python -m course_lib release`: what students get, what the grader needs, and a manifest that ties them together.

    out/exercises/*.ipynb   for the students
    out/manifest.json       cells, points and checks of each chapter; a secret seed; keep it to yourself
    out/hidden/*.py         the instructor's own hidden checks, if any: never give them to students

Submissions are graded against the release that they were handed out with. A release is refused unless each solution
earns all points, each blank none, and each planted wrong answer less than all.
"""

import ast
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput

from .. import build, source

SCHEMA = 1


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


@dataclass(frozen=True)
class Chapter:
    """One exercise of a release."""

    name: str
    title: str
    digest: str
    steps: tuple

    @property
    def points(self):
        return sum(step.points for step in self.steps)

    @property
    def tasks(self):
        return [step for step in self.steps if step.kind == "task"]


@dataclass(frozen=True)
class Release:
    """A loaded release. id: a hash of all that decides a result, the secret seed included."""

    folder: Path
    id: str
    seed: int
    chapters: dict
    hidden: dict = field(default_factory=dict)  # chapter -> text of the instructor's module


def steps_of(read):
    """The `Step`s of an exercise's source."""
    made = []
    for cell in (cell for cell in read.cells if cell.kind == "code"):
        if cell.task:
            text = source.split(cell.source).filled(cell.task.blank)
            made.append(Step(cell.name, "task", text, cell.task.points, cell.task.minutes))
        elif cell.checks:
            check, name = call_of(cell.source, f"{read.chapter}: {cell.name}")
            made.append(Step(cell.name, "check", cell.source, of=cell.checks, check=check, name=name))
        else:
            made.append(Step(cell.name, "given", cell.source, raises="raises-exception" in cell.tags))
    return tuple(made)


def call_of(text, where):
    """("ch01.check_neuron", "neuron") of a check cell: one call of one check with one name."""
    try:
        (statement,) = ast.parse(text).body
        call = statement.value
        ((name,), module) = call.args, call.func.value.id
        return f"{module}.{call.func.attr}", name.id
    except (SyntaxError, ValueError, AttributeError):
        raise BadInput(f"{where}: a check cell must be one call such as ch01.check_neuron(neuron)") from None


def write(root, out, chapters=(), hidden=None, seed=None):
    """Make a release of the chapters (numbers or names; all if none) in the folder `out`; return the Release.

    hidden: a folder of modules NN-topic.py with functions check_<task>(answer). Raises BadInput.
    """
    root, out = Path(root), Path(out)
    if out.exists() and any(out.iterdir()):
        raise BadInput(f"{out} is not empty: a release is never overwritten, since submissions refer to it")
    reads = [source.read(path) for path in source.find(root, chapters) if path.stem == "exercise"]
    reads = [read for read in reads if read.tasks]
    if not reads:
        raise BadInput("there is no exercise to release")
    manifest: dict = {"schema": SCHEMA, "seed": secrets.randbits(62) if seed is None else int(seed), "chapters": {}}
    for read in reads:
        file = build.target(read, "exercise", root)
        state, detail, _ = build.state(read, "exercise", root)
        if state != "current":
            raise BadInput(f"{file.name} is {state}: {detail}. Build it first: python -m course_lib build")
        build.write(out / "exercises" / file.name, file.read_text(encoding="utf-8"))
        manifest["chapters"][read.chapter] = {
            "title": read.title, "digest": hashlib.sha256(file.read_bytes()).hexdigest(),
            "steps": [vars(step) for step in steps_of(read)],
        }  # fmt: skip
        module = Path(hidden, f"{read.chapter}.py") if hidden else None
        if module and module.is_file():
            build.write(out / "hidden" / module.name, module.read_text(encoding="utf-8"))
    build.write(out / "manifest.json", json.dumps(manifest, indent=1) + "\n")
    return load(out)


def load(folder):
    """The Release in a folder. Raises BadInput for a folder that is none, or whose files were changed."""
    folder = Path(folder)
    try:
        text = (folder / "manifest.json").read_text(encoding="utf-8")
        given = json.loads(text)
        if given["schema"] != SCHEMA:
            raise BadInput(f"{folder} is a release of schema {given['schema']}; this grader knows {SCHEMA}")
        chapters = {name: Chapter(name, row["title"], row["digest"], tuple(Step(**step) for step in row["steps"]))
                    for name, row in given["chapters"].items()}  # fmt: skip
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{folder} holds no release: {error}. Make one: python -m course_lib release") from None
    hidden = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "hidden").glob("*.py"))}
    digest = hashlib.sha256(json.dumps([text, hidden], sort_keys=True).encode()).hexdigest()
    return Release(folder, digest, int(given["seed"]), chapters, hidden)


