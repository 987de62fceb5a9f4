"""The student's answers in the release's own notebook: nothing else of what was handed in is run."""

import ast
from dataclasses import dataclass, field


@dataclass
class Assembled:
    """The steps of a chapter with the student's text in the tasks. missing: {task: why}."""

    chapter: object
    texts: dict = field(default_factory=dict)  # task -> the student's code
    missing: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)


def chapter_of(read, release):
    """The chapter of the release whose cells are in the notebook, by ids, else by the names that cells define."""
    ids = {cell[0] for cell in read.cells}
    best = max(release.chapters.values(), key=lambda c: len(ids & {s.id for s in c.steps}))
    if ids & {step.id for step in best.tasks}:
        return best
    defined = {name for _, kind, text in read.cells if kind == "code" for name in names_in(text)}
    named = max(release.chapters.values(), key=lambda c: len(defined & set(_names(c).values())))
    return named if len(defined & set(_names(named).values())) * 2 > len(named.tasks) else None


def assemble(read, chapter):
    """Take each task's text from the notebook."""
    made = Assembled(chapter, problems=list(read.problems))
    names = _names(chapter)
    for step in chapter.tasks:
        found = [(kind, text) for cell, kind, text in read.cells if cell == step.id]
        code = [text for kind, text in found if kind == "code"]
        if not found:
            code = _by_name(read, names.get(step.id, ""), chapter)
            if code:
                said = f"{step.id}: its cell has lost its id; found by what it defines"
                made.problems.append(said)
        if len(set(code)) > 1:
            said = f"{step.id}: there are {len(code)} cells with this id; the first one counts"
            made.problems.append(said)
        if code:
            made.texts[step.id] = code[0]
        elif found:
            made.missing[step.id] = f"its cell was made a {found[0][0]} cell"
        else:
            made.missing[step.id] = "its cell was deleted"
    made.problems += _order(read, chapter)
    made.problems += _changed(read, chapter)
    return made


def names_in(text):
    """The names that a cell defines at its top level."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    made = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.append(node.name)
        elif isinstance(node, ast.Assign):
            made += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return made


def _names(chapter):
    """{task: the name that its check looks at}"""
    return {step.of: step.name for step in chapter.steps if step.kind == "check"}


def _by_name(read, name, chapter):
    """The cells without a known id that define `name`; the last one counts, as it would in the student's kernel."""
    known = {step.id for step in chapter.steps}
    cells = [
        text
        for cell, kind, text in read.cells
        if kind == "code" and cell not in known and name in names_in(text)
    ]
    return cells[-1:]


def _order(read, chapter):
    here = [cell for cell, _, _ in read.cells]
    order = [step.id for step in chapter.tasks if step.id in here]
    if sorted(order, key=here.index) != order:
        return ["tasks were moved: each was put back in its place"]
    return []


def _changed(read, chapter):
    """Checks and given cells that are not what was handed out: said, and of no effect."""
    texts = {cell: text for cell, kind, text in reversed(read.cells) if kind == "code"}
    changed = [
        step.id
        for step in chapter.steps
        if step.kind == "check" and texts.get(step.id, "") != step.text
    ]
    return (
        [f"checks were changed or deleted, to no effect: {', '.join(changed)}"] if changed else []
    )
