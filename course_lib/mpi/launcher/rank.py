"""What runs inside each rank beside the student's code: a thread that says where the rank is, and ends it with the
notebook."""

import linecache
import os
import sys
import threading
import traceback
from multiprocessing.connection import Client

RUNS_A_CELL = ("run_code", "do_apply")  # of IPython and of ipyparallel: the frames below are the student's


def join(address, key):
    """Called once in each rank: (rank, size, process id), after the life line to the notebook is up."""
    from IPython import get_ipython
    from mpi4py import MPI

    from course_lib.mpi.launcher import supervisor

    world, shell = MPI.COMM_WORLD, get_ipython()
    shell.colors = "nocolor"
    line = Client(address, authkey=key)
    line.send(world.rank)
    world.Barrier()
    supervisor.unlink_shared_memory("self")
    threading.Thread(target=_serve, args=(line, threading.main_thread().ident), daemon=True).start()
    return world.rank, world.size, os.getpid()


def _serve(line, main):
    """Answer each question "where are you?"; when the notebook is gone, so is this rank."""
    try:
        while True:
            line.recv()
            line.send(places(sys._current_frames().get(main)))
    except (EOFError, OSError):
        os._exit(1)


def places(frame):
    """[(file, line number, function, text)] from the cell to the innermost call; empty while no cell is run."""
    stack = traceback.extract_stack(frame)
    inside = [i for i, entry in enumerate(stack) if entry.name in RUNS_A_CELL]
    return [(e.filename, e.lineno, e.name, e.line or "") for e in stack[inside[-1] + 1 :]] if inside else []


def left_over():
    """Is there a message in COMM_WORLD that this rank was sent and has not received?"""
    from mpi4py import MPI

    probe = MPI.COMM_WORLD.Iprobe  # a message is seen only after some progress
    return any(probe(MPI.ANY_SOURCE, MPI.ANY_TAG) for _ in range(1000))


def is_cell(filename):
    """Is it the file name that IPython gives to a cell?"""
    return "ipykernel_" in filename or filename.startswith("<ipython-input")


def describe(stack):
    """One line of text from `places`, or from an answer that never came (None)."""
    if stack is None:
        return "gave no answer: it is busy in compiled code, or stopped"
    if not stack:
        return "had finished the cell"
    cell = next((entry for entry in reversed(stack) if is_cell(entry[0])), stack[-1])
    text = _line(cell)
    if cell is not stack[-1]:
        text += f"; there in {stack[-1][2]}, {os.path.basename(stack[-1][0])} {_line(stack[-1])}"
    return f"was in {text}"


def _line(entry):
    return f"line {entry[1]}: {(entry[3] or linecache.getline(entry[0], entry[1])).strip()}"
