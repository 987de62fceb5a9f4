"""A case, and what became of it."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.kit.messages import CheckBroken, cannot_check
from course_lib.checks.kit.probe import Answer


@dataclass(frozen=True)
class Case:
    """One call: positional arguments, a label for messages ("one example"), keyword arguments, a scale or None.

    scale: the size of the numbers that were summed, where the sums cancel and max |wanted| is too small a measure;
    "entry": each entry's own |wanted|, where small ones matter as much as large ones.
    """

    args: tuple
    label: str = ""
    kwargs: dict = field(default_factory=dict)
    scale: float | str | None = None


def drawn(check, kind, seed, *given):
    """The cases of a check, a list of this kind that is not empty. given: what its `cases` takes."""
    try:
        cases = list(check.cases(*given))
    except Exception as error:
        raise cannot_check(check.name, "its cases raise", error, seed) from error
    if not cases or not all(isinstance(case, kind) for case in cases):
        what = f"its cases must be a list of {kind.__name__}, and not an empty one"
        raise CheckBroken(check.name, what, seed)
    return cases


@dataclass
class Result:
    """One case with its answer, the wanted result and what is wrong (`misses`)."""

    case: Case
    answer: Answer
    want: object
    misses: list
    names: list
    inplace: int | str | None = None
    may_change: tuple = ()  # arguments that the task changes as well

    def named_arrays(self):
        """(name, array) of every argument that is an array with at least one axis."""
        pairs = [*zip(self.names, self.case.args, strict=False), *self.case.kwargs.items()]
        return [(name, arg) for name, arg in pairs if isinstance(arg, np.ndarray) and arg.ndim]

    def is_square(self):
        """Has every two-dimensional argument as many rows as columns?"""
        shapes = [arg.shape for _, arg in self.named_arrays() if arg.ndim == 2]
        return bool(shapes) and all(rows == columns for rows, columns in shapes)

    def changed_names(self, allowed=()):
        """Names of the arguments that the function changed, without the allowed ones (positions or names)."""
        return list(dict.fromkeys(self.name_of(c.argument) for c in self.changes(allowed)))

    def changes(self, allowed=()):
        """The `Change`s of arguments other than the allowed ones (positions or names)."""
        return [c for c in self.answer.changes if c.argument not in allowed]

    def name_of(self, argument):
        """The name of an argument, given by its position or its name."""
        return argument if isinstance(argument, str) else self.names[argument]

    def part_of(self, change):
        """The changed part in words: "b of params[0]", "lists[2]", "theta"."""
        name, path = self.name_of(change.argument), change.path
        if change.relisted:
            return name
        if name == "params" and len(path) == 2 and path[1] in (0, 1):
            return f"{'Wb'[path[1]]} of params[{path[0]}]"
        return name + "".join(f"[{p!r}]" for p in path)
