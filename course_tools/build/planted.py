"""The planted wrong answers of an exercise for its checks: `course_lib/checks/chNN/planted.json`.

A mistake is written once, in exercise.md. Where its author says what it is (`says:`), the check of the task tries it on
an answer that is not right: course_lib/checks/kit/known/explain.py.
"""

import ast
import json
from pathlib import Path

from course_tools.build import source
from course_tools.build.files import write


def path_of(root, read):
    """The file that belongs to an exercise."""
    return Path(root) / "course_lib" / "checks" / f"ch{read.chapter[:2]}" / "planted.json"


def current(root, read):
    """Does the file hold what the exercise says? True where its chapter has no checks in this clone."""
    file = path_of(root, read)
    if not file.parent.is_dir():
        return True
    return file.is_file() and file.read_text(encoding="utf-8") == text_of(read)


def record(root, read):
    """Write the file, if it is not current."""
    if not current(root, read):
        write(path_of(root, read), text_of(read))


def text_of(read):
    """The cells that a task rests on and the tasks, in order, as JSON."""
    cells = [cell for cell in read.cells if cell.kind == "code" and not cell.checks]
    needed = _needed(read, cells)
    found = [_task(read, cell) if cell.task else {"source": _part(cell, needed)} for cell in cells]
    kept = [entry for entry in found if entry["source"]]
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def _task(read, cell):
    region = source.split(cell.source)
    planted = [
        {"says": mutant.says, "source": region.filled(mutant.apply(region.text))}
        for mutant in cell.task.mutants
        if mutant.says
    ]
    solved = region.filled(region.text)
    check, name = checked(read.check_of(cell))
    return {"task": cell.name, "check": check, "name": name, "source": solved, "planted": planted}


def checked(cell):
    """(the check, the variable) of a check cell: ch01.check_neuron(neuron) hands over neuron."""
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            return node.func.attr, ast.unparse(node.args[0])
    return "", ""


def _needed(read, cells):
    """The names that the tasks use, and those that their definitions use."""
    texts = [_task(read, cell) for cell in cells if cell.task]
    sources = [text["source"] for text in texts]
    sources += [entry["source"] for text in texts for entry in text["planted"]]
    names = {name for text in sources for name in _used(ast.parse(text))}
    bound = [node for cell in cells if not cell.task for node in _lasting(cell)]
    for _ in bound:  # a definition may rest on a later pass's finds
        names |= {n for node in bound if names & _bound(node) for n in _used(node)}
    return names


def _part(cell, needed):
    """The imports, definitions and constants of a given cell that a task rests on, or that an answer may use."""
    kept = [node for node in _lasting(cell) if needed & _bound(node) or _is_at_hand(node)]
    return "\n".join(ast.unparse(node) for node in kept)


def _is_at_hand(node):
    """`import numpy as np`, `A100 = {...}`: what an answer may use even where the solution does not."""
    return isinstance(node, ast.Import) or (
        isinstance(node, ast.Assign) and all(name.isupper() for name in _bound(node))
    )


def _lasting(cell):
    """The statements of a cell that bind names and compute nothing."""
    if cell.source.lstrip().startswith(("%", "!")):
        return []
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    found = []
    for node in ast.parse(cell.source).body:
        calls = any(isinstance(part, ast.Call) for part in ast.walk(node))
        if isinstance(node, kinds) or (isinstance(node, ast.Assign) and not calls):
            found.append(node)
    return found


def _bound(node):
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = [part for target in node.targets for part in ast.walk(target)]
    return {part.id for part in targets if isinstance(part, ast.Name)}


def _used(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
