"""The mistakes most made: which planted wrong answer of the course a wrong submission resembles.

Each planted wrong answer declares words that the message of its check must hold (`expect`). A wrong submission whose
message holds the same words has, as far as the check can tell, made the same mistake. It is a resemblance and no proof:
it is shown to the instructor, for a whole class, and never decides a point.
"""

from collections import Counter

from course_lib.errors import BadInput

from .. import build, source

BLANK = "not written yet"
PUBLIC_ONLY = "passes the public check only"
OTHER = "another mistake"
WITHOUT = {"error": "stopped with an error", "timeout": "took too long", "crashed": "ended its process",
           "missing": "not handed in"}  # fmt: skip


def planted(chapters, root=None):
    """{chapter: {task: {mutant: expect}}} from the sources in a clone; {} for a chapter that is not there."""
    made: dict = {}
    try:
        paths = {path.parent.name: path for path in source.find(build.clone(root)) if path.stem == "exercise"}
    except BadInput:
        return made
    for name in chapters:
        read = source.read(paths[name]) if name in paths else None
        cells = read.tasks if read else []
        made[name] = {cell.name: {m.name: m.expect for m in cell.task.mutants} for cell in cells}
    return made


def resembles(task, mutants):
    """What a task that did not pass resembles, in words: a mutant's name, or a kind. mutants: {name: expect}.

    Where several mutants fit, those with the longest expected words are named.
    """
    if task.resembles:
        return task.resembles
    said = " ".join(task.message.lower().split())
    if task.hidden and any(status != "pass" for status in task.hidden.values()):
        return PUBLIC_ONLY
    found = {name: len(expect) for name, expect in mutants.items() if " ".join(expect.lower().split()) in said}
    if found and task.status in ("wrong", "error"):
        longest = max(found.values())
        return " or ".join(name for name, length in found.items() if length == longest)
    if BLANK in said or "NotImplementedError" in task.message:
        return BLANK
    return WITHOUT.get(task.status, OTHER)


def counted(marks, chapter, mutants):
    """Counter of (task, mistake) over all students of a chapter. mutants: {task: {name: expect}}."""
    made: Counter = Counter()
    for student in marks.students:
        for task in student.chapters[chapter].tasks if chapter in student.chapters else ():
            if task.status in ("wrong", "error", "timeout", "crashed"):
                made[task.task, resembles(task, mutants.get(task.task, {}))] += 1
    return made
