"""Slips with whole statements: left out, exchanged, `return` inside the loop, another start."""

import ast
import textwrap

WHOLE = (ast.FunctionDef, ast.Return, ast.Pass)


def returns(place):
    """`return` inside the loop before it."""
    match place.node, place.below:
        case (ast.For() | ast.While() as loop, ast.Return() as last):
            text = f"{ast.unparse(loop)}\n{textwrap.indent(ast.unparse(last), '    ')}"
            yield "return", "`return` is inside the loop: it ends in its first turn", text, 2


def left_out(place):
    """A statement left out: not one that gives a variable its only value."""
    node = place.node
    if isinstance(node, ast.Return) and isinstance(place.parent, ast.If):
        yield "left-out", f"`{ast.unparse(node)}` is left out: the function runs on", "pass"
    if not isinstance(node, ast.stmt) or isinstance(node, (*WHOLE, ast.Raise)):
        return
    if isinstance(node, (ast.For, ast.While)):
        head = ast.unparse(node).splitlines()[0]
        yield "loop", f"the result is what you get if `{head}` never runs", "pass"
    elif not _binds_anew(node, place.scope):
        yield "left-out", f"{_told(place, node)} is left out", "pass"


def exchanged(place):
    """A statement after the one below it."""
    node, below = place.node, place.below
    if any(isinstance(each, WHOLE) or not isinstance(each, ast.stmt) for each in (node, below)):
        return
    says = f"the order: {_told(place, below)} comes before {_told(place, node)}"
    yield "exchanged", says, f"{ast.unparse(below)}\n{ast.unparse(node)}", 2


def starts(place):
    """Another start value of a variable that a loop changes."""
    match place.node:
        case ast.Assign([ast.Name(name)], value) if _changes_later(place, name):
            if isinstance(value, (ast.Call, ast.List, ast.Tuple)):
                return
            for other in ("0", "1", "-np.inf"):
                says = f"it begins with {other} instead of {place.told(value)}"
                yield "start", says, f"{name} = {other}"


def _told(place, node):
    """The first line of a statement; the value of an assignment as the student knows it."""
    text = ast.unparse(node).split("\n")[0]
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return f"`{text[: -len(ast.unparse(node.value))]}{place.told(node.value)[1:]}"
    return place.told(text) if isinstance(node, ast.Expr) else f"`{text}`"


def _binds_anew(node, scope):
    """Does it give a variable its only value?"""
    targets = node.targets if isinstance(node, ast.Assign) else []
    found = [each for target in targets for each in ast.walk(target)]
    names = [n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return any(len(scope.values.get(n, ())) < 2 and n not in scope.arguments for n in names)


def _changes_later(place, name):
    loops = [n for n in place.block[place.index + 1 :] if isinstance(n, (ast.For, ast.While))]
    names = [n for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Name)]
    return any(n.id == name and isinstance(n.ctx, ast.Store) for n in names)


RULES = (returns, left_out, exchanged, starts)
