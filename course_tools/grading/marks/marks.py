"""What counts: the result files of a folder with the points and comments given by hand. Exports start from here."""

import dataclasses
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from course_tools.grading.marks import manual, tables
from course_tools.grading.verdict import results, undecided

NAMES = ("manual.csv", "manual.json")
NOT_READ = "not-read"  # an answer in words that nobody has read to the end


@dataclass
class Chapter:
    """A student's chapter. tasks: `results.Task`s with the points that count; extra: points added to the chapter.

    comments: task, or "" for the chapter -> list of texts. by_hand: the tasks whose points were given so.
    late: what is said of the time (deadlines/); in_time: it is nothing to look at; late_days: begun after it was due;
    off: points taken off for them.
    """

    result: results.Result
    tasks: list
    extra: float = 0.0
    comments: dict = field(default_factory=dict)
    by_hand: set = field(default_factory=set)
    late: str = ""
    in_time: bool = False
    late_days: int = 0
    off: float = 0.0

    @property
    def points(self):
        """Never below 0."""
        return max(0.0, sum(task.points for task in self.tasks) + self.extra - self.off)

    @property
    def out_of(self):
        return sum(task.out_of for task in self.tasks)

    @property
    def undecided(self):
        """The tasks that could not be judged here, and have no points by hand."""
        return [
            task.task
            for task in self.tasks
            if task.status in (*undecided.STATUSES, NOT_READ) and task.task not in self.by_hand
        ]


@dataclass
class Student:
    """One row of a gradebook. problems: of files that belong to no chapter."""

    name: str
    id: str
    chapters: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)

    @property
    def points(self):
        return sum(chapter.points for chapter in self.chapters.values())


@dataclass
class Marks:
    """All students of a folder, by name. problems: what the instructor must hear of (names that fit nobody...)."""

    students: list
    problems: list = field(default_factory=list)

    @property
    def columns(self):
        """chapter -> {task: points}, of all that anybody was graded on; where releases differ, the most points."""
        made: dict[str, dict[str, int]] = {}
        for student in self.students:
            for name, chapter in student.chapters.items():
                tasks = made.setdefault(name, {})
                for task in chapter.tasks:
                    tasks[task.task] = max(task.out_of, tasks.get(task.task, 0))
        return dict(sorted(made.items()))


def collect(out, by_hand=None):
    """The `Marks` of a folder of result files. by_hand: a file; without it manual.csv or manual.json there, if any."""
    made = Marks(
        [
            _student(found)
            for file in sorted(Path(out).glob("*.json"))
            if (found := results.load(file))
        ]
    )
    made.students.sort(key=lambda one: (one.name.casefold(), one.name))
    files = (
        [by_hand] if by_hand else [Path(out, name) for name in NAMES if Path(out, name).is_file()]
    )
    for file in files:
        entries, problems = manual.read(file)
        made.problems += problems
        given: set = set()
        for entry in entries:
            made.problems += _give(made, entry, given)
    return made


def _student(found):
    made = Student(found[0].student, found[0].id)
    for result in found:
        if result.chapter and result.tasks:
            made.chapters[result.chapter] = Chapter(result, list(result.tasks))
        else:
            made.problems += [f"{result.file}: {problem}" for problem in result.problems]
    return made


def _give(marks, entry, given):
    """Enter one row of the file; what is said about it."""
    students = [one for one in marks.students if _same(entry.student, one.name)]
    students = students or [one for one in marks.students if one.id and one.id == entry.student]
    if len(students) != 1:
        who = "no submission is by" if not students else f"{len(students)} students are called"
        return [f"{entry.where}: {who} {entry.student!r:.80}; the row is left out"]
    chapters = students[0].chapters
    chosen = [
        name for name in chapters if entry.chapter in (name, name[:2], name[:2].lstrip("0") or "0")
    ]
    chosen = list(chapters) if not entry.chapter else chosen
    if len(chosen) != 1:
        there = ", ".join(chapters) or "none"
        return [
            f"{entry.where}: {entry.chapter or 'no chapter'!r:.60} is not one chapter of this student's: {there}"
        ]
    return _enter(chapters[chosen[0]], entry, given)


def _enter(chapter, entry, given):
    names = [task.task for task in chapter.tasks]
    if entry.task and entry.task not in names:
        return [
            f"{entry.where}: there is no task {entry.task!r:.60}, but {', '.join(names)}; the row is left out"
        ]
    if entry.comment:
        chapter.comments.setdefault(entry.task, []).append(entry.comment)
    if entry.points is None:
        return []
    if not entry.task:
        chapter.extra += entry.points
        return []
    place = names.index(entry.task)
    task, key = chapter.tasks[place], (chapter.result.student, chapter.result.chapter, entry.task)
    chapter.tasks[place] = dataclasses.replace(task, points=_whole(entry.points))
    chapter.by_hand.add(entry.task)
    said = [f"{entry.where}: a second row for this task: its points count"] if key in given else []
    given.add(key)
    if not 0 <= entry.points <= task.out_of:
        said.append(
            f"{entry.where}: {tables.number(entry.points)} points, but the task has {task.out_of}: they count"
        )
    return said


def _same(one, other):
    """Whether two names are the same, as a gradebook shows them."""
    forms = [
        unicodedata.normalize("NFC", tables.safe(name)).removeprefix("'").strip()
        for name in (one, other)
    ]
    return bool(forms[0]) and forms[0] == forms[1]


def _whole(points):
    return int(points) if points == int(points) else points
