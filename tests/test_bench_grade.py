"""`course bench grade`: the command, what it makes of its numbers, nbgrader's notebooks, and the committed report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.bench import docs
from course_lib.bench.grade import assignment, command, measuring, ours, tables, targets, watching
from course_lib.bench.grade import docs as grade_docs
from course_tools.__main__ import main
from course_tools.grading.commands import synthetic_class
from course_tools.grading.sandbox import sandbox

ROOT = Path(__file__).resolve().parents[1]
WHY_NOT = sandbox.available()
needs_rooms = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
CHAPTER = "00-start-here"


def result(**more):
    """A result with round numbers."""
    graders = {
        "course": {"seconds": 100.0, "peak": 4e8},
        "course-whole": {"seconds": 200.0, "peak": 4e8},
        "nbval": {"seconds": 300.0, "peak": 1e9},
        "nbgrader": {"seconds": 500.0, "peak": 2e9},
    }
    killed = {
        "students": 200,
        "after": 9.0,
        "kept": 80,
        "graded": 120,
        "seconds": 30.0,
        "lost": 0,
        "rewritten": 0,
        "different": 0,
    }
    return {
        "settings": {"chapter": "03", "students": 100, "light": "00", "workers": 4},
        "graders": graders,
        "chapter_name": "03-x",
        "kinds": {"blank": 10, "mixed": 50, "solved": 40},
        "killed": killed,
        "same_points": {"tasks": 900, "same": 900},
        "solved": {"graded": [9.5, 9.6, 9.9], "cells": [9.2, 9.3, 9.1]},
        "memory": [
            {"students": 20, "seconds": 10.0, "peak": 4e8},
            {"students": 200, "seconds": 50.0, "peak": 4.2e8},
        ],
    } | more


def test_targets():
    found = targets.targets(result())
    assert [target.met for target in found] == [True] * 4
    assert [target.got for target in found] == [pytest.approx(0.4), 5.0, pytest.approx(1.05), 0.0]
    lost = result()["killed"] | {"different": 1}
    slow = {name: {"seconds": 100.0, "peak": None} for name in tables.LABELS}
    bad = targets.targets(
        result(killed=lost, graders=slow, solved={"graded": [11.0], "cells": [9.0]})
    )
    assert [target.met for target in bad] == [False, False, True, False]
    missing = result()["graders"] | {"nbgrader": {"error": measuring.NO_NBGRADER}}
    assert targets.targets(result(graders=missing))[1][3:] == (None, None)
    assert tables.grader_table(result(graders=missing)).rows[-1] == (
        "nbgrader autograde",
        measuring.NO_NBGRADER,
    )


def test_tables():
    rows = {row[0]: row[1:] for row in tables.grader_table(result()).rows}
    assert rows["nbgrader autograde"] == ("500", "5.00", "720", "2,000 MB", "5.00")
    assert rows["course grade"][-1] == "1.00"
    assert tables.target_table(result()).rows[-1][-2:] == ("0", "met")
    assert tables.solved_table(result()).rows[-1][:2] == ("beyond its cells", "0.40")
    assert "80 were kept" in tables.killed_line(result()) and "900 of 900" in tables.same_line(
        result()
    )


def test_points_are_compared_task_by_task():
    graders = {
        "course": {"points": {"s0": {"a": 1, "b": 0}, "s1": {"a": 1, "b": 2}}},
        "nbval": {"points": None},
        "nbgrader": {"points": {"s0": {"a": 1.0, "b": 2.0}}},
    }
    assert measuring._same(graders) == {"tasks": 4, "same": 1} and not any(graders.values())
    assert measuring._same({"course": {"points": {}}, "nbgrader": {"error": "x"}}) is None


def test_a_made_up_class():
    """Fixed proportions, an order by chance, the same for the same seed."""
    import random

    for count, want in ((100, (40, 10, 50)), (10, (4, 1, 5)), (200, (80, 20, 100))):
        made = synthetic_class.kinds(count, random.Random(1))
        assert (
            tuple(
                map(
                    made.count,
                    (synthetic_class.SOLVED, synthetic_class.BLANK, synthetic_class.MIXED),
                )
            )
            == want
        )
    assert (
        synthetic_class.kinds(20, random.Random(1))
        == synthetic_class.kinds(20, random.Random(1))
        != sorted(made[:20])
    )
    assert len(
        synthetic_class.kinds(2, random.Random(1))
    ) == 2 and synthetic_class.SOLVED in synthetic_class.kinds(2, random.Random(1))


def test_notebooks_for_nbgrader():
    """Answers may be written, checks are locked and have the points."""
    cells = [
        {
            "id": name,
            "cell_type": "code",
            "source": name,
            "metadata": {"tags": ["x"]},
            "outputs": [],
            "execution_count": None,
        }
        for name in ("a", "a-check", "free")
    ]
    steps = [
        {"id": "a", "kind": "task", "points": 3, "of": ""},
        {"id": "a-check", "kind": "check", "points": 0, "of": "a"},
    ]
    made = assignment.marked(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, steps
    )
    task, check, free = (cell["metadata"].get("nbgrader") for cell in made["cells"])
    assert task["solution"] and not task["locked"] and not task["grade"] and "points" not in task
    assert (
        check["grade"]
        and check["locked"]
        and check["points"] == 3
        and not check["solution"]
        and free is None
    )
    assert [cell["source"] for cell in made["cells"]] == ["a", "a-check", "free"]


def test_watch_counts_what_children_hold():
    if sys.platform != "linux":
        pytest.skip("PSS is Linux'")
    with watching.Watch() as watch:
        code = "import time; kept = bytearray(b'x') * (150 << 20); time.sleep(2.5)"
        outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
        subprocess.run([sys.executable, "-c", outer], check=True)
    assert watch.seconds > 2.4 and 150 << 20 < watch.peak < 400 << 20


def test_results_are_equal_but_for_seed_and_seconds():
    def text(**more):
        row = {
            "student": "a",
            "seed": 1,
            "seconds": 2.0,
            "points": 3,
            "tasks": [{"task": "t", "message": "m"}],
        }
        return json.dumps({"chapters": [row | more]}).encode()

    assert (
        ours._plain(text()) == ours._plain(text(seed=5, seconds=9.0)) != ours._plain(text(points=2))
    )
    assert ours._plain(None) is None


@needs_rooms
def test_the_whole_bench(tmp_path):
    """Two submissions of chapter 00, without nbgrader."""
    line = [
        sys.executable,
        "-m",
        "course_lib",
        "bench",
        "grade",
        "--quick",
        "--json",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(
        line, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=500
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    (path,) = tmp_path.glob("*.json")
    assert made == json.loads(path.read_text(encoding="utf-8")) and path.name == command.file_name(
        made
    )
    assert made["chapter_name"] == CHAPTER and sum(made["kinds"].values()) == 2
    assert all(made["graders"][name]["seconds"] > 0 for name in ("course", "course-whole", "nbval"))
    assert (
        made["graders"]["nbgrader"]["error"] == measuring.NO_NBGRADER
        and made["same_points"] is None
    )
    killed = made["killed"]
    assert (killed["lost"], killed["rewritten"], killed["different"]) == (0, 0, 0)
    assert killed["kept"] + killed["graded"] == killed["students"] == 4
    assert len(made["solved"]["graded"]) == 1 and "/tmp" not in done.stdout
    assert main(["bench", "grade", "--reuse", str(path), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_calls_that_are_wrong(tmp_path, capsys):
    for call in (
        ["--students", "0"],
        ["--workers", "-1"],
        ["--nbgrader-python", "/nowhere"],
        ["--record", "--quick"],
    ):
        assert main(["bench", "grade", *call]) == 2
        assert "course bench: " in capsys.readouterr().err


def test_the_document_is_made_from_the_recorded_results():
    text = (ROOT / command.DOCUMENT).read_text(encoding="utf-8")
    assert docs.written(text, {}, grade_docs.blocks(command.recorded())) == text
    for made in command.recorded():
        assert json.loads(command.text(made))["targets"] == made["targets"]
        assert not made["settings"]["quick"] and made["graders"]["nbgrader"]["seconds"]
