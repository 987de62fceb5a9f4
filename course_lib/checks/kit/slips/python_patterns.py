"""The slips of the table: patterns with $a, $b, ... found in a solution, and written anew."""

import ast
import re
from dataclasses import dataclass

from course_lib.checks.kit.slips.python_table import EXPRESSIONS, STATEMENTS

LINE = re.compile(r"([\w-]+): (.+?) => (.+?) :: (.+)")
VARIABLE = re.compile(r"\$_?(\w)")


@dataclass(frozen=True)
class Line:
    """A line of the table. looks: a pattern for each statement; new, says: with $a, $b, ... in them."""

    name: str
    looks: list
    new: str
    says: str


def _lines(table):
    for name, look, new, says in LINE.findall(re.sub(r" \\\n +", " ", table)):
        text = re.sub(r"\$(_?\w)", r"any_\1", look.replace("\\n", "\n"))
        says = says.replace("$$", new)
        yield Line(name, ast.parse(text).body, new.replace("\\n", "\n"), says)


def patterns(place):
    """(name, sentence, new text, count of statements) for each line of the table that fits here."""
    statement = isinstance(place.node, ast.stmt)
    for line in ON_STATEMENTS if statement else ON_EXPRESSIONS:
        looks = line.looks if statement else [line.looks[0].value]
        nodes = place.block[place.index :] if statement else [place.node]
        found: dict = {}
        if _all_fit(looks, nodes[: len(looks)], found):
            new = ast.unparse(ast.parse(_filled(line.new, found)))
            if ".T.T" not in new and ast.unparse(place.node) != new:
                yield line.name, _said(line.says, found, place), new, len(looks)


def _fits(look, node, found):
    """Is the node of the pattern's form? found: what the variables stand for, by letter; grows."""
    if isinstance(look, ast.Name) and look.id.startswith("any_"):
        return _stands_for(look.id, node, found)
    if not isinstance(look, ast.AST):
        return look == node
    names = [name for name in look._fields if name not in ("ctx", "kind", "type_comment")]
    pairs = [(getattr(look, name), getattr(node, name, None)) for name in names]
    return type(look) is type(node) and all(
        _all_fit(a, b, found) if isinstance(a, list) else _fits(a, b, found) for a, b in pairs
    )


def _all_fit(looks, nodes, found):
    same = isinstance(nodes, list) and len(looks) == len(nodes)
    return same and all(_fits(a, b, found) for a, b in zip(looks, nodes, strict=True))


def _stands_for(variable, node, found):
    """$i and $j stand for names alone, $_a for no number, the same letter for the same text."""
    letter = variable[-1]
    if not isinstance(node, ast.Name if letter in "ij" else ast.expr):
        return False
    if "__" in variable and isinstance(node, ast.Constant):
        return False
    return found.setdefault(letter, ast.unparse(node)) == ast.unparse(node)


def _filled(text, found, form="({})"):
    """Each variable by what it stands for, in brackets."""
    return VARIABLE.sub(lambda one: form.format(found[one[1]]), text)


def _said(says, found, place):
    """The sentence; each expression between backticks filled in and told as the student knows it."""

    def told(span):
        sign = span[1][:2] if span[1][:2] in ("- ", "+ ") else ""
        text = span[1].removeprefix(sign)
        if "$" not in text:
            return span[0]
        if re.match(r"\w+=", text):  # target=..., no expression
            return f"`{_filled(text, found, '{}')}`"
        return f"`{sign}{place.told(_filled(text, found))[1:]}"

    return re.sub(r"`([^`]+)`", told, says)


ON_EXPRESSIONS = list(_lines(EXPRESSIONS))
ON_STATEMENTS = list(_lines(STATEMENTS))
RULES = (patterns,)
