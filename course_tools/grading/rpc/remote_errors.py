"""Errors of the other process, made again here so that they do no harm."""

import linecache
import traceback
from typing import Any

from course_tools.grading.rpc import codec

CELLS = ("<", "/tmp/ipykernel_")  # how the file names of a student's cells begin
TEXT = 4000  # characters of an error's text that travel
UNFIT = (UnicodeError, StopIteration, StopAsyncIteration, ConnectionError)


class RemoteError(Exception):
    """An error of a kind that is not known here."""


class Errors:
    """The errors of one connection, both ways. guarded: the other side is a student's process, which is told little."""

    def __init__(self, guarded):
        self.guarded = guarded
        self._raised: list[BaseException] = []  # what was told to the other side, and may come back

    def forget(self):
        """What was told so far will not be known when it comes back."""
        self._raised = []

    def described(self, error, depth=4):
        """An error as data: its kind, its text, where it comes from. A student's: the lines of cells that it passed,
        and the error that it was raised over (depth: of so many)."""
        said = {
            "type": _name_of(type(error)),
            "text": _text_of(error),
            "was": getattr(error, "peer_was", None),
        }
        if self.guarded:
            self._raised.append(error)
            return said | {"was": len(self._raised) - 1}
        over = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        said["over"] = self.described(over, depth - 1) if over is not None and depth else None
        return said | {"lines": _lines_passed(error)}

    def remade(self, given, method="", depth=4):
        """The error of the other side, to be raised here; the very one, where it came from here."""
        given = given if isinstance(given, dict) else {}
        was = given.get("was")
        if self.guarded and type(was) is int and 0 <= was < len(self._raised):
            known: Any = self._raised[was]
            known.remote_lines = lines(given.get("lines"))
            known.of_answer = True  # it has passed through there
            return known
        kind, text = str(given.get("type", ""))[:80], str(given.get("text", ""))[:TEXT]
        error = plain(kind, text, method == "__next__")
        error.remote_lines = lines(given.get("lines"))
        error.peer_was, error.of_answer = was, True
        if isinstance(given.get("over"), dict) and depth:
            error.__cause__ = self.remade(given["over"], "", depth - 1)
        return error


def _name_of(kind):
    """Its class's name, past a metaclass that has another idea of it."""
    return vars(type)["__name__"].__get__(kind)


def _text_of(error):
    """Its text. One whose __str__ raises has none: else that would end the thread that answers, and its caller wait."""
    try:
        return str(error)[:TEXT]
    except Exception:
        return "(an error without a text)"


def _lines_passed(error):
    """[file, line, function, text] of the lines of cells that an error came through, the last 20."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(CELLS)
    ]
    return [
        [
            f.filename,
            f.lineno,
            f.name,
            (f.line or linecache.getline(f.filename, f.lineno or 0)).strip(),
        ]
        for f in frames[-20:]
    ]


def plain(name, text, ends_iteration):
    """An error that does no more here than an Exception does: none that ends loops, threads or the process unseen."""
    if name == "StopIteration" and ends_iteration:
        return StopIteration()
    kind = codec.ERRORS.get(name)
    if kind is None or not _harmless(kind):
        kind = type(name or "error", (RemoteError,), {})
    try:
        return kind(text)
    except Exception:
        return RemoteError(f"{name}: {text}")


def _harmless(kind):
    return kind is SystemExit or (issubclass(kind, Exception) and not issubclass(kind, UNFIT))


def lines(given):
    """[file, line, name, text] of the student's lines, as far as they are that."""
    rows = [
        row
        for row in (given if isinstance(given, list) else [])[:20]
        if isinstance(row, list) and len(row) == 4
    ]
    return [
        [str(file)[:200], line, str(name)[:200], str(text)[:200]]
        for file, line, name, text in rows
        if type(line) is int
    ]
