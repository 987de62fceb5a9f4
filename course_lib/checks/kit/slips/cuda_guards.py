"""Slips in guards: left out, half of one, off by one, another bound, a thread that leaves before a barrier."""

import re

from course_lib.checks.kit.slips.cuda_segments import COMPARE

TURNED = {"<": ">=", ">=": "<", "<=": ">", ">": "<=", "==": "!=", "!=": "=="}
BESIDE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def conditions(code):
    """(start, end) of each condition: of an if, and of a choice `? :`."""
    for s in code.statements:
        if s.kind == "if":
            yield s.start + 2, s.body - 1
    for at in code.all("?"):
        start = at
        while code[start - 1] not in ("=", "(", ",", ";", "return", "+="):
            start = _before(code, start)
        yield start, at


def _before(code, i):
    """The token before token i, brackets skipped as a whole."""
    return code.opening.get(i - 1, i - 1)


def left_out(code):
    """The guard of a statement or of a choice left out."""
    for s in code.statements:
        if s.kind == "if":
            gone = s.end if code[s.body] == "return" else s.body
            told = _quoted(code, s.start + 2, s.body - 1)
            yield f"{told} is missing{_before_what(code, s)}", (s.start, gone, "")
    for start, at in conditions(code):
        if code[at] == "?":
            yield from _one_case(code, start, at)


def _one_case(code, start, at):
    """Of a choice, one case alone."""
    colon, last = _choice(code, at)
    told = _quoted(code, start, at)
    first, second = (start, at + 1, ""), (colon, last, "")
    if code.text(colon + 1, last) == "0":
        yield f"{told} is missing before {code.quote(at + 1, colon, 'load')}", first, second
    else:
        yield f"the case where {told} is false is left out", first, second
        yield f"the case where {told} is true is left out", (start, colon + 1, "")


def _before_what(code, s):
    """Which array stands behind a guard."""
    arrays = [t for t in code.texts(s.body, s.end) if "*" in code.params.get(t, "")]
    return f" before {code.listed(dict.fromkeys(arrays))}" if arrays else ""


def _quoted(code, a, b):
    text = code.quote(a, b, "condition")
    return f"the condition {text}" if text[0] == "`" else text


BEYOND = {
    "last number is taken once more": "min({0}, {1} - 1)",
    "first number is taken": "({0} < {1} ? {0} : 0)",
    "index begins anew": "(({0}) % ({1}))",
}


def beyond(code):
    """Another number where a 0 belongs, in all loads: X[min(i, n - 1)] for i < n ? X[i] : 0."""
    choices = [at for at in conditions(code) if code[at[1]] == "?"]
    for says, form in BEYOND.items():
        edits = [edit for start, at in choices for edit in _beyond(code, start, at, form)]
        yield from [(f"beyond the edge the {says}: a 0 belongs there", *edits)] if edits else []


def _beyond(code, start, at, form):
    colon, last = _choice(code, at)
    load = whole = code.text(at + 1, colon)
    for a, b in code.parts(start, at, "&&"):
        if less := code.first(a, b, "<"):
            index = code.text(a, less)
            load = load.replace(index, form.format(index, code.text(less + 1, b)))
    if code.text(colon + 1, last) == "0" and load != whole:
        yield start, last, load


def _choice(code, at):
    """(its colon, the token behind the choice) of the `?` at token `at`."""
    colon = code.until(at, ":")
    return colon, code.until(colon, ";", ",", ")")


def half(code):
    """One half of `i < M && j < N` left out, or the two joined the other way."""
    for a, b in conditions(code):
        for word, other in (("&&", "||"), ("||", "&&")):
            parts = code.parts(a, b, word)
            for k, (c, d) in enumerate(parts if len(parts) > 1 else ()):
                start, end = (parts[k - 1][1], d) if k else (c, parts[1][0])
                says = _half(code, c, d)
                yield says, (start, end, "")
            if len(parts) > 1:
                says = f"the two halves of {_quoted(code, a, b)} are joined by `{other}`, not by `{word}`"
                yield says, (parts[0][1], parts[1][0], other)


def _half(code, c, d):
    size = next((t for t in code.texts(c, d) if t in code.sizes), None)
    told = f"with `{size}`" if size else code.quote(c, d, "half")
    return f"one half of the guard is missing, the one {told}"


def comparison(code):
    """< for <=, the guard turned round, another bound."""
    for where, at in _comparisons(code):
        if code[at] in BESIDE:
            says = f"in {where}, `{BESIDE[code[at]]}` is off by one"
            yield says, (at, at + 1, BESIDE[code[at]])
    for _, at in _comparisons(code):
        for other in code.sizes if code[at + 1] in code.sizes else ():
            if other != code[at + 1]:
                says = f"a guard compares with `{other}` where `{code[at + 1]}` belongs"
                yield says, (at + 1, at + 2, other)
    for where, at in _comparisons(code):
        yield f"{where} is inverted", (at, at + 1, TURNED[code[at]])


def whole_blocks(code):
    """n / blockDim.x * blockDim.x for n: only full blocks work."""
    for _, at in _comparisons(code):
        begin = rf"\b{code[at - 1]} = blockIdx\.\w \* (blockDim\.\w|\d+)"
        block = re.search(begin, code.source)
        if code[at] in ("<", ">=") and code[at + 1] in code.sizes and block:
            size, width = code[at + 1], block[1]
            says = f"the last elements along `{size}` are left out: those that fill no block of `{width}`"
            yield says, (at + 1, at + 2, f"{size} / {width} * {width}")


def clamped(code):
    """min(i, M - 1) for a guard: the last row or column again, past the edge."""
    for a, b in conditions(code):
        colon = code.until(b, ":") if code[b] == "?" else None
        inner = next((s for s in code.statements if s.kind == "if" and s.start + 2 == a), None)
        if colon:
            first, last = b, colon
        elif inner:
            first, last = inner.body, inner.end
        else:
            continue
        for c, d in code.parts(a, b, "&&"):
            at = code.first(c, d, "<")
            found = at and code[at + 1] in code.sizes and _found(code, c, at, first, last)
            if found:
                text = f"min({code.text(c, at)}, {code[at + 1]} - 1)"
                what = "row or column" if len(code.sizes) > 1 else "element"
                says = f"past the edge along `{code[at + 1]}`, the last {what} is used once more"
                yield says, (c, d, "true"), *[(i, i + at - c, text) for i in found]


def _found(code, a, b, first, last):
    """Where the tokens a to b - 1 stand again among the tokens first to last - 1."""
    here = code.texts(a, b)
    return [i for i in range(first, last) if code.texts(i, i + b - a) == here]


def _comparisons(code):
    """(as a student knows it, the token of the operator) of each comparison in a guard."""
    for a, b in conditions(code):
        word = "||" if "||" in code.texts(a, b) else "&&"
        for c, d in code.parts(a, b, word):
            for at in (i for i in range(c, d) if code[i] in COMPARE):
                yield code.quote(c, d, "comparison"), at


def exchanged(code):
    """The two bounds of a guard exchanged: i < N && j < M."""
    for a, b in conditions(code):
        at = [i for i in range(a, b) if code[i] in code.sizes and code[i - 1] in COMPARE]
        if len(at) == 2 and code[at[0]] != code[at[1]]:
            one, two = at
            says = f"`{code[one]}` and `{code[two]}` are swapped in a guard"
            yield says, *code.exchange(at, {code[one]: code[two], code[two]: code[one]})


def for_the_store_alone(code):
    """The guard put before the last statement, what stands before it runs in all threads."""
    for s in code.statements:
        if s.kind != "if":
            continue
        condition = code.text(s.start + 2, s.body - 1)
        inner = [t for t in code.statements if s.body < t.start < s.end and t.depth == s.depth + 2]
        after = [t for t in code.statements if t.start >= s.end and t.depth == s.depth]
        says = "the guard covers only the store: the loads before it are not guarded"
        if code[s.body] == "return" and after:
            last = after[-1].start
            yield says, (s.start, s.end, ""), (last, last, f"if (!({condition})) ")
        if code[s.body] == "{" and len(inner) > 1 and inner[-1].kind != "{":
            last = inner[-1].start
            yield says, (s.start, s.body, ""), (last, last, f"if ({condition}) ")


def another_guard(code):
    """The guard of another statement, such as that of the load at the store."""
    found = [(s.start + 2, s.body - 1) for s in code.statements if s.kind == "if"]
    for a, b in found:
        for c, d in found:
            if code.text(a, b) != code.text(c, d) and code.usable(c, d, a):
                yield "the guard here belongs to another statement", (a, b, code.text(c, d))


def of_another_load(code):
    """k0 + x < K for k0 + y < K: one half of a guard, with the same bound, of another one."""
    found = [part for a, b in conditions(code) for part in code.parts(a, b, "&&")]
    for a, b in found:
        ends = f" < {code[b - 1]}"
        for text in dict.fromkeys(code.text(*part) for part in found if code.usable(*part, a)):
            if code[b - 1] in code.sizes and text.endswith(ends) and text != code.text(a, b):
                says = f"a guard along `{code[b - 1]}` is that of another access: each must check its own index"
                yield says, (a, b, text)


def leaves_early(code):
    """A thread over the edge returns before a barrier."""
    barriers = code.all("__syncthreads")
    if not barriers:
        return
    outer = next(s for s in code.statements if s.depth == 1 and s.end > barriers[0])
    for a, b, sign in _tests(code):
        if code.usable(a, b, outer.start):
            test = f"if ({sign}({code.text(a, b)})) return;\n"
            says = f"threads {_over(code, a, b)} return before a barrier that all must reach"
            yield says, (outer.start, outer.start, test)


def _tests(code):
    """(start, end, "" or "!") of all conditions and their halves; "!" where they hold for threads with work."""
    for a, b in conditions(code):
        sign = "" if code[b + 1] == "return" else "!"
        yield a, b, sign
        for c, d in code.parts(a, b, "||" if code[b + 1] == "return" else "&&"):
            yield c, d, sign


def _over(code, a, b):
    return f"that fail {_quoted(code, a, b)}"
