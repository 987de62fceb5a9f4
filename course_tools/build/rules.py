"""The rules of the source format. Each breach is a line of text that names the place and says what to do."""

import ast
import re
from collections import Counter
from itertools import chain

from course_tools.build import deeper
from course_tools.build.cells import BEGIN, END, Mutant, split
from course_tools.text import count

KINDS = ("lecture", "exercise")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # of a cell: kebab-case, at most 60 characters
TAGS = ("task", "check", "nbval-ignore-output", "raises-exception", "hide-input", "hide-output")
NUMBERS = {"points": 100, "difficulty": 3, "minutes": 120, "lines": 60}  # of a task: from 1 to that
TASK_KEYS = (*NUMBERS, "hints", "mutants")
CELL_KEYS = ("name", "tags", "checks", "jupyter", "slideshow", "deeper", "guess")
MUTANT_KEYS = ("name", "says", "expect", "replace", "with", "body")
HINTS, MUTANTS = 3, 5


def breaches(kind, metadata, cells):
    """(line, text) of every breach in a file. metadata: the notebook's; cells: `Cell`s, their headers in `extra`."""
    yield from ((1, text) for text in _header(kind, metadata))
    for cell in cells:
        yield from ((cell.line, text) for text in _cell(cell))
    yield from _names(cells)
    yield from deeper.breaches(cells)
    code = [cell for cell in cells if cell.kind == "code"]
    yield from _tasks(code, {cell.name for cell in cells})
    yield from _checks(code)
    if kind == "lecture" and any(_is_task(cell) or cell.checks for cell in code):
        yield 1, "tasks and checks belong in exercise.md"
    if kind == "exercise" and not any(map(_is_task, code)):
        yield 1, "an exercise needs at least one task"


def _is_task(cell):
    return "task" in cell.tags


def _whole(what, value, low, high):
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        yield f"{what} must be a whole number from {low} to {high}, not {value!r}"


def _header(kind, metadata):
    course = metadata.get("course")
    course = course if isinstance(course, dict) else {}
    title = course.get("title")
    if kind not in KINDS:
        yield "a source file is named lecture.md or exercise.md"
    if not isinstance(title, str) or not title.strip():
        yield "the header needs `course: {title: ..., minutes: ...}` with a title"
    if not isinstance(course.get("able", ""), str):
        yield "the header's course able must be a text: what a reader will be able to do"
    yield from _whole("the header's course minutes", course.get("minutes"), 1, 300)
    if metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the header needs the kernelspec python3"


# One cell -----------------------------------------------------------------------------------------


def _cell(cell):
    name = cell.extra.get("name")
    if cell.kind == "code" and not name:
        yield "this code cell has no name: add a line `:name: what-it-does` under the fence"
    if name is not None and not (isinstance(name, str) and ID.fullmatch(name) and len(name) <= 60):
        yield f"the name {name!r} must be kebab-case (a-z, 0-9, -), at most 60 characters"
    code = _code(cell.source) if cell.kind == "code" else ()
    task = _task(cell) if _is_task(cell) else ()
    for text in chain(_tags(cell.extra.get("tags", [])), code, _keys(cell), task):
        yield f"{cell.name or 'this cell'}: {text}"


def _tags(tags):
    if not isinstance(tags, list) or any(tag not in TAGS for tag in tags):
        yield f"tags must be a list of some of {', '.join(TAGS)}, not {tags!r}"


def _code(source):
    if not source.strip():
        yield "an empty code cell"
    if "NBVAL_" in source:
        yield "say it with a tag (nbval-ignore-output), not with an NBVAL_ comment"
    rows = source.split("\n")
    if any(row.lstrip().startswith(("%", "!", "?")) or row.rstrip().endswith("?") for row in rows):
        return  # IPython's own syntax
    try:
        ast.parse(source)
    except SyntaxError as error:
        yield f"line {error.lineno} of the cell is not Python: {error.msg}"


def _keys(cell):
    allowed = CELL_KEYS + (TASK_KEYS if _is_task(cell) else ())
    for key in cell.extra:
        if key in TASK_KEYS and key not in allowed:
            yield f"{key} belongs to a task: add the tag task"
        elif key not in allowed:
            yield f"unknown key {key!r}; known are {', '.join(allowed)}"
    if ("check" in cell.tags) != ("checks" in cell.extra):
        yield "a check cell has the tag check and the key `checks: name-of-the-task`"
    if BEGIN in str(cell.extra):
        yield "a solution marker in the header"


def _task(cell):
    for key, high in NUMBERS.items():
        yield from _whole(key, cell.extra.get(key), 1, high)
    hints = cell.extra.get("hints")
    texts = (
        [h for h in hints if isinstance(h, str) and h.strip()] if isinstance(hints, list) else []
    )
    if len(texts) != HINTS or len(hints) != HINTS:
        yield f"hints must be a list of {HINTS} texts: a nudge, the idea, nearly the code"
    region = None
    try:
        region = split(cell.source)
    except ValueError as error:
        yield str(error)
    if region and region.in_string and not re.match(r"\w+ *= *\w*('''|\"\"\")", cell.source):
        yield (
            'NAME = r""" must open in the first line of the cell: the checks count lines from there'
        )
    yield from _mutants(cell.extra.get("mutants"), region)


def _mutants(given, region):
    given = given if isinstance(given, list) else []
    mutants = [mutant for mutant in given if isinstance(mutant, dict)]
    if len(given) < MUTANTS or len(mutants) < len(given):
        yield f"needs a list of at least {MUTANTS} mutants (planted wrong answers)"
    for mutant in mutants:
        for text in _mutant(mutant, region):
            yield f"mutant {mutant.get('name')!r}: {text}"
    names = Counter(str(mutant["name"]) for mutant in mutants if mutant.get("name"))
    for twice in sorted(name for name, times in names.items() if times > 1):
        yield f"two mutants are named {twice!r}"


def _mutant(given, region):
    given = {key: value for key, value in given.items() if value is not None}
    if set(given) - set(MUTANT_KEYS) or not all(isinstance(value, str) for value in given.values()):
        yield "keys are name, says or expect, and replace with `with`, or body; all of them texts"
        return
    if not ID.fullmatch(given.get("name", "")):
        yield "its name must be kebab-case"
    if not (given.get("says", "").strip() or given.get("expect", "").strip()):
        yield "no `says` (the cause) or `expect`: what must its failure message hold?"
    if {"replace", "with", "body"} & set(given) not in ({"replace", "with"}, {"body"}):
        yield "needs either replace and with, or body"
    elif region:
        yield from _applied(mutant_of(given), region)


def mutant_of(given):
    """The `Mutant` that an entry of a header describes."""
    replace, with_, says = given.get("replace"), given.get("with") or "", given.get("says") or ""
    expect = given.get("expect") or says
    return Mutant(given.get("name", ""), expect, replace, with_, given.get("body"), says)


def _applied(mutant, region):
    found = 1 if mutant.body is not None else region.text.count(mutant.replace)
    if found != 1:
        yield f"{mutant.replace!r} occurs {count(found, 'time')} in the solution, not once"
        return
    changed = mutant.apply(region.text)
    try:
        ast.parse(region.filled(changed))
    except SyntaxError as error:
        yield f"the cell with it is not Python: {error.msg}, line {error.lineno}"
    if mutant.body is None and changed == region.text:
        yield "it changes nothing"


# Cells together -----------------------------------------------------------------------------------


def _names(cells):
    seen: dict = {}
    for cell in cells:
        if cell.name in seen and cell.kind == "markdown":
            yield cell.line, f'two text cells named {cell.name!r}: name one, +++ {{"name": "..."}}'
        elif cell.name in seen:
            taken = f"is taken by the cell at line {seen[cell.name]}"
            yield cell.line, f"the name {cell.name!r} {taken}"
        if cell.name:
            seen.setdefault(cell.name, cell.line)


def _tasks(code, names):
    for cell, after in zip(code, [*code[1:], None], strict=True):
        line, name = cell.line, cell.name
        if not _is_task(cell):
            if BEGIN in cell.source or END in cell.source:
                yield line, f"{name}: solution markers in a cell without the tag task"
            continue
        if after is None or after.checks != name:
            yield line, f"{name}: the next code cell must be its check: `checks: {name}`"
        if f"{name}-hints" in names:
            yield line, f"{name}: the name {name}-hints is kept for its hints"


def _checks(code):
    tasks = {cell.name for cell in code if _is_task(cell)}
    checks = [cell for cell in code if cell.checks]
    for cell in checks:
        task = cell.checks
        if task not in tasks:
            yield cell.line, f"{cell.name}: there is no task {task!r} to check"
        if cell.name != f"{task}-check":
            yield cell.line, f"{cell.name}: the check of {task} is named {task}-check"
    times = Counter(str(cell.checks) for cell in checks)
    yield from ((1, f"{name}: two check cells") for name in sorted(times) if times[name] > 1)
