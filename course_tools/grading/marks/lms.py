"""Grades for Canvas, Moodle and Gradescope.

Canvas and Moodle: a copy of the instructor's own export with the grades filled in; every other cell stays as it was.
A student is found by the number that the LMS gave him, then by login, then by name; who is not found is said.

Formats: Canvas LMS, lib/gradebook_exporter.rb and gradebook_importer.rb; Moodle, mod/assign/feedback/offline;
Gradescope, autograder specifications (results.json).
"""

import html
import re
import unicodedata

from course_lib.errors import BadInput
from course_tools.grading.marks import feedback, tables

KEPT = ("EX", "N/A")  # Canvas: excused; not assigned to this student


def letters(name):
    """A name's letters and digits alone, without accents: "Doe, Jané" and "doejane" are the same."""
    apart = unicodedata.normalize("NFKD", str(name)).casefold()
    return "".join(char for char in apart if char.isalnum())


def both_ways(name):
    """{"doejane", "janedoe"} of "Doe, Jane", since an LMS sorts by the last name and files are named either way."""
    last, _, first = name.partition(",")
    return {letters(name), letters(first + last)} - {""}


# Who is who -------------------------------------------------------------------------------------------------------


def matched(students, people):
    """{row: student} and what is to be said. people: [(row, ids, logins, names)]: texts by which a row is known.

    What a number or a login decides is not asked of names; a row that two students claim equally well gets neither.
    """
    claims: dict = {}
    said = []
    for student in students:
        found, strength = _rows_of(student, people)
        if len(found) == 1:
            claims.setdefault(found[0], []).append((strength, student))
        else:
            what = "two rows or more fit" if found else "no row fits"
            said.append(f"{student.name!r:.80}: {what}")
    made = {}
    for row, claimed in claims.items():
        winner = _winner(claimed)
        if winner is not None:
            made[row] = winner
        losers = [student for _, student in claimed if student is not winner]
        what = "another student's number or name fits the same row"
        said += [f"{student.name!r:.80}: {what}" for student in losers]
    return made, said


def _winner(claimed):
    """The student whose claim is better than all others, or None. claimed: [(strength, student)], 0 the strongest."""
    best = min(strength for strength, _ in claimed)
    winners = [student for strength, student in claimed if strength == best]
    return winners[0] if len(winners) == 1 else None


def _rows_of(student, people):
    """(rows, how: 0 by number, 1 by login, 2 by name) that fit a student best."""
    ways = (
        [row for row, ids, _, _ in people if student.id and student.id in ids],
        [row for row, _, logins, _ in people if student.name.strip() in logins],
        [row for row, _, _, names in people if both_ways(student.name) & names],
    )
    return next(((found, how) for how, found in enumerate(ways) if found), ([], 2))


# Canvas -----------------------------------------------------------------------------------------------------------


def canvas(marks, file, columns=None):
    """(Table, [said]) of a Canvas gradebook export with the chapters' points filled in.

    columns: {chapter: the assignment's title, number or heading}; other chapters go to the one assignment that has the
    chapter's name in its title. Raises BadInput for a file of another form, or without a column for any chapter.
    """
    table, head, start, worth = _gradebook(file)
    targets, said = _targets(marks.columns, head, worth, columns or {})
    if not targets:
        raise BadInput("\n".join([f"{file}: no column to fill in", *said]))
    rows = [(i, row) for i, row in enumerate(table.rows) if i >= start and len(row) == len(head)]
    people = [(i, *_person(head, row)) for i, row in rows]
    pairs, more = matched(marks.students, people)
    for name, column in targets.items():
        said += _fill(table.rows, pairs, name, column, worth[column], marks.columns[name])
    return table, said + more


def absent(marks, file):
    """[(name, number)] of those in an export of Canvas whose row fits nobody who handed in anything."""
    table, head, start, _ = _gradebook(file)
    rows = [(i, row) for i, row in enumerate(table.rows) if i >= start and len(row) == len(head)]
    people = [(i, *_person(head, row)) for i, row in rows]
    numbers = head.index("ID")
    return _unmatched(marks, people, {i: (row[0], row[numbers]) for i, row in rows})


def _unmatched(marks, people, named):
    """[(name, number)] of the rows that fit nobody. named: {row: (name, number)}."""
    fits = {row for student in marks.students for row in _rows_of(student, people)[0]}
    return [tuple(map(str.strip, pair)) for row, pair in named.items() if row not in fits]


def look_at_canvas(file, chapters, columns):
    """Before anything is graded: raises BadInput for a file of another form, for a column that is named and not there,
    and where none of the chapters has a column.
    """
    _, head, _, worth = _gradebook(file)
    targets, said = _targets(chapters, head, worth, columns)
    wrong = [line for line in said if line.partition(":")[0] in columns]
    if wrong or not targets:
        raise BadInput("\n".join([f"{file}: no column to fill in", *(wrong or said)]))


def _gradebook(file):
    """(Table, its head, the number of the first student's row, the points possible) of an export of Canvas."""
    table = tables.read(file)
    head = [cell.strip() for cell in table.rows[0]] if table.rows else []
    if "ID" not in head or "Section" not in head or head[0] not in ("Student", "LastName"):
        raise BadInput(
            f"{file} is no gradebook of Canvas (Grades > Export): no Student, ID, Section in its first row"
        )
    start = 1 + next((i for i, row in enumerate(table.rows) if "Points Possible" in row[0]), 0)
    worth = [*(table.rows[start - 1] if start > 1 else []), *[""] * len(head)]
    return table, head, start, worth


def _person(head, row):
    """(ids, logins, names) of a row of Canvas."""
    cells = dict(zip(head, map(str.strip, row), strict=True))
    name = cells.get("Student") or f"{cells.get('LastName', '')}, {cells.get('FirstName', '')}"
    logins = {cells.get("SIS User ID"), cells.get("SIS Login ID"), cells.get("Integration ID")} - {
        None,
        "",
    }
    return {cells["ID"]} - {""}, logins, both_ways(name)


def _targets(chapters, head, worth, columns):
    """{chapter: column}, and what is said of chapters without one."""
    open_ = [
        i
        for i, cell in enumerate(head)
        if i > head.index("Section") and re.search(r"\(\d+\)$", cell)
    ]
    open_ = [i for i in open_ if "read only" not in worth[i].lower()]
    titles = {i: re.fullmatch(r"(.*?) *\((\d+)\)", head[i]).groups() for i in open_}  # type: ignore[union-attr]
    made, said = {}, []
    for name in chapters:
        wanted = columns.get(name)
        if wanted is None:
            found = [i for i in open_ if letters(name) in letters(head[i])]
            found = found or [i for i in open_ if letters(name[3:]) in letters(head[i])]
        else:
            found = [i for i in open_ if wanted.strip() in (head[i], *titles[i])]
        if len(found) == 1:
            made[name] = found[0]
        else:
            there = "; ".join(head[i] for i in open_) or "none"
            said.append(
                f"{name}: {len(found)} assignments fit: give --column '{name[:2]}=TITLE'. There are: {there}"
            )
    return made, said


def _fill(rows, pairs, name, column, worth, tasks):
    """Write the points of a chapter into a column; what is said about it."""
    possible, whole, said = _number(worth), sum(tasks.values()), []
    scale = possible / whole if possible and whole else 1.0
    if scale != 1.0:
        said.append(
            f"{name}: its {whole} points are written as {tables.number(possible)}, which the assignment has"
        )
    for row, student in pairs.items():
        chapter = student.chapters.get(name)
        if chapter is None:
            continue
        if rows[row][column].strip().upper() in KEPT:
            said.append(f"{student.name!r:.80}: {name} stays {rows[row][column].strip()}")
            continue
        if chapter.undecided:
            said.append(_not_decided(student, name, chapter))
            continue
        rows[row][column] = tables.number(chapter.points * scale)
    return said


def _not_decided(student, name, chapter):
    """What is said of a grade that is left as it was: half a chapter's points would look like all of them."""
    tasks = ", ".join(chapter.undecided)
    return f"{student.name!r:.80}: {name} is left as it was: {tasks} not decided: grade again, or give points by hand"


def _number(text):
    try:
        return tables.points_in(text) or 0.0
    except ValueError:
        return 0.0


# Moodle -----------------------------------------------------------------------------------------------------------


def moodle(marks, file, chapter):
    """(Table, [said]) of a Moodle grading worksheet with the points and a short comment of one chapter filled in.

    Raises BadInput for a file of another form.
    """
    table, head, rows = _worksheet(file)
    people = [(i, *_participant(row)) for i, row in enumerate(rows) if i]
    pairs, said = matched([one for one in marks.students if chapter in one.chapters], people)
    whole = sum(marks.columns[chapter].values())
    for row, student in sorted(pairs.items()):
        said += _grade(table.rows[row], rows[row], head, student, chapter, whole)
    return table, said


def absent_in_moodle(marks, file):
    """As `absent`, of a worksheet of Moodle."""
    _, _, rows = _worksheet(file)
    people = [(i, *_participant(row)) for i, row in enumerate(rows) if i]
    named = {i: (rows[i].get("full name", ""), " ".join(sorted(ids))) for i, ids, _, _ in people}
    return _unmatched(marks, people, named)


def look_at_moodle(file):
    """Before anything is graded: raises BadInput for a file of another form."""
    _worksheet(file)


def _worksheet(file):
    """(Table, its head in lower case, each row as {column: cell}) of a worksheet of Moodle."""
    table = tables.read(file)
    head = [cell.strip().lower() for cell in table.rows[0]] if table.rows else []
    if "identifier" not in head or "grade" not in head:
        raise BadInput(
            f"{file} is no grading worksheet of Moodle in English: no Identifier and Grade in its first row"
        )
    return table, head, [dict(zip(head, row, strict=False)) for row in table.rows]


def _participant(row):
    """(ids, logins, names) of a row of Moodle: its identifier is "Participant 123"."""
    ids = set(re.findall(r"\d+$", row["identifier"].strip()))
    logins = {row.get("email address", "").strip(), row.get("id number", "").strip()}
    return ids, logins, both_ways(row.get("full name", ""))


def _grade(row, cells, head, student, chapter, whole):
    """Fill in one row of Moodle's; what is said about it."""
    if cells.get("grade can be changed", "yes").strip().lower() == "no":
        return [f"{student.name!r:.80}: Moodle lets this grade not be changed: left as it is"]
    given = student.chapters[chapter]
    if given.undecided:
        return [_not_decided(student, chapter, given)]
    most = _number(cells.get("maximum grade", ""))
    grade = given.points * (most / whole if most and whole else 1.0)
    comma = "," in cells.get("maximum grade", "")
    text = f"{grade:.2f}"
    row[head.index("grade")] = text.replace(".", ",") if comma else text
    if "feedback comments" in head:
        place = head.index("feedback comments")
        row[place] = "".join(part for part in (row[place].strip(), comment(given)) if part)
    if most and grade > most + 1e-9:
        return [
            f"{student.name!r:.80}: {text} is more than Moodle's maximum of {most:g}: it will not take it"
        ]
    return []


def comment(chapter):
    """A short comment in HTML, which is what Moodle shows: points by task and what was said by hand."""
    lines = []
    for task in chapter.tasks:
        said = " ".join(chapter.comments.get(task.task, []))
        points = f"{tables.number(task.points)} of {tables.number(task.out_of)}"
        lines.append(
            f"{task.task}: {points} ({feedback.WORDS.get(task.status, task.status)}) {said}".strip()
        )
    lines += [f"by hand: {tables.number(chapter.extra)}"] if chapter.extra else []
    lines += [chapter.late] if chapter.late else []
    lines += chapter.comments.get("", [])
    return (
        "<ul>" + "".join(f"<li>{html.escape(tables.plain(line))}</li>" for line in lines) + "</ul>"
    )


# Gradescope -------------------------------------------------------------------------------------------------------


def gradescope(chapter):
    """results.json of one student's chapter. Hidden checks are tests that students never see; they carry no points."""
    tests = []
    for task in chapter.tasks:
        said = "\n".join([feedback.message(task), *chapter.comments.get(task.task, [])]).strip()
        shown = _test(task.task, tables.plain(said, False), task.status, "visible")
        tests.append(shown | {"score": task.points, "max_score": task.out_of})
        for name, status in task.hidden.items():
            tests.append(_test(f"{task.task}: {name}", status, status, "hidden"))
    notes = [*chapter.result.problems, *chapter.comments.get("", [])]
    if chapter.extra:
        notes.append(f"by hand: {tables.number(chapter.extra)} points")
    notes += [chapter.late] if chapter.late else []
    return {
        "score": chapter.points,
        "execution_time": round(chapter.result.seconds, 2),
        "output": tables.plain("\n".join(notes), False),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _test(name, output, status, visibility):
    passed = "passed" if status == "pass" else "failed"
    return {"name": name, "output": output, "status": passed, "visibility": visibility}
