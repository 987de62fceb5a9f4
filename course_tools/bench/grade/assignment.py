"""The same submissions as nbgrader wants them: its metadata on the cells, its folders, its settings."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NAME = "exercise"  # of the assignment, and of its one notebook
KERNEL = "course-bench"
CONFIG = """c = get_config()
c.CourseDirectory.course_id = "bench"
c.Execute.timeout = 60
"""


def marked(notebook: dict[str, Any], steps: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A notebook whose tasks are nbgrader's answers, and whose checks are its tests, locked, with their points."""
    by_id = {step["id"]: step for step in steps}
    points = {step["id"]: step["points"] for step in by_id.values() if step["kind"] == "task"}
    cells = []
    for cell in notebook["cells"]:
        step = by_id.get(cell.get("id", ""))
        made = {**cell, "metadata": {}}
        if step is not None:
            made["metadata"] = {"nbgrader": _marks(step, points)}
        cells.append(made)
    kernel = {"name": KERNEL, "display_name": KERNEL, "language": "python"}
    return {**notebook, "cells": cells, "metadata": {"kernelspec": kernel}}


def _marks(step: dict[str, Any], points: dict[str, int]) -> dict[str, Any]:
    kind = step["kind"]
    marks = {
        "schema_version": 3,
        "grade_id": step["id"],
        "solution": kind == "task",
        "grade": kind == "check",
        "locked": kind != "task",
        "task": False,
        "cell_type": "code",
    }
    return marks | ({"points": points[step["of"]]} if kind == "check" else {})


def write(course: Path, blank: Path, files: Iterable[Path], steps: list[dict[str, Any]]) -> None:
    """A course folder of nbgrader: the assignment, and what these files' students have handed in."""
    _put(course / "source" / NAME, blank, steps)
    for file in files:
        _put(course / "submitted" / file.stem / NAME, file, steps)
    (course / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")


def _put(folder: Path, file: Path, steps: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    notebook = marked(json.loads(file.read_text(encoding="utf-8")), steps)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def kernel(folder: Path, python: str, env: dict[str, str]) -> None:
    """A folder for JUPYTER_PATH with the kernel that all graders use: this Python, with the course."""
    spec = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": KERNEL,
        "language": "python",
        "env": env,
    }
    for name in (KERNEL, "python3"):
        place = folder / "kernels" / name
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
