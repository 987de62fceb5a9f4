"""What a student's kernel keeps, what it must not keep, and how it is shown."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.progress import journal, summary, watch
from course_lib.progress.unguessed import SAY, Unguessed, assigned, filled, is_blank
from course_tools.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
FIRST = "00-start-here"
LECTURE = json.loads((ROOT / "notebooks" / f"{FIRST}.ipynb").read_text(encoding="utf-8"))
GUESSES = [
    cell["id"] for cell in LECTURE["cells"] if cell["metadata"].get("course", {}).get("guess")
]


@pytest.fixture
def student(monkeypatch, tmp_path):
    """A kernel that JupyterLab has started; the folder of its journal."""
    for name in journal.ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(journal, "ELSEWHERE", journal.ELSEWHERE[:2])  # pytest sets the third again
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "kept"))
    monkeypatch.setenv(journal.SESSION, f"exercises/{FIRST}.ipynb")
    return tmp_path / "kept"


class CheckFailed(AssertionError):
    """As the kit's: known by its name."""


def run(cell, source="", error=None, names=None):
    """What `watch.after` does with a cell that has run."""
    shell = SimpleNamespace(user_ns=names or {})
    info = SimpleNamespace(cell_id=cell, raw_cell=source)
    watch.after(shell, SimpleNamespace(info=info, error_before_exec=None, error_in_exec=error))
    return shell.user_ns


# What is kept -----------------------------------------------------------------------------------------------------


def test_verdicts_and_guesses_are_kept(student):
    run("affine-check", error=CheckFailed("no"))
    run("affine-check")
    run("affine-check", error=CheckFailed("again"))
    run("accuracy-check", error=NameError("ch00"))  # says nothing about an answer
    run(GUESSES[0], "my_share = 0.5", names={"my_share": 0.5})
    kept = [(e["chapter"], e["kind"], e["name"]) for e in journal.read()]
    assert kept == [(FIRST, "check", "affine")] * 3 + [(FIRST, "guess", "my_share")]
    chapter = summary.chapters(ROOT)[0]
    assert {task.name: task.state for task in chapter.tasks}["affine"] == "right"
    assert chapter.guesses == 1


@pytest.mark.parametrize("room", ["notebooks", "solutions"])
def test_a_check_elsewhere_makes_no_task_right(student, monkeypatch, room):
    """Lecture 01 has a cell forward-check of its own, as its exercise has."""
    monkeypatch.setenv(journal.SESSION, f"/home/me/course/{room}/{FIRST}.ipynb")
    run("affine-check")
    assert journal.read() == []


def test_each_cell_is_a_prediction_though_all_are_my_guess(student):
    for cell in (*GUESSES[:2], GUESSES[1], "scratch-guess"):
        run(cell, "my_guess = 0.5", names={"my_guess": 0.5})
    first = summary.chapters(ROOT)[0]
    assert (first.guesses, first.asked) == (2, len(GUESSES)), "a cell of the student's own is none"
    page = summary.Page([first])
    assert f"2 of {len(GUESSES)} predicted" in repr(page)
    assert f"<td>2 of {len(GUESSES)}</td>" in page._repr_html_()


def test_a_chapter_without_predictions_says_so():
    page = summary.Page([summary.Chapter("00-x", "X", (), 0)])
    assert "none to make" in page._repr_html_() and "predicted" not in repr(page)


@pytest.mark.parametrize("name", [*journal.ELSEWHERE])
def test_nothing_is_kept_where_a_machine_runs_the_cells(student, monkeypatch, name):
    monkeypatch.setattr(
        journal, "ELSEWHERE", ("COURSE_SEED", "COURSE_MPI_RANK", "PYTEST_CURRENT_TEST")
    )
    monkeypatch.setenv(name, "1")
    run("affine-check")
    assert not student.exists()


def test_nothing_is_kept_without_jupyterlab_or_when_turned_off(student, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    run("affine-check")
    assert journal.folder() is None and journal.read() == []
    monkeypatch.setenv("COURSE_PROGRESS", str(student))
    monkeypatch.delenv(journal.SESSION)
    run("affine-check")
    assert not student.exists()


def test_kernels_of_the_build_and_of_the_tests_are_no_students():
    from course_tools.notebooks import kernels

    assert kernels.environment(ROOT).get("COURSE_SEED")


def test_a_folder_that_cannot_be_written_stops_nothing(student):
    student.write_text("a file, no folder")
    run("affine-check")
    assert student.read_text() == "a file, no folder"


def test_a_broken_line_is_left_out(student):
    run("affine-check")
    with (student / journal.NAME).open("a") as file:
        file.write('{"chapter": "00-st\n[1]\n{"kind": "check"}\n')
    assert len(journal.read()) == 1


# Guesses ----------------------------------------------------------------------------------------------------------


def test_a_run_without_a_guess_says_so_and_goes_on(student, capsys):
    names = run("my-share", "my_share = ...", names={"my_share": ...})
    assert capsys.readouterr().out == SAY + "\n" and not student.exists()
    mine = names["my_share"]
    assert f"you said {mine:.0%}; it is {13}" == "you said …; it is 13"
    assert f"{mine:6.1f}|{mine:,}|{mine!s:5}|{1 / mine:g}|{mine[3]}" == "     …|…|…    |…|…"
    assert repr({"a": mine}) == "{'a': …}" and ", ".join(mine) == "…"
    assert (mine == 5, mine < 5, mine >= 5, 5 in mine, bool(mine)) == (False,) * 5


def test_what_is_blank():
    assert is_blank(...) and is_blank({"a": (1, ...)}) and is_blank([Unguessed()])
    assert not is_blank(0) and not is_blank({"a": (1, None)}) and not is_blank("...")
    assert filled({"a": (..., 2)}) == {"a": (Unguessed(), 2)}
    assert assigned("a, b = 1, 2\nx[0] = 3") == ["a", "b", "x"] and assigned("%time x") == []


def test_importing_the_course_in_a_notebook_watches_it():
    code = (
        "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance()\n"
        "s.run_cell('import course_lib')\ns.run_cell('my_a = ...')\ns.run_cell('print(f\"said {my_a:.2f}\")')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines() == [SAY, "said …"], done.stderr


def test_importing_the_course_elsewhere_imports_no_ipython():
    code = "import course_lib, sys; print('IPython' in sys.modules, 'course_lib.progress' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "False False\n"


# How it is shown --------------------------------------------------------------------------------------------------


def test_the_command_tells_what_is_right_and_where_to_go_on(student, capsys):
    assert main(["progress", "--root", str(ROOT)]) == 0
    assert "Continue with the task" in capsys.readouterr().out
    first = summary.chapters(ROOT)[0]
    for task in first.tasks:
        run(f"{task.name}-check")
    assert main(["progress", "--root", str(ROOT)]) == 0
    text = capsys.readouterr().out
    points = first.points[1]
    assert f"00  {'✔' * len(first.tasks)}" in text and f"{points:3} of {points:3} points" in text
    assert "exercises/01-" in text.split("Continue with")[1] and str(student) in text


def test_json_and_forgetting(student, capsys):
    run("affine-check")
    assert main(["progress", "--json", "--root", str(ROOT)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["name"] == FIRST and rows[0]["points"][1] > 0
    assert main(["progress", "--forget", "--root", str(ROOT)]) == 0
    assert journal.read() == []


def test_the_page_links_to_the_exercises(student):
    run("affine-check")
    page = summary.show(ROOT)._repr_html_()
    links = [part.split('"')[0] for part in page.split('href="')[1:]]
    assert f'in <a href="exercises/{FIRST}.ipynb">' in page and "Exercise 0" not in page
    assert len(links) >= 15 and all((ROOT / link).is_file() for link in links)
    notebook = json.loads((ROOT / "progress.ipynb").read_text(encoding="utf-8"))
    assert "progress.show()" in "".join(notebook["cells"][-1]["source"])


def test_no_exercises_is_bad_input(tmp_path, capsys):
    assert main(["progress", "--root", str(tmp_path)]) == 2
    assert "no exercises/" in capsys.readouterr().err


def test_all_done(student, monkeypatch):
    found = summary.chapters(ROOT)
    for one in found:
        monkeypatch.setenv(journal.SESSION, f"exercises/{one.name}.ipynb")
        for task in one.tasks:
            run(f"{task.name}-check")
    assert summary.next_words(summary.chapters(ROOT)) == "All tasks are right."
