"""Slips in loops and slices: one short or long at an end, backwards, another stride, as they lie."""

import ast


def ranges(place):
    """range() one short or long at an end, backwards, with another stride, without the rest."""
    match place.node:
        case ast.Call(ast.Name("range"), args):
            first, last, step = _ends(args)
            for text, what in _shifted(first, last, step):
                told = place.told(text)
                yield "end", f"this is the result if the loop {what}: {told}", text
            if step not in ("1", "-1"):
                text = f"range({first}, ({last}) - ({step}) + 1, {step})"
                says = f"the remainder at the end is dropped: {place.told(text)}"
                yield "end", says, text
                text = f"range({first}, {last}, {'-1' if step.startswith('-') else '1'})"
                yield "stride", f"every entry is used, without a stride: {place.told(text)}", text
            text = f"[{first}, *range(({first}) + ({step}), {last}, {step})]"
            says = f"the loop runs once before it is asked for its end: {place.told(place.node)} may be empty"
            yield "end", says, text
            says = f"{place.told(place.node)} is traversed in the opposite direction"
            yield "backwards", says, f"list({ast.unparse(place.node)})[::-1]"
            if place.field == "iter" and len(args) == 1 and last.startswith("len("):
                says = f"the entries of {place.told(last[4:-1])} are used as positions"
                yield "positions", says, last[4:-1]


def _ends(args):
    texts = [ast.unparse(each) for each in args]
    return ("0", texts[0], "1") if len(texts) == 1 else [*texts, "1"][:3]


def _shifted(first, last, step):
    up, down = ("-", "+") if step.startswith("-") else ("+", "-")
    tail = "" if step == "1" else f", {step}"
    head = "" if first == "0" and not tail else f"{first}, "
    yield f"range({head}({last}) {down} 1{tail})", "ends one step early"
    yield f"range(({first}) {up} 1, {last}{tail})", "leaves the first one out"
    yield f"range({head}({last}) {up} 1{tail})", "ends one step late"
    yield f"range(({first}) {down} 1, {last}{tail})", "begins one step early"


def iterables(place):
    """The first or the last left out of a loop, or looked at alone; backwards; positions for entries."""
    node = place.node
    is_range = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range"
    if place.field != "iter" or is_range or isinstance(node, ast.GeneratorExp):
        return
    text, told = ast.unparse(node), place.told(node)
    entries = f"list({text})" if isinstance(node, ast.Call) else text
    yield "end", f"it is as if the last of {told} were left out of the loop", f"{entries}[:-1]"
    yield "end", f"it is as if the first of {told} were left out of the loop", f"{entries}[1:]"
    yield "end", f"only the first of {told} is used", f"{entries}[:1]"
    yield "end", f"only the last of {told} is used", f"{entries}[-1:]"
    yield "backwards", f"the loop over {told} runs in the opposite direction", f"{entries}[::-1]"
    if isinstance(node, ast.Name):
        says = f"the positions in {told} are used as its entries"
        yield "positions", says, f"range(len({text}))"
        yield from _as_they_lie(place.parent)


def _as_they_lie(loop):
    """The entries in their own order, where the loop is over chosen ones."""
    for node in ast.walk(loop) if isinstance(loop, ast.For) else ():
        match loop.target, node:
            case ast.Name(i), ast.Subscript(ast.Name(name), ast.Name(j)) if i == j:
                says = f"all entries of `{name}` are used in memory order"
                yield "positions", says, f"range(len({name}))"


def slices(place):
    """An end of a slice left out or moved by one; the whole slice left out."""
    match place.node:
        case ast.Subscript(value, ast.Slice(lower, upper, step), ast.Load()):
            whole = ast.unparse(value)
            says = f"all of {place.told(whole)} is used, not {place.told(place.node)}"
            yield "slice", says, whole
            low, high, by = (ast.unparse(each) if each else "" for each in (lower, upper, step))
            for a, b in _moved(low, high):
                text = f"{whole}[{a}:{b}{':' + by if by else ''}]"
                yield "slice", f"a slice is off at one end: {place.told(text)}", text


def _moved(low, high):
    yield (f"({low}) + 1" if low else "1"), high
    yield (f"({low}) - 1" if low else ""), high
    yield low, (f"({high}) - 1" if high else "-1")
    yield low, (f"({high}) + 1" if high else "")
    yield "", high
    yield low, ""


RULES = (ranges, iterables, slices)
