"""The kinds of failure. A check says which one it is where it raises it, so that nobody has to read its sentences.

wrong        what the check has seen of the answer is not right, on any machine
clock        a wait or a time limit ran out, and nothing else speaks against the answer
unavailable  the check needs what this machine does not have: a compiler, a package, a folder to write to
blank        there is no answer yet
broken       the check itself is wrong: the author's mistake

A grader makes of them, in this order: wrong; wrong, or inconclusive where the machine was too busy; not-run-here;
missing; inconclusive.

`unavailable` is said of errors that the checks' own side has raised. What an answer raises or prints is no evidence of
anything but the answer: an error that comes from the student's process is never one of the types that are looked for.
"""

from course_lib.errors import OutOfTime, Unavailable

KINDS = WRONG, CLOCK, UNAVAILABLE, BLANK, BROKEN = (
    "wrong",
    "clock",
    "unavailable",
    "blank",
    "broken",
)
PACKAGES = ("ipyparallel", "matplotlib", "mpi4py", "numba")  # that checks may need, beside NumPy


def is_lacking(error):
    """Does this error say that the machine lacks something? By its type, and by the module that was not found."""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").partition(".")[0] in PACKAGES
    return isinstance(error, Unavailable)


def kind_of(error):
    """The kind of what a check has raised; `wrong` for errors of no kind: they prove nothing in an answer's favour."""
    if is_lacking(error):
        return UNAVAILABLE
    kind = CLOCK if isinstance(error, OutOfTime) else getattr(error, "kind", WRONG)
    return kind if kind in KINDS else WRONG
