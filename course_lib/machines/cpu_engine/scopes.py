"""Where the braces of a CUDA C source stand: in functions, classes, namespaces or outside of all."""

import re
from dataclasses import dataclass

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\r?\n|[^\n])*", re.MULTILINE)
TURN = re.compile(r"[{};]|^[ \t]*#(if|else|endif)", re.MULTILINE)
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


def scopes(bare):
    """The scopes of a source without comments and strings, outer ones first."""
    found: list[Scope] = []
    stack: list[Scope] = []
    branches: list[list[Scope]] = []  # what was open at each #if
    left: list[tuple[int, Scope]] = []  # opened in an earlier branch: closed with what a later one opens there
    last = 0
    text = DIRECTIVE.sub(_directive, bare)
    for m in TURN.finditer(text):
        if m[1] == "if":
            branches.append(stack[:])
        elif m[1] and branches:  # each branch begins with what was open at the #if
            if m[1] == "else":
                left += list(enumerate(stack))[len(branches[-1]) :]
                stack = branches[-1][:]
            else:
                branches.pop()
        elif m[0] == "{":
            parent = stack[-1] if stack else None
            found.append(Scope(_kind(text[last : m.start()], parent), last, m.start(), len(bare), parent))
            stack.append(found[-1])
        elif m[0] == "}" and stack:
            stack.pop().closed = m.end()
            for depth, scope in left:
                scope.closed = min(scope.closed, m.end()) if depth == len(stack) else scope.closed
            left = [(depth, scope) for depth, scope in left if depth != len(stack)]
        last = m.end()
    return found


def _kind(head, parent):
    head = re.sub(ATTRIBUTE, " ", head)
    if parent and parent.kind == "function":
        return "function"
    if re.search(r"\bnamespace\b[\w\s:]*$|\bextern\s*$", head):
        return "file"
    return "class" if re.search(r"\b(?:struct|class|union|enum)\b[^()=]*$", head) else "function"


def around(found, at):
    """The innermost scope around a place, or None."""
    inner = None
    for scope in found:
        if scope.opened < at < scope.closed:
            inner = scope
    return inner


def namespaces(bare, scope):
    """ "a::b" for a scope within the namespaces a and b."""
    names = []
    while scope:
        named = re.search(r"\bnamespace\s+([\w:]+)\s*$", bare[scope.head : scope.opened])
        names += [named[1]] if named else []
        scope = scope.parent
    return "::".join(reversed(names))


def without_directives(bare):
    """The same text, its directives blanked out."""
    return DIRECTIVE.sub(blank, bare)


def blank(m):
    """What a pattern found as blanks, line for line."""
    return re.sub(r"[^\n]", " ", m[0])


def _directive(m):
    words = {"if": "if", "ifdef": "if", "ifndef": "if", "elif": "else", "else": "else", "endif": "endif"}
    word = f"#{words[m[1]]}" if m[1] in words else ""
    return word + blank(m)[len(word) :]
