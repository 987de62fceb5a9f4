"""words.csv back into the marks: each question becomes a task of its chapter, with its points and comments."""

import json
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.marks import tables
from course_tools.grading.marks.marks import NOT_READ
from course_tools.grading.verdict import results

COLUMNS = ["Answer", "Question", "Criterion", "Points", "Comment"]
READ = "read"


def key_of(out):
    """What `class words` wrote beside its page. Raises BadInput where it did not."""
    file = Path(out, "words", "key.json")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read ({error}): run `class words` first") from None


def entries(file):
    """{(code, criterion): (points or None, comment)} and what is to be said. Raises BadInput for another form."""
    rows = tables.read(file).rows
    if not rows or [cell.strip() for cell in rows[0]] != COLUMNS:
        raise BadInput(f"{file}: the first row must be {', '.join(COLUMNS)}: save it from the page")
    made, said = {}, []
    for line, row in enumerate(rows[1:], 2):
        code, _, criterion, points, comment = [*row, *[""] * 5][:5]
        try:
            made[code, criterion] = tables.points_in(points), comment.strip()
        except ValueError:
            said.append(f"{Path(file).name}:{line}: {points!r:.40} is no number of points")
    return made, said


def give(marks, out, files):
    """Enter what the files say into the `Marks`; what is to be said."""
    key, said = key_of(out), []
    read: dict[tuple[str, str], tuple] = {}
    for file in files:
        more, problems = entries(file)
        read |= {name: row for name, row in more.items() if row[0] is not None or name not in read}
        said += problems
    students = {one.name: one for one in marks.students}
    asked = {(one["chapter"], one["title"]): one for one in key["questions"]}
    used: set = set()
    for row in key["answers"]:
        question = asked[row["chapter"], row["title"]]
        student = students.get(row["student"])
        chapter = student.chapters.get(row["chapter"]) if student else None
        if chapter is None:
            said.append(f"{row['student']!r:.80}: {row['chapter']} is not graded: run grade on it")
        else:
            said += _enter(chapter, question, row, read)
        used |= {(row["code"], one["name"]) for one in question["criteria"]}
    strange = sorted({code for code, _ in set(read) - used})
    said += [f"no answer here has the code {code!r:.40}: its row is left out" for code in strange]
    unread = sum(task.status == NOT_READ for task in _tasks(marks))
    return [*said, *([f"{unread} answers in words are not read to the end"] * bool(unread))]


def _tasks(marks):
    return [t for one in marks.students for chapter in one.chapters.values() for t in chapter.tasks]


def _enter(chapter, question, row, read):
    most = sum(one["points"] for one in question["criteria"])
    task = results.Task(question["task"], READ, 0, most)
    chapter.tasks.append(task)
    if not row["text"]:
        task.status, task.message = "missing", "nothing is written there"
        return []
    said = []
    for one in question["criteria"]:
        points, comment = read.get((row["code"], one["name"]), (None, ""))
        if points is None:
            task.status = NOT_READ
            continue
        if not 0 <= points <= one["points"]:
            said.append(
                f"{row['code']}: {one['name']} has {one['points']} points: {points:g} count"
            )
        task.points += int(points) if points == int(points) else points
        line = f"{one['name']}: {points:g} of {one['points']}. {comment}".strip()
        chapter.comments.setdefault(task.task, []).append(line)
    return said
