"""Where a rank is, or what happened to it, in lines of the student's cells: plain text, the same on each run."""

import os
import re
import sys
import traceback

BOOKS = os.path.dirname(__file__)
OURS = BOOKS, os.path.join(os.path.dirname(BOOKS), "ranks")
MOST = 4  # calls that are shown of a deep recursion, at each end
# The innermost of these stands between the machinery and the student's code: (file, function)
running = 0  # the number of the running cell
RUNS_A_CELL = (("interactiveshell.py", "run_code"), ("rank.py", "call"))


def student(stack):
    """The entries of a stack from the cell on; None while no cell is run."""
    starts = [i for i, entry in enumerate(stack) if runs_a_cell(entry.filename, entry.name)]
    return stack[starts[-1] + 1 :] if starts else None


def runs_a_cell(file, name):
    """Is it the call in which the student's code is run?"""
    return (os.path.basename(file), name) in RUNS_A_CELL


def words(op):
    """Of an operation (call, code, line): "Send (line 3: comm.Send(x, dest=1))"."""
    call, code, line = op
    return f"{call} ({place(traceback.FrameSummary(code.co_filename, line, code.co_name))})"


def cells():
    """{file name: number} of the cells that a rank knows."""
    return sys.modules["IPython"].get_ipython().compile._filename_map


def number(entry):
    """The number of the cell that an entry stands in, or None."""
    return cells().get(entry.filename)


def place(entry):
    """ "line 3: comm.Barrier()", "line 3 of In[5], in step: comm.Barrier()", "line 12 of shards.py, in split: ..." """
    cell = number(entry)
    file = (
        f" of {os.path.basename(entry.filename)}"
        if cell is None
        else f" of In[{cell}]"
        if cell != running
        else ""
    )
    name = "" if entry.name.startswith("<") else f", in {entry.name}"
    return f"line {entry.lineno}{file}{name}" + (f": {entry.line}" if entry.line else "")


def of_place(stack):
    """Where a rank is: its innermost line of a cell, and where in a library it is from there."""
    stack = [e for e in student(stack) or () if os.path.dirname(e.filename) not in OURS]
    if not stack:
        return "had finished the cell"
    own = [entry for entry in stack if number(entry) is not None] or stack[:1]
    return f"was in {place(own[-1])}" + (
        "" if own[-1] is stack[-1] else f"; there in {place(stack[-1])}"
    )


def of_error(error):
    """The way to an error: each line of a cell on it, and the line of a library where it was raised."""
    stack = list(traceback.extract_tb(error.__traceback__))
    inside = student(stack)
    stack = [
        e for e in (stack if inside is None else inside) if os.path.dirname(e.filename) not in OURS
    ]
    own = [entry for entry in stack if number(entry) is not None] or stack[:1]
    own += stack[-1:] if stack and own[-1] is not stack[-1] else []
    rows = [f"  {place(entry)}" for entry in own]
    rows[MOST:-MOST] = ["  ..."] if len(rows) > 2 * MOST else rows[MOST:-MOST]
    rows += [f"  {note}" for note in getattr(error, "__notes__", ())]
    if error.__cause__ is not None:
        rows.append(f"  caused by {type(error.__cause__).__name__}: {error.__cause__}")
    return "\n".join(rows)


def of_trace(text):
    """Where a rank is, from what faulthandler wrote of it: it is in compiled code that lets nothing else run."""
    for block in text.split("\n\n"):
        calls = re.findall(r'File "(.+?)", line (\d+) in (.+)', block)
        cell = [i for i, (file, _, name) in enumerate(calls) if runs_a_cell(file, name)]
        if cell and cell[0]:
            own = [(line, name) for file, line, _ in calls[: cell[0]] if (name := _cell(file))]
            line, name = own[0] if own else (calls[cell[0] - 1][1], "the cell")
            return f"was in line {line} of {name}, in compiled code that blocks everything else"
    return "gave no answer: it is busy in compiled code, or stopped"


def _cell(file):
    """ "In[5]", or None where the file is no cell."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    known = shell.compile._filename_map if shell else {}
    return file if file.startswith("In[") else f"In[{known[file]}]" if file in known else None
