"""What a worker is to do: a folder of assembled notebooks, and one file that says for whom they are."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib import __version__

from .. import build
from . import release, results
from .assemble import Assembled

ASKED = {"task": "answer", "check": "check", "given": "given"}


@dataclass
class Job:
    """One notebook of one student. file: of the assembled notebook; was: the name of what was handed in."""

    file: str
    student: str
    id: str
    chapter: str
    was: str
    digest: str
    work: Any = None

    def assembled(self, notebook):
        """The Assembled that a notebook written by `write` holds."""
        course, chapter = notebook["metadata"]["course"], self.work.release.chapters[self.chapter]
        texts = {cell["id"]: cell["source"] for cell in notebook["cells"] if cell["id"] not in course["missing"]}
        tasks = {step.id: texts[step.id] for step in chapter.tasks if step.id in texts}
        return Assembled(chapter, tasks, course["missing"], course["problems"])

    def finish(self, run, seconds):
        """Write down what was earned, beside what the student earned in other chapters."""
        made = results.Result(
            self.student, self.id, self.chapter, self.was, self.digest, self.work.release.id, __version__,
            run.seed, self.work.isolation, list(run.tasks.values()), run.problems, round(seconds, 2),
        )  # fmt: skip
        results.add(self.work.out, made)


@dataclass
class Work:
    """All jobs of one worker."""

    release: release.Release
    out: Path
    isolation: str
    seconds: float
    jobs: list = field(default_factory=list)
    zygote: Any = None

    @property
    def by_file(self):
        return {job.file: job for job in self.jobs}


def write(folder, work, assembled):
    """Write the notebooks and the jobs' file into an empty folder. assembled: one a job. Returns the jobs' file."""
    for job, made in zip(work.jobs, assembled, strict=True):
        cells = [{"cell_type": "code", "id": step.id, "metadata": {"course": {"kind": step.kind}}, "outputs": [],
                  "execution_count": None, "source": made.texts.get(step.id, step.text)}
                 for step in made.chapter.steps]  # fmt: skip
        course = {"missing": made.missing, "problems": made.problems}
        notebook = {"cells": cells, "metadata": {"course": course}, "nbformat": 4, "nbformat_minor": 5}
        build.write(Path(folder, job.file), json.dumps(notebook))
    rows = [{key: value for key, value in vars(job).items() if key != "work"} for job in work.jobs]
    said = {"release": str(work.release.folder), "out": str(work.out), "isolation": work.isolation,
            "seconds": work.seconds, "jobs": rows}  # fmt: skip
    build.write(Path(folder, "jobs.json"), json.dumps(said))
    return Path(folder, "jobs.json")


def load(file):
    """The Work in a jobs' file."""
    given = json.loads(Path(file).read_text(encoding="utf-8"))
    work = Work(release.load(given["release"]), Path(given["out"]), given["isolation"], given["seconds"])
    work.jobs = [Job(**row, work=work) for row in given["jobs"]]
    return work
