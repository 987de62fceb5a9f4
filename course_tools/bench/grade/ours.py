"""`course grade` over a class: as it comes, one student at a time, small and large classes, killed in the middle."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from course_tools.bench.grade import cells
from course_tools.bench.grade.course import environment, run
from course_tools.bench.grade.watching import Watch

NOT_THE_SAME = ("seed", "seconds")  # of a result: drawn anew for each run, and measured


def line(place: Path, release: Path, out: Path, *more: Any) -> list[str]:
    """The arguments of a Python that grades a folder."""
    grade = ["-m", "course_lib", "grade", place, "--release", release, "--out", out]
    return [str(part) for part in (*grade, "--untested", "--json", *more)]


def grade(place: Path, release: Path, out: Path, *more: Any) -> dict[str, Any]:
    """Seconds, peak memory, and the points {student: {task: points}} of one run of the command."""
    with Watch() as watch:
        run(*line(place, release, out, *more), codes=(0, 1))
    points = {}
    for _, text in sorted(_files(out).items()):
        for row in json.loads(text)["chapters"]:
            points[row["student"]] = {task["task"]: task["points"] for task in row["tasks"]}
    return {"seconds": watch.seconds, "peak": watch.peak, "points": points}


def alone(place: Path, release: Path, out: Path) -> list[float]:
    """Seconds from one student's result to the next, one at a time, with all cells: what a submission costs in all."""
    grade(place, release, out, "--workers", 1, "--whole")
    ends = sorted(file.stat().st_mtime for file in out.glob("s[0-9]*.json"))
    return [after - before for before, after in zip(ends, ends[1:], strict=False)]


def cells_alone(file: Path) -> float:
    """Seconds of all cells of a submission in plain IPython."""
    return float(run(cells.__file__, file))


def killed(
    place: Path, release: Path, out: Path, whole: Path, seconds: float, seed: int
) -> dict[str, Any]:
    """Kill the grader at a moment by chance, run it again, and compare with an undisturbed run's results in `whole`.

    seconds: what that one took.
    """
    wait = random.Random(seed).uniform(0.2, 0.8) * seconds
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    command = [sys.executable, *line(place, release, out)]
    first = subprocess.Popen(command, env=environment(), **quiet)  # type: ignore[call-overload]
    time.sleep(wait)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    began = time.monotonic()
    time.sleep(1.0)  # the workers of the first end: what they still write counts as theirs
    kept = _files(out)
    told = json.loads(run(*line(place, release, out), codes=(0, 1)))
    spent, now, want = time.monotonic() - began, _files(out), _files(whole)
    rewritten = sum(now.get(name) != text for name, text in kept.items())
    different = [name for name in want if _plain(now.get(name)) != _plain(want[name])]
    bad = {"lost": len(want.keys() - now.keys()), "rewritten": rewritten}
    said = {"kept": told["kept"], "graded": told["graded"], "seconds": spent, "after": wait}
    return {**said, "students": len(want), **bad, "different": len(different)}


def _files(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.glob("s[0-9]*.json")}


def _plain(text: bytes | None) -> Any:
    """A file of results without what differs from run to run."""
    if text is None:
        return None
    rows = json.loads(text)["chapters"]
    return [{key: value for key, value in row.items() if key not in NOT_THE_SAME} for row in rows]
