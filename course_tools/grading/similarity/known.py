"""What everybody may have: the cell as handed out, the solution, what the hints show, given cells."""

import re

from course_tools.build import source
from course_tools.grading.similarity import tokens, winnowing

CODE = re.compile(r"```[^\n]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)


def of_chapter(read, chapter):
    """{task: fingerprints} of a chapter's source and of the `manifest.Chapter` that was released."""
    given = [step.text for step in chapter.steps if step.kind != "task"]
    prose = [cell.source for cell in read.cells if cell.kind != "code"]
    shown = given + [code for text in prose for code in _code(text)]
    everywhere = set().union(*map(_known, shown))
    blanks = {step.id: step.text for step in chapter.tasks}
    made = {}
    for cell in read.tasks:
        texts = [*_solutions(cell), blanks.get(cell.name, "")]
        texts += [code for hint in cell.task.hints for code in _code(hint)]
        made[cell.name] = everywhere.union(*map(_known, texts))
    return made


def _solutions(cell):
    region = source.split(cell.source)
    return [region.filled(region.text), region.text]


def _code(text):
    return [long or short for long, short in CODE.findall(text)]


def _known(text):
    return winnowing.every(tokens.of(text))
