"""Slips with names: a variable of the same role, two confused, the entry beside, another data set."""

import ast
import re

ENDS = ("train", "val", "test")
PARTNERS = {"start": ["stop"], "stop": ["start"], "rank": ["size"], "size": ["rank"]}
PARTNERS |= {f"{x}_{end}": [f"{x}_{e}" for e in ENDS if e != end] for x in "xy" for end in ENDS}


def names(place):
    """Another argument or variable of the same form in the place of one."""
    match place.node:
        case ast.Name(name, ast.Load()) if place.field != "func":
            for other in dict.fromkeys([*_sources(place.scope, name), *_alike(place.scope, name)]):
                says = f"{place.told(other)} is used in place of {place.told(name)}"
                yield "name", says, other
        case ast.Attribute(value, attr, ast.Load()) if place.field != "func":
            for other in PARTNERS.get(attr, ()):
                text = f"{ast.unparse(value)}.{other}"
                says = f"{place.told(text)} is used in place of {place.told(place.node)}"
                yield "name", says, text


def _alike(scope, name):
    """Scalars, what is bound together with it, arrays of as many axes, other loops' variables."""
    groups = [scope.scalars, *scope.siblings]
    if name in scope.ndim:
        bound = {*scope.arguments, *scope.loops, *scope.values}
        groups.append([n for n in scope.ndim if n in bound and scope.ndim[n] == scope.ndim[name]])
    if name in scope.loops:
        groups.append(list(scope.loops))
    found = [other for group in groups if name in group for other in group]
    return [n for n in dict.fromkeys(found) if n not in (name, "_")][:4]


def _sources(scope, name):
    """What a variable was computed from first: z of `z - z.max()`, b of a sum that begins with b."""
    values = scope.values.get(name, [])
    if values and name not in scope.arguments:
        first = re.match(r"[(-]*([A-Za-z]\w*)(?![\w(]|\.(?!copy)\w+\()", values[0])
        if first and first[1] not in (name, "np", "comm", "math", "not", "lambda", "None"):
            yield first[1]


def too_early(place):
    """What a variable is after its step, used where it is to be as before."""
    match place.node:
        case ast.Name(name, ast.Load()):
            new = place.scope.updates.get(name)
            if new and ast.unparse(place.parent) != new:
                says = f"the new {place.told(name)}, after its step, is used instead of the old one"
                yield "too-early", says, new


def drawn_apart(place):
    """Random rows of one array, drawn anew for the next: a second draw in the place of the name of the first."""
    match place.node:
        case ast.Name(name, ast.Load()) if isinstance(place.parent, ast.Subscript):
            values = place.scope.values.get(name, [])
            if len(values) == 1 and values[0].startswith("rng."):
                of = place.told(ast.unparse(place.parent.value))
                yield (
                    "drawn",
                    f"the rows of {of} are drawn a second time: they are others",
                    values[0],
                )


def confused(place):
    """Two names, or [0] and [1], exchanged throughout a statement or a part of one."""
    if not isinstance(place.node, (ast.Assign, ast.AugAssign, ast.Return, ast.BinOp)):
        return
    text = ast.unparse(place.node)
    if "[0]" in text and "[1]" in text:
        yield "confused", "`[0]` and `[1]` are swapped", _swapped(text, "[0]", "[1]")
    for group in (place.scope.scalars, *place.scope.siblings):
        for a, b in zip(group, group[1:], strict=False):
            if {a, b} <= set(re.findall(r"\w+", text)):
                yield "confused", f"`{a}` and `{b}` are swapped", _swapped(text, a, b)


def _swapped(text, a, b):
    either = rf"(?<!\w)({re.escape(a)}|{re.escape(b)})(?!\w)" if a.isidentifier() else r"(\[[01]\])"
    return re.sub(either, lambda found: b if found[1] == a else a, text)


def data_sets(place):
    """Another data set in all of a call: x_train, y_train for x_val, y_val."""
    text = ast.unparse(place.node) if isinstance(place.node, ast.Call) else ""
    for one in ENDS:
        for other in ENDS if text.count(f"_{one}") > 1 else ():
            new = text.replace(f"_{one}", f"_{other}")
            says = f"`..._{other}` is used in place of `..._{one}`: {place.told(new)}"
            yield "name", says, new


def entries(place):
    """The first input for the last result; one index of several left out."""
    match place.node:
        case ast.Subscript(ast.Name(name), ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load()):
            made = place.scope.values.get(name, [""])[0]
            if made.startswith("[") and made[1:-1].isidentifier():
                says = (
                    f"{place.told(made[1:-1])} is used each time, not the result of the step before"
                )
                yield "name", says, made[1:-1]
        case ast.Subscript(value, ast.Tuple(axes), ast.Load()):
            for axis in axes:
                kept = ", ".join(ast.unparse(each) for each in axes if each is not axis)
                text = f"{ast.unparse(value)}[{kept}]"
                yield "slice", f"{place.told(text)}: one index is missing", text


RULES = (names, too_early, drawn_apart, confused, data_sets, entries)
