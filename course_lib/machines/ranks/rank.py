"""What runs inside each rank beside the student's code: a thread that says where the rank is, and ends it with the
notebook."""

import contextlib
import faulthandler
import linecache
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from multiprocessing.connection import Client

from course_lib.machines.books import account, ledger, story
from course_lib.machines.ranks import output

MARK = "COURSE_MPI_RANK"  # in the environment of a rank: the number of the rank
_answered: list = []  # what `join` has said, should it be asked again


def arrive():
    """MPI has come up. The files by which ranks found each other would outlive ranks that are killed before `join`."""
    from mpi4py import MPI

    from course_lib.machines.ranks import supervisor

    MPI.COMM_WORLD.Barrier()
    supervisor.unlink_shared_memory("self")


def join(address, key, traces=None, parent=None):
    """Called in each rank: (rank, size, process id), after the life line to the notebook is up.

    traces: a folder for what faulthandler says when the rank cannot answer, or None. parent: the supervisor's process,
    which this rank falls to when mpiexec ends; should it fall to another one, the supervisor is gone.
    """
    from IPython import get_ipython
    from mpi4py import MPI

    from course_lib.machines.ranks import supervisor

    if _answered:
        return _answered[0]
    world = MPI.COMM_WORLD
    _prepare(get_ipython())
    os.environ[MARK] = str(world.rank)
    ledger.install()
    ledger.replace(MPI.Comm, {"Abort": _abort})
    MPI.Finalize = _finalize
    _own_signals(world.rank, traces)
    line = Client(address, authkey=key)
    line.send(world.rank)
    parents = (os.getppid(), parent) if supervisor.LINUX and parent else ()
    watched = (line, threading.main_thread().ident, parents)
    threading.Thread(target=_serve, args=watched, daemon=True).start()
    world.Barrier()  # the notebook may end while ranks wait here: the thread ends them then
    supervisor.unlink_shared_memory("self")
    _answered.append((world.rank, world.size, os.getpid()))
    return _answered[0]


def _own_signals(rank, traces):
    """SIGTERM ends this rank at once, SIGUSR1 has its trace written, and mpiexec finds it in a group of its own."""
    # A batch system ends ranks by SIGTERM. The engine's own handler would wait in MPI_Finalize for those already gone.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.name == "posix":
        # the first process of a session has a group of its own already
        with contextlib.suppress(PermissionError):
            # when one rank dies, mpiexec kills the process groups of the others at once
            os.setpgid(0, 0)
        if traces:
            file = os.open(f"{traces}/trace-{rank}", os.O_CREAT | os.O_WRONLY)
            faulthandler.register(signal.SIGUSR1, file)


def _prepare(shell):
    """Errors as lines of the student's cells; no more output than can be read; memory runs out here first."""
    shell.colors = "nocolor"
    shell.InteractiveTB.structured_traceback = lambda kind, error, *_, **__: [story.of_error(error)]
    # IPython's own would end the rank after the cell
    shell.user_ns["exit"] = shell.user_ns["quit"] = sys.exit
    warnings.filterwarnings("ignore", "To exit")  # IPython's advice after sys.exit()
    output.install()
    shell.events.register("post_execute", output.send)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        # where the system has no memory left, it ends a rank rather than the notebook
        file.write("800")


class Abort(BaseException):
    """comm.Abort() was called. MPI's own kills all ranks a moment later, and nobody is left to say which one it was."""


def _abort(comm, errorcode=0):
    raise Abort(f"comm.Abort({errorcode}) ends all ranks")


def _finalize():
    said = "leave it out, the ranks end MPI when the notebook does"
    raise RuntimeError(f"MPI.Finalize() would end MPI for all later cells: {said}")


def begin(number):
    """A cell of the notebook, number `number` (None: not in a notebook), is about to run here."""
    from IPython import get_ipython

    output.begin()
    if number is not None:
        get_ipython().execution_count = number
        # the file name of code that is compiled from now on
        os.environ["IPYKERNEL_CELL_NAME"] = f"In[{number}]"
    story.running = get_ipython().execution_count


def call(payload, number, sources):
    """fn(COMM_WORLD, *args) of a pickled (fn, args); the pickled result.

    sources: {file name: (number, text)} of the notebook's cells that fn comes from.
    """
    import cloudpickle
    from IPython import get_ipython
    from mpi4py import MPI

    begin(number)
    for name, (cell, text) in sources.items():
        get_ipython().compile._filename_map[name] = cell
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    fn, args = pickle.loads(payload)
    try:
        result = fn(MPI.COMM_WORLD, *args)
    finally:
        output.send()
    try:
        return cloudpickle.dumps(result)
    except Exception as error:
        raise TypeError(
            f"what the function returned cannot be sent to the notebook: {error}"
        ) from None


def _serve(line, main, parents):
    """Answer each question "where are you?"; when the notebook or the supervisor is gone, so is this rank."""
    try:
        while True:
            while not line.poll(output.SECONDS):
                output.send()
                if parents and os.getppid() not in parents:
                    os._exit(1)
            line.recv()
            output.send()
            place = story.of_place(traceback.extract_stack(sys._current_frames().get(main)))
            line.send((place, account.entered()))
    except (EOFError, OSError):
        os._exit(1)
