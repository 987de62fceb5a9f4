"""rubric.toml: the questions that are answered in words, and by which criteria an answer is judged.

[[question]]
chapter = "00"
title = "Rows or columns"
after = "to-rows-check"   # the student's own text cells below this cell; or: cell = "done", this text cell itself
[[question.criterion]]
name = "Reason"
points = 2
comments = ["names the copies that are saved", "gives no reason"]
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput

MOST = 9  # points of a criterion: one key
KEYS = "qwertyuio"  # of the prepared comments


@dataclass(frozen=True)
class Criterion:
    """One thing that is looked for. comments: prepared ones, each with a key."""

    name: str
    points: int
    comments: tuple = ()


@dataclass(frozen=True)
class Question:
    """One question. after, cell: ids; neither: all that the student has written in text cells."""

    chapter: str
    title: str
    criteria: tuple
    after: str = ""
    cell: str = ""

    @property
    def points(self):
        return sum(criterion.points for criterion in self.criteria)

    @property
    def task(self):
        """Its name among the tasks of the chapter."""
        return f"in words: {self.title}"


def read(file, chapters):
    """[Question] of a file. chapters: names of the release's. Raises BadInput, which names what is wrong."""
    try:
        given = tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    rows = given.get("question")
    if not isinstance(rows, list) or not rows or set(given) != {"question"}:
        raise BadInput(f"{file}: it must hold [[question]] entries and nothing else")
    made = [_question(f"{file}: question {i}", row, chapters) for i, row in enumerate(rows, 1)]
    names = [(one.chapter, one.title) for one in made]
    if len(set(names)) < len(names):
        raise BadInput(f"{file}: two questions of a chapter have the same title")
    return made


def _question(where, row, chapters):
    known = {"chapter", "title", "after", "cell", "criterion"}
    _look(where, row, known, ("chapter", "title", "criterion"))
    wanted = str(row["chapter"])
    found = [name for name in chapters if wanted in (name, name[:2], name[:2].lstrip("0") or "0")]
    if len(found) != 1:
        raise BadInput(f"{where}: the release has no chapter {wanted!r}")
    if "after" in row and "cell" in row:
        raise BadInput(f"{where}: give after or cell, not both")
    criteria = row["criterion"]
    if not isinstance(criteria, list) or not criteria:
        raise BadInput(f"{where}: write [[question.criterion]] with two brackets")
    made = tuple(_criterion(f"{where}, criterion {i}", one) for i, one in enumerate(criteria, 1))
    if len({one.name for one in made}) < len(made):
        raise BadInput(f"{where}: two criteria have the same name")
    places = str(row.get("after", "")), str(row.get("cell", ""))
    return Question(found[0], str(row["title"]), made, *places)


def _criterion(where, row):
    _look(where, row, {"name", "points", "comments"}, ("name", "points"))
    points, comments = row["points"], row.get("comments", [])
    if isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= MOST:
        raise BadInput(f"{where}: points must be a whole number from 1 to {MOST}, not {points!r}")
    if not isinstance(comments, list) or len(comments) > len(KEYS):
        raise BadInput(f"{where}: comments must be a list of at most {len(KEYS)} texts")
    return Criterion(str(row["name"]), points, tuple(map(str, comments)))


def _look(where, row, known, needed):
    if not isinstance(row, dict):
        raise BadInput(f"{where}: it must be a table")
    if strange := sorted(set(row) - known):
        raise BadInput(f"{where}: nothing is called {strange[0]!r}, but {', '.join(sorted(known))}")
    if lacking := [name for name in needed if name not in row]:
        raise BadInput(f"{where}: it lacks {', '.join(lacking)}")
