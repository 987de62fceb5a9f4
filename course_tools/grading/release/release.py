"""`python -m course_lib release`: what students get, what the grader needs, and a manifest that ties them together.

    out/exercises/*.ipynb   for the students
    out/manifest.json       cells, points and checks of each chapter; a secret seed; keep it to yourself
    out/planted.json        what the public checks say of the planted wrong answers
    out/hidden/*.py         the instructor's own hidden checks, if any: never give them to students

Submissions are graded against the release that they were handed out with. A release is refused unless each solution
earns all points, each blank none, and each planted wrong answer less than all.
"""

import ast
import hashlib
import json
import os
import secrets
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.build import ids, source
from course_tools.grading.release import library_use

SCHEMA = 1


class Refused(Exception):
    """A release whose checks do not tell right from wrong; the text has a line for each."""


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
        None  # a task: names of course_lib's rooms that its solution uses; None: nobody has looked
    )


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


def steps_of(read):
    """The `Step`s of an exercise's source."""
    made, known = [], dict[str, str]()
    for cell in (cell for cell in read.cells if cell.kind == "code"):
        if cell.task:
            region = source.split(cell.source)
            uses = sorted(library_use.names_in(region.filled(region.text), known))
            made.append(
                Step(
                    cell.name,
                    "task",
                    region.filled(cell.task.blank),
                    cell.task.points,
                    cell.task.minutes,
                    uses=uses,
                )
            )
        elif cell.checks:
            check, name = call_of(cell.source, f"{read.chapter}: {cell.name}")
            made.append(
                Step(cell.name, "check", cell.source, of=cell.checks, check=check, name=name)
            )
        else:
            library_use.names_in(cell.source, known)
            made.append(
                Step(cell.name, "given", cell.source, raises="raises-exception" in cell.tags)
            )
    return tuple(made)


def call_of(text, where):
    """("ch01.check_neuron", "neuron") of a check cell: one call of one check with one name."""
    try:
        (statement,) = ast.parse(text).body
        call = statement.value
        ((name,), module) = call.args, call.func.value.id
        return f"{module}.{call.func.attr}", name.id
    except (SyntaxError, ValueError, AttributeError):
        raise BadInput(
            f"{where}: a check cell must be one call such as ch01.check_neuron(neuron)"
        ) from None


def chapter_of(read, digest=""):
    """The `Chapter` of an exercise's source. digest: of the built file, where there is one."""
    from course_tools.notebooks.notebook import skeleton

    made = skeleton(read, "exercise").metadata["course"]["source"]
    return Chapter(read.chapter, read.title, digest, steps_of(read), made)


def exercises(root, chapters=()):
    """The sources of the exercises that have tasks. Raises BadInput where there is none."""
    reads = [source.read(path) for path in source.find(root, chapters) if path.stem == "exercise"]
    found = [read for read in reads if read.tasks]
    if not found:
        raise BadInput("there is no exercise with tasks among these chapters")
    return found


def write(root, out, chapters=(), hidden=None, seed=None, gate=None):
    """Make a release of the chapters (numbers or names; all if none) in the folder `out`; return the Release.

    hidden: a folder of modules NN-topic.py with functions check_<task>(answer). gate: called with the sources and the
    Release before it gets its name; what it returns is stored as planted.json. Without it the manifest says that the
    release is not tested. Raises BadInput; then there is no folder `out`.
    """
    root, out = Path(root), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(
            f"{out} is not empty: a release is never overwritten, since submissions refer to it"
        )
    reads = exercises(root, chapters)
    half = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        _write(
            reads,
            root,
            half,
            hidden,
            gate is not None,
            secrets.randbits(62) if seed is None else int(seed),
        )
        if gate is not None:
            build.write(half / "planted.json", json.dumps(gate(reads, load(half)), indent=1) + "\n")
        if out.exists():
            out.rmdir()
        os.rename(half, out)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return load(out)


def _write(reads, root, half, hidden, tested, seed):
    """The folder of a release: exercises, hidden checks, manifest."""
    _same_ids(root, reads)
    manifest: dict = {"schema": SCHEMA, "tested": tested, "seed": seed, "chapters": {}}
    for read in reads:
        file = _current(read, root)
        build.write(half / "exercises" / file.name, file.read_text(encoding="utf-8"))
        made = chapter_of(read, hashlib.sha256(file.read_bytes()).hexdigest())
        manifest["chapters"][read.chapter] = vars(made) | {
            "steps": [vars(step) for step in made.steps]
        }
    _copy_hidden(reads, half, hidden)
    build.write(half / "manifest.json", json.dumps(manifest, indent=1) + "\n")


def _same_ids(root, reads):
    """Submissions are matched by ids: what was once released keeps its id for ever."""
    for read in reads:
        if gone := [row[2] for row in ids.lost(root, read)]:
            raise BadInput(
                f"{read.chapter}: ids have disappeared: {', '.join(gone)}. Submissions are matched by them"
            )
        if new := [row[2] for row in ids.new(root, read)]:
            raise BadInput(
                f"{read.chapter}: ids are not recorded yet: {', '.join(new)}. Build it first"
            )


def _current(read, root):
    file = build.target(read, "exercise", root)
    state, detail, _ = build.state(read, "exercise", root)
    if state != "current":
        raise BadInput(
            f"{file.name} is {state}: {detail}. Build it first: python -m course_lib build"
        )
    return file


def _copy_hidden(reads, half, hidden):
    """The instructor's modules; a name in them that no task bears would never be run."""
    if hidden is None:
        return
    texts = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(hidden).glob("*.py"))
    }
    known = {read.chapter: {own(cell.task.name) for cell in read.tasks} for read in reads}
    if not texts or set(texts) - set(known):
        wrong = ", ".join(sorted(set(texts) - set(known))) or "nothing"
        raise BadInput(
            f"{hidden} holds {wrong}: hidden checks are files named as a released chapter, NN-topic.py"
        )
    for name, text in texts.items():
        checks = functions(text, f"{hidden}/{name}.py")
        if stray := [one for one in checks if one.startswith("check_") and one not in known[name]]:
            raise BadInput(
                f"{hidden}/{name}.py: no task of {name} is checked by {', '.join(stray)}"
            )
        build.write(half / "hidden" / f"{name}.py", text)


def own(task):
    """The name of the instructor's own check of a task."""
    return f"check_{task.replace('-', '_')}"


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
    return Release(
        folder,
        digest,
        int(given["seed"]),
        chapters,
        hidden,
        bool(given["tested"]),
        _planted(folder),
    )


def _planted(folder):
    """{chapter: {task: {wrong answer: what the public check says of it}}}, or {}: no result depends on it."""
    file = folder / "planted.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


# The command ----------------------------------------------------------------------------------------------------


def add_arguments(parser):
    """The arguments of `release`."""
    parser.description = (
        "Make a release: what students get, what the grader needs, and a manifest of both."
    )
    parser.add_argument(
        "chapters", nargs="*", metavar="NN", help="chapters by number or name; all if none is given"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--hidden",
        type=Path,
        default=None,
        metavar="DIR",
        help="your own hidden checks: NN-topic.py with functions check_<task>(answer)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="try no solutions, blanks and planted wrong answers; the manifest says so",
    )
    parser.add_argument(
        "--root", type=Path, default=None, help="the clone (default: where chapters/ is)"
    )


def command(args):
    """Run `release`. Exit status: 0 made, 1 refused by its own answers, 2 the call is wrong."""
    trials = None if args.quick else _gate()
    try:
        made = write(build.clone(args.root), args.out, args.chapters, args.hidden, gate=trials)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    points = sum(chapter.points for chapter in made.chapters.values())
    tested = "" if made.tested else ", NOT TESTED (--quick)"
    print(f"{args.out}: {source.count(len(made.chapters), 'chapter')}, {points} points{tested}")
    print(f"Students get {args.out / 'exercises'} and nothing else of it.")
    return 0


def _gate():
    if not hasattr(os, "fork"):
        raise BadInput(
            "trying the answers needs a system that forks processes: Linux, WSL; or pass --quick"
        )
    from course_tools.grading.commands import gate

    return gate.run
