"""The limits of the lectures' text: what breaks one is named, and no lecture breaks any."""

import re
from pathlib import Path

import pytest
from chapter_sources import CHAPTERS, exercises, lectures, read
from sample_chapter import LECTURE

from course_tools.build import prose
from course_tools.build.source import parse

FOLD = '\n\n+++ {"name": "far", "deeper": true}\n\n## 2. Two\n\n'
BACK = '\n\n+++ {"name": "back"}\n\n## 3. Three\n\n'


def lecture(text):
    head = LECTURE.replace("minutes: 5", "minutes: 40")
    return parse(Path("chapters/01-tiny/lecture.md"), f"{head}\n\n## 1. One\n\n{text}\n")


def code(name, text):
    return f"\n\n```{{code-cell}} ipython3\n:name: {name}\n{text}\n```\n"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_lecture_is_no_longer_than_a_reader_can_take(chapter):
    assert list(prose.breaches(read(chapter, "lecture"))) == []


def test_all_of_it_is_no_longer_than_promised(monkeypatch):
    assert list(prose.together(lectures(), exercises())) == []
    monkeypatch.setattr(prose, "PATHS", 10)
    monkeypatch.setattr(prose, "TEXT", 10)
    assert len(list(prose.together(lectures()[:1], exercises()[:1]))) == 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_code_of_an_exercise_is_not_cut_off_on_a_page(chapter):
    assert list(prose.too_wide(read(chapter, "exercise"))) == []


def test_a_wide_line_of_code_is_named():
    rows = "a = 1  # " + "x" * 79, "b = 1  # " + "x" * 80, 'C = r"""', "// " + "y" * 86, '"""'
    found = list(prose.too_wide(lecture(code("wide", "\n".join(rows)))))
    assert len(found) == 2 and all("wide (line " in text for text in found)
    assert "89 columns: b = 1" in found[0] and "89 columns: // y" in found[1]


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("It is so. " * 40, "a paragraph of 120 words"),
        ("and so on " * 12, "a sentence of 36 words"),
        ("Short.\n\n" * 3301, f"core path has 33[0-9][0-9] words; at most {prose.CORE}"),
        (2 * "A word (with more than eight words beside it, as here). ", "has 2 asides"),
    ],
)
def test_what_is_too_long_is_named(text, wanted):
    found = "\n".join(prose.breaches(lecture(text)))
    assert re.search(wanted, found), found


def test_what_is_folded_does_not_count_for_the_core_path():
    long = "Short.\n\n" * 3301
    assert "core path" not in "\n".join(prose.breaches(lecture(FOLD + long + BACK + "End.")))


@pytest.mark.parametrize(
    "text",
    [
        "```text\n" + "word " * 200 + "\n```",
        "| a | b |\n|---|---|\n| " + "word " * 200 + " | x |",
        "$$" + "a + " * 200 + "b$$",
        "\n".join("- an item of a list." for _ in range(40)),
        "Kamra et al. say so. " * 5,
    ],
)
def test_what_is_no_running_text_does_not_count(text):
    assert list(prose.breaches(lecture(text))) == []


def test_the_core_path_does_not_rest_on_folded_code():
    folded = FOLD + code("deep", "kept = 1\nshared = 2") + BACK
    uses = code("first", "shared = 0") + folded + code("later", "print(shared, kept)")
    (found,) = prose.breaches(lecture(uses))
    assert "later" in found and "uses kept, which only the folded deep defines" in found


def test_the_command_says_which_chapter_breaks_what(capsys):
    assert prose.main(["00"]) == 0
    assert "00-start-here: core " in capsys.readouterr().out
