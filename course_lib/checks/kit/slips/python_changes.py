"""One change at one place, and the same change at all places of one form: W and b, dW and db."""

import ast
import re
from dataclasses import dataclass

from course_lib.checks.kit.slips.python_places import Place
from course_lib.checks.kit.slips.slip import Slip

ALIKE = (
    "sign",
    "term",
    "factor",
    "function",
    "axis",
    "alias",
    "scaled",
    "dtype",
    "left-out",
    "product",
)
ALIKE += (
    "transposed",
    "neighbour",
    "slice",
    "rounding",
    "blocking",
    "slope",
    "no-function",
    "name",
)


@dataclass(frozen=True)
class Change:
    """place gets `text`, in the place of `count` statements. rule: which rule, and which of its slips."""

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

    @property
    def form(self):
        """What is changed into what, without the names of variables."""
        return self.rule, _form(ast.unparse(self.place.node)), _form(self.text), self.count


def together(changes, tree):
    """A Slip for each group of changes of one form at several places."""
    groups: dict = {}
    for change in changes:
        if change.name in ALIKE:
            groups.setdefault(change.form, []).append(change)
        if change.name in ALIKE and change.rule.startswith(("terms_scaled", "axes", "factors")):
            apart = change.says if change.rule.startswith("factors") else ""
            groups.setdefault((change.rule, apart), []).append(change)
        if change.name in ALIKE and change.place.field == "elts":
            groups.setdefault((change.rule, id(change.place.block)), []).append(change)
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
    """Does one of the places lie inside another?"""
    inside = [set(map(id, ast.walk(change.place.node))) for change in group]
    nodes = [id(change.place.node) for change in group]
    return any(
        nodes[i] in inside[j] for i in range(len(nodes)) for j in range(len(nodes)) if i != j
    )


def _form(text):
    return re.sub(r"(?<![\w.])[A-Za-z]\w*(?!\w*\()", "_", text)
