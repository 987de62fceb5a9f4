"""The journal against the exercises of the course: which tasks are right, points, where to go on."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

from course_lib.progress import journal

COURSE = Path(__file__).resolve().parents[2]  # the clone, where exercises/ is


@dataclass(frozen=True)
class Task:
    """A task of an exercise. state: "right", "tried" or "" where its check was not run yet."""

    name: str
    points: int
    state: str


@dataclass(frozen=True)
class Chapter:
    """An exercise with its tasks in order. asked: how many predictions its lecture asks for; guesses: those made."""

    name: str
    title: str
    tasks: tuple
    guesses: int
    asked: int = 0

    @property
    def points(self):
        """(points of the tasks that are right, all points)"""
        right = sum(task.points for task in self.tasks if task.state == "right")
        return right, sum(task.points for task in self.tasks)


def chapters(root=COURSE):
    """A `Chapter` for each exercise, with what the journal says."""
    told = _told(journal.read())
    return [_chapter(path, told) for path in sorted((Path(root) / "exercises").glob("*.ipynb"))]


def _told(entries):
    """{(chapter, kind): {name: what was said last}}; a task once right stays right."""
    told: dict = {}
    for entry in entries:
        of = told.setdefault((entry["chapter"], entry["kind"]), {})
        name = entry.get("cell", entry["name"])  # all guesses of a lecture may be `my_guess`
        before = of.get(name)
        of[name] = before is True or entry.get("right", entry.get("said"))
    return told


def _chapter(path, told):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    said = told.get((path.stem, "check"), {})
    given = [cell.get("metadata", {}).get("course", {}) for cell in notebook["cells"]]
    tasks = [
        Task(one["task"], one["points"], _state(said, one["task"]))
        for one in given
        if "task" in one
    ]
    title = notebook["metadata"].get("course", {}).get("title", path.stem)
    title = re.sub(r"^Exercise \d+: (.)", lambda found: found[1].upper(), title)
    asked = _asked(path.parents[1] / "notebooks" / path.name)
    made = asked & told.get((path.stem, "guess"), {}).keys()
    return Chapter(path.stem, title, tuple(tasks), len(made), len(asked))


def _asked(lecture):
    """The names of the cells of a lecture that take a guess: the build has marked them."""
    if not lecture.is_file():
        return set()
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    return {cell["id"] for cell in cells if cell["metadata"].get("course", {}).get("guess")}


def _state(said, name):
    return {True: "right", False: "tried"}.get(said.get(name), "")


def go_on(found):
    """(chapter, task) to go on with: the first open task of the chapter last begun, else of the first that is open."""
    still = [one for one in found if any(task.state != "right" for task in one.tasks)]
    begun = [one for one in still if one.guesses or any(task.state for task in one.tasks)]
    chosen = (begun[-1:] or still[:1] or [None])[0]
    if chosen is None:
        return None
    return chosen, next(task for task in chosen.tasks if task.state != "right")


def table(found):
    """The rows as text: number, a sign for each task, points, guesses."""
    signs = {"right": "✔", "tried": "✘", "": "·"}
    rows = []
    for one in found:
        right, points = one.points
        marks = "".join(signs[task.state] for task in one.tasks)
        guesses = f"   {one.guesses} of {one.asked} predicted" if one.guesses else ""
        rows.append(f"{one.name[:2]}  {marks:14} {right:3} of {points:3} points{guesses}")
    return "\n".join(rows)


def next_words(found):
    """Where to go on, in a sentence."""
    to_do = go_on(found)
    if to_do is None:
        return "All tasks are right."
    chapter, task = to_do
    return f"Continue with the task {task.name} in exercises/{chapter.name}.ipynb."


class Page:
    """The progress as JupyterLab shows it; as text elsewhere."""

    def __init__(self, found):
        self.found = found

    def __repr__(self):
        """The table and where to go on."""
        return f"{table(self.found)}\n\n{next_words(self.found)}"

    def _repr_html_(self):
        rows = "".join(_row(one) for one in self.found)
        head = '<tr><th style="text-align: left">exercise</th>'
        head += "<th>tasks that are right</th><th>points</th><th>predictions made</th></tr>"
        where = _linked(html.escape(next_words(self.found)))
        misled = "<p>Did a check mislead you? In a terminal, <code>course report</code> writes a text to send.</p>"
        return f"<table><caption>Progress</caption>{head}{rows}</table><p>{where}</p>{misled}"


def _linked(words):
    """The sentence with the exercise as a link."""
    return re.sub(r"exercises/\S+\.ipynb", r'<a href="\g<0>">\g<0></a>', words)


def _row(one):
    right, points = one.points
    done = sum(task.state == "right" for task in one.tasks)
    link = f'<a href="exercises/{one.name}.ipynb">{html.escape(one.name[:2])} {html.escape(one.title)}</a>'
    made = f"{one.guesses} of {one.asked}" if one.asked else "none to make"
    cells = [f"{done} of {len(one.tasks)}", f"{right} of {points}", made]
    rest = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><td style="text-align: left">{link}</td>{rest}</tr>'


def show(root=COURSE):
    """The progress as a page in a notebook."""
    return Page(chapters(root))
