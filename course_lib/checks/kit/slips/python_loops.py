"""Slips in loops, slices and the order of statements. For statements, the third part may be text for two of them."""

import ast
import textwrap


def ranges(place):
    """range() one short or long at an end, backwards, with another stride."""
    match place.node:
        case ast.Call(ast.Name("range"), args):
            first, last, step = _ends(args)
            ends = [
                (first, f"({last}) - 1", step, "one step early"),
                (f"({first}) + 1", last, step, "one entry late: the first is left out"),
                (first, f"({last}) + 1", step, "one step too late"),
                (f"({first}) - 1", last, step, "from one entry too early"),
            ]
            for start, stop, by, what in ends:
                text = ast.unparse(ast.parse(_range(start, stop, by)))
                verb = "ends" if "step" in what else "starts"
                yield (
                    "end",
                    f"this is what comes out if the loop {verb} {what}: {place.told(text)}",
                    text,
                )
            if len(args) == 3 and step not in ("1", "-1"):
                text = _range(first, f"({last}) - ({step}) + 1", step)
                says = f"what is left over at the end is dropped: {place.told(text)}"
                yield "end", says, text
            for other in ["1"] if len(args) == 3 and step not in ("1", "-1") else []:
                other = "-1" if step.startswith("-") else other
                text = _range(first, last, other)
                yield "stride", f"the stride is {other}: {place.told(text)}", text
            parent = getattr(getattr(place.parent, "func", None), "id", "")
            if place.field == "iter" or parent == "list":
                text = f"list({ast.unparse(place.node)})[::-1]"
                yield (
                    "backwards",
                    f"the loop over {place.told(place.node)} runs the other way",
                    text,
                )
            if len(args) == 1 and last.startswith("len(") and place.field == "iter":
                whole = last[4:-1]
                says = f"the entries of {place.told(whole)} are taken for their positions"
                yield "positions", says, whole
        case ast.Call(ast.Name("reversed"), [each]):
            yield "backwards", f"the loop runs forwards over {place.told(each)}", ast.unparse(each)


def iterables(place):
    """The first or the last one left out of a loop."""
    if place.field != "iter" or isinstance(place.node, (ast.Dict, ast.GeneratorExp)):
        return
    if isinstance(place.node, ast.Call) and getattr(place.node.func, "id", "") == "range":
        return
    text = ast.unparse(place.node)
    text = f"list({text})" if isinstance(place.node, ast.Call) else text
    for cut, which in (("[:-1]", "last"), ("[1:]", "first")):
        says = f"the {which} of {place.told(place.node)} is left out of the loop"
        yield "end", says, text + cut
    yield "backwards", f"the loop over {place.told(place.node)} runs the other way", text + "[::-1]"
    yield from _as_they_lie(place)
    for cut, which in (("[:1]", "first"), ("[-1:]", "last")):
        yield "end", f"only the {which} of {place.told(place.node)} is looked at", text + cut
    if isinstance(place.node, ast.Name):
        says = f"the positions in {place.told(text)} are taken for its entries"
        yield "positions", says, f"range(len({text}))"


def _as_they_lie(place):
    """The entries in their own order, where the loop is over chosen ones."""
    loop = place.parent
    for node in (
        ast.walk(loop) if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) else ()
    ):
        match node:
            case ast.Subscript(ast.Name(name), ast.Name(i)) if i == loop.target.id:
                says = f"all entries of `{name}` are taken as they lie"
                yield "positions", says, f"range(len({name}))"


def slices(place):
    """An end of a slice left out or moved by one; the whole slice left out."""
    match place.node:
        case ast.Subscript(value, ast.Slice(lower, upper, step), ast.Load()):
            value = ast.unparse(value)
            says = (
                f"the whole of {place.told(value)} is taken, not its slice {place.told(place.node)}"
            )
            yield "slice", says, value
            low, high, by = (ast.unparse(each) if each else "" for each in (lower, upper, step))
            moved = [(f"({low}) + 1" if low else "1", high), (f"({low}) - 1" if low else "", high)]
            moved += [
                (low, f"({high}) - 1" if high else "-1"),
                (low, f"({high}) + 1" if high else ""),
            ]
            moved += [("", high), (low, "")]
            for a, b in moved:
                text = ast.unparse(
                    ast.parse(f"{value}[{a}:{b}{':' + by if by else ''}]", mode="eval")
                )
                yield "slice", f"a slice is off at one end: {place.told(text)}", text


def returns(place):
    """`return` inside the loop before it; another result that is at hand."""
    match place.node, place.below:
        case (ast.For() | ast.While() as loop, ast.Return() as last):
            text = f"{ast.unparse(loop)}\n{textwrap.indent(ast.unparse(last), '    ')}"
            yield "return", "`return` stands inside the loop: it ends in its first turn", text, 2
    if isinstance(place.parent, (ast.Return, ast.Tuple)) and isinstance(place.node, ast.Name):
        yield from _returned(place, place.node.id)


def _returned(place, name):
    made = place.scope.values.get(name, [""])[0]
    if made.startswith("["):
        told = place.told(name)
        yield "return", f"{told} is returned in reversed order", f"{name}[::-1]"
        yield "return", f"the first entry of {told} is left out", f"{name}[1:]"
        yield "return", f"only the last entry of {told} is returned", f"{name}[-1]"
    elif made.startswith(("np.empty_like(", "np.zeros_like(")) and made.count("(") == 1:
        of = made[made.index("(") + 1 : -1]
        yield "return", f"{place.told(of)} itself is returned, not what was computed", of


def statements(place):
    """A statement left out, or exchanged with the one below it."""
    node, below = place.node, place.below
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.FunctionDef, ast.Return, ast.Pass)):
        return
    if isinstance(node, (ast.For, ast.While)):
        yield (
            "loop",
            f"exactly the result as if `{ast.unparse(node).splitlines()[0]}` never ran",
            "pass",
            1,
        )
    elif not _binds_anew(node, place.scope):
        told = _told(place, node)
        yield "left-out", f"{told} is left out", "pass", 1
    if below is not None and not isinstance(below, (ast.FunctionDef, ast.Return)):
        text = f"{ast.unparse(below)}\n{ast.unparse(node)}"
        says = f"the order: {_told(place, below)} comes before {_told(place, node)}"
        yield "exchanged", says, text, 2


def updates(place):
    """= for +=, += for =, += for -=, a new array where one is to be changed."""
    match place.node:
        case ast.AugAssign(target, op, value):
            into, value = ast.unparse(target), ast.unparse(value)
            sign = ast.unparse(place.node)[len(into) + 1]
            other = {"+": "-", "-": "+", "*": "+"}.get(sign)
            if other:
                what = "is subtracted where it is to be added" if other == "-" else "is added here"
                yield "sign", f"{place.told(value)} {what}: the sign", f"{into} {other}= {value}", 1
            says = f"each time the old value is overwritten with {place.told(value)}: `=` for `{sign}=`"
            yield "update", says, f"{into} = {value}", 1
            if isinstance(target, ast.Name):
                new = f"{into} = {into} {sign} ({value})"
                says = f"`{new}` makes a new array or number: the old one does not change"
                yield "alias", says, new, 1
        case ast.Assign([ast.Subscript() as target], value) if not isinstance(
            value, (ast.Tuple, ast.List)
        ):
            into, value = ast.unparse(target), ast.unparse(value)
            says = f"{place.told(value)} is added to what stands there: `+=` for `=`"
            yield "update", says, f"{into} += {value}", 1


def starts(place):
    """Another start value of a variable that a loop changes."""
    match place.node:
        case ast.Assign([ast.Name(name)], value) if _changes_later(place, name):
            text = ast.unparse(value)
            for other in ("0", "1", "-np.inf"):
                if other != text and not isinstance(value, (ast.Call, ast.List, ast.Tuple)):
                    says = f"it begins with {other}, where {place.told(text)} belongs"
                    yield "start", says, f"{name} = {other}", 1


def guards(place):
    """`if` left out, turned round, or never taken."""
    match place.node:
        case ast.If(test, body, orelse):
            told = place.told(test)
            whole = "\n".join(map(ast.unparse, body))
            yield "guard", f"`if {told[1:]} is missing: what belongs to it is done always", whole, 1
            other = "\n".join(map(ast.unparse, orelse)) or "pass"
            yield "guard", f"what belongs to `if {told[1:]} is never done", other, 1
            text = f"if not ({ast.unparse(test)}):\n{textwrap.indent(whole, '    ')}"
            rest = f"\nelse:\n{textwrap.indent(other, '    ')}" if orelse else ""
            yield "turned-round", f"the condition {told} is turned round", text + rest, 1


def _ends(args):
    texts = [ast.unparse(each) for each in args]
    return ("0", texts[0], "1") if len(texts) == 1 else (*texts, "1")[:3]


def _range(first, last, step):
    text = f"range({first}, {last}, {step})"
    text = text.replace(", 1)", ")") if step == "1" else text
    return text.replace("range(0, ", "range(") if first == "0" and step == "1" else text


def _told(place, node):
    text = ast.unparse(node).split("\n")[0]
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        return (
            f"`{text[: len(text) - len(ast.unparse(node.value))]}{place.told(node.value)[1:]}"
            if target
            else text
        )
    return place.told(text) if isinstance(node, ast.Expr) else f"`{text}`"


def _binds_anew(node, scope):
    """Does it give a variable its only value?"""
    targets = node.targets if isinstance(node, ast.Assign) else []
    names = [
        n.id
        for t in targets
        for n in ast.walk(t)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    known = [n for n in names if len(scope.values.get(n, ())) > 1 or n in scope.arguments]
    return bool(names) and not known


def _changes_later(place, name):
    loops = [
        node for node in place.block[place.index + 1 :] if isinstance(node, (ast.For, ast.While))
    ]
    stored = [
        n for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name
    ]
    return any(isinstance(n.ctx, ast.Store) for n in stored)


RULES = (ranges, iterables, slices, returns, statements, updates, starts, guards)
