"""`course bench grade`: the command, what it makes of its numbers, nbgrader's notebooks, and the committed report."""

import json
import random
import subprocess
import sys

import pytest
from bench_runs import called, committed, quick_run, refused

from course_tools.bench.grade import assignment, ours, tables, watching
from course_tools.bench.grade import bench as grade
from course_tools.bench.grade.bench import BENCH
from course_tools.grading.commands import synthetic_class
from course_tools.grading.sandbox import sandbox

WHY_NOT = sandbox.available()
needs_rooms = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
KILLED = {"students": 200, "after": 9.0, "kept": 80, "graded": 120, "seconds": 30.0}
SECONDS = {"course": 100.0, "course-whole": 200.0, "nbval": 300.0, "nbgrader": 500.0}


def result(**more):
    """A result with round numbers."""
    graders = {name: {"seconds": s, "peak": 4e6 * s} for name, s in SECONDS.items()}
    return {
        "settings": {"chapter": "03", "students": 100, "light": "00", "workers": 4},
        "graders": graders,
        "chapter_name": "03-x",
        "kinds": {"blank": 10, "mixed": 50, "solved": 40},
        "killed": {**KILLED, "lost": 0, "rewritten": 0, "different": 0},
        "same_points": {"tasks": 900, "same": 900},
        "solved": {"graded": [9.5, 9.6, 9.7], "cells": [9.2, 9.3, 9.3]},
        "memory": [
            {"students": 20, "seconds": 10.0, "peak": 4e8},
            {"students": 200, "seconds": 50.0, "peak": 4.2e8},
        ],
    } | more


def verdicts(**more):
    return [target.verdict for target in tables.targets(result(**more))]


def test_targets():
    found = list(tables.targets(result()))
    assert [target.got for target in found] == [pytest.approx(0.3), 5.0, pytest.approx(1.05), 0.0]
    single = (
        "too noisy to judge"  # a class is graded once: that cannot meet a target, but can miss it
    )
    assert verdicts() == ["met", single, single, "met"]
    lost = result()["killed"] | {"different": 1}
    slow = {name: {"seconds": 100.0, "peak": None} for name in tables.LABELS}
    solved = {"graded": [11.0, 11.2], "cells": [9.0, 9.1]}
    memory = [{**row, "peak": peak} for row, peak in zip(result()["memory"], (1, 2), strict=True)]
    bad = verdicts(killed=lost, graders=slow, solved=solved, memory=memory)
    assert bad == ["NOT MET"] * 4
    noisy = {"graded": [9.0, 11.0], "cells": [9.0, 9.1]}
    assert verdicts(solved=noisy)[0] == verdicts(solved={"graded": [9], "cells": [9]})[0] == single


def test_without_nbgrader_that_is_said():
    missing = result()["graders"] | {"nbgrader": {"error": grade.NO_NBGRADER}}
    assert verdicts(graders=missing)[1] == "not measured"
    last = tables.grader_table(result(graders=missing)).rows[-1]
    assert last == ("nbgrader autograde", grade.NO_NBGRADER)


def test_tables():
    rows = {row[0]: row[1:] for row in tables.grader_table(result()).rows}
    assert rows["nbgrader autograde"] == ("500", "5.00", "720", "2,000 MB", "5.00")
    assert rows["course grade"][-1] == "1.00"
    assert BENCH.target_table(result()).rows[-1][-3:] == ("0", "", "met")
    assert tables.solved_table(result()).rows[-1][:2] == ("beyond its cells", "0.30")
    assert "80 were kept" in tables.killed_line(result())
    assert "900 of 900" in tables.same_line(result())


def test_the_tables_say_who_chose_how_many():
    settings = result()["settings"]
    titles = [
        tables.grader_table(result(settings=settings | more)).title
        for more in ({}, {"chooses": False}, {"chooses": True})
    ]
    assert [title.endswith("ours as many as it chooses") for title in titles] == [
        False,
        False,
        True,
    ]


def test_both_classes_are_looked_at_several_times(monkeypatch):
    """A peak is easily missed by few looks: each class is graded LOOKS times, side by side alike."""
    calls, peaks = [], iter([3.0, 5.0, None, 4.0, 1.0, 9.0, 8.0, 7.0, 6.0, 5.0])

    def graded(run, name, out, *more):
        calls.append((name, out, *more))
        return {"seconds": float(len(calls)), "peak": next(peaks)}

    monkeypatch.setattr(grade.Run, "_graded", graded)
    monkeypatch.setattr(grade.Run, "_class", lambda *given: {})
    run = grade.Run.__new__(grade.Run)
    run.settings, run.workers = grade.Settings(), 4
    few, many = run._light(20), run._light(200)
    assert few == {"students": 20, "seconds": 3.0, "peak": 5.0, "peaks": [3.0, 5.0, None, 4.0, 1.0]}
    assert (many["seconds"], many["peak"], many["peaks"][0]) == (8.0, 9.0, 9.0)
    assert all(call[2:] == ("--workers", 4) for call in calls) and len(calls) == 2 * grade.LOOKS
    assert (calls[0][1], calls[grade.LOOKS][1]) == ("light20-out", "light200-out")


def test_rounds_give_the_rate_a_range(monkeypatch):
    """Our grader and nbgrader take turns: their medians are shown, their quartiles are the target's range."""
    run = grade.Run.__new__(grade.Run)
    run.settings, run.files = grade.Settings(), []
    folders, seconds = [], {"course": iter([12.0, 11.0]), "nbgrader": iter([60.0, 62.0])}

    def ways(self, suffix):
        folders.append(suffix)
        return {n: lambda n=n: {"seconds": next(seconds[n]), "peak": 2.0} for n in grade.AGAIN}

    monkeypatch.setattr(grade.Run, "_ways", ways)
    monkeypatch.setattr(grade.Run, "_grader", lambda self, name, way: way())
    graders = {"course": {"seconds": 10.0, "peak": 3.0}, "nbgrader": {"seconds": 61.0, "peak": 1.0}}
    for number in (1, 2):
        run._round(number, graders)
    assert folders == ["1", "2"]
    assert graders["course"] == {"seconds": 11.0, "peak": 3.0, "rounds": [10.0, 12.0, 11.0]}
    assert (
        graders["nbgrader"]["rounds"] == [61.0, 60.0, 62.0] and graders["nbgrader"]["peak"] == 2.0
    )
    target = list(tables.targets(result(graders=result()["graders"] | graders)))[1]
    assert target.ends == (60.5 / 11.5, 61.5 / 10.5) and target.verdict == "met"


def test_a_grader_that_fails_in_a_later_round_has_no_number(monkeypatch):
    run = grade.Run.__new__(grade.Run)
    run.settings, run.files = grade.Settings(), []
    graders = {"course": {"error": "x"}, "nbgrader": {"seconds": 61.0, "peak": 1.0}}
    monkeypatch.setattr(grade.Run, "_ways", lambda self, suffix: dict.fromkeys(grade.AGAIN))
    monkeypatch.setattr(grade.Run, "_grader", lambda self, name, way: {"error": "y"})
    run._round(1, graders)
    assert graders == {"course": {"error": "x"}, "nbgrader": {"error": "y"}}


def test_points_are_compared_task_by_task():
    graders = {
        "course": {"points": {"s0": {"a": 1, "b": 0}, "s1": {"a": 1, "b": 2}}},
        "nbval": {"points": None},
        "nbgrader": {"points": {"s0": {"a": 1.0, "b": 2.0}}},
    }
    assert grade._same(graders) == {"tasks": 4, "same": 1} and not any(graders.values())
    assert grade._same({"course": {"points": {}}, "nbgrader": {"error": "x"}}) is None


def test_a_made_up_class():
    """Fixed proportions, an order by chance, the same for the same seed."""
    kinds = (synthetic_class.SOLVED, synthetic_class.BLANK, synthetic_class.MIXED)
    for count, want in ((100, (40, 10, 50)), (10, (4, 1, 5)), (200, (80, 20, 100))):
        assert tuple(map(synthetic_class.kinds(count, random.Random(1)).count, kinds)) == want
    made, again = (synthetic_class.kinds(20, random.Random(1)) for _ in range(2))
    assert made == again != sorted(made)
    two = synthetic_class.kinds(2, random.Random(1))
    assert len(two) == 2 and synthetic_class.SOLVED in two


def test_notebooks_for_nbgrader():
    """Answers may be written, checks are locked and have the points."""
    blank = {"cell_type": "code", "metadata": {"tags": ["x"]}, "outputs": []}
    names = ("a", "a-check", "free")
    cells = [{**blank, "id": name, "source": name, "execution_count": None} for name in names]
    steps = [
        {"id": "a", "kind": "task", "points": 3, "of": ""},
        {"id": "a-check", "kind": "check", "points": 0, "of": "a"},
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    made = assignment.marked(notebook, steps)
    task, check, free = (cell["metadata"].get("nbgrader") for cell in made["cells"])
    assert task["solution"] and not task["locked"] and not task["grade"] and "points" not in task
    assert check["grade"] and check["locked"] and check["points"] == 3 and not check["solution"]
    assert free is None and [cell["source"] for cell in made["cells"]] == [*names]


def test_watch_counts_what_children_hold(monkeypatch):
    if sys.platform != "linux":
        pytest.skip("PSS is Linux'")
    monkeypatch.setattr(watching, "EVERY", 0.1)
    with watching.Watch() as watch:
        code = "import time; kept = bytearray(b'x') * (150 << 20); time.sleep(1.5)"
        outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
        subprocess.run([sys.executable, "-c", outer], check=True)
    assert watch.seconds > 1.4 and 150 << 20 < watch.peak < 400 << 20


def test_results_are_equal_but_for_seed_and_seconds():
    def text(**more):
        tasks = [{"task": "t", "message": "m"}]
        row = {"student": "a", "seed": 1, "seconds": 2.0, "points": 3, "tasks": tasks}
        return json.dumps({"chapters": [row | more]}).encode()

    same, other = ours._plain(text(seed=5, seconds=9.0)), ours._plain(text(points=2))
    assert ours._plain(text()) == same != other
    assert ours._plain(None) is None


@needs_rooms
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_whole_bench(tmp_path):
    """Two submissions of chapter 00, without nbgrader. It makes a release and grades five classes: a minute."""
    done, made, path = quick_run(tmp_path, "grade")
    assert made["chapter_name"] == "00-start-here" and sum(made["kinds"].values()) == 2
    graders, killed = made["graders"], made["killed"]
    assert all(graders[name]["seconds"] > 0 for name in ("course", "course-whole", "nbval"))
    assert graders["nbgrader"]["error"] == grade.NO_NBGRADER and made["same_points"] is None
    assert (killed["lost"], killed["rewritten"], killed["different"]) == (0, 0, 0)
    assert killed["kept"] + killed["graded"] == killed["students"] == 4
    assert len(made["solved"]["graded"]) == 1 and "/tmp" not in done.stdout
    assert called(["grade", "--reuse", path, "--out", tmp_path / "again"]) == 0
    assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("call", [["--students", "0"], ["--workers", "-1"]])
def test_calls_that_are_wrong(call, capsys):
    refused(["grade", *call], "must be a whole number", capsys)


def test_recorded_runs_are_whole_and_the_report_their_own():
    assert all(made["graders"]["nbgrader"]["seconds"] for made in committed(BENCH))
