"""`course bench grade`: the measuring. Everything here ends up in one dict, the JSON; no number is made elsewhere."""

import json
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from course_lib.bench.grade import cells, ours, rivals
from course_lib.bench.grade.course import release, run, steps, submissions
from course_lib.bench.grade.rivals import Class, failure
from course_lib.bench.measuring import load
from course_lib.bench.processes import WorkerError
from course_lib.bench.progress import Progress
from course_lib.measure import machine

SCHEMA = 1
NO_NBGRADER = "not measured: --nbgrader-python names no Python that has it"


@dataclass(frozen=True)
class Settings:
    """What to measure.

    students: of `chapter`, for all graders. solved: submissions that are all right, one at a time. sizes: of the two
    classes of chapter `light` whose memory is compared; the larger one is killed as well. workers: side by side.
    """

    chapter: str = "03"
    students: int = 100
    solved: int = 8
    light: str = "00"
    sizes: tuple[int, int] = (20, 200)
    workers: int | None = None
    seed: int = 1
    quick: bool = False
    nbgrader_python: str | None = None


QUICK: dict[str, Any] = {
    "chapter": "00",
    "students": 2,
    "solved": 2,
    "sizes": (1, 4),
    "quick": True,
}


def measure_grade(settings: Settings) -> dict[str, Any]:
    """Run everything; return the JSON's dict. Raises WorkerError where our own grader fails."""
    began, before = time.monotonic(), load()
    progress = Progress("course bench grade", 7)
    folder = Path(tempfile.mkdtemp(prefix="bench-grade-"))
    try:
        found = Run(settings, folder, progress).all()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        progress.close()
    return {
        **_head(settings),
        "seconds": round(time.monotonic() - began, 1),
        "load": {"before": before, "after": load()},
        "versions": _versions(settings),
        **found,
    }


def workers_of(settings: Settings) -> int:
    """How many submissions are graded side by side: as many as `course grade` takes, unless it is said."""
    return settings.workers or 2 * (machine().usable or 1)


def _head(settings: Settings) -> dict[str, Any]:
    shown = asdict(settings) | {"workers": workers_of(settings), "cores": machine().usable or 1}
    del shown["nbgrader_python"]  # a path of this machine is nobody's business
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return {
        "schema": SCHEMA,
        "benchmark": "grade",
        "when": when,
        "machine": asdict(machine()),
        "settings": shown,
    }


def _versions(settings: Settings) -> dict[str, str]:
    packages = ("course_lib", "numpy", "pytest", "nbval")
    found = {"python": platform.python_version()} | {
        name: metadata.version(name) for name in packages
    }
    if settings.nbgrader_python:
        found["nbgrader"] = rivals.version(settings.nbgrader_python)
    return found


class Run:
    """One run in a folder of its own."""

    def __init__(self, settings: Settings, folder: Path, progress: Progress):
        self.settings, self.folder, self.progress = settings, folder, progress
        self.workers = workers_of(settings)
        progress.part("making a release and the submissions")
        self.release = release(folder / "release", {settings.chapter, settings.light})
        self.name, self.steps = steps(self.release, settings.chapter)
        self.kinds = submissions(
            self.release, settings.chapter, settings.students, settings.seed, folder / "class"
        )
        self.files = sorted((folder / "class").glob("*.ipynb"))

    def all(self) -> dict[str, Any]:
        """Everything, in order."""
        kinds = list(self.kinds.values())
        solved = self._solved()
        graders = {name: self._grader(name, way) for name, way in self._ways().items()}
        memory = [self._light(size) for size in self.settings.sizes]
        killed = self._killed(memory[-1])
        for found in memory:
            del found["points"]
        return {
            "chapter_name": self.name,
            "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "solved": solved,
            "graders": graders,
            "same_points": _same(graders),
            "memory": memory,
            "killed": killed,
        }

    def _solved(self) -> dict[str, Any]:
        """What one right submission costs in the grader, and what its cells take in plain IPython, in turns."""
        self.progress.part(
            f"{self.settings.solved} right submissions, one at a time, and their cells without a grader"
        )
        place, right = self.folder / "solved", self._right()
        place.mkdir()
        for n in range(self.settings.solved):
            shutil.copy(right, place / f"s{n:03d}.ipynb")
        plain = [_cells(right)["seconds"]]
        graded = ours.alone(place, self.release, self.folder / "solved-out")
        plain += [_cells(right)["seconds"] for _ in range(1 if self.settings.quick else 2)]
        return {"graded": graded, "cells": plain}

    def _right(self) -> Path:
        return next(file for file in self.files if self.kinds[file.stem] == "solved")

    def _ways(self) -> dict[str, Callable[[], dict[str, Any]]]:
        given = Class(self.files, self.release / "exercises" / f"{self.name}.ipynb", self.steps)
        place, python = self.folder / "class", self.settings.nbgrader_python

        def course(out: str, *more: Any) -> dict[str, Any]:
            return ours.grade(
                place, self.release, self.folder / out, "--workers", self.workers, *more
            )

        def nbgrader() -> dict[str, Any]:
            if python is None:
                raise WorkerError(NO_NBGRADER, "missing")
            return rivals.nbgrader(given, self.workers, self.folder / "nbgrader", python)

        return {
            "course": lambda: course("out"),
            "course-whole": lambda: course("out-whole", "--whole"),
            "nbval": lambda: rivals.nbval(given, self.workers, self.folder / "nbval"),
            "nbgrader": nbgrader,
        }

    def _grader(self, name: str, way: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        self.progress.part(
            f"{name}: {len(self.files)} submissions of chapter {self.settings.chapter}"
        )
        try:
            return way()
        except (WorkerError, OSError) as error:
            if name.startswith("course"):
                raise
            return {"error": str(error) if str(error) == NO_NBGRADER else failure(error)}

    def _light(self, size: int) -> dict[str, Any]:
        place = self.folder / f"light{size}"
        submissions(self.release, self.settings.light, size, self.settings.seed, place)
        found = ours.grade(
            place, self.release, self.folder / f"light{size}-out", "--workers", self.workers
        )
        return {"students": size, **found}

    def _killed(self, whole: dict[str, Any]) -> dict[str, Any]:
        size = whole["students"]
        self.progress.part(
            f"{size} submissions of chapter {self.settings.light}, the grader killed in the middle"
        )
        return ours.killed(
            self.folder / f"light{size}",
            self.release,
            self.folder / "killed-out",
            self.folder / f"light{size}-out",
            whole["seconds"],
            self.settings.seed,
        )


def _cells(file: Path) -> dict[str, Any]:
    return json.loads(run(cells.__file__, file))


def _same(graders: dict[str, dict[str, Any]]) -> dict[str, int] | None:
    """On how many tasks of how many our grader and nbgrader give the same points; takes the points out."""
    points = {name: found.pop("points", None) for name, found in graders.items()}
    mine, theirs = points["course"], points["nbgrader"]
    if not theirs:
        return None
    pairs = [
        (score, theirs.get(student, {}).get(task))
        for student, row in mine.items()
        for task, score in row.items()
    ]
    return {"tasks": len(pairs), "same": sum(a == b for a, b in pairs)}
