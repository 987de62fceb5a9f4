"""Where the braces of a CUDA C source stand: in functions, classes, namespaces or outside of all."""

import re
from dataclasses import dataclass

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\r?\n|[^\n])*", re.MULTILINE)
TURN = re.compile(r"[{};]|^#(if|el|en)", re.MULTILINE)
CALLED = r"\s*\((?:[^()]|\([^()]*\))*\)"  # what stands in parentheses, once nested
ATTRIBUTE = rf"(?:__launch_bounds__|__align__|alignas|__attribute__|__maxnreg__){CALLED}"


@dataclass
class Scope:
    """A pair of braces at [opened, closed) of the source, and what stands before it from `head` on."""

    kind: str  # file (of a namespace, of extern "C"), class, function
    head: int
    opened: int
    closed: int
    parent: "Scope | None"
    space: str  # its namespaces, as "a::b::"


def scopes(bare):
    """The scopes of a source without comments and strings, outer ones first."""
    text = DIRECTIVE.sub(_branch, bare)
    found: list[Scope] = []
    stack: list[Scope] = []
    branches: list[list[Scope]] = []  # what was open at each #if
    # opened in an earlier branch: closed with what a later one opens there
    left: list[tuple[int, Scope]] = []
    last = 0
    for m in TURN.finditer(text):
        if m[1] == "if":
            branches.append(stack[:])
        elif m[1] == "el" and branches:  # each branch begins with what was open at the #if
            left += list(enumerate(stack))[len(branches[-1]) :]
            stack = branches[-1][:]
        elif m[1] and branches:
            branches.pop()
        elif m[0] == "{":
            found.append(_scope(text, last, m.start(), stack[-1] if stack else None))
            stack.append(found[-1])
        elif m[0] == "}" and stack:
            stack.pop().closed = m.end()
            for _, scope in (pair for pair in left if pair[0] == len(stack)):
                scope.closed = m.end()
            left = [pair for pair in left if pair[0] != len(stack)]
        last = m.end()
    return found


def _branch(m):
    word = f"#{m[1]}" if m[1][:2] in ("if", "el", "en") else ""
    return word + blank(m)[len(word) :]


def _scope(text, head, opened, parent):
    before = re.sub(ATTRIBUTE, " ", text[head:opened])
    space = re.search(r"\bnamespace\b\s*([\w:]*)\s*$", before)
    kind = "class" if re.search(r"\b(?:struct|class|union|enum)\b[^()=]*$", before) else "function"
    if parent and parent.kind == "function":
        kind = "function"
    elif space or re.search(r"\bextern\s*$", before):
        kind = "file"
    named = f"{space[1]}::" if space and space[1] else ""
    return Scope(kind, head, opened, len(text), parent, (parent.space if parent else "") + named)


def around(found, at):
    """The innermost scope around a place, or None."""
    return next((scope for scope in reversed(found) if scope.opened < at < scope.closed), None)


def without_directives(bare):
    """The same text, its directives blanked out."""
    return DIRECTIVE.sub(blank, bare)


def without_attributes(bare):
    """The same text, its directives and such as __launch_bounds__(...) blanked out."""
    return re.sub(ATTRIBUTE, blank, without_directives(bare))


def blank(m):
    """What a pattern found as blanks, line for line."""
    return re.sub(r"[^\n]", " ", m[0])
