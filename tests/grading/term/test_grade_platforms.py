"""Gradescope's container, GitHub's workflow, nbgrader's exchange, feedback in bulk: as their documents describe them.

None of these was tried against the product itself: docs/grading.md says so.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_tools.__main__ import main
from course_tools.grading.intake import handed_in
from course_tools.grading.platforms import github, gradescope, in_gradescope
from course_tools.grading.release import manifest
from course_tools.grading.sandbox import sandbox
from course_tools.grading.verdict import results

ROOT = Path(__file__).resolve().parents[3]
ZERO = "00-start-here"
WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release that says that it is tested: its trials have tests of their own."""
    made = tmp_path_factory.mktemp("platforms") / "release"
    assert main(["release", "00", "--quick", "--root", str(ROOT), "--out", str(made)]) == 0
    file = made / "manifest.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"tested": false', '"tested": true'))
    return made


def run(*words):
    return main(["class", *map(str, words)])


# Gradescope ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(release, tmp_path_factory):
    file = tmp_path_factory.mktemp("gradescope") / "autograder.zip"
    assert run("gradescope", "00", "--release", release, "--out", file, "--root", ROOT) == 0
    return file


@pytest.fixture
def container(packed, tmp_path):
    """/autograder as Gradescope lays it out: the zip in source, run_autograder beside it."""
    place = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (place / name).mkdir(parents=True)
    with zipfile.ZipFile(packed) as given:
        given.extractall(place / "source")
    shutil.copyfile(place / "source" / "run_autograder", place / "run_autograder")
    about = {"id": 1, "users": [{"name": "Jane Doe"}]}
    (place / "submission_metadata.json").write_text(json.dumps(about))
    return place


def autograded(container):
    """results.json after a run."""
    words = ["bash", str(container / "run_autograder")]
    env = os.environ | {"AUTOGRADER": str(container), "COURSE_PYTHON": sys.executable}
    done = subprocess.run(words, env=env, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    made = json.loads((container / "results" / "results.json").read_text(encoding="utf-8"))
    assert set(made) <= {
        "score",
        "output",
        "visibility",
        "tests",
        "execution_time",
        "stdout_visibility",
    }
    return made


def test_the_zip_holds_no_answer(packed):
    with zipfile.ZipFile(packed) as given:
        names = given.namelist()
        modes = {entry.filename: entry.external_attr >> 16 for entry in given.infolist()}
    assert {"setup.sh", "run_autograder", "release/manifest.json"} <= set(names)
    assert modes["setup.sh"] & stat.S_IXUSR and modes["run_autograder"] & stat.S_IXUSR
    tops = {tuple(name.split("/")[:2]) for name in names}
    assert not tops & {("course", one) for one in ("chapters", "solutions", "tests", ".venv")}
    assert packed.stat().st_size < 100 << 20


@pytest.mark.parametrize("text", [gradescope.SETUP, gradescope.RUN])
def test_its_scripts_are_bash(text):
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    assert done.returncode == 0 and text.startswith("#!/usr/bin/env bash\n"), done.stderr


@needs_sandbox
def test_a_submission_in_the_container(container):
    shutil.copyfile(ROOT / "solutions" / f"{ZERO}.ipynb", container / "submission" / "mine.ipynb")
    made = autograded(container)
    assert made["score"] == 4 and "without a sandbox" not in made["output"]
    shown = [test for test in made["tests"] if test["visibility"] == "visible"]
    assert [(test["score"], test["max_score"]) for test in shown] == [(1, 1), (1, 1), (2, 2)]


@needs_sandbox
@pytest.mark.parametrize(
    "name, data, says",
    [
        ("report.pdf", b"%PDF", "no notebook (.ipynb) was handed in"),
        ("a.ipynb", b"{", "it is not JSON"),
        ("a.ipynb", b'{"cells": [], "nbformat": 4}', "it is no exercise of this release"),
    ],
)
def test_what_is_no_exercise_is_said_in_the_container(container, name, data, says):
    (container / "submission" / name).write_bytes(data)
    made = autograded(container)
    assert made["score"] == 0 and says in made["output"]


def test_without_a_sandbox_it_runs_as_another_user(tmp_path, monkeypatch):
    calls: list = []
    monkeypatch.setattr(in_gradescope.subprocess, "run", lambda words, **_: calls.append(words))
    words = in_gradescope.call(tmp_path, tmp_path / "work", True, True)
    assert words[:4] == ["runuser", "-u", "grader", "--"] and words[-2:] == ["--isolation", "none"]
    assert calls == [["chown", "-R", "grader", str(tmp_path / "work")]]
    assert "none" not in in_gradescope.call(tmp_path, tmp_path, False, True)


def test_a_grader_that_fails_gives_no_points(tmp_path):
    done = subprocess.CompletedProcess([], 2, "", "course grade: something else")
    assert in_gradescope.result(tmp_path, ZERO, done) is None


# GitHub --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def workflow(release, tmp_path):
    yaml = pytest.importorskip("yaml")
    file = tmp_path / "classroom.yml"
    words = ["github", "0", "--release", release, "--course", "uni/course", "--out", file]
    assert run(*words) == 0
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_workflow_has_a_step_a_task(workflow):
    assert workflow[True] == ["push", "repository_dispatch"]  # YAML 1.1 reads "on" so
    assert workflow["permissions"]["checks"] == "write"
    job = workflow["jobs"]["run-autograding-tests"]
    graders = [step for step in job["steps"] if "command-grader" in step.get("uses", "")]
    assert [step["with"]["max-score"] for step in graders] == [1, 1, 2]
    report = job["steps"][-1]
    ids = [step["id"] for step in graders]
    assert report["with"]["runners"] == ",".join(ids)
    wanted = {f"{one.upper()}_RESULTS": f"${{{{ steps.{one}.outputs.result }}}}" for one in ids}
    assert report["env"] == wanted


@pytest.mark.slow
def test_its_commands_read_what_check_prints(workflow, tmp_path):
    """Of the solution all pass, of the blank none: with the workflow's own shell lines."""
    if not shutil.which("jq"):
        pytest.skip("there is no jq here")
    steps = workflow["jobs"]["run-autograding-tests"]["steps"]
    (checks,) = [step["run"] for step in steps if step.get("name") == "The public checks"]
    commands = [step["with"]["command"] for step in steps if "command" in step.get("with", {})]
    found = {}
    for folder in ("solutions", "exercises"):
        place = tmp_path / folder / "mine" / "deeper"
        place.mkdir(parents=True)
        shutil.copyfile(ROOT / folder / f"{ZERO}.ipynb", place / f"{ZERO}.ipynb")
        env = os.environ | {"GITHUB_WORKSPACE": str(tmp_path / folder)}
        text = checks.replace(".venv/bin/python", sys.executable)
        subprocess.run(
            ["bash", "-e", "-c", text], cwd=ROOT, env=env, check=True, capture_output=True
        )
        found[folder] = [
            subprocess.run(
                ["bash", "-c", one], cwd=tmp_path / folder, capture_output=True
            ).returncode
            for one in commands
        ]
    assert found == {"solutions": [0, 0, 0], "exercises": [1, 1, 1]}


def test_odd_names_stay_texts(release):
    yaml = pytest.importorskip("yaml")
    chapter = manifest.load(release).chapters[ZERO]
    made = yaml.safe_load(github.text(chapter, "a/b", 'x: "y" # z'))
    steps = made["jobs"]["run-autograding-tests"]["steps"]
    assert steps[1]["with"]["ref"] == 'x: "y" # z'


# nbgrader's exchange -------------------------------------------------------------------------------------------------


def test_the_exchange_is_as_nbgrader_makes_it(release, tmp_path):
    words = ["exchange", "--release", release, "--exchange", tmp_path, "--course", "nn26"]
    assert run(*words) == 0
    course = tmp_path / "nn26"
    modes = {name: stat.S_IMODE(os.stat(course / name).st_mode) for name in ("inbound", "outbound")}
    assert modes == {"inbound": 0o2733, "outbound": 0o755}
    file = course / "outbound" / ZERO / f"{ZERO}.ipynb"
    assert file.read_bytes() == (release / "exercises" / f"{ZERO}.ipynb").read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert run(*words) == 2, "what students may have fetched is not changed"


def test_what_nbgrader_hands_in_is_taken(release, tmp_path):
    """As `nbgrader submit` writes it, and as `nbgrader collect` copies it."""
    for folder in (
        "inbound/jdoe+00-start-here+2026-11-22 10:15:30 UTC+aB-_9",
        f"submitted/jdoe/{ZERO}",
    ):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copyfile(
            release / "exercises" / f"{ZERO}.ipynb", tmp_path / folder / f"{ZERO}.ipynb"
        )
        (tmp_path / folder / "timestamp.txt").write_text("2026-11-22 10:15:30 UTC")
    for place in ("inbound", "submitted"):
        (found,) = handed_in.collect(tmp_path / place)
        assert (found.student, [file.name for file in found.files]) == ("jdoe", [f"{ZERO}.ipynb"])


@pytest.mark.parametrize("course", ["a/b", "a b", "", "a+b"])
def test_a_wrong_course_is_refused(release, tmp_path, course):
    words = ["exchange", "--release", release, "--exchange", tmp_path, "--course", course]
    assert run(*words) == 2 and list(tmp_path.iterdir()) == []


# Feedback in bulk ----------------------------------------------------------------------------------------------------


def graded(marks, student, data, number=""):
    task = results.Task("affine", "wrong", 0, 1, "<b>off</b> by one\n# no heading")
    digest = handed_in.files.File("a.ipynb", data).digest
    results.save(
        marks,
        [results.Result(student, number, ZERO, "a.ipynb", digest, "r", "0", 1, "sandbox", [task])],
    )


def test_canvas_gets_its_own_names_back(tmp_path, capsys):
    names = {
        "doejane_LATE_11_71_00-start-here-1.ipynb": b"{}",
        "doejane_11_70_00-start-here.ipynb": b"{ }",
        "roejo_12_72_report.pdf": b"%PDF",
    }
    download, marks = tmp_path / "submissions.zip", tmp_path / "marks"
    with zipfile.ZipFile(download, "w") as made:
        for name, data in names.items():
            made.writestr(name, data)
    marks.mkdir()
    graded(marks, "doejane", b"{}", "11")
    out = tmp_path / "back.zip"
    assert run("feedback", download, "--marks", marks, "--canvas", out) == 1
    assert "'roejo': no graded notebook of 00-start-here, no feedback" in capsys.readouterr().out
    with zipfile.ZipFile(out) as made:
        assert made.namelist() == ["doejane_LATE_11_71_00-start-here-1.ipynb"]
        cells = json.loads(made.read(made.namelist()[0]))["cells"]
    text = "\n".join(cell["source"] for cell in cells)
    assert "0 of 1 points" in text and "    <b>off</b> by one\n    # no heading" in text


def test_moodle_gets_its_own_folders_back(tmp_path):
    download, marks = tmp_path / "submissions.zip", tmp_path / "marks"
    folders = ["Jane Doe_11_assignsubmission_file_", "Max Müller_12_assignsubmission_file"]
    with zipfile.ZipFile(download, "w") as made:
        for folder in folders:
            made.writestr(f"{folder}/a.ipynb", b"{}")
    marks.mkdir()
    graded(marks, "Jane Doe", b"{}", "11")
    graded(marks, "Max Müller", b"{}", "12")
    out = tmp_path / "back.zip"
    assert run("feedback", download, "--marks", marks, "--moodle", out) == 0
    with zipfile.ZipFile(out) as made:
        assert made.namelist() == [f"{folder}/feedback-00.html" for folder in folders]
        page = made.read(made.namelist()[1]).decode()
    assert "Max Müller" in page and "Jane" not in page and "&lt;b&gt;off" in page


def test_another_download_is_refused(tmp_path):
    (tmp_path / "in" / "doe").mkdir(parents=True)
    (tmp_path / "in" / "doe" / "a.ipynb").write_text("{}")
    (tmp_path / "marks").mkdir()
    graded(tmp_path / "marks", "doe", b"{}")
    words = ["feedback", tmp_path / "in", "--marks", tmp_path / "marks"]
    assert run(*words) == 2 and run(*words, "--moodle", tmp_path / "x.zip") == 2
    assert not (tmp_path / "x.zip").exists()
