"""Errors of the other process, made again here so that they do no harm."""

from course_tools.grading.rpc import codec

UNFIT = (UnicodeError, StopIteration, StopAsyncIteration, ConnectionError)


class RemoteError(Exception):
    """An error of a kind that is not known here."""


def plain(name, text, ends_iteration):
    """An error that does no more here than an Exception does: none that ends loops, threads or the process unseen."""
    kind = codec.ERRORS.get(name)
    if name == "StopIteration" and ends_iteration:
        return StopIteration()
    if (
        kind is not None
        and kind is not SystemExit
        and (not issubclass(kind, Exception) or issubclass(kind, UNFIT))
    ):
        kind = None
    try:
        return (kind or type(name or "error", (RemoteError,), {}))(text)
    except Exception:
        return RemoteError(f"{name}: {text}")


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
