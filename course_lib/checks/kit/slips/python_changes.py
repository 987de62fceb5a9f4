"""One change at one place, and the same change at all places of one form: W and b, dW and db."""

import ast
import re
from dataclasses import dataclass

from course_lib.checks.kit.slips.python_places import Place
from course_lib.checks.kit.slips.slip import Slip

ALIKE = """
sign term factor function axis alias scaled dtype left-out product transposed neighbour slice
rounding blocking upside-down slope no-function name
"""
CONTEXT = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # one object for all


@dataclass(frozen=True)
class Change:
    """place gets `text`, in the place of `count` statements; rule: the name of the rule that says so."""

    place: Place
    rule: str
    name: str
    says: str
    text: str
    count: int = 1

    def made(self, tree):
        """The Slip of this change alone."""
        back = self.place.put(self.text, self.count)
        source = ast.unparse(tree)
        back()
        return Slip(self.name, self.says, source)

    def groups(self):
        """Keys under which it meets the same change at other places."""
        if self.name not in ALIKE.split():
            return
        kind = self.rule, re.sub(r"`[^`]*`", "", self.says)
        yield *kind, _form(ast.unparse(self.place.node)), _form(self.text), self.count
        if self.place.field == "elts":
            yield *kind, id(self.place.block)
        if self.rule in ("axes", "terms_scaled"):
            yield kind
        if self.name == "factor":
            yield self.rule, self.says


def together(changes, tree):
    """A Slip for each group of changes of one form at several places."""
    groups: dict = {}
    for change in changes:
        for key in change.groups():
            groups.setdefault(key, []).append(change)
    for group in groups.values():
        if 1 < len(group) <= 4 and not _nested(group):
            backs = [change.place.put(change.text, change.count) for change in group]
            source = ast.unparse(tree)
            for back in reversed(backs):
                back()
            says = f"{group[0].says}; and likewise at {_places(len(group) - 1)} of the same form"
            yield Slip(group[0].name, says, source)


def _places(count):
    return "the other place" if count == 1 else f"the {count} other places"


def _nested(group):
    """Does one of the places lie inside another, or is one there twice?"""
    nodes = [change.place.node for change in group]
    inside = [
        id(each) for node in nodes for each in ast.walk(node) if not isinstance(each, CONTEXT)
    ]
    return len(inside) != len(set(inside))


def _form(text):
    return re.sub(r"(?<![\w.])[A-Za-z]\w*(?!\w*\()", "_", text)
