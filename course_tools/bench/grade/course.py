"""The release and the made-up class, by the course's own commands: nothing here knows how a grader works."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from course_tools.bench.frame import ROOT, WorkerError

# as in the grader's rooms
ONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def environment() -> dict[str, str]:
    """The variables of all that is measured: this course_lib, BLAS with one thread."""
    return os.environ | ONE | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def run(
    *arguments: Any,
    python: str | None = None,
    codes: tuple[int, ...] = (0,),
    env: dict[str, str] | None = None,
    cwd: Path = ROOT,
) -> str:
    """The output of a Python command. Raises WorkerError where its status is none of these codes."""
    line = [python or sys.executable, *map(str, arguments)]
    how: dict[str, Any] = {"env": env or environment(), "cwd": cwd, "stdin": subprocess.DEVNULL}
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", **how)
    if done.returncode not in codes:
        words = (done.stderr.strip() or done.stdout.strip() or "nothing said").splitlines()[-1]
        what = f"{' '.join(line[1:4])} ended with {done.returncode}"
        raise WorkerError(f"{what}: {words[:300]}", "ended")
    return done.stdout


def release(folder: Path, chapters: set[str]) -> Path:
    """A release of these chapters, made without trying their answers: the tests of the course have done that."""
    run("-m", "course_lib", "release", *sorted(chapters), "--quick", "--out", folder)
    return folder


def submissions(release: Path, chapter: str, count: int, seed: int, folder: Path) -> dict[str, str]:
    """{student: "solved", "blank" or "mixed"} of `count` files in a folder."""
    pretend = ("-m", "course_tools.grading.commands.synthetic_class")
    return json.loads(run(*pretend, release, chapter, count, folder, "--seed", seed))


def steps(release: Path, chapter: str) -> tuple[str, list[dict[str, Any]]]:
    """(name of the chapter, its steps) from the release's manifest."""
    chapters = json.loads((release / "manifest.json").read_text(encoding="utf-8"))["chapters"]
    name = next(name for name in chapters if name.startswith(chapter))
    return name, chapters[name]["steps"]
