"""The harness for planted wrong answers tells an answer that fares as meant from one that does not."""

from pathlib import Path

import pytest
from sample_chapter import EXERCISE, KERNEL, clone

from course_tools.build import mutants, source

ROOT = Path(__file__).parents[2]


def verdicts(tmp_path, exercise, **options):
    root = clone(tmp_path, None, exercise)
    read = source.read(root / "chapters/01-tiny/exercise.md")
    found = mutants.run(read, root, **options)
    assert [(v.task, v.answer) for v in found] == mutants.answers(read)
    return {v.answer: v for v in found}


def test_all_as_meant(tmp_path):
    found = verdicts(tmp_path, EXERCISE)
    assert all(v.ok for v in found.values()), found
    assert list(found) == [
        "blank",
        "adds",
        "triples",
        "nothing",
        "only-passes",
        "two-lines",
        "solution",
    ]
    assert found["adds"].message == "CheckFailed: got 5, and the likely cause is a slip"
    assert found["solution"].points == 2 and found["solution"].message == "passed"


def test_what_is_not_as_meant_is_told(tmp_path):
    text = EXERCISE.replace('expect: "got 9"', 'expect: "got 10"')  # fails with another message
    text = text.replace(
        'body: "return None", expect: "returned None"', 'body: "return x + x", expect: "x"'
    )  # passes
    text = text.replace(
        'raise CheckFailed("double is not written yet")', 'raise CheckFailed("oh")'
    )  # a rude blank
    found = verdicts(tmp_path, text)
    assert [name for name, v in found.items() if not v.ok] == ["blank", "triples", "nothing"]
    assert "got 9" in found["triples"].message and found["nothing"].message == "passed"


def test_a_solution_that_fails_is_told(tmp_path):
    found = verdicts(tmp_path, EXERCISE.replace("if got != 6", "if got != 7"))
    assert not found["solution"].ok and "got 6" in found["solution"].message


def test_a_lost_kernel_is_told_and_nothing_counts_as_passed(tmp_path):
    found = verdicts(
        tmp_path, EXERCISE.replace('body: "return None"', 'body: "import os; os._exit(1)"')
    )
    assert [v.ok for v in found.values()] == [True, True, True, False, False, False, False]
    assert (
        "the kernel was lost" in found["nothing"].message and "not run" in found["solution"].message
    )


def test_a_cell_of_the_exercise_that_raises_is_told(tmp_path):
    found = verdicts(
        tmp_path,
        EXERCISE.replace("class CheckFailed(AssertionError):", "1 / 0\n\n\nclass CheckFailed:"),
    )
    assert not any(v.ok for v in found.values()) and "ZeroDivisionError" in found["blank"].message


FUNCTION = '''def double(x):
    """x: int. Returns 2 x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''
CHANGES = [
    (FUNCTION, "### BEGIN SOLUTION\ndouble = lambda x: 2 * x\n### END SOLUTION"),
    ('"return None"', '"double = print"'),
    ('"pass"', '"double = print"'),
    ('replace: "2"', 'replace: "2 * x"'),
    ('with: "3"', 'with: "9"'),
    ("return y", "double = lambda x: x"),
    ("y = x", "y = 1"),
]


def test_a_task_of_variables(tmp_path):
    text = EXERCISE
    for old, new in CHANGES:
        assert text.count(old) == 1
        text = text.replace(old, new)
    found = verdicts(tmp_path, text)
    assert all(v.ok for v in found.values()), found
    assert found["blank"].message == "NotImplementedError: write double: about 1 line, 3 minutes"


def test_a_task_inside_a_string(tmp_path):
    found = verdicts(tmp_path, KERNEL)
    assert all(v.ok for v in found.values()), found
    assert found["blank"].message == "AssertionError: triple is not written yet"
    text = KERNEL.replace('if "#error" in source', 'if "no such words" in source')
    assert [name for name, v in verdicts(tmp_path, text).items() if not v.ok] == ["blank"]


def test_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(
        clone(tmp_path, None, EXERCISE.replace('expect: "got 9"', 'expect: "got 10"'))
    )
    assert mutants.main(["01"]) == 1
    shown = capsys.readouterr().out
    assert "WRONG double triples" in shown and "expected 'got 10', got: CheckFailed: got 9" in shown
    assert "6 of 7 as meant; the solution earns 2 of 2 points" in shown
    assert mutants.main(["44"]) == 2 and "no chapter '44'" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [1, 2])
def test_the_seed_reaches_the_kernel(tmp_path, seed):
    text = EXERCISE.replace(
        'print("right")', 'import os\n    assert os.environ["COURSE_SEED"] == "1"'
    )
    assert verdicts(tmp_path, text, seed=seed)["solution"].ok == (seed == 1)


def test_every_chapter_has_its_file():
    """tests/chapters/chNN/test_chNN_planted.py, by which its planted answers are tried."""
    for chapter in sorted((ROOT / "chapters").glob("[0-9][0-9]-*")):
        number = chapter.name[:2]
        path = ROOT / f"tests/chapters/ch{number}/test_ch{number}_planted.py"
        assert path.is_file() and f'@answers("{number}")' in path.read_text(encoding="utf-8")
