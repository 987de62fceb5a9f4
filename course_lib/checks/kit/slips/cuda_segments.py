"""Sums and products in CUDA C: the ranges of tokens between commas, comparisons, assignments and brackets."""

import re
from dataclasses import dataclass

from course_lib.checks.kit.slips.cuda_code import BUILTIN, OPEN, TYPES

COMPARE = {"<", "<=", ">", ">=", "==", "!="}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "^="}
LOGIC = {"&&", "||", "?", ":", ";", ",", "return", "else", "__shared__", "do"}
STARTS = COMPARE | ASSIGN | LOGIC | TYPES | set(OPEN) | {"}"}
ENDS = COMPARE | ASSIGN | LOGIC | TYPES | set(OPEN) | set(OPEN.values())


@dataclass(frozen=True)
class Segment:
    """Tokens a to b - 1. array: whose index it is in, or None. whole: of integers alone. compared: in a condition."""

    a: int
    b: int
    array: str | None
    whole: bool
    compared: bool


def segments(code):
    """Every Segment of the bodies, in order, without those of one bracket or operator alone."""
    for body in code.bodies:
        stack = []
        for i in range(body, code.partner[body]):
            if code[i] in OPEN:
                stack.append(i)
            elif code[i] in OPEN.values():
                stack.pop()
            if code[i] in STARTS and (b := _end(code, i + 1)) > i + 1:
                yield _segment(code, i + 1, b, stack)


def _end(code, i):
    """Behind the last token of the segment that begins at token i."""
    while code[i] in ("(", "[") or code[i] not in ENDS:
        i = code.partner.get(i, i) + 1 if code[i] in OPEN else i + 1
    return i


def _segment(code, a, b, stack):
    index = next((i for i in reversed(stack) if code[i] in "[{"), None)
    array = None
    if index is not None and code[index] == "[":
        array = _named(code, index)
    compared = code[a - 1] in COMPARE or code[b] in COMPARE
    words = [text for text in code.texts(a, b) if re.match(r"[A-Za-z_]", text)]
    whole = all(word in code.ints or re.fullmatch(BUILTIN, word) for word in words)
    return Segment(a, b, array, bool(words) and (whole or array is not None), compared)


def _named(code, index):
    """The name of the array whose `[` stands at token `index`: of a[i][j], a."""
    while code[index - 1] == "]":
        index = code.opening[index - 1]
    return code[index - 1]


def other_counters(code, segment, *more):
    """(token, another integer variable that can stand there, or one of `more`) for each of a segment."""
    for at in range(segment.a, segment.b):
        for other in (*code.counters, *more) if code[at] in code.counters else ():
            if other != code[at] and code.visible(other, at):
                yield at, other


def sums(code):
    """(Segment, its terms) of each segment that is a sum; a term is (start, end), the sign not in it."""
    for segment in segments(code):
        terms = code.parts(segment.a, segment.b, "+", "-")
        if len(terms) > 1:
            yield segment, terms


def products(code):
    """(Segment, the factors) of each term with more than one factor."""
    for segment in segments(code):
        for start, end in code.parts(segment.a, segment.b, "+", "-"):
            factors = code.parts(start, end, "*", "/", "%")
            if len(factors) > 1:
                yield segment, factors


def without(parts, k):
    """The range to take out for part k of `parts` to go, with its operator."""
    if k:
        return parts[k - 1][1], parts[k][1]
    return parts[0][0], parts[1][0]
