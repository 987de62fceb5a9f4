"""Which names of course_lib's teaching packages an answer uses that nothing else in its exercise does.

For the notes, and from the text alone. What decides whether an answer is the student's own is that the functions which
would be answers are not there while it is graded (`answers.toml`, `sandbox/not_there.py`).
"""

import ast
import re

PACKAGES = ("data", "serial", "threads", "gpu", "mpi")
DEEPEST = 8  # attributes of a name
TOOLS = (
    "gpu.device",
    "mpi.rehearse",
    "mpi.rehearsal",
    "mpi.compute",
    "data.load",
    "data.Dataset",
)  # no answers in themselves


def names_in(text, known=None):
    """{"serial.affine"}: the names of the packages that a cell uses or imports.

    known: {name: "course_lib.serial"} of what cells above have imported or named anew; what this one does is added.
    """
    known = {} if known is None else known
    try:
        tree = ast.parse(re.sub(r"^[ \t]*[%!].*", "", text, flags=re.MULTILINE))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    nodes = list(ast.walk(tree))
    found = {name for node in nodes for name in _imported(node, known)}
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            base, names = _chain(node, known)
            # course_lib.serial.affine.x uses course_lib.serial.affine; a chain of thousands says no more
            found |= {".".join([base, *names[:n]]) for n in range(DEEPEST) if base}
    for node in tree.body:
        _name_anew(node, known)
    return _of_packages(found)


def foreign(chapter, task, texts, name=""):
    """The names that an answer uses and neither the given cells nor a solution; [] where the release does not say.

    texts: {task: the student's}. name: what the check looks at; a cell above may have imported it, or all names.
    """
    if any(step.uses is None for step in chapter.tasks):
        return []
    given: dict[str, str] = {}
    known: dict[str, str] = {}
    allowed: set[str] = set()
    mine: set[str] = set()
    last = [step.id for step in chapter.steps].index(task)
    for number, step in enumerate(chapter.steps):
        allowed |= names_in(step.text, given) | set(step.uses or ())
        if number <= last:
            used = names_in(texts.get(step.id, step.text), known)
            mine |= used if number == last else {one for one in used if one.endswith(".*")}
        if number == last:
            mine |= _of_packages({known.get(name, "")})
    return sorted(mine - allowed)


def _of_packages(found):
    """Those that are names of a teaching package, without course_lib."""
    plain = (name.removeprefix("course_lib.") for name in found if name.startswith("course_lib."))
    return {
        name
        for name in plain
        if "." in name and name.startswith(PACKAGES) and not name.startswith(TOOLS)
    }


def _name_anew(node, known):
    """`mine = serial.affine` at the top of a cell makes `mine` that name; a function called so makes it another."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        known.pop(node.name, None)
    elif isinstance(node, ast.Assign):
        full = _full(node.value, known) if isinstance(node.value, ast.Attribute | ast.Name) else ""
        for target in node.targets:
            if isinstance(target, ast.Name):
                known.pop(target.id, None)
                known.update({target.id: full} if full else {})


def _imported(node, known):
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] == "course_lib":
                known[alias.asname or "course_lib"] = alias.name if alias.asname else "course_lib"
                yield alias.name
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "course_lib":
        for alias in node.names:
            known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            yield f"{node.module}.{alias.name}"


def _full(node, known):
    """The full name of a.b.c where `a` was imported from course_lib; else ""."""
    base, names = _chain(node, known)
    return ".".join([base, *names]) if base else ""


def _chain(node, known):
    """("course_lib.serial", ["affine"]) of a.affine where `a` was imported from course_lib; else "" and its names."""
    names = []
    while isinstance(node, ast.Attribute):  # no recursion: a student may write a chain of thousands
        names.append(node.attr)
        node = node.value
    return known.get(node.id, "") if isinstance(node, ast.Name) else "", names[::-1]
