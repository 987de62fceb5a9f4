"""Slips with numbers: another constant, a factor 2, n or 1/n, another divisor, one too many."""

import ast
import re

OTHERS = {2: (1, 3, 4), 1: (2, 0), 0: (1,)}


def constants(place):
    """Another number in the place of one; another text, in a dict or a comparison."""
    node, parent = place.node, place.parent
    if isinstance(parent, ast.Dict) and place.field == "values":
        yield from _texts(place)
    if isinstance(parent, ast.Compare):
        yield from _compared_with(place)
    if not isinstance(node, ast.Constant) or isinstance(parent, (ast.UnaryOp, ast.keyword)):
        return
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        return
    where = f" in {place.told(parent)}" if isinstance(parent, ast.BinOp) else ""
    for other in _other_numbers(node.value, place.scope.numbers):
        says = f"the result you get with {other} in place of {node.value}{where}"
        yield "number", says, repr(other)


def _other_numbers(value, numbers):
    if isinstance(value, float):
        return [1 - value if value in (0, 1) else 2 * value]
    near = OTHERS.get(value, (value - 1, value + 1, value // 2, value * 2))
    return [n for n in dict.fromkeys([*near, *(numbers if value > 2 else ())]) if n != value]


def _texts(place):
    """The texts of the other keys."""
    if isinstance(place.node, ast.Constant) and isinstance(place.node.value, str):
        texts = [str(each.value) for each in place.parent.values if isinstance(each, ast.Constant)]
        told = place.told(place.parent.keys[place.index])
        for other in dict.fromkeys(texts):
            yield "number", f"{told} is assumed to be `{other}`, and it is not", repr(other)


def _compared_with(place):
    """The other texts that the docstring names."""
    if isinstance(place.node, ast.Constant) and place.node.value in place.scope.texts:
        for other in dict.fromkeys(place.scope.texts):
            told = place.told(place.parent)
            says = f"`{other}` is used in place of {place.told(place.node)} in {told}"
            yield "number", says, repr(other)


def scaled(place):
    """The whole result 2, 1/2, n or 1/n times what it should be, in per cent, or one too many."""
    node, parent = place.node, place.parent
    if not _is_number(node, place.scope.values.get(getattr(node, "id", None), ())):
        return
    whole = isinstance(parent, (ast.Return, ast.Tuple, ast.AugAssign, ast.Dict))
    if (whole and place.field in ("value", "elts", "values")) or place.field in ("body", "orelse"):
        yield from _times(place, ["2", *place.scope.sizes])
    text = ast.unparse(node)
    if isinstance(parent, ast.Return):
        for by, what in (("- 1", "few"), ("+ 1", "many")):
            yield "off-by-one", f"one too {what}: {place.told(f'({text}) {by}')}", f"({text}) {by}"
    if whole and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield "scaled", "100 times too large: a percentage", f"100 * ({text})"
        yield "sign", f"the complement is returned, {place.told(f'1 - ({text})')}", f"1 - ({text})"


def terms_scaled(place):
    """The same of a term in a sum."""
    node, parent = place.node, place.parent
    product = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult, ast.Div))
    if product and isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub)):
        sizes = (
            [] if place.scope.remainders else place.scope.sizes[:1]
        )  # a remainder hides a factor
        yield from _times(place, ["2", *sizes])


def _times(place, sizes):
    text, what = ast.unparse(place.node), place.told(place.node)
    for size in sizes:
        told = place.told(size)
        says = f"{told} times too large: an extra factor {told} in {what}"
        yield "scaled", says, f"({text}) * ({size})"
        yield "scaled", f"divided by {told}, and should not be: {what}", f"({text}) / ({size})"


def divisors(place):
    """Divided by another length, or by one more."""
    match place.node:
        case ast.BinOp(a, ast.Div(), b):
            others = [s for s in place.scope.sizes if place.told(s) != place.told(b)]
            for size in others:
                says = f"divided by {place.told(size)}, not by {place.told(b)}"
                yield "divisor", says, f"({ast.unparse(a)}) / ({size})"
            for size in place.scope.sizes[:1]:
                says = f"divided by {place.told(size)} as well"
                yield "divisor", says, f"({ast.unparse(place.node)}) / ({size})"


def _is_number(node, values=()):
    """May it be one? Functions of the task's own may give anything."""
    if isinstance(node, ast.Name):
        counted = bool(values) and re.fullmatch(r"[\d.]+", values[0])
        return counted and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if any(word.arg == "key" for word in node.keywords):
            return False  # one of those that are there is chosen: nobody multiplies it
        return node.func.id in ("abs", "sum", "max", "min", "float", "len")
    return isinstance(node, (ast.BinOp, ast.Call, ast.UnaryOp))


RULES = (constants, scaled, terms_scaled, divisors)
