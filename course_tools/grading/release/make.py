"""Making a release: the exercises as they are built, hidden checks, and the manifest that ties them together.

Submissions are graded against the release that they were handed out with. A release is refused unless each solution
earns all points, each blank none, and each planted wrong answer less than all.
"""

import ast
import hashlib
import json
import os
import secrets
import shutil
import tomllib
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.build import ids, source
from course_tools.build.notebook import skeleton
from course_tools.grading.release import library_use, partial
from course_tools.grading.release.manifest import SCHEMA, Chapter, Step, functions, load, own

SHOWN = "given"  # in answers.toml, beside the tasks


class Refused(Exception):
    """A release whose checks do not tell right from wrong; the text has a line for each."""


def steps_of(read):
    """The `Step`s of an exercise's source."""
    made, known = [], dict[str, str]()
    answers, shown = answers_of(read.chapter), shown_by(read.chapter)
    for cell in (cell for cell in read.cells if cell.kind == "code"):
        if cell.task:
            region = source.split(cell.source)
            uses = sorted(library_use.names_in(region.filled(region.text), known))
            blank, worth = region.filled(cell.task.blank), (cell.task.points, cell.task.minutes)
            own = answers.get(cell.name, [])
            made.append(Step(cell.name, "task", blank, *worth, uses=uses, answers=own))
        elif cell.checks:
            check, name = call_of(cell.source, f"{read.chapter}: {cell.name}")
            made.append(
                Step(cell.name, "check", cell.source, of=cell.checks, check=check, name=name)
            )
        else:
            library_use.names_in(cell.source, known)
            raises, shows = "raises-exception" in cell.tags, cell.name in shown
            made.append(Step(cell.name, "given", cell.source, raises=raises, shows=shows))
    return tuple(made)


def answers_of(chapter):
    """{task: the functions of course_lib that are answers to it} of a chapter, by its number."""
    return {name: found for name, found in _said_of(chapter).items() if name != SHOWN}


def shown_by(chapter):
    """The given cells of a chapter that rest on such functions, by ids."""
    return _said_of(chapter).get(SHOWN, [])


def _said_of(chapter):
    text = Path(__file__).with_name("answers.toml").read_text(encoding="utf-8")
    return tomllib.loads(text).get(chapter[:2], {})


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

    made = skeleton(read, "exercise").metadata["course"]["source"]
    return Chapter(read.chapter, read.title, digest, steps_of(read), made)


def exercises(root, chapters=()):
    """The sources of the exercises that have tasks. Raises BadInput where there is none."""
    reads = [source.read(path) for path in source.find(root, chapters) if path.stem == "exercise"]
    found = [read for read in reads if read.tasks]
    if not found:
        raise BadInput("there is no exercise with tasks among these chapters")
    return found


def write(root, out, chapters=(), hidden=None, seed=None, gate=None, parts=None):
    """Make a release of the chapters (numbers or names; all if none) in the folder `out`; return the Release.

    hidden: a folder of modules NN-topic.py with functions check_<task>(answer). parts: a file, see `partial`. gate:
    called with the sources and the Release before it gets its name; what it returns is stored as planted.json. Without
    it the manifest says that the release is not tested. Raises BadInput; then there is no folder `out`.
    """
    root, out = Path(root), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(
            f"{out} is not empty: a release is never overwritten, since submissions refer to it"
        )
    reads = exercises(root, chapters)
    half = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        seed = secrets.randbits(62) if seed is None else int(seed)
        _write(reads, root, half, hidden, gate is not None, seed, parts)
        if gate is not None:
            build.write(half / "planted.json", json.dumps(gate(reads, load(half)), indent=1) + "\n")
        if out.exists():
            out.rmdir()
        os.rename(half, out)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return load(out)


def _write(reads, root, half, hidden, tested, seed, parts=None):
    """The folder of a release: exercises, hidden checks, manifest."""
    _same_ids(root, reads)
    manifest: dict = {"schema": SCHEMA, "tested": tested, "seed": seed, "chapters": {}}
    shares = partial.read(parts, {one.chapter: chapter_of(one) for one in reads}) if parts else {}
    for read in reads:
        file = _current(read, root)
        made = chapter_of(read, hashlib.sha256(file.read_bytes()).hexdigest())
        made = partial.entered(made, shares)
        text = partial.stated(file.read_text(encoding="utf-8"), made)
        build.write(half / "exercises" / file.name, text)
        manifest["chapters"][read.chapter] = vars(made) | {
            "steps": [vars(step) for step in made.steps]
        }
    _copy_hidden(reads, half, hidden, shares)
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


def _copy_hidden(reads, half, hidden, shares):
    """The instructor's modules; a name in them that no task bears would never be run."""
    if hidden is None:
        if any(partial.checks(shares, read.chapter) for read in reads):
            raise BadInput("--partial needs --hidden: there are parts that are checks of yours")
        return
    texts = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(hidden).glob("*.py"))
    }
    known = {read.chapter: {own(cell.task.name) for cell in read.tasks} for read in reads}
    for read in reads:
        known[read.chapter] |= partial.checks(shares, read.chapter)
        _fits(f"{hidden}/{read.chapter}.py", texts.get(read.chapter, ""), read, shares)
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


def _fits(where, text, read, shares):
    """Has the instructor's module a check for each part, and none that no share of the points hangs on?"""
    wanted = partial.checks(shares, read.chapter)
    there = functions(text, where) if wanted else []
    if lacking := sorted(wanted - set(there)):
        raise BadInput(f"{where} lacks {', '.join(lacking)}")
    both = [own(task) for name, task in shares if name == read.chapter and own(task) in there]
    if both:
        raise BadInput(f"{where}: {both[0]} has no share of the points")
