"""Deeper sections: `deeper: true` in a text cell's header. They come folded, and no task rests on one."""

import re
from dataclasses import replace

from course_tools.build.links import OF, ONE

HEADING = re.compile(r"(#{2,4}) +(.*)")
INVITATION = "*Goes deeper: unfold it if you like. No task rests on it.*"
FOLDED = {"jp-MarkdownHeadingCollapsed": True, "course": {"deeper": True}}


def marked(cells):
    """The cells, each with `deep` where it belongs to a deeper section: up to the next heading as high."""
    level, found = 0, []
    for cell in cells:
        heading = HEADING.match(cell.source) if cell.kind == "markdown" else None
        if heading and len(heading[1]) <= level:
            level = 0
        if cell.extra.get("deeper"):
            level = len(heading[1]) if heading else 0
        first = bool(level and cell.extra.get("deeper"))
        found.append(replace(cell, deep=bool(level), folds=first))
    return found


def breaches(cells):
    """(line, text) of each header that cannot be folded: JupyterLab folds by the heading that a cell begins with."""
    level = 0
    for cell in cells:
        heading = HEADING.match(cell.source) if cell.kind == "markdown" else None
        if "deeper" in cell.extra and (cell.extra["deeper"] is not True or not heading):
            yield (
                cell.line,
                f"{cell.name}: deeper: true belongs to a text that begins with a heading",
            )
        if heading and len(heading[1]) <= level:
            level = 0
        if cell.extra.get("deeper") and heading:
            level = len(heading[1])
        later = re.findall(r"^(#{2,4}) ", cell.source.partition("\n")[2], re.MULTILINE)
        if level and cell.kind == "markdown" and any(len(marks) <= level for marks in later):
            yield (
                cell.line,
                f'{cell.name}: what ends a deeper section begins a cell: +++ {{"name": "..."}}',
            )


def parted(source):
    """(the heading with its invitation, what is folded) of the first text of a deeper section."""
    heading, _, rest = source.partition("\n")
    return f"{heading}\n\n{INVITATION}", rest.strip()


def rests(read, around):
    """(line, text) where an exercise leans on a deeper section, which is known by its words.

    Its texts, hints, docstrings and the causes it tells name sections: "section 5 of the lecture", "chapter 03,
    section 5". What a student must have read to solve a task must not be folded away.
    """
    for cell in read.cells:
        said = "\n".join([cell.source, *(cell.task.hints if cell.task else ())])
        for found in [*OF.finditer(said), *ONE.finditer(said)]:
            number = found["chapter"] or read.chapter[:2]
            if number in around and found["section"] in around[number].deeper:
                yield cell.line, f"{cell.name} rests on a deeper section: {found[0]}"
