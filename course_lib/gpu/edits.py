"""Two kernels that differ in a few lines: the second made from the first, and what changed, marked."""

from difflib import SequenceMatcher

from course_lib.errors import BadInput


def edited(source, *changes):
    """The kernel after all changes, pairs (old text, new text). Each old text stands in it exactly once."""
    for old, new in changes:
        if (found := source.count(old)) != 1:
            raise BadInput(f"{old!r} must stand in the source once, not {found} times")
        source = source.replace(old, new)
    return source


def marked(before, after):
    """The lines that differ, with the numbers that a report names: "-" goes, "+" comes. Empty ones are left out."""
    old, new = before.splitlines(), after.splitlines()
    rows = []
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            rows += _numbered("-", old, i, i_end) + _numbered("+", new, j, j_end)
    return "\n".join(rows) or "no line differs"


def _numbered(sign, lines, start, end):
    return [f"{sign}{n + 1:4}  {lines[n]}" for n in range(start, end) if lines[n].strip()]
