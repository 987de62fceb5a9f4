"""Slips in conditions: `<` for `<=`, turned round, half of one left out, a filter or an `if` left out."""

import ast
import textwrap

EDGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
OPPOSITE |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SIGNS |= {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


def comparisons(place):
    """Each comparison with its edge moved, or turned round; one of two left out."""
    node = place.node
    if not isinstance(node, ast.Compare):
        return
    parts = [f"({ast.unparse(each)})" for each in (node.left, *node.comparators)]
    signs = [SIGNS[type(op)] for op in node.ops]
    for i, sign in enumerate(signs):
        for name, table in (("edge", EDGES), ("turned-round", OPPOSITE)):
            if sign in table:
                text = _joined(parts, [*signs[:i], table[sign], *signs[i + 1 :]])
                says = f"{place.told(text)} is used in place of {place.told(node)}"
                yield name, says, text
    for kept in ((parts[1:], signs[1:]), (parts[:-1], signs[:-1])) if len(signs) > 1 else ():
        text = _joined(*kept)
        yield "condition", f"half of a condition is missing: it is only {place.told(text)}", text


def _joined(parts, signs):
    return parts[0] + "".join(f" {s} {part}" for s, part in zip(signs, parts[1:], strict=True))


def halves(place):
    """One side of `and` or `or` left out, or one word taken for the other; a filter left out."""
    match place.node:
        case ast.BoolOp(op, sides):
            for each in sides:
                kept = ast.unparse(ast.BoolOp(op, [side for side in sides if side is not each]))
                yield "condition", f"the condition {place.told(each)} is not checked", kept
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            text = ast.unparse(ast.BoolOp(other, sides))
            yield "condition", f"`and` and `or` are confused: {place.told(text)}", text
        case ast.ListComp(each, [one]) | ast.GeneratorExp(each, [one]) if one.ifs:
            new = ast.ListComp(each, [ast.comprehension(one.target, one.iter, [], 0)])
            says = f"the condition {place.told(one.ifs[0])} is left out: all are used"
            yield "condition", says, ast.unparse(new)


def guards(place):
    """`if` left out, turned round, or never taken."""
    if not isinstance(place.node, ast.If):
        return
    told, test = place.told(place.node.test), ast.unparse(place.node.test)
    body = "\n".join(map(ast.unparse, place.node.body))
    other = "\n".join(map(ast.unparse, place.node.orelse)) or "pass"
    yield "guard", f"`if {told[1:]} is missing: its body always runs", body
    yield "guard", f"the body of `if {told[1:]} never runs", other
    inside, outside = (textwrap.indent(text, "    ") for text in (body, other))
    text = f"if not ({test}):\n{inside}\nelse:\n{outside}"
    yield "turned-round", f"the condition {told} is inverted", text


def by_value(place):
    """The first or the last of a numbered loop told by what it holds, not by its number: another may be like it."""
    node, last = place.node, False
    match node:
        case ast.Name(name, ast.Load()) if place.field == "test":
            sign = "!="
        case ast.Compare(ast.Name(name), [op], [ast.Constant(0)]) if type(op) in (
            ast.Eq,
            ast.NotEq,
        ):
            sign = SIGNS[type(op)]
        case ast.Compare(ast.Name(name), [op], [bound]) if "len(" in (text := ast.unparse(bound)):
            sign, last = "==" if SIGNS[type(op)] in ("==", ">=") else "!=", text.endswith("- 1")
            if not last:
                return
        case _:
            return
    each = place.scope.loops.get(name, "")
    held: list = next((n[1:] for n in place.scope.siblings if n[:1] == [name]), [])
    if each.startswith("enumerate("):
        yield from _told_by(held, f"list({each[10:-1]})[{-1 if last else 0}]", sign, last)


def _told_by(held, end, sign, last):
    for k, name in enumerate(held):
        for form in ("", ".shape[-1]"):
            text = f"{name}{form} {sign} {end}{f'[{k}]' if len(held) > 1 else ''}{form}"
            what = "width" if form else f"`{name}`"
            says = f"the {'last' if last else 'first'} one is told by its {what}: another may have the same"
            yield "condition", f"{says}; ask for its position", text


RULES = (comparisons, halves, guards, by_value)
