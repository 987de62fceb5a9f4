"""One rehearsal of a check: the arguments made ready, the student's function run on pretend ranks, what came of it."""

import functools
import inspect
from dataclasses import dataclass, field, replace

import numpy as np

from course_lib.checks.kit.inputs import poison
from course_lib.checks.kit.runs import Tried
from course_lib.checks.kit.trees import copied, same, tree_map
from course_lib.errors import BadInput
from course_lib.machines.rehearsal.report import Report
from course_lib.machines.rehearsal.run import rehearse_each

SECONDS = 3.0  # all ranks of one rehearsal together
FATAL = (
    "exception",
    "truncation",
    "mismatch",
    "deadlock",
    "timeout",
)  # after these there are no results


@dataclass(frozen=True)
class RankCase:
    """One run: args, a tuple that every rank gets a copy of, or a list of n tuples; a label for messages.

    K: additions in the longest sum. scale: as in `Case`. shows: what a wrong True or False in this case alone tells.
    """

    args: tuple | list
    label: str = ""
    K: int = 1
    scale: float | str | None = None
    shows: str = ""

    def for_ranks(self, n):
        """The n tuples."""
        args = list(self.args) if isinstance(self.args, list) else [self.args] * n
        if len(args) != n or not all(isinstance(given, tuple) for given in args):
            raise BadInput(f"RankCase: args must be a tuple, or a list of {n} tuples")
        return args


@dataclass
class Run(Tried):
    """What a rehearsal gave. args: of each rank, as they were; after: as they are now; values: what is compared."""

    n: int
    case: RankCase
    report: Report
    args: list
    after: list
    values: list
    want: list = field(default_factory=list)
    wrong: list = field(default_factory=list)  # (rank, Mismatch)
    schedule: int | None = None

    @property
    def fatal(self):
        """The error after which there are no results, or None."""
        fatal = [e for e in self.report.errors if e["tool"] in FATAL]
        cut = (e for e in fatal if e["tool"] == "truncation")  # others may stop because of it
        return next(cut, next(iter(fatal), None))

    @property
    def finding(self):
        """What the rehearsal found in a run that came to its end, or None."""
        return None if self.fatal else next(iter(self.report.errors), None)

    def changed(self, allowed):
        """(rank, position) of the first argument that is not what it was, or None."""
        for rank, (before, after) in enumerate(zip(self.args, self.after, strict=True)):
            for i, (old, new) in enumerate(zip(before, after, strict=True)):
                if i not in allowed and not same(old, new):
                    return rank, i
        return None


def run_case(fn, n, case, check, schedule=None, seconds=SECONDS):
    """A `Run` of fn, which is given copies, and so many seconds."""
    args = [
        tuple(_poisoned(arg) if i in check.out else _copied(arg) for i, arg in enumerate(given))
        for given in case.for_ranks(n)
    ]
    alpha, beta = check.network
    rehearse = getattr(fn, "rehearse_each", None) or functools.partial(
        rehearse_each, fn
    )  # its ranks may be elsewhere
    report, after = rehearse(args, check.eager, schedule, alpha, beta, seconds)
    values = report.results
    if check.inplace is not None:
        values = [given[check.inplace] for given in after]
    return Run(n, case, replace(report, results=values), args, after, values, schedule=schedule)


def argument_names(fn, count):
    """The names of a function's arguments after comm."""
    try:
        names = list(inspect.signature(fn).parameters)[1:]
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"argument {i}" for i in range(len(names) + 1, count + 1))][:count]


def _copied(arg):
    """A copy in which arrays lie in memory as they did."""
    return tree_map(
        lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else copied(leaf), arg
    )


def _poisoned(arg):
    return tree_map(
        lambda leaf: (
            poison(*leaf.shape, dtype=leaf.dtype) if isinstance(leaf, np.ndarray) else leaf
        ),
        arg,
    )
