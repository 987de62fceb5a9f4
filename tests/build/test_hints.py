"""Hints that are code stand in code font, as blocks."""

import re
from pathlib import Path

import pytest

from course_tools.build import source
from course_tools.build.hints import is_code, laid_out

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```\w+\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
HINTS = [
    pytest.param(hint, id=f"{path.parent.name[:2]}-{cell.name}-{number}")
    for path in sorted((ROOT / "chapters").glob("*/exercise.md"))
    for cell in source.read(path).cells
    if cell.task
    for number, hint in enumerate(cell.task.hints, 1)
]


@pytest.mark.parametrize("hint", HINTS)
def test_no_hint_has_a_line_of_code_outside_of_a_block(hint):
    text = laid_out(hint)
    prose = FENCE.sub("", text)
    assert "```" not in prose
    for paragraph in prose.split("\n\n"):
        assert not is_code(paragraph.strip()), text
        assert not re.fullmatch(r"`[^`]+`[.,;]?", paragraph.strip()), text


@pytest.mark.parametrize("hint", HINTS)
def test_no_word_of_a_hint_is_lost_but_those_between_two_blocks(hint):
    words = re.findall(r"\w+", hint)
    kept = re.findall(r"\w+", re.sub(r"^```\w+$", "", laid_out(hint), flags=re.MULTILINE))
    assert [w for w in words if w not in JOINTS] == [w for w in kept if w not in JOINTS]


JOINTS = ("then", "and", "in", "it")


@pytest.mark.parametrize(
    ("hint", "wanted"),
    [
        ("Which axis holds the classes?", "Which axis holds the classes?"),
        ("n = len(x); return n / 2", "```python\nn = len(x)\nreturn n / 2\n```"),
        (
            "After the loop: `return 1 / (1 + z)`",
            "After the loop:\n\n```python\nreturn 1 / (1 + z)\n```",
        ),
        ("`total = b.sum()`, then `return a`.", "```python\ntotal = b.sum()\nreturn a\n```"),
        ("Begin with `z = b`. Then add.", "Begin with `z = b`. Then add."),
        ("`W = W - g` makes a new array", "`W = W - g` makes a new array"),
        ("if (i < n) y[i] = 0;", "```text\nif (i < n) y[i] = 0;\n```"),
        (
            "the bias: b = 1; for x in y: print(x); b += x",
            "the bias:\n\n```python\nb = 1\nfor x in y: print(x); b += x\n```",
        ),
        ("So:\n\nfor x in y:\n    b += x", "So:\n\n```python\nfor x in y:\n    b += x\n```"),
        ("i is missing in W; dW is a sum", "i is missing in W\n\ndW is a sum"),
    ],
)
def test_a_hint_is_laid_out(hint, wanted):
    assert laid_out(hint) == wanted
