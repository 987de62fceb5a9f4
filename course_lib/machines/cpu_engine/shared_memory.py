"""Declarations of shared memory become references into the block's arena: those of a kernel in their place, those of
the file as a function, and a reference at the start of each function that uses the name."""

import re

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.scopes import around

NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$")
SHARED = re.compile(r"\b__shared__\b[^;{}]*(?:\{[^{}]*\}[^;{}]*)?;")
BEFORE = re.compile(r"(?:[A-Za-z_][\w:]*(?:\s*<[^;{}]*>)?[\s*]+)*$")
UNDERSTOOD = "this declaration is not understood"


def edit_shared(text, found):
    """[(start, end, new text)]. text: of the source, nothing in it but code; found: its scopes."""
    edits = []
    for m in SHARED.finditer(text):
        begun = max(text.rfind(c, 0, m.start()) for c in ";{}") + 1
        start = begun + BEFORE.search(text[begun : m.start()]).start()
        start += len(text[start:]) - len(text[start:].lstrip())
        scope = around(found, start)
        if scope and scope.kind == "class":
            raise _bad(text, start, "a member of a class cannot be __shared__")
        parts = [_reference(text, start, *part) for part in _declared(text, start, m.end())]
        end = "\n" * text.count("\n", start, m.end())
        if scope and scope.kind == "function":
            made = (f"auto {sign}{name} = {made}; " for sign, name, made in parts)
            edits.append((start, m.end(), "".join(made) + end))
            continue
        made = (
            f"COURSE_INLINE auto {sign}course_shared_{name}() {{ return {made}; }} "
            for sign, name, made in parts
        )
        edits.append((start, m.end(), "".join(made) + end))
        for _, name, _ in parts:
            edits += _used(text, found, m.end(), name)
    return edits


def _declared(text, start, end):
    """(is it extern?, type, name, dimensions) of each variable of a declaration."""
    whole = text[start : end - 1]
    base = ""
    for part in split(re.sub(r"\b(?:__shared__|extern|static)\b", " ", whole)):
        named = NAME.search(part)
        before = part[: named.start()].strip() if named else ""
        if not named or not (base or before) or "=" in part:
            said = UNDERSTOOD if "=" not in part else "shared memory has no first value"
            raise _bad(text, start, f"{said}: {' '.join(whole.split())};")
        # only the first name comes with the type
        kind = f"{base.rstrip('* ')} {before}" if base else before
        base = base or before
        yield re.search(r"\bextern\b", whole) is not None, kind, named[1], " ".join(named[2].split())


def _reference(text, start, dynamic, kind, name, dimensions):
    if not dynamic:
        return "&", name, f"COURSE_SHARED({name}, {kind} {dimensions})"
    if not dimensions:
        raise _bad(text, start, f"extern __shared__ memory is an array: {name}[]")
    rest = dimensions.partition("]")[2].strip()
    return "*", name, f"COURSE_DYNAMIC_SHARED({name}, {kind} {rest})"


def _used(text, found, after, name):
    """The edits for the functions behind `after` that use this shared memory of the file, by name."""
    for scope in found:
        outer = scope.kind == "function" and (not scope.parent or scope.parent.kind != "function")
        given = re.search(rf"\b{name}\b", text[scope.head : scope.opened])
        if outer and not given and scope.opened > after and _mentions(text, scope, name):
            yield scope.opened + 1, scope.opened + 1, f"auto &&{name} = course_shared_{name}(); {{"
            yield scope.closed - 1, scope.closed - 1, "}"


def _mentions(text, scope, name):
    return re.search(rf"\b{name}\b", text[scope.opened : scope.closed]) is not None


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
