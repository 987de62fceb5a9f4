"""What a notebook's kernel notes after each cell: a check's verdict, a guess that was made or left blank."""

import sys

from course_lib.progress import journal
from course_lib.progress.unguessed import MADE, SAY, assigned, filled, is_blank


def begin():
    """Watch the cells of this kernel, once; nothing happens outside of IPython."""
    shell = _shell()
    if shell is not None and not getattr(shell, "course_watches", False):
        shell.course_watches = True
        shell.events.register("post_run_cell", lambda result: after(shell, result))


def _shell():
    loaded = sys.modules.get("IPython")
    return loaded.get_ipython() if loaded and hasattr(loaded, "get_ipython") else None


def after(shell, result):
    """What a cell that has run says about checks and guesses."""
    cell = result.info.cell_id or ""
    source = result.info.raw_cell or ""
    if cell.endswith("-check"):
        error = result.error_before_exec or result.error_in_exec
        if journal.in_exercise() and (error is None or _judges(error)):
            journal.write(kind="check", name=cell.removesuffix("-check"), right=error is None)
        return
    names = [name for name in assigned(source) if name in shell.user_ns]
    blank = [name for name in names if is_blank(shell.user_ns[name])]
    for name in blank:
        shell.user_ns[name] = filled(shell.user_ns[name])
    if blank:
        print(SAY)
    elif MADE.fullmatch(cell):
        for name in names:
            journal.write(kind="guess", name=name, cell=cell, said=repr(shell.user_ns[name])[:200])


def _judges(error):
    """Is it a check's own verdict, and not a name that is missing?"""
    return any(kind.__name__ == "CheckFailed" for kind in type(error).__mro__)
