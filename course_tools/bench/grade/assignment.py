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
    cells = []
    for cell in notebook["cells"]:
        step = by_id.get(cell.get("id", ""))
        cells.append({**cell, "metadata": {"nbgrader": _marks(step, by_id)} if step else {}})
    kernel = {"name": KERNEL, "display_name": KERNEL, "language": "python"}
    return {**notebook, "cells": cells, "metadata": {"kernelspec": kernel}}


def _marks(step: dict[str, Any], by_id: dict[str, Any]) -> dict[str, Any]:
    task, check = step["kind"] == "task", step["kind"] == "check"
    marks = {"solution": task, "grade": check, "locked": not task, "task": False}
    marks |= {"schema_version": 3, "grade_id": step["id"], "cell_type": "code"}
    return marks | ({"points": by_id[step["of"]]["points"]} if check else {})


def write(course: Path, blank: Path, files: Iterable[Path], steps: list[dict[str, Any]]) -> None:
    """A course folder of nbgrader: the assignment, and what these files' students have handed in."""
    places = {course / "source" / NAME: blank}
    places |= {course / "submitted" / file.stem / NAME: file for file in files}
    for place, file in places.items():
        notebook = marked(json.loads(file.read_text(encoding="utf-8")), steps)
        _put(place / f"{NAME}.ipynb", json.dumps(notebook))
    _put(course / "nbgrader_config.py", CONFIG)


def kernel(folder: Path, python: str, env: dict[str, str]) -> None:
    """A folder for JUPYTER_PATH with the kernel that all graders use: this Python, with the course."""
    line = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": line, "display_name": KERNEL, "language": "python", "env": env}
    for name in (KERNEL, "python3"):
        _put(folder / "kernels" / name / "kernel.json", json.dumps(spec))


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
