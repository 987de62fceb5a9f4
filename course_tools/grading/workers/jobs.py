"""What workers are to do, as files: a folder a student in `todo`, which a worker takes by renaming it.

    work.json           releases, where results go, isolation, seconds a cell
    todo/00007          one student: jobs.json and the assembled notebooks
    taken/00007.w0      the worker w0 has it
    done/00007          an empty file: all results of that student are written
    rest/w9             an empty file: the worker w9 takes nothing more, since there are too many
    complete            nothing more will be added to todo

A rename is whole or not at all, on a network drive as well: no worker needs to know of another.
"""

import contextlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib import __version__
from course_tools.build import command as build
from course_tools.grading.intake.assemble import Assembled
from course_tools.grading.release import manifest
from course_tools.grading.verdict import results

SHARE = 16  # of what waits a worker takes one part: at the end none has much left when the others have nothing
AGAIN = "again"  # end of the name of a unit whose first worker has ended over it


@dataclass
class Job:
    """One notebook of one student. file: of the assembled notebook; was: the name of what was handed in."""

    file: str
    student: str
    id: str
    chapter: str
    was: str
    digest: str
    release: str
    work: Any = None

    def assembled(self, notebook):
        """The Assembled that a notebook written by `add` holds."""
        course, chapter = notebook["metadata"]["course"], self.of.chapters[self.chapter]
        texts = {
            cell["id"]: cell["source"]
            for cell in notebook["cells"]
            if cell["id"] not in course["missing"]
        }
        tasks = {step.id: texts[step.id] for step in chapter.tasks if step.id in texts}
        return Assembled(chapter, tasks, course["missing"], course["problems"])

    @property
    def of(self):
        """The Release that it is graded against."""
        return self.work.releases[self.release]

    def finish(self, run, seconds):
        """Write down what was earned, beside what the student earned in other chapters."""
        self._write(list(run.tasks.values()), run.problems, run.seed, seconds)

    def give_up(self, why):
        """Write down that the grader itself could not grade this: a row, which the next run makes again."""
        tasks = [
            results.Task(step.id, "not-run-here", 0, step.points, why)
            for step in self.of.chapters[self.chapter].tasks
        ]
        self._write(tasks, [f"{results.NOT_GRADED}: {why}"], 0, 0.0, "")

    def _write(self, tasks, problems, seed, seconds, digest=None):
        digest = self.digest if digest is None else digest
        what = self.student, self.id, self.chapter, self.was, digest
        how = self.release, __version__, seed, self.work.isolation
        made = results.Result(*what, *how, tasks, problems, round(seconds, 2), self.work.seconds)
        results.add(self.work.out, made)


@dataclass
class Work:
    """What holds for all jobs. releases: {id: Release}; out: the folder of the results; seconds: for a cell.

    whole: run also the cells below a chapter's last check. seed: of the fresh inputs; None: by chance for each.
    """

    folder: Path
    releases: dict
    out: Path
    isolation: str
    seconds: float
    whole: bool = False
    seed: int | None = None

    def write(self):
        """Write it into its folder, which is made."""
        for name in ("todo", "taken", "done", "rest"):
            (self.folder / name).mkdir(parents=True)
        said = {
            "releases": [str(one.folder.resolve()) for one in self.releases.values()],
            "out": str(self.out.resolve()),
            "isolation": self.isolation,
            "seconds": self.seconds,
            "whole": self.whole,
            "seed": self.seed,
        }
        build.write(self.folder / "work.json", json.dumps(said))

    def complete(self):
        """Say that nothing more will come."""
        (self.folder / "complete").touch()

    def done(self):
        """How many students are done."""
        return len(os.listdir(self.folder / "done"))


def load(folder):
    """The Work in a folder, without jobs."""
    given = json.loads(Path(folder, "work.json").read_text(encoding="utf-8"))
    releases = [manifest.load(path) for path in given["releases"]]
    how = {name: given[name] for name in ("isolation", "seconds", "whole", "seed")}
    return Work(Path(folder), {one.id: one for one in releases}, Path(given["out"]), **how)


def add(work, number, pairs):
    """Add one student to what is to be done. pairs: [(Job, Assembled)], a chapter each."""
    half = work.folder / f".{number:05d}"
    half.mkdir()
    for job, made in pairs:
        (half / job.file).write_text(json.dumps(_notebook(made)), encoding="utf-8")
    rows = [{key: value for key, value in vars(job).items() if key != "work"} for job, _ in pairs]
    (half / "jobs.json").write_text(json.dumps(rows), encoding="utf-8")
    os.rename(half, work.folder / "todo" / f"{number:05d}")


def _notebook(made):
    """The assembled notebook of a student, in Jupyter's form."""
    cells = [
        {
            "cell_type": "code",
            "id": step.id,
            "metadata": {"course": {"kind": step.kind}},
            "outputs": [],
            "execution_count": None,
            "source": made.texts.get(step.id, step.text),
        }
        for step in made.chapter.steps
    ]
    course = {"missing": made.missing, "problems": made.problems}
    return {"cells": cells, "metadata": {"course": course}, "nbformat": 4, "nbformat_minor": 5}


def take(work, name, most):
    """Take up to `most` students for the worker `name`: their folders. [] and a `complete` file: all are taken.

    Those over whom a worker has ended come last and one at a time: only one of them may have been its end.
    """
    found: list[Path] = []
    waiting = sorted(os.listdir(work.folder / "todo"))
    fresh = [unit for unit in waiting if not unit.endswith(f".{AGAIN}")]
    for unit in fresh[: max(1, min(most, len(fresh) // SHARE))] or waiting[:1]:
        mine = work.folder / "taken" / f"{unit}.{name}"
        with contextlib.suppress(OSError):  # another worker was faster
            os.rename(work.folder / "todo" / unit, mine)
            found.append(mine)
    return found


def rest(folder, name):
    """The worker of this name is to take nothing more."""
    Path(folder, "rest", name).touch()


def rests(folder, name):
    """Is it?"""
    return Path(folder, "rest", name).exists()


def begun(work):
    """Has a student been taken yet?"""
    return any(os.listdir(work.folder / place) for place in ("taken", "done"))


def waiting(work):
    """How many students nobody has taken."""
    return len(os.listdir(work.folder / "todo"))


def of(work, unit):
    """The Jobs in a student's folder."""
    rows = json.loads((unit / "jobs.json").read_text(encoding="utf-8"))
    return [Job(**row, work=work) for row in rows]


def end(work, unit):
    """The student in this folder is done."""
    (work.folder / "done" / unit.name.split(".")[0]).touch()
    shutil.rmtree(unit, ignore_errors=True)


def put_back(work, name, why):
    """What an ended worker had taken: to be taken once more; the second time each job gets a row that says so."""
    for unit in sorted((work.folder / "taken").glob(f"*.{name}")):
        number, _, was = unit.name.removesuffix(f".{name}").partition(".")
        if was != AGAIN:
            os.rename(unit, work.folder / "todo" / f"{number}.{AGAIN}")
            continue
        for job in of(work, unit):
            job.give_up(why)
        end(work, unit)
