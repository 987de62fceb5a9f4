"""Slips in conditions: `<` for `<=`, turned round, half of one left out, both branches exchanged."""

import ast

EDGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "is": "is not"}
OPPOSITE |= {"is not": "is", "in": "not in", "not in": "in"}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SIGNS |= {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


def comparisons(place):
    """Each comparison with its edge moved, or turned round."""
    if not isinstance(place.node, ast.Compare):
        return
    for i, op in enumerate(place.node.ops):
        for table, what in ((EDGES, "equal ones"), (OPPOSITE, "turned round")):
            if other := table.get(SIGNS[type(op)]):
                text = _compared(place.node, i, other)
                right = place.told(place.node)
                says = f"{place.told(text)} stands in the place of {right}: {what}"
                yield ("edge" if table is EDGES else "turned-round"), says, text
        if len(place.node.ops) > 1:
            kept = _compared(place.node, i, None)
            yield (
                "condition",
                f"half of a condition is missing: only {place.told(kept)} is asked",
                kept,
            )


def _compared(node, index, other):
    """The comparison with another sign at `index`; None: with that side left out."""
    parts = [f"({ast.unparse(each)})" for each in (node.left, *node.comparators)]
    signs = [SIGNS[type(op)] for op in node.ops]
    if other is None:
        parts, signs = (parts[1:], signs[1:]) if index == 0 else (parts[:-1], signs[:-1])
    else:
        signs[index] = other
    text = parts[0] + "".join(
        f" {sign} {part}" for sign, part in zip(signs, parts[1:], strict=True)
    )
    return ast.unparse(ast.parse(text, mode="eval"))


def halves(place):
    """One side of `and`, `or`, `&`, `|` left out, or one taken for the other."""
    match place.node:
        case ast.BoolOp(op, values):
            for each in values:
                kept = ast.unparse(ast.BoolOp(op, [v for v in values if v is not each]))
                told = place.told(each)
                yield "condition", f"the condition {told} is not asked", kept
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            text = ast.unparse(ast.BoolOp(other, values))
            yield "condition", f"`and` and `or` are confused: {place.told(text)}", text
        case ast.BinOp(a, ast.BitAnd() | ast.BitOr(), b):
            yield "condition", f"the condition {place.told(b)} is not asked", ast.unparse(a)
            yield "condition", f"the condition {place.told(a)} is not asked", ast.unparse(b)
        case ast.UnaryOp(ast.Not(), operand):
            yield (
                "turned-round",
                f"`not` is missing before {place.told(operand)}",
                ast.unparse(operand),
            )


def choices(place):
    """`a if c else b`: one of them always, or exchanged."""
    match place.node:
        case ast.IfExp(test, a, b):
            test, a, b = (f"({ast.unparse(each)})" for each in (test, a, b))
            when = place.told(test)
            yield "condition", f"{place.told(a)} is taken always, not only where {when} holds", a
            yield "condition", f"{place.told(b)} is taken always, also where {when} holds", b
            says = f"the two cases of {when} are exchanged"
            yield "turned-round", says, f"{b} if {test} else {a}"


RULES = (comparisons, halves, choices)
