"""The mistakes most made: which planted wrong answer of the course a wrong submission resembles.

Each planted wrong answer declares words that the message of its check must hold (`expect`). A wrong submission whose
message holds the same words has, as far as the check can tell, made the same mistake. It is a resemblance and no proof:
it is shown to the instructor, for a whole class, and never decides a point.
"""

from collections import Counter

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.build import source

BLANK = "not written yet"
GENERAL = ("not right yet",)  # words that stand in every failure: they tell no mistake from another
PUBLIC_ONLY = "passes the public check only"
OTHER = "another mistake"
WITHOUT = {
    "error": "stopped with an error",
    "timeout": "took too long",
    "crashed": "ended its process",
    "missing": "no answer",
}


def planted(chapters, root=None):
    """{chapter: {task: {mutant: expect}}} from the sources in a clone; {} for a chapter that cannot be read there."""
    return {name: _of_chapter(name, root) for name in chapters}


def _of_chapter(name, root):
    try:
        (file,) = [
            path for path in source.find(build.clone(root), [name]) if path.stem == "exercise"
        ]
        cells = source.read(file).tasks
    except (BadInput, OSError, ValueError):
        return {}
    return {
        cell.name: {mutant.name: mutant.expect for mutant in cell.task.mutants} for cell in cells
    }


def resembles(task, mutants):
    """What a task that did not pass resembles, in words: a mutant's name, or a kind. mutants: {name: expect}.

    Where several mutants fit, those with the longest expected words are named.
    """
    if task.resembles:
        return task.resembles
    said = " ".join(task.message.lower().split())
    if task.hidden and any(status != "pass" for status in task.hidden.values()):
        return PUBLIC_ONLY
    words = {name: " ".join(expect.lower().split()) for name, expect in mutants.items()}
    found = {
        name: len(text) for name, text in words.items() if text in said and text not in GENERAL
    }
    if found and task.status in ("wrong", "error"):
        longest = max(found.values())
        return " or ".join(name for name, length in found.items() if length == longest)
    if BLANK in said or "NotImplementedError" in task.message:
        return BLANK
    words = task.message.partition("it stopped with ")[2].split(maxsplit=1)
    error = words[0].rstrip(":;,") if words else ""
    known = error.isascii() and error.isalpha() and len(error) <= 40
    return f"stopped with {error}" if known else WITHOUT.get(task.status, OTHER)


def counted(marks, chapter, mutants):
    """Counter of (task, mistake) over all students of a chapter. mutants: {task: {name: expect}}."""
    made: Counter = Counter()
    for student in marks.students:
        for task in student.chapters[chapter].tasks if chapter in student.chapters else ():
            if task.status in ("wrong", "error", "timeout", "crashed"):
                made[task.task, resembles(task, mutants.get(task.task, {}))] += 1
    return made
