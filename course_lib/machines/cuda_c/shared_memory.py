"""Declarations of shared memory become references into the block's arena: those of a kernel in their place, those of
the file as a function, and a reference at the start of each function that uses the name."""

import re

from course_lib.errors import BadInput
from course_lib.machines.cuda_c.scopes import around

NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")
SHARED = re.compile(r"\b__shared__\b[^;{}]*(?:\{[^{}]*\}[^;{}]*)?;")
BEFORE = re.compile(r"((?:[A-Za-z_][\w:]*(?:\s*<[^;{}]*>)?[\s*]+)*)\Z")


def edit_shared(text, found):
    """[(start, end, new text)]. text: of the source, nothing in it but code; found: its scopes."""
    edits = []
    for m in SHARED.finditer(text):
        begun = max(text.rfind(c, 0, m.start()) for c in ";{}") + 1
        start = m.start() - len(BEFORE.findall(text[begun : m.start()])[0])
        scope = around(found, start)
        said = " ".join(text[start : m.end()].split())
        try:
            if scope and scope.kind == "class":
                raise BadInput(f"a member of a class cannot be __shared__: {said}")
            dynamic = "extern" in said.split()
            parts = [_made(dynamic, *part) for part in _declared(said)]
        except BadInput as wrong:
            raise BadInput(f"line {text.count(chr(10), 0, m.start()) + 1}: {wrong}") from None
        new = ""
        for name, sign, first, made in parts:
            if scope and scope.kind == "function":
                new += f"{first}auto {sign}{name} = {made}; "
            else:
                function = f"COURSE_INLINE auto {sign}course_shared_{name}()"
                new += f"{first}{function} {{ return {made}; }} "
                edits += _used(text, found, m.end(), name)
        edits.append((start, m.end(), new + "\n" * text.count("\n", start, m.end())))
    return edits


def _declared(said):
    """(type, name, dimensions) of each variable of a declaration."""
    base = ""
    for part in split(re.sub(r"\b(?:__shared__|extern|static)\b", " ", said[:-1])):
        named = NAME.search(part)
        before = part[: named.start()].strip() if named else ""
        if "=" in part and "{" not in part:
            raise BadInput(f"shared memory has no first value: {said}")
        if not named or not (base or before):
            raise BadInput(f"this declaration is not understood: {said}")
        # only the first name comes with the type
        kind = f"{base.rstrip('* ')} {before}" if base else before
        base = base or before
        yield kind, named[1], named[2].strip()


def _made(dynamic, kind, name, dimensions):
    """(name, & or *, what comes before, what it is) of one variable."""
    if dynamic and not dimensions:
        raise BadInput(f"extern __shared__ memory is an array: {name}[]")
    first = ""
    if "{" in kind:  # a type of its own
        first, kind = f"typedef {kind} course_type_{name}; ", f"course_type_{name}"
    if dynamic:
        inner = dimensions.partition("]")[2]
        return name, "*", first, f"COURSE_DYNAMIC_SHARED({name}, {kind} {inner})"
    return name, "&", first, f"COURSE_SHARED({name}, {kind} {dimensions})"


def _used(text, found, after, name):
    """The edits for the functions behind `after` that use this shared memory of the file, by name."""
    for scope in found:
        outer = scope.kind == "function" and (not scope.parent or scope.parent.kind != "function")
        if outer and scope.opened > after:
            used = re.search(rf"\b{name}\b", text[scope.head : scope.closed])
            start, end = scope.opened + 1, scope.closed - 1
            if used and used.start() >= start - scope.head:  # not a parameter of that name
                yield start, start, f"auto &&{name} = course_shared_{name}(); {{"
                yield end, end, "}"


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
