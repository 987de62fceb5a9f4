"""The corpus of answers: tests/answers/NN-topic/TASK.toml, written from the notebooks alone."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput

VERDICTS = ("wrong", "right")
FIRST = ("cause", "none", "false", "accepted", "refused", "broken")


@dataclass(frozen=True)
class Answer:
    """An answer to a task. because: its true cause; source: what stands in the task's cell.

    first: how it fared on first contact, one of `FIRST` ("cause": told its true cause; "none": refused without one;
    "false": told another), or "" where it passed as it should. told: words that today's message must hold.
    """

    chapter: str
    task: str
    name: str
    verdict: str
    because: str
    source: str
    first: str = ""
    told: str = ""
    set: int = 1


def read(root, wanted=()):
    """All answers of the wanted chapters ("01"), in order. Raises BadInput for an entry that lacks something."""
    files = sorted((Path(root) / "tests" / "answers").glob("*/*.toml"))
    if not files:
        raise BadInput("no tests/answers here: run this in the clone of the course")
    return [
        answer
        for file in files
        if not wanted or file.parent.name[:2] in wanted
        for answer in _answers(file)
    ]


def _answers(file):
    entries = tomllib.loads(file.read_text(encoding="utf-8")).get("answer", [])
    found = [_answer(file, entry) for entry in entries]
    names = [answer.name for answer in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadInput(f"{file}: two answers are named {', '.join(sorted(twice))}")
    return found


def _answer(file, entry):
    try:
        answer = Answer(file.parent.name, file.stem, **entry)
    except TypeError as error:
        raise BadInput(f"{file}: {entry.get('name')}: {error}") from None
    if answer.verdict not in VERDICTS or answer.first not in ("", *FIRST):
        raise BadInput(f"{file}: {answer.name}: verdict {answer.verdict!r}, first {answer.first!r}")
    return answer
