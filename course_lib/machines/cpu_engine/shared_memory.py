"""Declarations of shared memory become references into the block's arena: those of a kernel in their place, those of
the file as a function, and a reference at the start of each function that uses the name."""

import re

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.scopes import around

NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")
SHARED = re.compile(r"\b__shared__\b[^;{}]*(?:\{[^{}]*\}[^;{}]*)?;")
BEFORE = re.compile(r"(?:[A-Za-z_][\w:]*(?:\s*<[^;{}]*>)?[\s*]+)*\Z")


def edit_shared(text, found):
    """[(start, end, new text)]. text: of the source, nothing in it but code; found: its scopes."""
    edits = []
    for m in SHARED.finditer(text):
        begun = max(text.rfind(c, 0, m.start()) for c in ";{}") + 1
        start = begun + BEFORE.search(text[begun : m.start()]).start()
        end = "\n" * text.count("\n", start, m.end())
        scope = around(found, start)
        if scope and scope.kind == "class":
            raise _bad(text, m.start(), "a member of a class cannot be __shared__")
        parts = [_Shared(text, m.start(), *part) for part in _declared(text, start, m)]
        if scope and scope.kind == "function":
            edits.append((start, m.end(), "".join(part.in_place() for part in parts) + end))
        else:
            edits.append((start, m.end(), "".join(part.of_file() for part in parts) + end))
            edits += [edit for part in parts for edit in _used(text, found, m.end(), part.name)]
    return edits


def _declared(text, start, m):
    """(is it extern?, type, name, dimensions) of each variable of a declaration."""
    whole = text[start : m.end() - 1]
    said, base = " ".join(whole.split()), ""
    for part in split(re.sub(r"\b(?:__shared__|extern|static)\b", " ", whole)):
        named = NAME.search(part)
        before = part[: named.start()].strip() if named else ""
        if "=" in part and "{" not in part:
            raise _bad(text, m.start(), f"shared memory has no first value: {said};")
        if not named or not (base or before):
            raise _bad(text, m.start(), f"this declaration is not understood: {said};")
        # only the first name comes with the type
        kind = f"{base.rstrip('* ')} {before}" if base else before
        base = base or before
        yield re.search(r"\bextern\b", whole) is not None, " ".join(kind.split()), named[1], named[2]


class _Shared:
    """One variable: how the engine makes it."""

    def __init__(self, text, at, dynamic, kind, name, dimensions):
        self.name, self.sign, dimensions = name, "*" if dynamic else "&", " ".join(dimensions.split())
        self.first = ""
        if "{" in kind:  # a type of its own
            self.first, kind = f"typedef {kind} course_type_{name}; ", f"course_type_{name}"
        if dynamic and not dimensions:
            raise _bad(text, at, f"extern __shared__ memory is an array: {name}[]")
        if dynamic:
            self.made = f"COURSE_DYNAMIC_SHARED({name}, {kind} {dimensions.partition(']')[2].strip()})"
        else:
            self.made = f"COURSE_SHARED({name}, {kind} {dimensions})"

    def in_place(self):
        return f"{self.first}auto {self.sign}{self.name} = {self.made}; "

    def of_file(self):
        return f"{self.first}COURSE_INLINE auto {self.sign}course_shared_{self.name}() {{ return {self.made}; }} "


def _used(text, found, after, name):
    """The edits for the functions behind `after` that use this shared memory of the file, by name."""
    for scope in found:
        outer = scope.kind == "function" and (not scope.parent or scope.parent.kind != "function")
        given = _mentions(text, scope.head, scope.opened, name)
        if outer and not given and scope.opened > after and _mentions(text, scope.opened, scope.closed, name):
            yield scope.opened + 1, scope.opened + 1, f"auto &&{name} = course_shared_{name}(); {{"
            yield scope.closed - 1, scope.closed - 1, "}"


def _mentions(text, start, end, name):
    return re.search(rf"\b{name}\b", text[start:end]) is not None


def split(text):
    """The parts of a list between commas that stand in no bracket of any kind."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def _bad(text, at, why):
    return BadInput(f"line {text.count(chr(10), 0, at) + 1}: {why}")
