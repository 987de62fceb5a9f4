"""What a rank's own lines make of memory that belongs to MPI: after each line, what its variables hold.

Two runs that differ in the poison alone leave the same trail unless a line has read the poison.
"""

import functools
import sys
import types
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 300  # lines of a rank that are written down
FEW = 50  # elements of a list that are looked at
DEEP = 2  # lists in lists, and attributes of objects
SMALL = 4096  # bytes of an array that are looked at whole


@dataclass
class Step:
    """After `before` and before `line` of a file: the variables; whose request was under way."""

    file: str
    before: int
    line: int
    function: str
    values: dict
    request: tuple


class Trail:
    """One rank's steps, while MPI holds memory of it. file: of the program."""

    def __init__(self, file, mine):
        self.file, self._mine, self.steps = file, mine, list[Step]()
        self._holds: list = []
        self._last: dict = {}

    def start(self, holds):
        """From now on, in this thread."""
        self._holds = holds
        if len(holds) > 1 or len(self.steps) >= MOST:
            return
        frame: Any = sys._getframe()
        sys.settrace(self._look)
        while frame is not None:
            if self._mine(frame):
                frame.f_trace = self._look
                self._last[frame] = frame.f_lineno
            frame = frame.f_back

    def stop(self, holds):
        """Where nothing is held any more."""
        if not holds:
            sys.settrace(None)
            self._last.clear()

    def _look(self, frame, event, arg):
        if not self._mine(frame):
            return None
        if event == "line" and self._holds:
            self._note(frame)
        self._last[frame] = frame.f_lineno
        return self._look

    def _note(self, frame):
        if len(self.steps) >= MOST:
            sys.settrace(None)
            return
        line = frame.f_lineno
        code, before = frame.f_code, self._last.get(frame, line)
        seen = {name: self._seen(value) for name, value in frame.f_locals.items()}
        values = {name: value for name, value in seen.items() if value is not None}
        held = [hold for hold in self._holds if hold.lands] or self._holds
        request = held[0].request
        told = (request.op, request.place)
        self.steps.append(Step(code.co_filename, before, line, code.co_name, values, told))

    def _seen(self, value, depth=DEEP):
        """What can be compared of a value; None: nothing, as of arrays in MPI's memory."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return repr(value)[:200]
        if isinstance(value, np.generic):
            return None if value.dtype.hasobject else repr(value)[:200]
        if isinstance(value, np.ndarray):
            return self._of_array(value)
        if depth and isinstance(value, list | tuple) and len(value) <= FEW:
            return tuple(self._seen(part, depth - 1) for part in value)
        if depth and isinstance(value, dict) and len(value) <= FEW:
            return tuple(self._seen(part, depth - 1) for part in value.values())
        inner = getattr(value, "__dict__", None)
        if depth == DEEP and isinstance(inner, dict) and _is_theirs(value):
            return self._seen(inner, depth - 1)
        return None

    def _of_array(self, array):
        views = [view for hold in self._holds for view in hold.views(True)]
        if array.dtype.hasobject or any(np.may_share_memory(array, view) for view in views):
            return None
        if array.nbytes > SMALL:
            array = array.ravel()[:: max(array.size // 256, 1)][:512]
        return array.shape, zlib.crc32(np.ascontiguousarray(array).tobytes())


def _is_theirs(value):
    """Is it an object of the program's own kinds? Not a module, function or class; not ours."""
    known = isinstance(value, type | types.ModuleType) or callable(value)
    return not known and not type(value).__module__.startswith("course_lib.machines.")


def clean_memory():
    """From now on np.empty gives zeros: what lay there before differs from run to run, and nobody has read it."""
    for name in ("empty", "empty_like"):
        setattr(np, name, _zeroed(getattr(np, name)))


def _zeroed(make):
    @functools.wraps(make)
    def made(*args, **named):
        array = make(*args, **named)
        if isinstance(array, np.ndarray) and not array.dtype.hasobject:
            np.copyto(array, np.zeros((), array.dtype))
        return array

    return made


class NoTrail:
    """Of a rank whose lines nobody looks at."""

    steps = ()

    def start(self, holds):
        """Nothing to do."""

    def stop(self, holds):
        """Nothing to do."""
