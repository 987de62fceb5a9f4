"""`course report`: what a check said, with its seed and the answer, and nothing else of the student."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.checks import ch01
from course_lib.checks.kit import inputs
from course_lib.checks.kit.messages import CheckBroken, CheckFailed
from course_lib.progress import journal, verdicts, watch
from course_tools.__main__ import main
from course_tools.report import again, text

ROOT = Path(__file__).resolve().parents[2]
CHAPTER, TASK = "01-serial-backprop", "neuron"
WRONG = "def neuron(x, w, b):\n    return 1 / (1 + math.exp(b - np.dot(w, x)))  # mine"


@pytest.fixture
def student(monkeypatch, tmp_path):
    """A kernel that JupyterLab has started; the folder of what it keeps."""
    for name in journal.ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(journal, "ELSEWHERE", journal.ELSEWHERE[:2])  # pytest sets the third again
    monkeypatch.setattr(watch, "CELLS", {})
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "kept"))
    monkeypatch.setenv(journal.SESSION, f"exercises/{CHAPTER}.ipynb")
    return tmp_path / "kept"


@pytest.fixture
def same(monkeypatch):
    """No kernel: the second run says what the first said."""

    def run(root, said, seconds):
        return again.Second(said["right"], said["message"], said["source"])

    monkeypatch.setattr(again, "run", run)


def run_cell(cell, source="", error=None):
    """What `watch.after` does with a cell that has run."""
    info = SimpleNamespace(cell_id=cell, raw_cell=source)
    result = SimpleNamespace(info=info, error_before_exec=None, error_in_exec=error)
    watch.after(SimpleNamespace(user_ns={}), result)


def answered(source, check=ch01.check_neuron, name=TASK):
    """A student writes an answer, and runs it and its check; the check's failure or None."""
    names: dict = {}
    exec("import math\nimport numpy as np\n" + source, names)
    run_cell(name, source)
    error = None
    try:
        check(names[name])
    except CheckFailed as failed:
        error = failed
    run_cell(f"{name}-check", error=error)
    return error


# What is kept -----------------------------------------------------------------------------------------------------


def test_a_check_keeps_its_words_its_seed_and_the_answer(student):
    error = answered(WRONG)
    (said,) = verdicts.kept()
    assert (said["chapter"], said["task"], said["right"]) == (CHAPTER, TASK, False)
    assert said["source"] == WRONG and said["message"] == str(error)
    assert f"seed={said['seed']}" in str(error)
    answered(WRONG.replace("b - np.dot(w, x)", "-b - np.dot(w, x)"))
    (said,) = verdicts.kept()
    assert said["right"] and said["seed"] >= 100_000 and "-b" in said["source"], "the newest alone"


def test_a_check_that_draws_nothing_has_no_seed(student):
    inputs.LAST["seed"] = 5  # of the check before, of another task
    run_cell("other-check")
    run_cell("value", "value = 1")
    run_cell("value-check", error=CheckFailed("value is not right yet"))
    assert [said["seed"] for said in verdicts.kept()] == [5, None]


def test_a_broken_check_is_kept_though_it_says_nothing_of_the_answer(student):
    run_cell(f"{TASK}-check", error=CheckBroken(TASK, "its reference raises", 7))
    run_cell("other-check", error=NameError("ch01"))
    assert [said["task"] for said in verdicts.kept()] == [TASK] and journal.read() == []


@pytest.mark.parametrize("room", ["notebooks", "solutions"])
def test_a_check_elsewhere_is_not_kept(student, monkeypatch, room):
    monkeypatch.setenv(journal.SESSION, f"{room}/{CHAPTER}.ipynb")
    answered(WRONG)
    assert verdicts.kept() == []


def test_nothing_is_kept_when_it_is_turned_off_or_forgotten(student, monkeypatch, capsys):
    answered(WRONG)
    assert main(["progress", "--forget", "--root", str(ROOT)]) == 0 and verdicts.kept() == []
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    answered(WRONG)
    assert verdicts.kept() == []


def test_a_file_that_was_cut_off_is_left_out(student):
    answered(WRONG)
    (student / verdicts.FOLDER / "01--cut.json").write_text('{"time": "20')
    assert len(verdicts.kept()) == 1


# What is told -----------------------------------------------------------------------------------------------------


def test_the_last_check_is_told(student, same, capsys):
    first = answered(WRONG)
    last = answered("def softmax(z):\n    return 0 * z", ch01.check_softmax, "softmax")
    assert main(["report", "--root", str(ROOT)]) == 0
    shown = capsys.readouterr()
    assert "chapter 01, task `softmax`" in shown.out and str(last) in shown.out
    assert str(first) not in shown.out and "neuron" not in shown.out, "one task's cell alone"
    assert "holds your cell 'softmax' and nothing else of yours" in shown.err
    assert main(["report", "01", TASK, "--root", str(ROOT)]) == 0
    shown = capsys.readouterr().out
    assert str(first) in shown and WRONG in shown
    assert re.search(r"Seed: \d{6}\. Tried again .* refused in the same way", shown)
    for topic in ("course 0.", "Python 3.", "C++ compiler:", "GPU:", "NumPy"):
        assert topic in shown


def test_an_accepted_answer_is_told_as_one(student, same, capsys):
    answered(WRONG.replace("b - np", "-b - np"))
    assert main(["report", "--root", str(ROOT)]) == 0
    shown = capsys.readouterr().out
    assert "accepted this answer" in shown and "accepted in the same way" in shown


def test_a_verdict_that_does_not_come_again_says_so(student, monkeypatch, capsys):
    answered(WRONG)
    monkeypatch.setattr(again, "run", lambda *_: again.Second(True, "✔ neuron"))
    assert main(["report", "--root", str(ROOT)]) == 0
    assert "in a fresh kernel, it is accepted:" in capsys.readouterr().out
    monkeypatch.setattr(again, "run", lambda *_: again.Second(None, "the kernel died"))
    assert main(["report", "--root", str(ROOT)]) == 0
    assert "could not be tried again: the kernel died" in capsys.readouterr().out


def test_no_folder_of_hers_is_told(student, same, capsys, monkeypatch, tmp_path):
    home = tmp_path / "home" / "ada"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    answered(WRONG + f"\n# see {home}/thesis/notes.txt and {ROOT}/mine.py")
    assert main(["report", "--root", str(ROOT), "--out", str(tmp_path / "misled.md")]) == 0
    shown = (tmp_path / "misled.md").read_text(encoding="utf-8")
    assert "ada" not in shown and str(ROOT) not in shown
    assert "~/thesis/notes.txt" in shown and capsys.readouterr().out == ""


def test_an_answer_cannot_end_its_block():
    assert text.fenced("a\n````\nb", "text") == "`````text\na\n````\nb\n`````"


@pytest.mark.parametrize(
    "line, says",
    [
        ([], "no check of yours is kept"),
        (["01"], "no check of yours is kept"),
        (["nothing-like-it"], "no exercise has a task"),
        (["01", "neuron", "softmax"], "one chapter and one task"),
        (["--seed", "5"], "--seed needs a task"),
        (["neuron", "--seed", "-5"], "--seed"),
        (["--timeout", "0"], "--timeout"),
    ],
)
def test_bad_input(student, capsys, line, says):
    assert main(["report", "--root", str(ROOT), *line]) == 2
    assert says in capsys.readouterr().err


# Once more, in a kernel -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def refused():
    """The wrong answer, tried with a seed in a fresh kernel."""
    said = {"chapter": CHAPTER, "task": TASK, "seed": 4, "source": WRONG, "right": False}
    return again.run(ROOT, said, 60)


def test_the_second_run_takes_the_same_inputs(refused, student):
    with pytest.raises(CheckFailed) as failed:
        names: dict = {}
        exec("import math\nimport numpy as np\n" + WRONG, names)
        ch01.check_neuron(names[TASK], seed=4)
    assert refused.right is False and refused.message == str(failed.value)


def test_without_a_kept_verdict_the_saved_exercise_is_run(student, capsys):
    """The exercise of the clone is blank."""
    assert main(["report", TASK, "--seed", "4", "--root", str(ROOT)]) == 0
    shown = capsys.readouterr().out
    assert "neuron is not written yet" in shown and "raise NotImplementedError" in shown
    assert "Seed: 4. Tried again" in shown and "refused in the same way" in shown


def test_a_task_without_a_check_or_an_exercise_cannot_be_tried():
    for chapter, task in ((CHAPTER, "nothing"), ("99-nothing", TASK)):
        second = again.run(ROOT, {"chapter": chapter, "task": task}, 60)
        assert second.right is None and "has no check" in second.message


def test_a_kept_verdict_is_plain_json(student):
    answered(WRONG)
    (file,) = (student / verdicts.FOLDER).iterdir()
    assert set(json.loads(file.read_text(encoding="utf-8"))) == {
        *("time", "chapter", "task", "right", "message", "seed", "source")
    }
