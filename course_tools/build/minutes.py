"""`python -m course_tools.build.minutes`: minutes for each section and task, counted from the sources by one rule.

The rule: 150 words of text a minute, 12 lines of code a minute, and 20 seconds for each code cell to be run and looked
at. A section begins at `## `; what is above the first one belongs to "Opening"; the list under "Go further" is not
counted. For tasks the minutes that stand in their header count: their author's estimate.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import source

WORDS, LINES, CELLS = 150, 12, 3  # a minute
NOT_READ = "Go further"
OPENING = "Opening"
DOCUMENT = "docs/teaching-minutes.md"
HEAD = """# Minutes for each section and task

Made from the chapters by `python -m course_tools.build.minutes --write`; a test holds it equal to them. No class has
been timed: this is a rule, and your students will be faster or slower than it. For lectures it is 150 words of text a
minute, 12 lines of code a minute, and 20 seconds for each code cell to be run and looked at; the list under "Go
further" is not counted. (Brysbaert's review of 2019,
[doi 10.1016/j.jml.2019.104047](https://doi.org/10.1016/j.jml.2019.104047), finds 238 words a minute for adults who read
English non-fiction in silence; formulas slow that down, and so does English as a second language.) For tasks it is the
estimate of their authors, which students see too.

In class you speak about what they would read: plan with the same minutes, and leave out whole sections rather than
hurry.
"""


def words(text):
    """The number of words in a Markdown text: runs of letters, digits and signs with a letter or digit in them."""
    plain = re.sub(r"<[^>]+>", " ", text)
    return sum(1 for word in plain.split() if re.search(r"[^\W_]", word))


def sections(read):
    """{title of a section: minutes, not rounded} of a lecture, in order; the whole reading of an exercise, too."""
    minutes: dict = defaultdict(float)
    title = OPENING
    for cell in read.cells:
        if cell.kind == "code":
            rows = [row for row in cell.source.split("\n") if row.strip()]
            minutes[title] += len(rows) / LINES + 1 / CELLS
            continue
        for part in re.split(r"^(?=## )", cell.source, flags=re.MULTILINE):
            heading = re.match(r"## +(.*)", part)
            title = heading[1].strip() if heading else title
            minutes[title] += words(part) / WORDS if title != NOT_READ else 0.0
    return {title: time for title, time in minutes.items() if title != NOT_READ}


def tables(lecture, exercise):
    """The Markdown of one chapter: its sections, then its tasks."""
    parts, tasks = sections(lecture), [cell.task for cell in exercise.tasks]
    rows = [f"| {title} | {time:.0f} |" for title, time in parts.items() if time >= 0.5]
    lines = [
        f"## {lecture.chapter[:2]}. {lecture.title}",
        "",
        f"Lecture: {sum(parts.values()):.0f} minutes by the rule; the chapter says {lecture.minutes}.",
        "",
        "| section | minutes |",
        "|---|---:|",
        *rows,
        "",
        f"Exercise: {sum(task.minutes for task in tasks)} minutes for the tasks, "
        f"{sum(task.points for task in tasks)} points; the whole of it: {exercise.minutes} minutes.",
        "",
        "| task | minutes | points | difficulty, 1 to 3 |",
        "|---|---:|---:|---:|",
    ]
    return (
        "\n".join(
            [*lines, *(f"| {t.name} | {t.minutes} | {t.points} | {t.difficulty} |" for t in tasks)]
        )
        + "\n"
    )


def document(root):
    """The whole of docs/teaching-minutes.md."""
    chapters: dict = defaultdict(dict)
    for path in source.find(root):
        chapters[path.parent.name][path.stem] = source.read(path)
    made = [
        tables(kinds["lecture"], kinds["exercise"])
        for kinds in chapters.values()
        if len(kinds) == 2
    ]
    return "\n".join([HEAD, *made])


def main(argv=None):
    """Print the document, or write it; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m course_tools.build.minutes", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write {DOCUMENT} instead of printing it"
    )
    arguments = parser.parse_args(argv)
    from course_tools.build.command import clone, write

    try:
        root = clone()
        made = document(root)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.write:
        write(Path(root) / DOCUMENT, made)
    else:
        print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
