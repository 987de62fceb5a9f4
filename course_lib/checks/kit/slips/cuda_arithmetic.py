"""Slips in what is computed: signs, terms, factors, start values, functions, statements left out."""

from course_lib.checks.kit.slips.cuda_code import OPEN, TYPES
from course_lib.checks.kit.slips.cuda_segments import products, segments, sums, without

FUNCTIONS = {"fmaxf": "fminf", "fminf": "fmaxf", "max": "min", "min": "max", "expf": "tanhf"}
WORDS = {"fmaxf": "the maximum", "fminf": "the minimum"}


def signs(code):
    """+ for -, - for +, a sign left out, and minus the result."""
    for segment in segments(code):
        for at in range(segment.a, segment.b):
            if segment.whole or code[at] not in ("+", "-") or code[at - 1] == "[":
                continue
            if code.binary(at) and _top(code, segment, at):
                other = {"+": "-", "-": "+"}[code[at]]
                told = code.quote(at + 1, _term_end(code, segment, at), "term")
                says, edit = code.instead(at, other, ": the sign")
                yield f"before {told}, {says}", edit
            elif at == segment.a:
                told = code.quote(at, segment.b, "term")
                yield f"the minus of {told} is missing: the sign", (at, at + 1, "")
    for at, _ in _stores(code):
        if code[at] == "=":
            a, b = _value(code, at)
            yield "minus the result is stored: the sign", (a, b, f"-({code.text(a, b)})")
        elif code[at] in ("+=", "-="):
            other = {"+=": "-=", "-=": "+="}[code[at]]
            yield code.instead(at, other, ": the sign")


def _term_end(code, segment, at):
    """Behind the term that follows the operator at token `at`."""
    return code.parts(at + 1, segment.b, "+", "-")[0][1]


def _top(code, segment, at):
    """Is the operator at token `at` in no bracket of its segment?"""
    return not any(i < at < code.partner[i] for i in range(segment.a, at) if code[i] in OPEN)


def _value(code, at):
    """(start, end) of the value of the assignment at token `at`."""
    return at + 1, code.until(at, ";", ",")


def _stores(code):
    """(the token of the assignment, the array) of each store to an argument."""
    for at in code.all("=", "+=", "-="):
        name = code[code.opening.get(at - 1, 1) - 1]
        if code[at - 1] == "]" and name in code.params:
            yield at, name


def term_left_out(code):
    """One term of a sum of values left out: at one place, or wherever it stands."""
    taken: dict = {}
    for segment, terms in sums(code):
        for k, (a, b) in enumerate(terms):
            if not segment.whole and not segment.compared:
                told = code.quote(a, b, "term")
                edit = (*without(terms, k), "")
                yield f"{told} is missing in a sum", edit
                taken.setdefault(code.text(a, b), []).append(edit)
    for edits in taken.values():
        if len(edits) > 1:
            yield "a term is missing everywhere", *edits


def terms_exchanged(code):
    """b - a for a - b."""
    for segment, terms in sums(code):
        (a, b), (c, d) = terms[0], terms[-1]
        if len(terms) == 2 and code[b] == "-" and not segment.whole:
            one = code.quote(segment.a, segment.b, "difference")
            text = f"{code.text(c, d)} - {code.text(a, b)}"
            yield f"in {one}, the two sides are swapped: the sign", (a, d, text)


def factor_left_out(code):
    """One factor left out, those first that are arguments: at one place, or wherever it stands."""
    taken: dict = {}
    for segment, factors in products(code):
        for k, (a, b) in enumerate(factors):
            if not segment.whole:
                one = "1.0f /" if not k and code[factors[0][1]] == "/" else ""
                taken.setdefault(code.text(a, b), []).append((*without(factors, k), one))
    for name in code.scalars:
        for edit in taken.get(name, ()):
            yield f"`{name}` is missing in a product", edit
        if len(taken.get(name, ())) > 1:
            yield f"`{name}` is missing everywhere", *taken[name]
    for edit in (e for text, edits in taken.items() if text not in code.scalars for e in edits):
        start, end, _ = edit  # with the operator before or behind it
        first = code[start] in ("*", "/", "%")
        told = code.quote(start + first, end if first else end - 1, "factor")
        yield f"{told} is missing in a product", edit


def factor_for_both(code):
    """a * (b + c) for a * b + c."""
    for segment, terms in sums(code):
        factors = code.parts(*terms[0], "*")
        if not segment.whole and not segment.compared and len(factors) == 2:
            (a, b), (c, _) = factors
            told = code.quote(a, b, "factor")
            text = f"{code.text(a, b)} * ({code.text(c, segment.b)})"
            yield f"{told} multiplies the whole sum", (segment.a, segment.b, text)
            text = f"{code.text(c, terms[0][1])} {code[terms[0][1]]} {code.text(a, b)} * "
            rest = code.text(terms[1][0], segment.b)
            yield f"{told} multiplies the other term", (segment.a, segment.b, text + rest)
            if "*" not in rest:
                text = f"{code.text(c, terms[0][1])} * {rest} {code[terms[0][1]]} {code.text(a, b)}"
                says = f"{told} is the term that is added, and the other two are multiplied"
                yield says, (segment.a, segment.b, text)


def scalars(code):
    """alpha and beta exchanged, one for the other, squared."""
    at = [i for i in code.all(*code.scalars) if code[i + 1] != "=="]
    for name in code.scalars:
        for other in (n for n in code.scalars if n != name):
            if name < other:
                swap = {name: other, other: name}
                says = f"`{name}` and `{other}` are swapped"
                yield says, *code.exchange(code.all(name, other), swap)
            for i in (i for i in at if code[i] == name):
                yield code.instead(i, other)
    for i in at:
        yield f"`{code[i]}` is multiplied twice", (i, i + 1, f"{code[i]} * {code[i]}")


def extra_factor(code):
    """A mean for a sum: the result divided by the length of an axis; twice or half of it."""
    for at, name in _stores(code):
        a, b = _value(code, at)
        value = f"({code.text(a, b)})"
        for size in code.sizes:
            says = f"what is stored in `{name}` is divided by `{size}`: a mean, where a sum belongs"
            yield says, (a, b, f"{value} / {size}")
        yield f"what is stored in `{name}` is doubled", (a, b, f"2 * {value}")


def accumulation(code):
    """= for +=, += for =."""
    for at in code.all("+=", "-="):
        if not _in_step(code, at):
            yield code.instead(at, "=", ": only the last value is kept")
    for at, name in _stores(code):
        if code[at] == "=":
            yield code.instead(at, "+=", f": what was in `{name}` before is added")


def _in_step(code, at):
    return any(code[s.start] == "for" and s.start < at < s.body for s in code.statements)


def start_value(code):
    """A sum or a maximum that begins with another value; whole numbers for floats."""
    for _, kind, at in code.locals():
        if kind == "float" and code.text(at + 1, at + 3) in ("= 0", "=0"):
            yield "a sum is never set to 0 before it is added to", (at + 1, at + 3, "")
            yield "a sum starts from 1, not from 0", (at + 2, at + 3, "1")
        if kind == "float" and code[at + 1] == "[" and (equals := _braces(code, at)):
            end = code.partner[equals + 1] + 1
            yield "the sums are never set to 0 before they are added to", (equals, end, "")
        if kind == "float" and code.text(at + 1, at + 4) == "= -INFINITY":
            yield "the maximum starts from 0, not from minus infinity", (at + 2, at + 4, "0")
        if (
            kind == "float"
            and code[at - 1] == "float"
            and code[at - 2] not in ("const", "__shared__")
        ):
            yield "an int is used where a float belongs: fractions are cut off", (at - 1, at, "int")


def _braces(code, at):
    """The `=` of `float d[4][4] = {}`, or None."""
    i = at + 1
    while code[i] == "[":
        i = code.partner[i] + 1
    return i if code[i] == "=" and code[i + 1] == "{" else None


def functions(code):
    """A function left out, or another in its place; one of two arguments alone."""
    for at in range(len(code.tokens) - 1):
        inside = any(body < at < code.partner[body] for body in code.bodies)
        called = code[at + 1] == "(" and code[at].isidentifier() and code[at] not in TYPES
        skip = ("if", "for", "while", "atomicAdd", "return", "__syncthreads", "make_float4")
        if not inside or not called or code[at] in skip or code[at].startswith("__shfl"):
            continue
        name, end = f"`{code[at]}`", code.partner[at + 1]
        other = FUNCTIONS.get(code[at])
        if other:
            yield code.instead(at, other)
        comma = code.first(at, end, ",")
        if comma is None and end > at + 2:
            yield f"{name} is left out: its argument is used as it is", (at, at + 1, "")
        elif comma is not None and code[end + 1] == ";":
            if code.text(comma + 1, end) == "0" and code[at - 1] == "=":
                yield from _positive_alone(code, at, code.text(at + 2, comma), end)
            for a, b in ((at + 2, comma), (comma + 1, end)):
                told = code.quote(a, b, "argument")
                yield f"{name} is left out: {told} is used as it is", (at, end + 1, code.text(a, b))


def closed_too_early(code):
    """fmaxf(a, b) + c or fmaxf(a + c, b) for fmaxf(a, b + c): a term outside of the call, or at another argument."""
    for segment, terms in sums(code):
        at = next(
            (i for i in range(segment.a - 1, 0, -1) if code.partner.get(i, 0) >= segment.b), 0
        )
        if code[at] != "(" or not code[at - 1].isidentifier() or segment.whole or segment.compared:
            continue
        for k, (a, b) in enumerate(terms):
            sign, end = code[terms[k - 1][1]] if k else "+", code.partner[at]
            told = code.quote(a, b, "term")
            here, term = (*without(terms, k), ""), f" {sign} {code.text(a, b)}"
            says = f"{told} is outside of the brackets of `{code[at - 1]}(...)`: it belongs inside"
            yield says, here, (end + 1, end + 1, term)
            for c, d in code.parts(at + 1, end, ","):
                if not c <= a < d:
                    says = f"{told} is added to the other argument of `{code[at - 1]}(...)`"
                    yield says, here, (d, d, term)


def _positive_alone(code, at, value, end):
    """if (x > 0) y = x: for y = fmaxf(x, 0)."""
    s = next(s for s in code.statements if s.kind == ";" and s.start < at < s.end)
    text = f"if ({value} > 0) {code.text(s.start, at)} {value}"
    yield "nothing is stored where the value is not above 0", (s.start, end + 1, text)


def whole_division(code):
    """A division of integers, or a divisor made whole; / and % exchanged."""
    both, swap = [i for i in code.all("/", "%") if code.binary(i)], {"/": "%", "%": "/"}
    if {code[i] for i in both} == {*swap}:
        says = "`/` and `%` are swapped: the row for the column"
        yield says, *code.exchange(both, swap)
    for segment, factors in products(code):
        for (_, b), (c, d) in zip(factors, factors[1:], strict=False):
            if code[b] == "/":
                yield "the divisor is made a whole number", (c, d, f"(int)({code.text(c, d)})")
                if not segment.whole and code[c].isdigit():
                    says = f"1 / {code[c]} is a division of whole numbers: it gives 0"
                    yield says, (b, d, f"* (1 / {code[c]})")
            if code[b] in "/%" and segment.whole:
                yield code.instead(b, swap[code[b]])


def statement_left_out(code):
    """A statement left out, an if or a loop with all that is in it."""
    declared = [at for _, _, at in code.locals()]
    for s in code.statements:
        first = code[s.start]
        here = any(s.start <= at < s.end for at in declared) and s.kind == ";"
        if s.kind != "{" and not here and first not in ("return", "__syncthreads", "__shared__"):
            yield _without(code, s), (s.start, s.end, ";")


def _without(code, s):
    if s.kind == "for":
        return "a whole loop is missing"
    stored = next((n for at, n in _stores(code) if s.start <= at < s.end), None)
    if stored:
        return f"a store to `{stored}` is missing"
    names = [t for t in code.texts(s.start, s.end) if t in code.params and t not in code.sizes]
    return f"the statement with `{names[0]}` is missing" if names else "a statement is missing"


def statements_exchanged(code):
    """Two statements that follow each other, the second one first."""
    declared = [at for _, _, at in code.locals()]
    plain = [s for s in code.statements if s.kind == ";" and code[s.start] != "__syncthreads"]
    plain = [s for s in plain if not any(s.start <= at < s.end for at in declared)]
    for s in plain:
        for t in (t for t in plain if t.start == s.end and t.depth == s.depth):
            if code[s.start] != "return" != code[t.start]:
                says = "two statements are swapped: the second one comes first"
                yield says, _turned(code, s, t)
    loops = [s for s in code.statements if s.kind == "for"]
    for s, t in ((s, t) for s in loops for t in loops if t.start == s.end and t.depth == s.depth):
        yield "two loops are swapped: the second one comes first", _turned(code, s, t)


def _turned(code, s, t):
    return s.start, t.end, f"{code.text(t.start, t.end)} {code.text(s.start, s.end)}"
