"""An Answer: the student's function called on copies of the inputs, and all that happened written down."""

import contextlib
import io
import linecache
import os
import time
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.kit.trees import copied, paths, same
from course_lib.machines.rehearsal.memory.unwritten import nothing_in_empty

PRINT_LIMIT = 4_000  # characters kept of what a student's function prints
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # checks/


@dataclass(frozen=True)
class Change:
    """An array among the arguments that is not what it was. slight: it differs by rounding alone."""

    argument: int | str  # position or name
    path: tuple = ()  # of the array inside a list or dict
    slight: bool = False
    relisted: bool = False  # another array lies at that place: the list was changed
    reordered: bool = False  # the list has the same entries in another order
    form: str = ""  # "shape (3,)": its own attribute was set, and its numbers are as they were


@dataclass
class Answer:
    """What one call gave, as plain data."""

    value: object = None
    error: str | None = None  # "ValueError: ..." if the call raised
    line: str | None = None  # the student's line that raised
    blank: str | None = None  # the function that is not written yet: "" is the one called
    changes: list = field(default_factory=list)  # a Change for each array that was changed
    returned: object = None  # what was returned by a function that works in place
    printed: str = ""
    warned: list = field(default_factory=list)
    seconds: float = 0.0  # of the processor, for the call


class _Capped(io.StringIO):
    """A text stream that keeps the first PRINT_LIMIT characters."""

    def write(self, text):
        room = PRINT_LIMIT - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


def answer_to(case, fn, inplace=None, post=None):
    """The `Answer` of fn to a case: called on copies of its arguments, its prints and warnings caught."""
    args, kwargs = copied(case.args), copied(case.kwargs)
    held = {key: dict(paths(arg)) for key, arg in (*enumerate(args), *kwargs.items())}
    answer, out, begun = Answer(), _Capped(), time.process_time()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            with nothing_in_empty():
                value = fn(*args, **kwargs)
            if inplace is not None:
                answer.returned, value = copied(value), argument(args, kwargs, inplace)
            answer.value = copied(_read(post, value))
        except (Exception, SystemExit) as error:
            answer.blank = blank_in(error)
            answer.error, answer.line = short_error(error), students_line(error, fn)
    answer.printed, answer.seconds = out.getvalue(), time.process_time() - begun
    answer.warned = sorted({str(w.message) for w in caught})
    answer.changes = [
        c for i, arg in enumerate(args) for c in _changes(i, case.args[i], arg, held[i])
    ]
    answer.changes += [
        c for key, arg in kwargs.items() for c in _changes(key, case.kwargs[key], arg, held[key])
    ]
    return answer


def _changes(argument, before, after, held):
    """The `Change`s of one argument; one for the whole where its form has changed. held: what was handed over."""
    if same(before, after):
        return []
    old, new = dict(paths(before)), dict(paths(after))
    turned = reordered(before, after)
    if list(old) != list(new):
        return [Change(argument, relisted=True, reordered=turned)]
    return [
        Change(
            argument,
            path,
            _slight(old[path], new[path]),
            new[path] is not held[path],
            turned,
            new_form(old[path], new[path]),
        )
        for path in old
        if not same(old[path], new[path])
    ]


def reordered(before, after):
    """Has a list the same entries in another order?"""
    return isinstance(before, list) and sorted(map(repr, before)) == sorted(map(repr, after))


def _slight(before, after):
    """Differ two float arrays by a few roundings only?"""
    if (
        not isinstance(before, np.ndarray)
        or before.dtype.kind != "f"
        or np.shape(after) != before.shape
    ):
        return False
    scale = 1 + np.abs(before).max(initial=0.0)
    return bool((np.abs(after - before) <= 8 * np.finfo(before.dtype).eps * scale).all())


def new_form(before, after):
    """ "shape (3,)" of an array that has the same bytes in another form, or "dtype int32"."""
    if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray):
        return ""
    if before.tobytes() != after.tobytes():
        return ""
    if before.dtype != after.dtype:
        return f"dtype {after.dtype}"
    return f"shape {after.shape}" if before.shape != after.shape else ""


def blank_in(error):
    """Which function is not written yet: "" the one that was called, else the name of one that it calls; None: no."""
    if not isinstance(error, NotImplementedError):
        return None
    if told := getattr(error, "remote_lines", None):
        return told[-1][2] if len(told) > 1 else ""
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if not f.filename.startswith(HERE + os.sep)
    ]
    return frames[-1].name if len(frames) > 1 else ""


def _read(post, value):
    """What `post` reads from a result; the result itself where it cannot: comparing then says what is wrong."""
    try:
        return post(value) if post and value is not None else value
    except (AttributeError, TypeError, IndexError, KeyError, ValueError):
        return value


def argument(args, kwargs, which):
    """The argument at a position (int) or of a name (str)."""
    return args[which] if isinstance(which, int) else kwargs[which]


def short_error(error):
    """ "ValueError: message", the message cut after a few lines."""
    text = "\n".join(str(error).splitlines()[:4])[:500]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def students_line(error, fn):
    """ "line 3 of affine: return X @ W" of the innermost frame in the student's own code, or None.

    remote_lines: (file, line, function, text) of an error that comes from another process.
    """
    if told := getattr(error, "remote_lines", None):
        _, line, name, text = told[-1]
        return f"line {line} of {name}" + (f": {text}" if text else "")
    own = getattr(getattr(fn, "__code__", None), "co_filename", None)
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if not f.filename.startswith(HERE + os.sep)
    ]
    mine = [f for f in frames if f.filename == own or "ipykernel_" in f.filename]
    if not mine:
        return None
    frame = mine[-1]
    text = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return f"line {frame.lineno} of {frame.name}" + (f": {text}" if text else "")
