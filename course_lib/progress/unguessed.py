"""`my_guess = ...`: a guess that nobody has made yet. It reads as "…" wherever the notebook shows it."""

import ast
import re

MADE = re.compile(r"my-.*|.*-guess")  # ids of the cells that take a guess
SAY = "No guess yet: replace ... with yours and run this cell again, or just continue."


class Unguessed(str):
    """Stands for a guess in every expression: shown as "…", equal to nothing, and arithmetic leaves it as it is."""

    def __new__(cls):
        """Always the same text."""
        return super().__new__(cls, "…")

    def __format__(self, form):
        """The sign "…", as wide as the form asks."""
        width = re.match(r"(?:.?[<>=^])?[-+ ]?#?0?(\d*)", form)
        return str.__format__("…", f">{width[1]}" if width and width[1] else "")

    def __repr__(self):
        """Without quotation marks, also in a list."""
        return "…"

    def __bool__(self):
        """Nothing was said."""
        return False

    def __eq__(self, other):
        """Equal to another one alone."""
        return isinstance(other, Unguessed)

    __hash__ = str.__hash__

    def _itself(self, *_):
        return self

    def _no(self, *_):
        return False

    def __iter__(self):
        """Once itself."""
        yield self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _itself
    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _itself
    __neg__ = __abs__ = __round__ = __getitem__ = _itself
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _no


def is_blank(value):
    """Does the value hold a guess that was not made: ..., or a collection with one in it?"""
    if isinstance(value, dict):
        return any(map(is_blank, value.values()))
    if isinstance(value, list | tuple):
        return any(map(is_blank, value))
    return value is ... or isinstance(value, Unguessed)


def filled(value):
    """The value with an `Unguessed` in the place of every `...`."""
    if isinstance(value, dict):
        return {key: filled(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(filled, value))
    return Unguessed() if value is ... else value


def assigned(source):
    """The names that a cell assigns at its top level; none where it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
