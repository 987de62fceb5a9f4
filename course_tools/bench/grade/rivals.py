"""Plain nbval and nbgrader on the same submissions, as many side by side as our own grader has."""

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from course_tools.bench.frame import ROOT, WorkerError
from course_tools.bench.grade import assignment
from course_tools.bench.grade.assignment import NAME
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


NO_NBGRADER = "not measured: --nbgrader-python names no Python that has it"


def nbval(files: list[Path], workers: int, folder: Path) -> dict[str, Any]:
    """`pytest --nbval` on each submission: does the notebook give the outputs that stand in it? No points."""
    env = _with_kernel(folder)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null"]
    options = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", f"--rootdir={folder}")

    def one(file: Path) -> None:
        run(*command, *options, file, env=env, cwd=folder, codes=(0, 1))

    with Watch() as watch:
        _side_by_side(one, files, workers)
    return {"seconds": watch.seconds, "peak": watch.peak, "points": None}


def nbgrader(
    files: list[Path], workers: int, folder: Path, blank: Path, steps: Any, python: str | None
) -> dict[str, Any]:
    """`nbgrader autograde` over the class, cut into as many courses as workers: it has no way to do two at a time.

    blank: the chapter's notebook. steps: its steps.
    """
    if python is None:
        raise WorkerError(NO_NBGRADER, "missing")
    env = _with_kernel(folder)
    # it calls `alembic` by its name
    env["PATH"] = os.pathsep.join([os.path.dirname(python), env.get("PATH", "")])

    def call(course: Path, what: str, *codes: int) -> None:
        run("-m", "nbgrader", what, NAME, python=python, env=env, cwd=course, codes=codes)

    courses = [folder / f"course{n}" for n in range(min(workers, len(files)))]
    for n, course in enumerate(courses):
        assignment.write(course, blank, files[n :: len(courses)], steps)
        call(course, "generate_assignment", 0)
    with (
        Watch() as watch
    ):  # the status is 1 where one could not be graded: missing points will show it
        _side_by_side(lambda course: call(course, "autograde", 0, 1), courses, workers)
    books = [course / "gradebook.db" for course in courses]
    told = [json.loads(run("-c", POINTS, book, NAME, python=python, env=env)) for book in books]
    points = {student: rows for one in told for student, rows in one.items()}
    return {"seconds": watch.seconds, "peak": watch.peak, "points": _by_task(points, steps)}


def version(python: str) -> str:
    """The version of nbgrader there. Raises WorkerError where there is none."""
    return run("-c", "import nbgrader; print(nbgrader.__version__)", python=python).strip()


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
