"""Which module imports which, read from the sources: nothing is run, and imports inside functions count.

Standard library alone. The picture of the architecture and tests/project/test_architecture.py rest on it.
"""

import ast
import re
from pathlib import Path

TOPS = ("course_lib", "course_tools")
CELL = re.compile(r"^```\{code-cell\}.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def modules(root):
    """{dotted name: path} of every Python module under course_lib/ and course_tools/."""
    found = {}
    for top in TOPS:
        for path in sorted((Path(root) / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree):
    """The dotted names that a syntax tree imports: `a.b.c` for `from a.b import c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name, known):
    """The module that a dotted name lies in or is, or None: `a.b` for the function `a.b.f`."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def graph(root):
    """{module: the set of modules that it imports}, of both trees. A package stands for its __init__.py."""
    known = modules(root)
    arrows = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        seen = {module_of(target, known) for target in imported(tree)}
        arrows[name] = seen - {None, name}
    return arrows


def chapter_imports(path, known):
    """The modules that the code cells of a chapter's lecture.md or exercise.md import."""
    seen = set()
    for cell in CELL.findall(path.read_text(encoding="utf-8")):
        seen |= {module_of(target, known) for target in imported(ast.parse(_code(cell)))}
    return seen - {None}


def _code(cell):
    """A cell's Python: without its header and its magics."""
    text = re.sub(r"\A---\n.*?^---\n", "", cell, flags=re.MULTILINE | re.DOTALL)
    lines = text.split("\n")
    while lines and lines[0].startswith(":"):
        del lines[0]
    if lines and lines[0].startswith("%%"):
        del lines[0]
    return "\n".join(line for line in lines if not re.match(r"\s*[%!]", line))


def circles(arrows):
    """The groups of nodes that reach each other, each sorted; none if there is no circle. arrows: {node: nodes}."""
    reached = {node: reachable(node, arrows) for node in arrows}
    groups = {
        tuple(sorted({other for other in reached[node] if node in reached.get(other, ())}))
        for node in arrows
        if node in reached[node]
    }
    return sorted(groups)


def reachable(node, arrows):
    """All nodes at the end of a way of one arrow or more; the node itself only if a circle leads back to it."""
    seen, waiting = set(), list(arrows.get(node, ()))
    while waiting:
        following = waiting.pop()
        if following not in seen:
            seen.add(following)
            waiting += arrows.get(following, ())
    return seen


def without_shortcuts(arrows):
    """The same arrows without those that a longer way makes superfluous; there must be no circle."""
    return {
        node: {
            target
            for target in targets
            if not any(target in reachable(other, arrows) for other in targets - {target})
        }
        for node, targets in arrows.items()
    }
