"""Several files of one chapter from one student: which one counts; and a seed that shows a result again."""

import json
import os
import random
import zipfile

import pytest

from course_tools.grading.intake import handed_in, newest
from course_tools.grading.intake.files import File
from course_tools.grading.verdict.results import Result, Task
from course_tools.grading.workers import jobs

NOTEBOOK = json.dumps({"cells": [], "nbformat": 4, "metadata": {}})


@pytest.mark.parametrize(
    ("files", "last", "why"),
    [
        (
            [("03.ipynb", 9, 0), ("03.ipynb", 5, 2), ("03.ipynb", 7, 1)],
            ("03.ipynb", 5, 2),
            "number of the attempt",
        ),
        (
            [("a 2026-11-22 10.15.ipynb", 1, 0), ("b 2026-11-22 09.59.ipynb", 2, 0)],
            ("a 2026-11-22 10.15.ipynb", 1, 0),
            "time in its name",
        ),
        (
            [("20261122_101500.ipynb", 9, 0), ("20261122T101501.ipynb", 1, 0)],
            ("20261122T101501.ipynb", 1, 0),
            "time in its name",
        ),
        (
            [("03 2026-11-22.ipynb", 1, 0), ("03 2026-11-23.ipynb", 1, 0)],
            ("03 2026-11-23.ipynb", 1, 0),
            "time in its name",
        ),
        (
            [("03 2026-11-22.ipynb", 1, 0), ("03.ipynb", 2, 0)],
            ("03.ipynb", 2, 0),
            "time of the file",
        ),
        ([("03.ipynb", 8, 0), ("03 (1).ipynb", 3, 0)], ("03.ipynb", 8, 0), "time of the file"),
        (
            [("03.ipynb", 0, 0), ("03 (1).ipynb", 3, 0)],
            ("03.ipynb", 0, 0),
            "its name",
        ),  # one time is unknown
        ([("a.ipynb", 3, 0), ("b.ipynb", 3, 0)], ("b.ipynb", 3, 0), "its name"),
        (
            [("exam-120261122.ipynb", 3, 0), ("x.ipynb", 2, 0)],
            ("exam-120261122.ipynb", 3, 0),
            "time of the file",
        ),
    ],
)
def test_the_newest_is_last(files, last, why):
    for shuffled in range(4):
        given = [(File(name, b"", sent=sent, attempt=attempt),) for name, sent, attempt in files]
        random.Random(shuffled).shuffle(given)
        ordered, by = newest.last(given)
        file = ordered[-1][0]
        assert (
            (file.name, file.sent, file.attempt) == last
            and why in by
            and len(ordered) == len(files)
        )


def test_times_and_attempts_come_from_folders_zips_and_canvas(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, sent in (("ann_1_7_03.ipynb", 100), ("ann_1_7_03-2.ipynb", 50)):
        (folder / name).write_text(NOTEBOOK)
        os.utime(folder / name, (sent, sent))
    with zipfile.ZipFile(folder / "bob_2_8_all.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo("03.ipynb", (2026, 11, 22, 10, 15, 0)), NOTEBOOK)
        packed.writestr(zipfile.ZipInfo("04.ipynb", (2026, 0, 0, 0, 0, 0)), NOTEBOOK)
    ann, bob = handed_in.collect(folder)
    said = sorted((file.name, file.sent, file.attempt) for file in ann.files)
    assert said == [("03.ipynb", 50, 2), ("03.ipynb", 100, 0)]
    assert [file.sent > 1e9 for file in sorted(bob.files, key=lambda file: file.name)] == [
        True,
        False,
    ]


DEFAULTS = {"again": False, "isolation": "sandbox", "seed": None, "timeout": 0.0}


def run_with(**args):
    """A grade.Run with these arguments, as far as `_same` needs it."""
    from course_tools.grading.commands import grade

    run = grade.Run.__new__(grade.Run)
    run.args = type("Args", (), DEFAULTS | args)()
    return run


@pytest.mark.parametrize(
    ("status", "args", "kept"),
    [
        ("pass", {}, True),
        ("wrong", {"seed": 7}, True),
        ("wrong", {"seed": 8}, False),
        ("pass", {"again": True}, False),
        ("inconclusive", {}, False),
        ("not-run-here", {}, False),
        ("timeout", {}, True),
        ("timeout", {"timeout": 1e6}, False),
        ("wrong", {"timeout": 1e6}, True),
    ],
)
def test_what_was_decided_in_the_same_way_is_kept(status, args, kept):
    from course_lib import __version__

    file = File("x.ipynb", b"{}")
    given = type("Given", (), {"id": "autumn"})
    tasks = [Task("a", status, 0, 1)]
    old = Result(
        "ann", "", "03", "x.ipynb", file.digest, "autumn", __version__, 7, "sandbox", tasks
    )
    assert run_with(**args)._same(old, file, given) is kept
    assert run_with(**args)._same(None, file, given) is False


def test_the_seed_reaches_the_workers(tmp_path):
    for seed in (None, 5):
        work = jobs.Work(tmp_path / str(seed), {}, tmp_path, "none", 9.0, seed=seed)
        work.write()
        assert jobs.load(work.folder).seed == seed
