"""An HTML page for each student, and an index for the instructor: self-contained, no scripts, everything escaped.

A student's page names hidden checks and never shows them. It does not show what the answers' cells printed either:
what a later cell prints may hold what a hidden check gave to an earlier answer.
"""

import html
import re

from course_tools.build import command as build
from course_tools.grading.marks import gradebook, tables
from course_tools.grading.verdict import results

LONGEST = 4000  # characters of a message
MOST = 60  # lines of a message
COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
WORDS = {
    "pass": "passed",
    "wrong": "not right yet",
    "error": "stopped with an error",
    "timeout": "took too long",
    "crashed": "ended the process it ran in",
    "missing": "no answer",
    "inconclusive": "could not be decided",
    "not-run-here": "could not be run on the grading machine",
}
SIGNS = {
    "pass": "\u2714",
    "missing": "\u2013",
    "inconclusive": "?",
    "not-run-here": "?",
}  # others: a cross
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
STYLE = """
:root { color-scheme: light dark; --ink: #222; --ground: #fff; --soft: #595959; --line: #c8c8c8; --box: #f4f4f4;
        --good: #00614a; --bad: #a33c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --ground: #161616; --soft: #b0b0b0; --line: #4a4a4a;
        --box: #242424; --good: #4fd0a8; --bad: #ff9d66; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; color: var(--ink); background: var(--ground);
       font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top;
         font-weight: normal; }
thead th { font-weight: bold; } tbody th { min-width: 7rem; } thead th:not(:first-child) { overflow-wrap: normal; }
td.points { text-align: right; white-space: nowrap; }
pre { background: var(--box); padding: .6rem; margin: .25rem 0; white-space: pre-wrap; font: .875rem/1.45 monospace; }
.good { color: var(--good); } .bad { color: var(--bad); } .soft { color: var(--soft); } p { margin: .25rem 0; }
a { color: inherit; } img { max-width: 100%; height: auto; background: #fff; }
@media print { :root { --ink: #000; --ground: #fff; --soft: #333; --box: #fff; } body { max-width: none; padding: 0; }
       pre { border: 1px solid #999; } h3, tr { break-after: avoid; break-inside: avoid; } }
"""


def shown(text, longest=LONGEST):
    """Text of a student's for a page: no colour codes or control characters, at most so long, escaped."""
    begin = (
        COLOUR.sub("", str(text)[: 8 * longest])
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .strip("\n")
    )
    lines = [tables.plain(line.replace("\t", "    ")) for line in begin.split("\n")]
    cut = "\n".join(lines[:MOST])[:longest]
    whole = cut == "\n".join(lines) and len(str(text)) <= 8 * longest
    return html.escape(cut if whole else f"{cut}\n... (the rest is left out)")


def message(task, longest=LONGEST):
    """The message of a task as plain text: what `shown` shows."""
    return html.unescape(shown(task.message, longest))


def page(title, body):
    """A whole page. title: plain text; body: HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title, 200)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def table(caption, head, rows):
    """A table with caption and scopes. rows: lists of HTML, the first cell names the row, numbers have class points."""
    names = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(rest)}</tr>' for first, *rest in rows
    )
    return (
        f"<table>\n<caption>{html.escape(caption)}</caption>\n<thead><tr>{names}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def points(earned, out_of):
    """A cell: "2 of 3"."""
    return f'<td class="points">{tables.number(earned)} of {tables.number(out_of)}</td>'


def verdict(status):
    """A sign and the words for a status: never colour alone."""
    kind = "good" if status == "pass" else "bad"
    sign = SIGNS.get(status, "\u2718")
    words = html.escape(WORDS.get(status, status))
    return f'<span class="{kind}"><span aria-hidden="true">{sign}</span> {words}</span>'


# A student's page -------------------------------------------------------------------------------------------------


def student_page(student, columns, printed=False):
    """The page of one student. columns: `Marks.columns`; printed: also what cells printed (see the module's text)."""
    name = f"<bdi>{shown(student.name, 200)}</bdi>"
    whole = sum(sum(tasks.values()) for tasks in columns.values())
    parts = [
        f"<h1>{name}</h1>",
        f"<p>{tables.number(student.points)} of {tables.number(whole)} points</p>",
    ]
    for problem in student.problems:
        parts.append(f'<p class="bad">{shown(problem, 300)}</p>')
    for chapter, tasks in columns.items():
        if chapter in student.chapters:
            parts += _chapter(chapter, student.chapters[chapter], printed)
        else:
            parts += [
                f"<h2>{html.escape(chapter)}</h2>",
                f"<p>Not handed in: 0 of {sum(tasks.values())} points.</p>",
            ]
    return page(f"Feedback: {student.name}", "\n".join(parts))


def _chapter(name, chapter, printed):
    rows = [
        [
            html.escape(task.task),
            f"<td>{verdict(task.status)}</td>",
            points(task.points, task.out_of),
        ]
        for task in chapter.tasks
    ]
    if chapter.extra:
        rows.append(
            ["by hand", "<td></td>", f'<td class="points">{tables.number(chapter.extra)}</td>']
        )
    rows.append(["all", "<td></td>", points(chapter.points, chapter.out_of)])
    parts = [
        f"<h2>{html.escape(name)}</h2>",
        table(f"Points in {name}", ("Task", "Result", "Points"), rows),
    ]
    parts += [f"<p>{shown(text)}</p>" for text in chapter.comments.get("", [])]
    parts += [f'<p class="soft">{shown(text, 300)}</p>' for text in chapter.result.problems]
    for task in chapter.tasks:
        parts += _task(task, chapter.comments.get(task.task, []), printed)
    read = f"Graded from {chapter.result.file}, sha256 {chapter.result.digest[:12]}."
    return [*parts, f'<p class="soft">{shown(read, 300)}</p>']


def _task(task, comments, printed):
    """What there is to say of a task; nothing where it passed without a word."""
    parts = [f"<p>{shown(text)}</p>" for text in comments]
    if task.status != "pass":
        parts.append(f"<p>{verdict(task.status)}</p>")
        if task.message:
            parts.append(f"<pre>{shown(task.message)}</pre>")
    if task.hidden and task.status != "pass":
        names = ", ".join(
            f"{html.escape(name)}: {html.escape(WORDS.get(status, status))}"
            for name, status in task.hidden.items()
        )
        parts.append(f'<p class="soft">Hidden checks: {names}</p>')
    if printed and task.printed:
        parts.append(f"<p>Your cell printed:</p><pre>{shown(task.printed)}</pre>")
    return [f"<h3>{html.escape(task.task)}</h3>", *parts] if parts else []


# All pages --------------------------------------------------------------------------------------------------------


def write(out, marks, figures=()):
    """Write out/feedback/<student>.html for each student and out/index.html for the instructor; return the index."""
    for student in marks.students:
        build.write(_file(out, student), student_page(student, marks.columns))
    index = out / "index.html"
    build.write(index, index_page(out, marks, figures))
    return index


def _file(out, student):
    return (out / "feedback" / results.file_of(out, student.name).name).with_suffix(".html")


def index_page(out, marks, figures=()):
    """The instructor's page: all students with links, what is to be known, the pictures of the class."""
    columns = marks.columns
    rows = []
    for student in marks.students:
        cells = [_total(student.chapters.get(name), tasks) for name, tasks in columns.items()]
        link = f'<a href="feedback/{html.escape(_file(out, student).name)}"><bdi>{shown(student.name, 200)}</bdi></a>'
        said = "<br>".join(shown(note, 200) for note in gradebook.notes(student)[:5])
        rows.append(
            [
                link,
                *cells,
                f'<td class="points">{tables.number(student.points)}</td>',
                f"<td>{said}</td>",
            ]
        )
    parts = [
        "<h1>Graded submissions</h1>",
        '<p class="soft">For the instructor: it names all students.</p>',
    ]
    parts += [f'<p class="bad">{shown(problem, 400)}</p>' for problem in marks.problems]
    parts.append(table(f"{len(rows)} students", ("Student", *columns, "Total", "Notes"), rows))
    parts += [figure.html() for figure in figures]
    return page("Graded submissions", "\n".join(parts))


def _total(chapter, tasks):
    return (
        points(chapter.points, sum(tasks.values()))
        if chapter
        else '<td class="points">&ndash;</td>'
    )
