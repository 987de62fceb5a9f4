"""Slips with names: a variable of the same role, a neighbour's index, another key."""

import ast
import re

ENDS = ("train", "val", "test")


def names(place):
    """Another argument or variable of the same form in the place of one."""
    match place.node:
        case ast.Name(name, ast.Load()) if place.field != "func":
            for other in dict.fromkeys([*_sources(place, name), *_alike(place, name)]):
                yield (
                    "name",
                    f"{place.told(other)} stands in the place of {place.told(name)}",
                    other,
                )

            new = place.scope.updates.get(name)
            if new and not (
                isinstance(place.parent, ast.BinOp) and ast.unparse(place.parent) == new
            ):
                says = (
                    f"the new {place.told(name)}, after its step, is used where the old one belongs"
                )
                yield "too-early", says, new


def confused(place):
    """Two names, or [0] and [1], exchanged throughout a statement or a part of one."""
    if not isinstance(place.node, (ast.Assign, ast.AugAssign, ast.Return, ast.BinOp)):
        return
    text, scope = ast.unparse(place.node), place.scope
    if "[0]" in text and "[1]" in text:
        new = re.sub(r"\[[01]\]", lambda found: "[1]" if found[0] == "[0]" else "[0]", text)
        yield "confused", "`[0]` and `[1]` are exchanged", new
    for group in (scope.scalars, *scope.siblings):
        for a, b in zip(group, group[1:]):
            if {a, b} <= set(re.findall(r"\w+", text)) and a != b:
                new = re.sub(
                    rf"\b({a}|{b})\b", lambda found, a=a, b=b: b if found[0] == a else a, text
                )
                yield "confused", f"`{a}` and `{b}` are exchanged", new


def _sources(place, name):
    """What a variable was computed from first: z of `z - z.max()`, b of a sum that begins with b."""
    values = place.scope.values.get(name, [])
    for value in values[:1] if name not in place.scope.arguments else ():
        first = ast.parse(value, mode="eval").body
        while isinstance(first, (ast.BinOp, ast.Subscript, ast.Call, ast.Attribute)):
            first = (
                getattr(first, "left", None)
                or getattr(first, "value", None)
                or (first.args or [None])[0]
            )
        if (
            isinstance(first, ast.Name)
            and first.id != name
            and first.id not in ("np", "comm", "math")
        ):
            yield first.id


def _alike(place, name):
    scope = place.scope
    groups = [scope.scalars, *scope.siblings]
    if name in scope.ndim:
        groups.append(
            [
                n
                for n, ndim in scope.ndim.items()
                if ndim == scope.ndim[name] and _is_bound(scope, n)
            ]
        )
    found = [other for group in groups if name in group for other in group]
    if name in scope.loops:
        found += [n for n in scope.loops if n not in found]
    return [n for n in dict.fromkeys(found) if n != name and n != "_"][:4]


def _is_bound(scope, name):
    return name in scope.arguments or name in scope.loops or name in scope.values


def neighbours(place):
    """An index one too high or low, the first or last for all, or 0 for 1."""
    match place.node:
        case ast.Subscript(value, ast.Name(i), ast.Load()):
            value = ast.unparse(value)
            for text, what in ((f"{value}[{i} + 1]", "after"), (f"{value}[{i} - 1]", "before")):
                yield (
                    "neighbour",
                    f"{place.told(text)} is taken: the entry {what} the right one",
                    text,
                )
            yield (
                "neighbour",
                f"{place.told(value)} is handed over whole, not its part `[{i}]`",
                value,
            )
            for k in (0, -1):
                says = f"{place.told(f'{value}[{k}]')} is taken for all"
                yield "neighbour", says, f"{value}[{k}]"
        case ast.Subscript(ast.Name(name), ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load()):
            started = place.scope.values.get(name, [""])[0]
            if started.startswith("[") and started[1:-1].isidentifier():
                says = (
                    f"{place.told(started[1:-1])} is used each time, not what the step before gave"
                )
                yield "name", says, started[1:-1]
        case ast.Subscript(value, ast.Tuple(axes), ast.Load()):
            for k, axis in enumerate(axes):
                kept = [ast.unparse(a) for a in axes if a is not axis]
                text = f"{ast.unparse(value)}[{', '.join(kept)}]"
                yield "slice", f"{place.told(text)}: one index is missing", text
        case ast.Subscript(value, ast.Constant(str()), ast.Load()):
            return


def attributes(place):
    """Another attribute of the same kind; in a call, all that end in the same word at once."""
    match place.node:
        case ast.Call():
            text = ast.unparse(place.node)
            for one in ENDS:
                for other in ENDS if text.count(f"_{one}") > 1 else ():
                    new = text.replace(f"_{one}", f"_{other}")
                    says = f"`..._{other}` stands in the place of `..._{one}`: {place.told(new)}"
                    yield "name", says, new
        case ast.Attribute(value, attr, ast.Load()) if place.field != "func":
            for other in _partners(attr, place.scope):
                text = f"{ast.unparse(value)}.{other}"
                yield (
                    "name",
                    f"{place.told(text)} stands in the place of {place.told(place.node)}",
                    text,
                )


def _partners(attr, scope):
    start, _, end = attr.rpartition("_")
    if end in ENDS:
        return [f"{start}_{other}" for other in ENDS if other != end]
    return {"start": ["stop"], "stop": ["start"], "rank": ["size"], "size": ["rank"]}.get(attr, [])


RULES = (names, confused, neighbours, attributes)
