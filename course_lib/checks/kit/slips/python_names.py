"""Slips with names: a variable of the same role, a neighbour's index, another key."""

import ast


def names(place):
    """Another argument or variable of the same form in the place of one."""
    match place.node:
        case ast.Name(name, ast.Load()) if place.field != "func":
            for other in _alike(place, name):
                yield "name", f"{place.told(other)} stands in the place of {place.told(name)}", other


def _alike(place, name):
    scope = place.scope
    groups = [scope.scalars, *scope.siblings]
    if name in scope.ndim:
        groups.append([n for n, ndim in scope.ndim.items() if ndim == scope.ndim[name] and _is_bound(scope, n)])
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
                yield "neighbour", f"{place.told(text)} is taken: the entry {what} the right one", text
            yield "neighbour", f"{place.told(value)} is handed over whole, not its part `[{i}]`", value
            for k in (0, -1):
                says = f"{place.told(f'{value}[{k}]')} is taken for all"
                yield "neighbour", says, f"{value}[{k}]"
        case ast.Subscript(ast.Name(name), ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load()):
            started = place.scope.values.get(name, [""])[0]
            if started.startswith("[") and started[1:-1].isidentifier():
                says = f"{place.told(started[1:-1])} is used each time, not what the step before gave"
                yield "name", says, started[1:-1]
        case ast.Subscript(value, ast.Tuple(axes), ast.Load()):
            for k, axis in enumerate(axes):
                kept = [ast.unparse(a) for a in axes if a is not axis]
                text = f"{ast.unparse(value)}[{', '.join(kept)}]"
                yield "slice", f"{place.told(text)}: one index is missing", text
        case ast.Subscript(value, ast.Constant(str()), ast.Load()):
            return


def attributes(place):
    """Another attribute or text of the same kind that the solution uses somewhere."""
    match place.node:
        case ast.Attribute(value, attr, ast.Load()) if place.field != "func":
            for other in _partners(attr, place.scope):
                text = f"{ast.unparse(value)}.{other}"
                yield "name", f"{place.told(text)} stands in the place of {place.told(place.node)}", text


def _partners(attr, scope):
    ends = ("train", "val", "test")
    start, _, end = attr.rpartition("_")
    if end in ends:
        return [f"{start}_{other}" for other in ends if other != end]
    return {"start": ["stop"], "stop": ["start"], "rank": ["size"], "size": ["rank"]}.get(attr, [])


RULES = (names, neighbours, attributes)
