"""Callouts and words of the glossary: which paragraphs are callouts, and where a word is linked to its meaning."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the extra `book` is not installed")

from docutils import nodes
from sphinx.addnodes import glossary

from course_tools.book import callouts
from course_tools.book.terms import PLAIN, Terms, meant

ROOT = Path(__file__).resolve().parents[2]
TYPESCRIPT = (ROOT / "labextension/src/callouts.ts").read_text(encoding="utf-8")
ENTRIES = {
    "warp": "32 threads of a block. Chapter 05.",
    "SM": "Part of a GPU. Chapter 05.",
    "batch, mini-batch": "The examples of one step. Chapter 02.",
    "reduce": "A collective. Chapter 10.",
    "barrier": "A place to wait. Chapters 03 and 07.",
    "rank": "A process. Chapter 10.",
}


def glossary_of(entries):
    """The page of the glossary as Sphinx reads it."""
    items = nodes.definition_list()
    for word, says in entries.items():
        term = nodes.term("", word, ids=[f"term-{word}"])
        items += nodes.definition_list_item(
            "", term, nodes.definition("", nodes.paragraph("", says))
        )
    return glossary("", items)


def linked(text, number):
    """The words of a text that are linked in a chapter."""
    parts = Terms(glossary_of(ENTRIES)).in_text(text, number, set())
    whole = "".join(part if isinstance(part, str) else part[0] for part in parts)
    assert whole == text, "no letter is lost"
    return [part[0] for part in parts if not isinstance(part, str)]


def test_a_word_is_linked_once_in_all_its_forms():
    text = "Two warps: each warp waits. Mini-batches, batches; an SM, many SMs."
    assert linked(text, "05") == ["warps", "Mini-batches", "SM"]


@pytest.mark.parametrize("text", ["sm", "warped", "a warp-tile", "reduce it", "a rank of a matrix"])
def test_another_word_is_left_alone(text):
    assert linked(text, "06") == []
    assert "reduce" in PLAIN


@pytest.mark.parametrize(
    "chapters, number, is_meant",
    [
        (["05"], "04", False),  # not explained yet
        (["05"], "08", True),
        (["05"], "15", True),
        (["05"], "12", False),  # the grid of ranks is another thing
        (["03", "07"], "12", True),
        (["02"], "11", True),
        (["10"], "13", True),
        (["10"], "14", False),  # scores rank, there
        (["14"], "14", True),
        (["10"], "15", False),
        (["05"], "14", False),
    ],
)
def test_a_word_means_it_where_the_course_has_said_so(chapters, number, is_meant):
    assert meant(chapters, number) == is_meant


def test_jupyterlab_marks_the_same_callouts():
    begins = dict(re.findall(r"\[/\^(.*?)\\b/, '([a-z-]+)'\]", TYPESCRIPT))
    assert begins == callouts.BEGINS
    (summed_up,) = re.findall(r"^const SUMMED_UP = /(.*)/;$", TYPESCRIPT, re.MULTILINE)
    assert summed_up == callouts.SUMMED_UP.pattern


def test_callouts_have_the_same_colours_in_the_book_and_in_jupyterlab():
    css = (ROOT / "course_tools/book/static/book.css").read_text(encoding="utf-8")
    light, dark = blocks(r"^body.*?{(.*?)}", TYPESCRIPT)
    assert len(light) == 8
    assert blocks(r"body {( --question.*?)}", css) == [light]
    assert blocks(r'body\[data-theme="(?:dark|auto)"\] {( --question.*?)}', css) == [dark, dark]


def blocks(rule, text):
    """{name: colour} of each block that the rule finds."""
    found = re.findall(rule, text, re.MULTILINE | re.DOTALL)
    return [dict(re.findall(r"--(?:course-)?([a-z-]+): (#[0-9a-f]{6})", block)) for block in found]


@pytest.mark.parametrize(
    "bold, rest, kind",
    [
        ("Question.", " Why?", "question"),
        ("Check", " that it holds.", "check"),
        ("Take away.", " It does.", "take-away"),
        ("Predict:", " how many?", "predict"),
        ("Predictable", " it is.", ""),
        ("Checks", " of a kind.", ""),
        ("Memory", " is full.", ""),
    ],
)
def test_the_word_in_bold_says_which(bold, rest, kind):
    words = nodes.Text(""), nodes.strong("", bold), nodes.Text(rest)  # MyST begins with ""
    assert callouts.kind_of(nodes.paragraph("", "", *words)) == kind


def test_only_a_prediction_may_stand_in_the_middle():
    for bold, kind in (("Predict", "predict"), ("Check", "")):
        words = nodes.Text("First, "), nodes.strong("", bold), nodes.Text(" it.")
        assert callouts.kind_of(nodes.paragraph("", "", *words)) == kind
