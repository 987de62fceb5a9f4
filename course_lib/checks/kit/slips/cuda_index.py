"""Slips in who does what: threads, blocks, axes, and the way from row and column to an address."""

import re

from course_lib.checks.kit.slips.cuda_code import BUILTIN, Code
from course_lib.checks.kit.slips.cuda_segments import (
    ASSIGN,
    other_counters,
    products,
    segments,
    sums,
    without,
)

PART_OF = {
    "threadIdx": "the thread's place in its block",
    "blockIdx": "the block's place in the grid",
}
OTHERS = {
    "threadIdx": ("blockIdx",),
    "blockIdx": ("threadIdx",),
    "blockDim": ("gridDim", "256", "32"),
    "gridDim": ("blockDim",),
}


def axes_exchanged(code):
    """x for y and y for x: everywhere, in the thread's place alone, in the block's place alone, at one place."""
    groups = {
        "x and y are swapped in all of threadIdx, blockIdx and blockDim": r"\w+",
        "x and y of `threadIdx` are swapped, those of `blockIdx` are not": "threadIdx",
        "x and y of `blockIdx` are swapped, those of `threadIdx` are not": "block(Idx|Dim)",
    }
    for says, which in groups.items():
        at = [i for i in code.all(*_builtins(code)) if re.match(which + r"\s*\.", code[i])]
        if {code[i][-1] for i in at} == {"x", "y"}:
            yield says, *[(i, i + 1, _turned(code[i])) for i in at]
    if {name[-1] for name in _builtins(code)} >= {"x", "y"}:
        for i in code.all(*_builtins(code)):
            yield code.instead(i, _turned(code[i]))


def _builtins(code):
    return sorted({t.text for t in code.tokens if re.fullmatch(BUILTIN, t.text)})


def _turned(builtin):
    return builtin[:-1] + {"x": "y", "y": "x", "z": "x"}[builtin[-1]]


def another_builtin(code):
    """The block's width from the grid or by heart, threads dealt out like cards, thread for block."""
    for _, factors in products(code):
        (a, _), (c, d) = factors[0], factors[-1]
        if len(factors) == 2 and code[a].startswith("blockIdx") and code[c].startswith("blockDim"):
            yield from _dealt(code, a, d)
    for i in code.all(*_builtins(code)):
        name, axis = code[i].split(".")
        for other in OTHERS[name]:
            yield code.instead(i, f"{other}.{axis}" if other.isalpha() else other)


def _dealt(code, a, d):
    """blockIdx * blockDim + threadIdx turned round; a to d - 1 is the product."""
    axis = code[a][-1]
    if code[d] == "+" and code[d + 1].startswith("threadIdx"):
        says = "neighbouring elements go to different blocks, like cards dealt out one by one"
        yield says, (a, d + 2, f"threadIdx.{axis} * gridDim.{axis} + blockIdx.{axis}")


def index_term(code):
    """A term of an index left out: the block's offset, the thread's place, a row's beginning."""
    blocks: list = []
    for segment, terms in sums(code):
        if not segment.whole or segment.compared:
            continue
        blocks += _block_terms(code, terms)
        for k, (a, b) in enumerate(terms):
            yield _term_told(code, segment, a, b), (*without(terms, k), "")
    if len(blocks) > 1:
        yield "the block's place in the grid is missing in all indices", *blocks


def _block_terms(code, terms):
    """The edits that leave out a term with the block's place."""
    for k, (a, b) in enumerate(terms):
        if any(text.startswith("blockIdx") for text in code.texts(a, b)):
            yield (*without(terms, k), "")


def _term_told(code, segment, a, b):
    builtin = next((t.split(".")[0] for t in code.texts(a, b) if t.split(".")[0] in PART_OF), None)
    term = code.quote(a, b, "term")
    if segment.array is None:
        what = PART_OF.get(builtin or "", term)
        return (
            f"{what} is missing in the thread's index: `{code[a]}`"
            if builtin
            else (f"an index is computed without {term}")
        )
    return f"{_array(code, segment.array)} is indexed without {term}"


def _array(code, name):
    """An array as a student knows it."""
    if name in code.params:
        return f"`{name}`"
    return f"`{name}`, in shared memory," if name in code.told else "the array in shared memory"


def leading_dimension(code):
    """Rows of another length, or none at all: i * N + j for i * K + j."""
    indices = {(a, b) for s, f in products(code) if s.array for a, b in f if b - a == 1}
    for one, other in ((one, other) for one in code.sizes for other in code.sizes if one != other):
        at = sorted(edge for edge in indices if code[edge[0]] == one)
        if len(at) > 1:
            says = f"rows have `{other}` numbers in every index where they have `{one}`"
            yield says, *[(a, b, other) for a, b in at]
    for segment, factors in products(code):
        for k, (a, b) in enumerate(factors):
            if segment.array is None or b - a != 1 or code[a] not in code.sizes:
                continue
            for other in code.sizes:
                if other != code[a]:
                    told = f"rows of `{other}` numbers, where they have `{code[a]}`"
                    if "_" in code[a]:
                        told = f"`{other}` where `{code[a]}` belongs"
                    yield f"{_array(code, segment.array)} is indexed with {told}", (a, b, other)
            says = f"{_array(code, segment.array)} is indexed without the factor `{code[a]}`"
            yield says, (*without(factors, k), "")


def transposed(code):
    """row * K + column read as column * M + row: the matrix read across, with its own or another row length."""
    for segment, terms in sums(code):
        for k, (a, b) in enumerate(terms):
            factors = code.parts(a, b, "*", "/", "%")
            size = next((f for f in factors if code.text(*f) in code.sizes), None)
            if (
                segment.array is None
                or size is None
                or len(factors) != 2
                or "_" in code.text(*size)
            ):
                continue
            row = code.text(*factors[factors.index(size) == 0])
            rest = [code.text(*t) for n, t in enumerate(terms) if n != k]
            inner = f"({' + '.join(rest)})" if len(rest) > 1 else rest[0]
            own = code.text(*size)
            for other in [own, *[n for n in code.sizes if n != own]]:
                if "_" not in other:
                    says = (
                        f"{_array(code, segment.array)} is read or written across: row and column"
                    )
                    said = f"{says} are swapped, with rows of `{other}` numbers"
                    yield said, (segment.a, segment.b, f"{inner} * {other} + {row}")


def strides_exchanged(code):
    """a_row for a_col and a_col for a_row, or the gaps left out."""
    for _, terms in sums(code):
        ends = [b - 1 for _, b in terms if "_" in code[b - 1] and code[b - 1] in code.sizes]
        if len(ends) == 2:
            one, two = ends
            swap = {code[one]: code[two], code[two]: code[one]}
            yield f"`{code[one]}` and `{code[two]}` are swapped", *code.exchange(ends, swap)
        for at in ends:
            yield f"`{code[at]}` is assumed to be 1", (at - 1, at + 1, "")


def as_if_dense(code):
    """X(i, j) at i * N + j, whatever the strides."""
    for segment, terms in sums(code):
        pairs = [code.parts(a, b, "*") for a, b in terms]
        strides = [pair[-1] for pair in pairs if len(pair) == 2 and "_" in code.text(*pair[-1])]
        if len(terms) == len(strides) == 2 and segment.whole:
            row, column = (code.text(*pair[0]) for pair in pairs)
            for size in (n for n in code.sizes if "_" not in n):
                what = (
                    f"{_array(code, segment.array)} is indexed"
                    if segment.array
                    else "an index is computed"
                )
                says = f"{what} as if rows had `{size}` numbers and no gaps"
                yield says, (segment.a, segment.b, f"{row} * {size} + {column}")


def of_one_index(code):
    """The likely ones of these for one array alone, where several share a variable as their index."""
    kinds = as_if_dense, strides_exchanged, transposed, index_term, leading_dimension
    for kind, (i, value, array) in ((kind, use) for kind in kinds for use in _shared(code)):
        own = Code(code.with_([(i, i + 1, value)]))
        end = own.partner[i - 1]
        behind = len(own.source) - own.tokens[end].start
        for says, *edits in kind(own):
            if all(i <= a and b <= end for a, b, _ in edits):
                where = "" if f"`{array}`" in says else f", in the index of `{array}` alone"
                text = own.with_(edits)[own.tokens[i].start : -behind]
                yield says + where, (i, i + 1, text)


def _shared(code):
    """(token, value, array) of each index of a kernel's array that is a variable alone, which others have as well."""
    for name, kind, at in code.locals():
        if kind != "int" or code[at + 1] != "=":
            continue
        end = code.until(at + 2, ",", ";")
        uses = [i for i in code.all(name) if code[i - 1] == "[" and code[i - 2] in code.params]
        uses = [i for i in uses if code[i + 1] == "]" and end > at + 3]
        kept = not any(_is_set(code, i) for i in code.all(name, *code.texts(at + 2, end)) if i > at)
        if kept and len({code[i - 2] for i in uses}) > 1:
            yield from ((i, code.text(at + 2, end), code[i - 2]) for i in uses)


def _is_set(code, i):
    """Is it a variable that is given a value at token i?"""
    set_by = ASSIGN | {"++", "--"}
    return code[i].isidentifier() and (code[i + 1] in set_by or code[i - 1] in ("++", "--"))


def number_left_out(code):
    """The factor 4, 16 or 32 of an index left out."""
    for segment, factors in products(code):
        for k, (a, b) in enumerate(factors):
            if segment.whole and b - a == 1 and code[a].isdigit():
                yield f"the factor {code[a]} of an index is missing", (*without(factors, k), "")


def places_exchanged(code):
    """Two integer variables exchanged in all of a statement."""
    for s in code.statements:
        if s.kind == ";" or code[s.body - 1] == ")":
            here = [n for n in code.counters if n in code.texts(s.start, s.end)]
            for one, two in ((one, two) for one in here for two in here if one < two):
                swap = {one: two, two: one}
                at = [i for i in range(s.start, s.end) if code[i] in swap]
                declared = {place for name, _, place in code.locals() if name in swap}
                if declared.isdisjoint(at) and all(code.visible(swap[code[i]], i) for i in at):
                    told = f"{code.named(one)} and {code.named(two)}"
                    told = "row and column, or two other indices," if "another" in told else told
                    says = f"{told} are swapped in a whole statement"
                    yield says, *code.exchange(at, swap)


def one_beside(code):
    """An index one too large or too small, or on the other side of the middle."""
    for segment in segments(code):
        if segment.array is None or code[segment.a - 1] != "[" or code[segment.b] != "]":
            continue
        array = _array(code, segment.array)
        for sign, word in (("+", "large"), ("-", "small")):
            text = f"{code.text(segment.a, segment.b)} {sign} 1"
            says = f"one index of {array} is too {word} by one"
            yield says, (segment.a, segment.b, text)
        for at in range(segment.a + 1, segment.b):
            if code[at] in "+-" and code.binary(at) and code[at + 1].isdigit():
                other = {"+": "-", "-": "+"}[code[at]]
                yield f"the neighbour of {array} on the wrong side is used", (at, at + 1, other)


def indirection(code):
    """X[i] for X[Y[i]]."""
    for segment in segments(code):
        inner = code.partner.get(segment.a + 1)
        if segment.array and code[segment.a + 1] == "[" and inner == segment.b - 1:
            says = (
                f"{_array(code, segment.array)} is indexed with the position in `{code[segment.a]}`"
            )
            text = code.text(segment.a + 2, inner)
            yield f"{says}, not with the value stored there", (segment.a, segment.b, text)


def another_index(code):
    """One integer variable for another of the same statement: i for j."""
    for segment in segments(code):
        for at, other in other_counters(code, segment) if segment.array else ():
            told = f"{code.named(other)}, not with {code.named(code[at])}"
            yield f"{_array(code, segment.array)} is indexed with {told}", (at, at + 1, other)
