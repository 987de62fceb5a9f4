"""Plain nbval and nbgrader on the same submissions, as many side by side as our own grader has."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_tools.bench.frame import ROOT, WorkerError
from course_tools.bench.grade import assignment
from course_tools.bench.grade.course import ONE, environment, run
from course_tools.bench.grade.watching import Watch

POINTS = """
import json, sys
from nbgrader.api import Gradebook
found = {}
with Gradebook("sqlite:///" + sys.argv[1]) as book:
    for handed_in in book.assignment_submissions(sys.argv[2]):
        grades = [grade for notebook in handed_in.notebooks for grade in notebook.grades]
        found[handed_in.student.id] = {grade.name: grade.score for grade in grades}
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Class:
    """What is graded: files of submissions, the chapter's blank notebook, its steps."""

    files: list[Path]
    blank: Path
    steps: list[dict[str, Any]]


def nbval(given: Class, workers: int, folder: Path, python: str | None = None) -> dict[str, Any]:
    """`pytest --nbval` on each submission: does the notebook give the outputs that stand in it? No points."""
    env = _with_kernel(folder)

    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null"]
    options = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", f"--rootdir={folder}")

    def one(file: Path) -> None:
        run(*command, *options, file, python=python, env=env, cwd=folder, codes=(0, 1))

    with Watch() as watch:
        _side_by_side(one, given.files, workers)
    return {"seconds": watch.seconds, "peak": watch.peak, "points": None}


def nbgrader(given: Class, workers: int, folder: Path, python: str) -> dict[str, Any]:
    """`nbgrader autograde` over the class, cut into as many courses as workers: it has no way to do two at a time."""
    env = _with_kernel(folder)
    # it calls `alembic` by its name
    env["PATH"] = os.pathsep.join([os.path.dirname(python), env.get("PATH", "")])
    courses = [folder / f"course{n}" for n in range(min(workers, len(given.files)))]
    for n, course in enumerate(courses):
        assignment.write(course, given.blank, given.files[n :: len(courses)], given.steps)
        _nbgrader(python, env, course, "generate_assignment", codes=(0,))
    with Watch() as watch:
        _side_by_side(lambda course: _nbgrader(python, env, course, "autograde"), courses, workers)
    points: dict[str, Any] = {}
    for course in courses:
        book = course / "gradebook.db"
        points |= json.loads(run("-c", POINTS, book, assignment.NAME, python=python, env=env))
    return {"seconds": watch.seconds, "peak": watch.peak, "points": _by_task(points, given.steps)}


def version(python: str) -> str:
    """The version of nbgrader there. Raises WorkerError where there is none."""
    return run("-c", "import nbgrader; print(nbgrader.__version__)", python=python).strip()


def _nbgrader(
    python: str, env: dict[str, str], course: Path, what: str, codes: tuple[int, ...] = (0, 1)
) -> None:
    """Its status is 1 where a submission could not be graded; the points that are missing will show it."""
    run("-m", "nbgrader", what, assignment.NAME, python=python, env=env, cwd=course, codes=codes)


def _by_task(points: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """{student: {task: points}} of {student: {check: points}}."""
    task = {step["id"]: step["of"] for step in steps if step["kind"] == "check"}
    return {
        student: {task[check]: score for check, score in rows.items() if check in task}
        for student, rows in points.items()
    }


def _with_kernel(folder: Path) -> dict[str, str]:
    """The variables under which Jupyter finds the kernel that all use. course_lib is for the kernel alone."""
    folder.mkdir(parents=True)
    assignment.kernel(folder / "jupyter", sys.executable, ONE | {"PYTHONPATH": str(ROOT)})
    here = {"JUPYTER_PATH": str(folder / "jupyter"), "JUPYTER_PREFER_ENV_PATH": "0"}
    return {name: text for name, text in (environment() | here).items() if name != "PYTHONPATH"}


def _side_by_side(work: Callable[[Path], None], things: list[Path], workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, things))


def failure(error: Exception) -> str:
    """Why there is no number, in a line."""
    kinds = WorkerError, OSError, subprocess.SubprocessError
    name = "" if isinstance(error, kinds) else f"{type(error).__name__}: "
    return f"failed: {name}{error}"
