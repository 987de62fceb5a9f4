"""docs/teaching.md and its table of minutes: equal to the chapters, and every wrong answer that is named exists."""

import functools
import re
from pathlib import Path

import pytest
from chapter_sources import CHAPTERS, read

from course_tools.build import minutes

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
ANSWERS = re.findall(r"`(\d\d) ([a-z0-9-]+)/([a-z0-9-]+)`", GUIDE)


@functools.cache
def chapters():
    """{"01": {"lecture": Source, "exercise": Source}} of this clone."""
    return {
        name[:2]: {kind: read(name, kind) for kind in ("lecture", "exercise")} for name in CHAPTERS
    }


def test_table_of_minutes_is_of_these_chapters():
    stored = (ROOT / minutes.DOCUMENT).read_text(encoding="utf-8")
    assert stored == minutes.document(ROOT), "run `python -m course_tools.build.minutes --write`"


@pytest.mark.parametrize("number", [name[:2] for name in CHAPTERS])
def test_a_chapter_says_how_long_it_takes(number):
    lecture, exercise = chapters()[number]["lecture"], chapters()[number]["exercise"]
    by_rule, tasks = (
        sum(minutes.sections(lecture).values()),
        sum(cell.task.minutes for cell in exercise.tasks),
    )
    assert abs(lecture.minutes - by_rule) <= 5, (
        f"the lecture's header: by the rule it takes {by_rule:.0f} minutes"
    )
    assert tasks <= exercise.minutes <= tasks + 15, (
        f"the exercise's header: its tasks take {tasks} minutes"
    )
    said = re.search(
        r"takes about (\d+) minutes", next(c.source for c in lecture.cells if c.kind == "markdown")
    )
    assert said and int(said[1]) == lecture.minutes, (
        f"its first text must say: about {lecture.minutes} minutes"
    )


@pytest.mark.parametrize(
    "number, task, answer", ANSWERS, ids=["-".join(found) for found in ANSWERS]
)
def test_wrong_answers_exist(number, task, answer):
    known = {
        (cell.name, mutant.name)
        for cell in chapters()[number]["exercise"].tasks
        for mutant in cell.task.mutants
    }
    assert (task, answer) in known


def test_every_chapter_has_its_most_telling_wrong_answers():
    assert {number for number, _, _ in ANSWERS} == set(chapters())
    assert len(ANSWERS) == len(set(ANSWERS))


def rows(text):
    """The cells of the rows of a Markdown table, without its two lines of heading."""
    found = re.findall(r"^\|.*\|$", text, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found[2:]]


@pytest.mark.parametrize("weeks", [14, 8, 4])
def test_minutes_of_a_syllabus(weeks):
    part = re.split(r"^### ", GUIDE.partition(f"### {weeks} weeks")[2], flags=re.MULTILINE)[0]
    table = [row for row in rows(part) if re.match(r"\d\d\b", row[1])]
    assert len(table) >= weeks - 2
    for _, named, lecture, exercise, _ in table:
        kinds = [chapters()[number] for number in named.split(", ")]
        for said, kind in (
            (lecture, "lecture"),
            (exercise, "exercise"),
        ):  # a new task need not change every plan
            assert abs(int(said) - sum(minutes.core(chapter[kind]) for chapter in kinds)) <= 10, (
                named,
                kind,
            )


def test_minutes_that_are_folded_are_those_that_the_core_path_leaves_out():
    for both in chapters().values():
        lecture = both["lecture"]
        folded, whole = minutes.folded(lecture), minutes.sections(lecture)
        assert folded.keys() == whole.keys() and all(folded[t] <= whole[t] for t in whole)
        assert abs(lecture.minutes - sum(folded.values()) - minutes.core(lecture)) <= 2.5
