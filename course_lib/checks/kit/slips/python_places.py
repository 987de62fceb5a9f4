"""The places of a cell where a slip may stand: expressions, and statements in their block."""

import ast
from dataclasses import dataclass

from course_lib.checks.kit.slips.python_scope import Scope

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
LEFT_ALONE = ("args", "returns", "annotation", "decorator_list", "format_spec", "ctx")


@dataclass(frozen=True)
class Place:
    """A node, and where it hangs. block: the list that a statement or an element is in, at `index`."""

    node: ast.AST
    parent: ast.AST
    field: str
    block: list | None
    index: int
    scope: Scope

    def told(self, what):
        """As `Scope.told`."""
        return self.scope.told(what)

    @property
    def below(self):
        """The statement after this one, or None."""
        return (
            self.block[self.index + 1] if self.block and self.index + 1 < len(self.block) else None
        )

    def put(self, text, count=1):
        """Write `text` in the place of the node, or of `count` statements; gives the function that takes it back."""
        if self.block is None:
            setattr(self.parent, self.field, ast.parse(text, mode="eval").body)
            return lambda: setattr(self.parent, self.field, self.node)
        kept = list(self.block)
        statement = isinstance(self.node, ast.stmt)
        new = ast.parse(text).body if statement else [ast.parse(text, mode="eval").body]
        self.block[self.index : self.index + count] = new
        return lambda: self.block.__setitem__(slice(None), kept)


def places(tree, source, scope):
    """Every `Place` of the solution's region, or of the whole cell where no markers stand, in the source's order."""
    lines = [i for i, line in enumerate(source.split("\n"), 1) if line.strip() in (BEGIN, END)]
    first, last = lines if len(lines) == 2 else (0, len(source))
    for place in _below(tree, scope):
        if first <= getattr(place.node, "lineno", -1) <= last:
            yield place


def _below(parent, scope):
    for field, value in ast.iter_fields(parent):
        if field in LEFT_ALONE and not isinstance(parent, ast.Call):
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(node, ast.AST) and not _is_apart(node):
                block = value if isinstance(value, list) else None
                yield Place(node, parent, field, block, index, scope)
                yield from _below(node, scope)


def _is_apart(node):
    """A docstring, an import or what is raised: no slip stands there."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise, ast.JoinedStr))
