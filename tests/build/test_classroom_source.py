"""The rules of the source format: every breach gets one line that names the place and says what to do."""

from pathlib import Path

import pytest
from sample_chapter import EXERCISE, KERNEL, LECTURE

from course_tools.build import source

PLACE = Path("chapters/01-tiny")


def parse(text, kind="exercise"):
    return source.parse(PLACE / f"{kind}.md", text)


def problems(text, kind="exercise"):
    with pytest.raises(source.SourceError) as caught:
        parse(text, kind)
    return caught.value.problems


def test_the_sample_is_read():
    lecture, exercise = parse(LECTURE, "lecture"), parse(EXERCISE)
    assert [c.name for c in lecture.cells] == ["greet-text", "greet", "two-text", "two", "end-text"]
    task = exercise.tasks[0].task
    assert (task.points, task.difficulty, task.minutes, task.lines, len(task.hints)) == (
        2,
        1,
        3,
        1,
        3,
    )
    assert [m.name for m in task.mutants] == [
        "adds",
        "triples",
        "nothing",
        "only-passes",
        "two-lines",
    ]
    assert exercise.check_of(task).name == "double-check"
    assert lecture.title == "A tiny chapter" and lecture.minutes == 5


def test_lines_point_at_the_cell():
    exercise = parse(EXERCISE)
    rows = EXERCISE.split("\n")
    for cell in exercise.cells:
        if cell.kind == "code":
            assert rows[cell.line - 1].startswith("```{code-cell}")
            assert any(f"name: {cell.name}" in row for row in rows[cell.line : cell.line + 2])


BREACHES = {
    "no name": (":name: double-check\n", "", "has no name"),
    "a name twice": (":name: double-check", ":name: setup", "'setup' is taken by the cell at line"),
    "a name in capitals": (":name: setup", ":name: SetUp", "must be kebab-case"),
    "an unknown tag": (
        "tags: [task]",
        "tags: [tusk]",
        "tags must be a list of some of task, check",
    ),
    "an unknown key": ("points: 2", "points: 2\npionts: 2", "unknown key 'pionts'"),
    "points are text": (
        "points: 2",
        "points: two",
        "points must be a whole number from 1 to 100, not 'two'",
    ),
    "points out of range": ("points: 2", "points: 0", "points must be a whole number"),
    "difficulty out of range": (
        "difficulty: 1",
        "difficulty: 4",
        "must be a whole number from 1 to 3, not 4",
    ),
    "minutes forgotten": (
        "minutes: 3\n",
        "",
        "minutes must be a whole number from 1 to 120, not None",
    ),
    "lines are true": ("lines: 1", "lines: true", "lines must be a whole number"),
    "two hints": ('  - "the idea"\n', "", "hints must be a list of 3"),
    "an empty hint": ('  - "the idea"\n', '  - " "\n', "hints must be a list of 3"),
    "four mutants": (
        '  - {name: nothing, body: "return None", expect: "returned None"}\n',
        "",
        "at least 5 mutants",
    ),
    "a mutant twice": ("name: triples", "name: adds", "two mutants are named 'adds'"),
    "a text that is not there": (
        'replace: "2 *"',
        'replace: "2*"',
        "occurs 0 times in the solution, not once",
    ),
    "a text that is there three times": (
        'replace: "2 *"',
        'replace: " "',
        "occurs 3 times in the solution, not once",
    ),
    "a mutant that changes nothing": ('with: "2 +"', 'with: "2 *"', "it changes nothing"),
    "a mutant that is not Python": ('with: "2 +"', 'with: "2 + *"', "is not Python"),
    "a mutant without a cause": (', expect: "got 9"', "", "no `says` (the cause) or `expect`"),
    "a mutant without with": ('with: "3", ', "", "needs either replace and with, or body"),
    "a mutant with both": (
        'with: "3", ',
        'with: "3", body: "pass", ',
        "needs either replace and with, or body",
    ),
    "a mutant with another key": (
        'with: "3", ',
        'with: "3", told: "x", ',
        "keys are name, says or expect, and replace",
    ),
    "no check": (
        "name: double-check\n:tags: [check]\n:checks: double\n",
        "name: other\n",
        "must be its check",
    ),
    "a check of nothing": (":checks: double", ":checks: treble", "there is no task 'treble'"),
    "a check without its tag": (":tags: [check]\n", "", "a check cell has the tag check"),
    "a check with another name": (":name: double-check", ":name: test-it", "is named double-check"),
    "no end marker": ("    ### END SOLUTION\n", "", "not 1 and 0"),
    "markers turned round": ("### BEGIN", "### END", "not 0 and 2"),
    "an empty solution": ("    return 2 * x\n", "", "its solution region is empty"),
    "markers outside a task": (
        "check_double(double)\n",
        "### BEGIN SOLUTION\n",
        "solution markers in a cell without",
    ),
    "not Python": ("check_double(double)\n", "check_double(double\n", "is not Python"),
    "an nbval comment": (
        "check_double(double)\n",
        "# NBVAL_SKIP\ncheck_double(double)\n",
        "say it with a tag",
    ),
    "no title": ("title: A tiny chapter", "name: x", "with a title"),
    "another kernel": ("name: python3", "name: julia", "needs the kernelspec python3"),
    "two unnamed texts": (
        "Write `double`.",
        "One.\n\n+++\n\nTwo.",
        "two text cells named 'double-text'",
    ),
    "a header that is not YAML": (
        "points: 2",
        "points: [2",
        "chapters/01-tiny/exercise.md: Jupytext cannot read it",
    ),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_named(breach):
    old, new, says = BREACHES[breach]
    assert old in EXERCISE
    found = problems(
        EXERCISE.replace(old, new, 1) if "turned" not in breach else EXERCISE.replace(old, new)
    )
    assert any(says in problem for problem in found), found
    assert all(problem.startswith("chapters/01-tiny/exercise.md:") for problem in found)


def test_all_problems_at_once():
    text = EXERCISE.replace("points: 2", "points: 0").replace("difficulty: 1", "difficulty: 9")
    assert len(problems(text)) == 2


def test_a_lecture_has_no_tasks_and_an_exercise_has_one():
    assert any("belong in exercise.md" in p for p in problems(EXERCISE, "lecture"))
    assert any("at least one task" in p for p in problems(LECTURE))


def test_a_region_in_the_middle_keeps_its_place_and_indent():
    code = "def f(x):\n    y = x\n    ### BEGIN SOLUTION\n    if y:\n        y += 1\n    ### END SOLUTION\n    return y"
    region = source.split(code)
    assert region.text == "if y:\n    y += 1"
    assert (
        region.filled(region.text)
        == "def f(x):\n    y = x\n    if y:\n        y += 1\n    return y"
    )
    assert region.filled("pass") == "def f(x):\n    y = x\n    pass\n    return y"


def test_a_task_of_variables():
    region = source.split("### BEGIN SOLUTION\nanswer = 3\n### END SOLUTION")
    assert region.filled("raise NotImplementedError()") == "raise NotImplementedError()"


def test_a_region_inside_a_string():
    cell = parse(KERNEL).tasks[0]
    region = source.split(cell.source)
    assert (
        region.in_string
        and cell.task.in_string
        and region.text == "int i = threadIdx.x;\ny[i] = 3 * x[i];"
    )
    assert cell.task.blank == '#error "write triple: about 2 lines, 4 minutes"'
    assert not parse(EXERCISE).tasks[0].task.in_string


@pytest.mark.parametrize(
    "text, inside",
    [
        ("K = '''\n### BEGIN SOLUTION\nx\n### END SOLUTION\n'''", True),
        ("### BEGIN SOLUTION\nK = '''x'''\n### END SOLUTION", False),
        ("K = ('a'\n### BEGIN SOLUTION\n'b'\n### END SOLUTION\n)", False),
        (
            "def f():\n    '''Says.'''\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION",
            False,
        ),
        ("%magic '\n### BEGIN SOLUTION\nx\n### END SOLUTION", False),
    ],
)
def test_a_string_is_told_from_code(text, inside):
    assert source.split(text).in_string == inside


STRINGS = {
    "the string opens below": (
        "TRIPLE = r",
        "# the kernel\nTRIPLE = r",
        "must open in the first line of the cell",
    ),
    "the end outside": (
        '    ### END SOLUTION\n}\n"""',
        '}\n"""\n### END SOLUTION',
        "one of its markers stands",
    ),
    "a mutant that closes the string": ('with: "2 *"', 'with: \'""" *\'', "is not Python"),
}


@pytest.mark.parametrize("breach", STRINGS)
def test_a_breach_in_a_string_is_named(breach):
    old, new, says = STRINGS[breach]
    assert KERNEL.count(old) == 1
    assert any(says in problem for problem in problems(KERNEL.replace(old, new)))


def test_find_names_what_there_is(tmp_path):
    for name in ("01-one", "02-two"):
        (tmp_path / "chapters" / name).mkdir(parents=True)
        (tmp_path / "chapters" / name / "lecture.md").write_text("")
    assert [p.parent.name for p in source.find(tmp_path, ["02"])] == ["02-two"]
    with pytest.raises(source.BadInput, match="no chapter '07': there is 01-one, 02-two"):
        source.find(tmp_path, ["07"])
    (tmp_path / "chapters" / "Three").mkdir()
    with pytest.raises(source.BadInput, match="named NN-topic"):
        source.find(tmp_path)
