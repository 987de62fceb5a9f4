"""Macros that declare kernels or variables of the device are put in where they are used, so that these are found."""

import re

from course_lib.machines.cuda_c.scopes import CALLED, blank
from course_lib.machines.cuda_c.shared_memory import split

MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:[^\n\\]|\\\n|\\.)*__(?:global|shared|constant)__"
    r"(?:[^\n\\]|\\\n|\\.)*)$",
    re.MULTILINE,
)


def expand(code):
    """The source without such macros, line for line. code: without comments."""
    while m := MACRO.search(code):
        body = " ".join(m[3].replace("\\\n", " ").split())
        rest = code[m.end() :]
        rest = _called(m, body, rest) if m[2] else _named(m[1], body, rest)
        code = code[: m.start()] + blank(m) + rest
    return code


def _named(name, body, rest):
    return re.sub(rf"\b{name}\b", lambda _: body, rest)


def _called(macro, body, rest):
    """The text behind a macro with parameters, with its calls put in."""
    names = split(macro[2][1:-1])
    call = re.compile(rf"\b{macro[1]}\s*({CALLED})")

    def put_in(m):
        given = dict(zip(names, split(m[1][1:-1]), strict=False))
        one = "|".join(map(re.escape, given)) or "$^"
        text = re.sub(rf"\b(?:{one})\b", lambda name: given[name[0]], body)
        return re.sub(r"\s*##\s*", "", text) + "\n" * m[0].count("\n")

    return call.sub(put_in, rest)
