"""gradebook.csv: one row a student, one column a task and a chapter, the total, and what is to be known."""

from pathlib import Path

from course_tools.grading.marks import mistakes, tables

NOTHING = "on the class list; nothing was handed in"


def write(out, marks, absent=()):
    """Write out/gradebook.csv; return its path. UTF-8 with a BOM, so that Excel reads names as they are.

    absent: [(name, number)] of those on the class list who handed in nothing: a row each, at the end.
    """
    file = Path(out, "gradebook.csv")
    made = rows(marks)
    empty = [""] * (len(made[0]) - 3)
    made += [[name, number, *empty, NOTHING] for name, number in absent]
    tables.write(file, tables.Table([[tables.safe(cell) for cell in row] for row in made]))
    return file


def rows(marks):
    """The rows, header first. Cells are numbers and texts, not yet made safe; "" where nothing was handed in."""
    columns = marks.columns
    chapters = [pair for one in marks.students for pair in one.chapters.items()]
    extra = {name for name, chapter in chapters if chapter.extra}
    late = {name for name, chapter in chapters if chapter.late_days}
    head = ["Student", "ID"]
    for name, tasks in columns.items():
        head += [f"{name}: {task} /{points}" for task, points in tasks.items()]
        head += [f"{name}: by hand"] * (name in extra) + [f"{name}: late"] * (name in late)
        head += [f"{name} /{sum(tasks.values())}"]
    made: list[list] = [[*head, "Total", "Out of", "Notes"]]
    whole = sum(sum(tasks.values()) for tasks in columns.values())
    for student in marks.students:
        cells = [
            cell
            for name, tasks in columns.items()
            for cell in _cells(student, name, tasks, name in extra, name in late)
        ]
        made.append(
            [student.name, student.id, *cells, student.points, whole, "; ".join(notes(student))]
        )
    return made


def _cells(student, name, tasks, extra, late):
    chapter = student.chapters.get(name)
    if chapter is None:
        return [""] * (len(tasks) + extra + late + 1)
    earned = {task.task: task.points for task in chapter.tasks}
    more = [chapter.extra] * extra + [-chapter.off] * late
    return [earned.get(task, "") for task in tasks] + more + [chapter.points]


def _lost(task):
    """Why an answer could not be judged at all, where it is more than a blank."""
    if task.status in ("timeout", "crashed"):
        return mistakes.WITHOUT[task.status]
    return (
        task.message if task.status == "missing" and task.message.startswith("its cell was") else ""
    )


def notes(student):
    """What an instructor should know of a student's row."""
    made = list(student.problems)
    for whole, chapter in student.chapters.items():
        name, result = whole[:2], chapter.result
        made += [f"{name}: {problem}" for problem in result.problems]
        if result.isolation != "sandbox":
            made.append(f"{name}: graded without a sandbox")
        made += [f"{name} {task.task}: {said}" for task in chapter.tasks if (said := _lost(task))]
        if chapter.late and not chapter.in_time:
            made.append(f"{name}: {chapter.late}")
        if chapter.undecided:
            made.append(f"{name}: look at {', '.join(chapter.undecided)}: not decided here")
        made += [
            f"{name} {task}".strip() + f": {text}"
            for task, texts in chapter.comments.items()
            for text in texts
        ]
    return made
