"""What a notebook's kernel notes after each cell: a check's verdict, a guess that was made or left blank."""

import sys

from course_lib.progress import journal, verdicts
from course_lib.progress.unguessed import MADE, SAY, assigned, filled, is_blank

CELLS: dict = {}  # what ran last in each cell of this kernel: the answer that a check then judges
KIT = "course_lib.checks.kit.inputs"  # it remembers the seed


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
        checked(cell.removesuffix("-check"), result.error_before_exec or result.error_in_exec)
        return
    CELLS[cell] = source
    names = [name for name in assigned(source) if name in shell.user_ns]
    blank = [name for name in names if is_blank(shell.user_ns[name])]
    for name in blank:
        shell.user_ns[name] = filled(shell.user_ns[name])
    if blank:
        print(SAY)
    elif MADE.fullmatch(cell):
        for name in names:
            journal.write(kind="guess", name=name, cell=cell, said=repr(shell.user_ns[name])[:200])


def checked(task, error):
    """A check has run. error: what it raised, or None."""
    seed = getattr(sys.modules.get(KIT), "LAST", {}).pop("seed", None)
    if not journal.in_exercise():
        return
    if error is None or _is(error, "CheckFailed"):
        journal.write(kind="check", name=task, right=error is None)
    if error is None or _is(error, "CheckFailed", "CheckBroken"):
        message = "✔ right" if error is None else str(error)
        verdicts.keep(task, error is None, message, seed, CELLS.get(task))


def _is(error, *names):
    """Is it a check's own verdict, and not a name that is missing? The kit's classes are known by their names."""
    return any(kind.__name__ in names for kind in type(error).__mro__)
