"""CONTRIBUTING.md's example of a new task works as it stands: its solution passes, its wrong answers fail."""

import re
from pathlib import Path

import pytest

from course_tools.build import mutants, source

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXERCISE = ROOT / "chapters" / "00-start-here" / "exercise.md"
PLACE = '+++ {"name": "done"}'
BLOCKS = dict(re.findall(r"^````(\w+)\n(.*?)^````$", TEXT, re.MULTILINE | re.DOTALL))


def with_the_example():
    """Exercise 00 with the task of CONTRIBUTING.md, whose check is defined in a cell instead of in the library."""
    code = (
        "from course_lib.checks.ch00 import tasks\n"
        f"exec({BLOCKS['python']!r}, vars(tasks))\n"
        "ch00.check_accuracy = tasks.check_accuracy"  # what the line in __init__.py does
    )
    defined = f"```{{code-cell}} ipython3\n:name: the-new-check\n{code}\n```\n\n"
    text = EXERCISE.read_text(encoding="utf-8")
    assert text.count(PLACE) == 1 and f"`{PLACE}`" in TEXT
    example = BLOCKS["markdown"].replace("```{code", defined + "```{code", 1)
    return source.parse(EXERCISE, text.replace(PLACE, example + PLACE))


@pytest.mark.parametrize("seed", [20160501, 20160502, 20160503])
def test_example_task(seed):
    read = with_the_example()
    verdicts = mutants.run(read, ROOT, seed, first=[str(ROOT / "tests" / "no_network")])
    assert [f"{v.task} {v.answer}: {v.message}" for v in verdicts if not v.ok] == []
    points = sum(cell.task.points for cell in read.tasks)
    summary = f"{len(verdicts)} of {len(verdicts)} as meant; the solution earns {points} of {points} points"
    assert len([v for v in verdicts if v.task == "accuracy"]) == 7 and summary in TEXT
