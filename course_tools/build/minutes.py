"""`python -m course_tools.build.minutes`: minutes for each section and task, counted from the sources by one rule.

The rule: 150 words of text a minute, 14 lines of code a minute, and 20 seconds for each code cell to be run and looked
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
from course_tools.build.files import clone, write
from course_tools.text import render

WORDS, LINES, CELLS = 150, 14, 3  # a minute
NOT_READ = "Go further"
OPENING = "Opening"
DOCUMENT = "docs/teaching-minutes.md"
TEMPLATE = Path(__file__).with_name("teaching-minutes.md.jinja")


def words(text):
    """The number of words in a Markdown text: runs of letters, digits and signs with a letter or digit in them."""
    plain = re.sub(r"<[^>]+>", " ", text)
    return sum(1 for word in plain.split() if re.search(r"[^\W_]", word))


def parts(read):
    """(title of its section, cell, text) of all that a lecture has: a cell of text is cut at the headings in it."""
    title = OPENING
    for cell in read.cells:
        texts = [cell.source]
        if cell.kind == "markdown":
            texts = re.split(r"^(?=## )", cell.source, flags=re.MULTILINE)
        for text in texts:
            heading = re.match(r"## +(.*)", text) if cell.kind == "markdown" else None
            title = heading[1].strip() if heading else title
            yield title, cell, text


def sections(read, counts=lambda cell: True):
    """{title of a section: minutes, not rounded} of a lecture, in order; the whole reading of an exercise, too.

    counts: (cell) -> is its time counted?
    """
    minutes: dict = defaultdict(float)
    for title, cell, text in parts(read):
        if cell.kind == "code":
            rows = [row for row in text.split("\n") if row.strip()]
            time = len(rows) / LINES + 1 / CELLS
        else:
            time = words(text) / WORDS
        minutes[title] += time * counts(cell)
    return {title: time for title, time in minutes.items() if title != NOT_READ}


def core(read):
    """The minutes of a lecture without its deeper sections, to the nearest five."""
    if not any(cell.deep for cell in read.cells):
        return read.minutes
    return 5 * round((read.minutes - sum(folded(read).values())) / 5)


def folded(read):
    """As `sections`: what is folded of each."""
    return sections(read, lambda cell: bool(cell.deep))


def document(root):
    """The whole of docs/teaching-minutes.md."""
    read: dict = defaultdict(dict)
    for path in source.find(root):
        read[path.parent.name][path.stem] = source.read(path)
    return render(TEMPLATE, chapters=[_values(**both) for both in read.values() if len(both) == 2])


def _values(lecture, exercise):
    """What the template shows of a chapter."""
    tasks = [cell.task for cell in exercise.tasks]
    times = {"sections": sections(lecture), "folded": folded(lecture), "core": core(lecture)}
    return {"lecture": lecture, "exercise": exercise, "tasks": tasks, **times}


def main(argv=None):
    """Print the document, or write it; return the exit status."""
    words = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m course_tools.build.minutes", description=words)
    words = f"write {DOCUMENT} instead of printing it"
    parser.add_argument("--write", action="store_true", help=words)
    arguments = parser.parse_args(argv)
    try:
        root = clone()
        made = document(root)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.write:
        write(root / DOCUMENT, made)
    else:
        print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
