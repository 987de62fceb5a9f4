"""One JSON file a submission: everything that is shown or exported is made from these."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course_tools.build import command as build

SCHEMA = 1
NOT_GRADED = "the grader could not grade this"  # how a problem begins that is not the student's
# points by hand; names that have got a mark
RESERVED = re.compile("^manual$|-[0-9a-f]{8}([0-9a-f]{8})?$", re.IGNORECASE)
MARK = 16  # hexadecimal digits: with half as many, a student could look for a name that gives another one's file
STATUSES = (
    "pass",
    "wrong",
    "error",
    "timeout",
    "crashed",
    "missing",
    "inconclusive",
    "not-run-here",
)


@dataclass
class Task:
    """What one task earned. message: of the public check; hidden: status of the hidden ones, name -> status."""

    task: str
    status: str
    points: int
    out_of: int
    message: str = ""
    printed: str = ""
    hidden: dict = field(default_factory=dict)
    resembles: str = ""  # the planted wrong answer that gives the same message


@dataclass
class Result:
    """One student, one chapter."""

    student: str
    id: str
    chapter: str
    file: str
    digest: str  # sha256 of what was handed in
    release: str
    grader: str  # the version of what graded it
    seed: int
    isolation: str
    tasks: list = field(default_factory=list)
    problems: list = field(default_factory=list)
    seconds: float = 0.0
    timeout: float = 0.0  # seconds that a cell had
    schema: int = SCHEMA

    @property
    def points(self):
        return sum(task.points for task in self.tasks)

    @property
    def out_of(self):
        return sum(task.out_of for task in self.tasks)


def file_of(out, student):
    """The file of a student's result: names become safe file names, and different names stay different."""
    plain = re.sub(r"[^\w.-]+", "_", student, flags=re.ASCII).strip("._")[:50]
    if plain != student or not plain or RESERVED.search(plain):
        mark = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:MARK]
        plain = f"{plain or 'student'}-{mark}"
    return Path(out, f"{plain}.json")


def save(out, results):
    """Write the results of one student (a list, one a chapter), whole or not at all."""
    first = results[0]
    rows = [
        asdict(result) | {"points": result.points, "out_of": result.out_of} for result in results
    ]
    text = json.dumps(
        {"schema": SCHEMA, "student": first.student, "id": first.id, "chapters": rows}, indent=1
    )
    build.write(file_of(out, first.student), text + "\n")


def add(out, result):
    """Save a result beside those of the student's other chapters; files that cannot be read have none."""
    key = (result.chapter, "" if result.chapter else result.file)
    stored = load(file_of(out, result.student))
    others = [old for old in stored if (old.chapter, "" if old.chapter else old.file) != key]
    save(out, sorted([*others, result], key=lambda one: (one.chapter, one.file)))


def tidy(out, student, files):
    """Take out what was said of files that could not be read and are no more among those handed in."""
    found = load(file_of(out, student))
    kept = [one for one in found if one.chapter or one.file in files]
    if kept and len(kept) < len(found):
        save(out, kept)
    elif found and not kept:
        file_of(out, student).unlink()


def load(file):
    """The results in a file, or [] where it is none of ours or broken: it is then made again."""
    try:
        given = json.loads(Path(file).read_text(encoding="utf-8"))
        if given["schema"] != SCHEMA:
            return []
        rows = []
        for row in given["chapters"]:
            row = {key: value for key, value in row.items() if key not in ("points", "out_of")}
            rows.append(Result(**row | {"tasks": [Task(**task) for task in row["tasks"]]}))
        return rows
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
