"""`course bench grade`: what is measured, what is shown."""

import argparse
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from course_lib.errors import check_count
from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, WorkerError
from course_tools.bench.grade import ours, rivals, tables
from course_tools.bench.grade.course import release, steps, submissions
from course_tools.bench.grade.rivals import NO_NBGRADER

LOOKS = 5  # times that the classes of `sizes` are graded, for the peak of their memory
AGAIN = ("course", "nbgrader")  # graders whose rates are compared by a target: each round runs both


@dataclass(frozen=True)
class Settings:
    """What to measure.

    students: of `chapter`, for all graders. solved: submissions that are all right, one at a time. sizes: of the two
    classes of chapter `light` whose memory is compared; the larger one is killed as well. workers: side by side.
    rounds: in which our grader and nbgrader take turns; the other graders run once.
    """

    chapter: str = "03"
    students: int = 100
    solved: int = 8
    light: str = "00"
    sizes: tuple[int, int] = (20, 200)
    rounds: int = 3
    workers: int | None = None
    seed: int = 1
    quick: bool = False
    python: str | None = None  # one with nbgrader


# fmt: off
QUICK = {"chapter": "00", "students": 2, "solved": 2, "sizes": (1, 4), "rounds": 1}
OPTIONS: dict[str, dict[str, Any]] = {
    "--students": {"type": int, "default": 100, "metavar": "N", "help": "submissions (%(default)s)"},
    "--chapter": {"default": "03", "metavar": "NN", "help": "of this chapter (%(default)s)"},
    "--workers": {"type": int, "metavar": "N", "help": "side by side, for all graders (two a core; ours chooses)"},
    "--seed": {"type": int, "default": 1, "metavar": "S", "help": "of the class, and of the kill (%(default)s)"},
}
# fmt: on


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """From the command line. Raises BadInput."""
    check_count("--students", options.students, 1, 1000)
    check_count("--workers", 1 if options.workers is None else options.workers, 1, 256)
    sizes = {} if options.quick else {"students": options.students, "chapter": options.chapter}
    return {"workers": options.workers, "seed": options.seed, **sizes}


def measure_grade(settings: Settings, progress: Progress) -> Result:
    """Everything, in a folder of its own. Raises WorkerError where our own grader fails."""
    progress.parts = 7 + len(AGAIN) * (settings.rounds - 1)
    versions = {"python": platform.python_version()}
    packages = ("course_lib", "numpy", "pytest", "nbval")
    versions |= {name: metadata.version(name) for name in packages}
    if settings.python:
        versions["nbgrader"] = rivals.version(settings.python)
    cores, own = machine().usable or 1, settings.workers is None
    shown = {"workers": settings.workers or 2 * cores, "chooses": own, "cores": cores}
    how: Any = {"prefix": "bench-grade-", "ignore_cleanup_errors": True}
    with tempfile.TemporaryDirectory(**how) as folder:
        found = Run(settings, shown["workers"], Path(folder), progress).all()
    return {"settings": shown, "versions": versions, **found}


class Run:
    """One run in a folder of its own."""

    def __init__(self, settings: Settings, workers: int, folder: Path, progress: Progress):
        self.settings, self.workers = settings, workers
        self.folder, self.progress = folder, progress
        progress.part("making a release and the submissions")
        self.release = release(folder / "release", {settings.chapter, settings.light})
        self.name, self.steps = steps(self.release, settings.chapter)
        self.kinds = self._class("class", settings.chapter, settings.students)
        self.files = sorted((folder / "class").glob("*.ipynb"))

    def _class(self, name: str, chapter: str, count: int) -> dict[str, str]:
        """Submissions in a folder of that name: {student: kind}."""
        return submissions(self.release, chapter, count, self.settings.seed, self.folder / name)

    def _graded(self, name: str, out: str, *more: Any) -> Result:
        """`course grade` over a folder of submissions."""
        own = self.settings.workers  # as it comes, it chooses by itself
        how = more if own is None or "--workers" in more else ("--workers", own, *more)
        return ours.grade(self.folder / name, self.release, self.folder / out, *how)

    def all(self) -> Result:
        """Everything, in order."""
        kinds, solved = list(self.kinds.values()), self._solved()
        graders = {name: self._grader(name, way) for name, way in self._ways("").items()}
        for number in range(1, self.settings.rounds):
            self._round(number, graders)
        memory = [self._light(size) for size in self.settings.sizes]
        return {
            "chapter_name": self.name,
            "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
            "solved": solved,
            "graders": graders,
            "same_points": _same(graders),
            "memory": memory,
            "killed": self._killed(memory[-1]),
        }

    def _solved(self) -> Result:
        """What one right submission costs in the grader, and what its cells take in plain IPython, in turns."""
        count, place = self.settings.solved, self.folder / "solved"
        words = f"{count} right submissions, one at a time, and their cells without a grader"
        self.progress.part(words)
        right = next(file for file in self.files if self.kinds[file.stem] == "solved")
        place.mkdir()
        for n in range(count):
            shutil.copy(right, place / f"s{n:03d}.ipynb")
        plain = [ours.cells_alone(right)]
        graded = ours.alone(place, self.release, self.folder / "solved-out")
        plain += [ours.cells_alone(right) for _ in range(1 if self.settings.quick else 2)]
        return {"graded": graded, "cells": plain}

    def _round(self, number: int, graders: dict[str, Result]) -> None:
        """The graders of AGAIN once more; their seconds and peaks are added to what was found."""
        ways = self._ways(str(number))
        for name in AGAIN:
            found = graders[name]
            if "seconds" not in found:
                continue
            more = self._grader(f"{name}, round {number + 1}", ways[name])
            if "seconds" not in more:
                graders[name] = more
                continue
            found.setdefault("rounds", [found["seconds"]]).append(more["seconds"])
            found["seconds"] = statistics.median(found["rounds"])
            found["peak"] = max(found["peak"] or 0, more["peak"] or 0) or None

    def _ways(self, suffix: str) -> dict[str, Callable[[], Result]]:
        """{grader: how it grades the class}. suffix: of its folder's name, another one for each round."""
        blank, python = self.release / "exercises" / f"{self.name}.ipynb", self.settings.python
        nbval, nbgrader = (self.folder / f"{name}{suffix}" for name in ("nbval", "nbgrader"))
        given = (self.files, self.workers)
        return {
            "course": lambda: self._graded("class", f"out{suffix}"),
            "course-whole": lambda: self._graded("class", f"out-whole{suffix}", "--whole"),
            "nbval": lambda: rivals.nbval(*given, nbval),
            "nbgrader": lambda: rivals.nbgrader(*given, nbgrader, blank, self.steps, python),
        }

    def _grader(self, name: str, way: Callable[[], Result]) -> Result:
        chapter = self.settings.chapter
        self.progress.part(f"{name}: {len(self.files)} submissions of chapter {chapter}")
        try:
            return way()
        except (WorkerError, OSError) as error:
            if name.startswith("course"):
                raise
            return {"error": f"{'' if str(error) == NO_NBGRADER else 'failed: '}{error}"}

    def _light(self, size: int) -> Result:
        """A class, always as many side by side, several times: its peak is seen in few looks."""
        name = f"light{size}"
        self._class(name, self.settings.light, size)
        times = 1 if self.settings.quick else LOOKS
        outs = [f"{name}-out", *(f"{name}-out{n}" for n in range(1, times))]
        found = [self._graded(name, out, "--workers", self.workers) for out in outs]
        peaks = [one["peak"] for one in found]
        seconds = statistics.median(one["seconds"] for one in found)
        peak = max(filter(None, peaks), default=None)
        return {"students": size, "seconds": seconds, "peak": peak, "peaks": peaks}

    def _killed(self, whole: Result) -> Result:
        size, chapter = whole["students"], self.settings.light
        words = f"{size} submissions of chapter {chapter}, the grader killed in the middle"
        self.progress.part(words)
        names = (f"light{size}", "killed-out", f"light{size}-out")
        place, out, undisturbed = (self.folder / name for name in names)
        how = (undisturbed, whole["seconds"], self.settings.seed)
        return ours.killed(place, self.release, out, *how)


def _same(graders: dict[str, Result]) -> dict[str, int] | None:
    """On how many tasks of how many our grader and nbgrader give the same points; takes the points out."""
    points = {name: found.pop("points", None) for name, found in graders.items()}
    mine, theirs = points["course"], points["nbgrader"]
    if not theirs:
        return None
    same = []
    for student, row in mine.items():
        same += [theirs.get(student, {}).get(task) == score for task, score in row.items()]
    return {"tasks": len(same), "same": sum(same)}


def how(result: Result) -> str:
    """How it was measured."""
    s = result["settings"]
    return f"{frame.count(s['cores'], 'core')}, {s['workers']} submissions side by side, seed {s['seed']}"


BENCH = frame.Bench(
    name="grade",
    about="Seconds a submission and peak memory of `course grade`, beside plain nbval and nbgrader on the same "
    "submissions; small and large classes; a grader that is killed. In one run; about 30 minutes on two cores.",
    settings=Settings,
    quick=QUICK,
    help="a minute: two small submissions. A glance, no more",
    python=("--nbgrader-python", "a Python with nbgrader; without, that row stays empty"),
    options=OPTIONS,
    chosen=chosen,
    measure=measure_grade,
    how=how,
    notes=lambda result: [f"Load average: {frame.load_line(result)}."],
    sections={
        "graders": lambda result: [tables.grader_table(result), tables.same_line(result)],
        "solved": tables.solved_table,
        "memory": tables.memory_table,
        "killed": tables.killed_line,
    },
    targets=tables.targets,
    stem=lambda result: f"grade-{frame.slug(frame.machine_name(result))}",
    title=frame.machine_name,
)
