"""Slips in a formula: signs, terms, factors, brackets, rounding. A rule gives (name, sentence, new text)."""

import ast

OTHERS = {2: (1, 4), 1: (2, 0), 0: (1,)}


def signs(place):
    """The sign of a term or of the whole."""
    match place.node:
        case ast.BinOp(a, ast.Sub(), b):
            a, b = map(ast.unparse, (a, b))
            right, wrong = place.told(f"({a}) - ({b})"), place.told(f"({b}) - ({a})")
            yield "sign", f"{right} and {wrong} are exchanged: the sign", f"({b}) - ({a})"
            yield "sign", f"{place.told(b)} is added where it is to be subtracted", f"({a}) + ({b})"
        case ast.BinOp(a, ast.Add(), b):
            says = f"{place.told(b)} is subtracted where it is to be added"
            yield "sign", says, f"({ast.unparse(a)}) - ({ast.unparse(b)})"
        case ast.UnaryOp(ast.USub(), ast.BinOp(op=ast.FloorDiv()) | ast.Constant()):
            return
        case ast.UnaryOp(ast.USub(), operand):
            yield "sign", f"the minus before {place.told(operand)} is missing", ast.unparse(operand)


def terms(place):
    """A term left out of a sum."""
    match place.node:
        case ast.BinOp(a, ast.Add() | ast.Sub() as op, b):
            minus = isinstance(op, ast.Sub)
            says = "exactly the numbers of a formula without the term"
            yield "term", f"{says} `{'-' if minus else '+'} {place.told(b)[1:]}", ast.unparse(a)
            if not (isinstance(a, ast.BinOp) and isinstance(a.op, (ast.Add, ast.Sub))):
                text = f"-({ast.unparse(b)})" if minus else ast.unparse(b)
                yield "term", f"{says} {place.told(a)}", text


def factors(place):
    """A factor left out, a division left out, twice or turned into a product."""
    match place.node:
        case ast.BinOp(a, ast.Mult(), b):
            for kept, lost in ((a, b), (b, a)):
                if kept is a or not (isinstance(a, ast.BinOp) and isinstance(a.op, ast.Mult)):
                    says = f"exactly the numbers of a formula without the factor {place.told(lost)}"
                    yield "factor", says, ast.unparse(kept)
            says = f"divided by {place.told(b)} where it is to be multiplied with it"
            yield "product", says, f"({ast.unparse(a)}) / ({ast.unparse(b)})"
        case ast.BinOp(a, ast.Div() | ast.FloorDiv(), b):
            a, b, divisor = ast.unparse(a), ast.unparse(b), place.told(b)
            yield "factor", f"the division by {divisor} is missing", a
            yield "factor", f"divided by {divisor} twice", f"({a}) / ({b}) / ({b})"
            yield "product", f"multiplied with {divisor} instead of divided by it", f"({a}) * ({b})"
            for size in place.scope.sizes if isinstance(place.node.op, ast.Div) else ():
                says = f"divided by {place.told(size)}, not by {divisor}"
                yield "divisor", says, f"({a}) / ({size})"
            told = place.told(f"({b}) / ({a})")
            yield "upside-down", f"the fraction is upside down: {told}", f"({b}) / ({a})"
        case ast.BinOp(a, ast.Mod() | ast.Pow() as op, b):
            what = "power" if isinstance(op, ast.Pow) else "remainder"
            says = (
                f"{place.told(a)} itself is taken, without the {what} in {place.told(place.node)}"
            )
            yield "factor", says, ast.unparse(a)


def slopes(place):
    """The sigmoid left out; x (1 - x), its slope, left out as a whole."""
    match place.node:
        case ast.BinOp(
            ast.Constant(1), ast.Div(), ast.BinOp(ast.Constant(1), ast.Add(), ast.Call(f, [z]))
        ):
            if ast.unparse(f).endswith("exp") and isinstance(z, ast.UnaryOp):
                says = f"the sigmoid is left out: {place.told(z.operand)} itself"
                yield "no-function", says, ast.unparse(z.operand)
        case ast.BinOp(
            ast.BinOp(a, ast.Mult(), x), ast.Mult(), ast.BinOp(ast.Constant(1), ast.Sub(), y)
        ):
            if ast.unparse(x) == ast.unparse(y):
                told = place.told(f"({ast.unparse(x)}) * (1 - ({ast.unparse(x)}))")
                yield "slope", f"the derivative {told} is left out", ast.unparse(a)
        case ast.BinOp(ast.Constant(1), ast.Sub(), ast.BinOp(x, ast.Pow(), ast.Constant(2))):
            x = ast.unparse(x)
            says = f"the derivative is the sigmoid's, {place.told(f'({x}) * (1 - ({x}))')}: here f is tanh"
            yield "slope", says, f"({x}) * (1 - ({x}))"


def brackets(place):
    """Brackets left out or put elsewhere."""
    match place.node:
        case ast.BinOp(a, op, ast.BinOp(b, other, c)) if _matters(op, other):
            left, right = f"({_text(a)} {_sign(op)} {_text(b)})", _text(c)
            yield _misplaced(place, f"{left} {_sign(other)} {right}")
    match place.node:
        case ast.BinOp(ast.BinOp(a, other, b), op, c) if _matters(other, op):
            yield _misplaced(
                place, f"{_text(a)} {_sign(other)} ({_text(b)} {_sign(op)} {_text(c)})"
            )


def products(place):
    """@ taken for *, or its operands exchanged."""
    match place.node:
        case ast.BinOp(a, ast.MatMult(), b):
            a, b = _text(a), _text(b)
            told = place.told(f"{b} @ {a}")
            yield "operands", f"the operands of `@` are exchanged: {told}", f"{b} @ {a}"
            told = place.told(f"{a} * {b}")
            says = f"{told} multiplies element by element: the product of matrices is `@`"
            yield "operands", says, f"{a} * {b}"
            for text in (f"({a}).T @ {b}", f"{a} @ ({b}).T"):
                if ".T.T" not in (text := ast.unparse(ast.parse(text))):
                    yield "transposed", f"{place.told(text)}: a `.T` too many", text


def rounding(place):
    """Rounded down, up or not at all."""
    match place.node:
        case ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), a), ast.FloorDiv(), b)):
            a, b = _text(a), _text(b)
            ends = (
                (f"{a} // {b}", "rounded down"),
                (f"{a} // {b} + 1", "one too many where it divides evenly"),
            )
            for text, what in (*ends, (f"{a} / {b}", "not rounded")):
                yield "rounding", f"{place.told(text)}: {what}; it is to be rounded up", text
        case ast.BinOp(a, ast.FloorDiv(), b) if not isinstance(a, ast.UnaryOp):
            told, text = place.told(f"({_text(a)}) / {_text(b)}"), f"({_text(a)}) / {_text(b)}"
            yield "rounding", f"{told} is not whole: round it down", text
            text = f"-(-({_text(a)}) // {_text(b)})"
            yield "rounding", f"{told} is rounded up where it is to be rounded down", text
        case ast.BinOp(a, ast.Mod(), b):
            text = f"({_text(a)}) // {_text(b)}"
            yield "rounding", f"{place.told(text)}: `//` stands in the place of `%`", text
        case ast.BinOp(
            ast.UnaryOp(_, ast.BinOp(ast.UnaryOp(_, a), ast.FloorDiv(), n)), ast.Mult(), m
        ):
            if ast.unparse(n) == ast.unparse(m):
                says = f"{place.told(a)} is not rounded up to a multiple of {place.told(n)}"
                yield "rounding", says, ast.unparse(a)
        case ast.BinOp(a, ast.Div(), b):
            text = f"({_text(a)}) // {_text(b)}"
            yield "rounding", f"a whole-number division: {place.told(text)}", text


def constants(place):
    """Another number in the place of one."""
    node, parent = place.node, place.parent
    if (
        isinstance(node, ast.Constant)
        and isinstance(parent, ast.Dict)
        and isinstance(node.value, str)
    ):
        texts = [each.value for each in parent.values if isinstance(each, ast.Constant)]
        for other in dict.fromkeys(texts) if place.field == "values" else ():
            told = place.told(parent.keys[place.index])
            yield "number", f"{told} has `{other}` here, which is not what it is", repr(other)
    if isinstance(parent, (ast.UnaryOp, ast.keyword)) or not isinstance(node, ast.Constant):
        return
    if not isinstance(node.value, (int, float)) or isinstance(node.value, bool):
        return
    value = node.value
    others = OTHERS.get(value, (value - 1, value + 1, value // 2, value * 2))
    others = dict.fromkeys([*others, *place.scope.numbers]) if value > 2 else others
    for other in (
        others if isinstance(value, int) else (1 - value if value in (0, 1) else 2 * value,)
    ):
        where = f" in {place.told(parent)}" if isinstance(parent, ast.BinOp) else ""
        says = f"exactly the numbers with {other} in the place of {value}{where}"
        yield "number", says, repr(other)


def scaled(place):
    """The whole result 2, 1/2, n or 1/n times what it should be."""
    node, parent = place.node, place.parent
    if not isinstance(node, (ast.BinOp, ast.Call, ast.UnaryOp)) or _is_call_of_no_number(node):
        return
    whole = isinstance(parent, (ast.Return, ast.Tuple, ast.AugAssign)) and place.field in (
        "value",
        "elts",
    )
    if whole or (isinstance(parent, ast.IfExp) and place.field != "test"):
        yield from _times(place, ["2", *place.scope.sizes])
    if isinstance(parent, ast.Return):
        text = ast.unparse(node)
        for by, what in (("- 1", "few"), ("+ 1", "many")):
            yield "off-by-one", f"one too {what}: {place.told(f'{text} {by}')}", f"({text}) {by}"
    if whole and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield "scaled", "100 times too large: per cent", f"100 * ({ast.unparse(node)})"


def terms_scaled(place):
    """The same of a term."""
    node, parent = place.node, place.parent
    product = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult, ast.Div))
    if product and isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub)):
        yield from _times(place, ["2", *place.scope.sizes[:1]])


def _times(place, sizes):
    text, what = ast.unparse(place.node), place.told(place.node)
    for size in sizes:
        told = place.told(size)
        yield (
            "scaled",
            f"{told} times too large: a factor {told} too many in {what}",
            f"({text}) * ({size})",
        )
        yield "scaled", f"divided by {told}, and should not be: {what}", f"({text}) / ({size})"


def _is_call_of_no_number(node):
    name = getattr(getattr(node, "func", None), "id", "")
    return isinstance(node, ast.Call) and name not in ("", "abs", "sum", "max", "min", "float")


def _text(node):
    return (
        f"({ast.unparse(node)})"
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.IfExp))
        else ast.unparse(node)
    )


def _sign(op):
    text = ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b")))
    return text[2:-2].strip()


def _matters(op, other):
    """May (a op b) other c differ from a op (b other c) by more than its rounding?"""
    same = isinstance(op, (ast.Add, ast.Mult, ast.MatMult)) and type(op) is type(other)
    return not same and not (isinstance(op, ast.Add) and isinstance(other, ast.Sub))


def _misplaced(place, text):
    return (
        "brackets",
        f"exactly the numbers of {place.told(text)}: brackets are missing or elsewhere",
        text,
    )


RULES = (
    signs,
    terms,
    factors,
    slopes,
    brackets,
    products,
    rounding,
    constants,
    scaled,
    terms_scaled,
)
