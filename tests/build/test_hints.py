"""Hints that are code stand in code font, as blocks."""

import re

import pytest
from chapter_sources import CHAPTERS, read

from course_tools.build.hints import is_code, laid_out

FENCE = re.compile(r"^```\w+\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def hints(chapter):
    """(cell and number, text) of each hint of a chapter's exercise."""
    found = [
        (f"{cell.name}-{number}", hint)
        for cell in read(chapter, "exercise").cells
        if cell.task
        for number, hint in enumerate(cell.task.hints, 1)
    ]
    assert len(found) > 5
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_hint_has_a_line_of_code_outside_of_a_block(chapter):
    for where, hint in hints(chapter):
        text = laid_out(hint)
        prose = FENCE.sub("", text)
        assert "```" not in prose, where
        for paragraph in prose.split("\n\n"):
            assert not is_code(paragraph.strip()), (where, text)
            assert not re.fullmatch(r"`[^`]+`[.,;]?", paragraph.strip()), (where, text)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_word_of_a_hint_is_lost_but_those_between_two_blocks(chapter):
    for where, hint in hints(chapter):
        words = re.findall(r"\w+", hint)
        text = re.sub(r"^```\w+$", "", laid_out(hint), flags=re.MULTILINE)
        kept = re.findall(r"\w+", text)
        left = [[word for word in found if word not in JOINTS] for found in (words, kept)]
        assert left[0] == left[1], where


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
