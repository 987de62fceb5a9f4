"""An answer tried in a process of its own: what the check says to it, or that it passed."""

import contextlib
import importlib
import io
import multiprocessing
import os
import sys
import warnings
from dataclasses import dataclass

from course_lib.checks.kit.known.planted import task_named
from course_lib.checks.kit.messages import CheckFailed
from course_lib.machines.ranks.supervisor import unlink_shared_memory

SECONDS = 90.0  # for one answer, however busy the machine is


@dataclass(frozen=True)
class Outcome:
    """state: "passed", "failed" or "broken"; message: what the student reads; cause: the row of that name, ""."""

    state: str
    message: str = ""
    cause: str = ""


def tried(answer, seed):
    """The `Outcome` of one answer, whatever it does to the process that it runs in."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = _process()(target=_child, args=(answer, seed, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(SECONDS) else Outcome("broken", "no verdict in time")
    except EOFError:
        return Outcome("broken", "it ended the process of the check")
    finally:
        unlink_shared_memory(child.pid)
        child.kill()
        child.join()


def _process():
    """A fork is ready at once, where there are forks."""
    if sys.platform == "linux":
        return multiprocessing.get_context("fork").Process
    return multiprocessing.get_context("spawn").Process


def _child(answer, seed, pipe):
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        outcome = _outcome(answer, seed)
    unlink_shared_memory(
        os.getpid()
    )  # of an MPI that the answer imported: `_exit` leaves it behind
    pipe.send(outcome)
    pipe.close()
    os._exit(0)  # threads that an answer has left behind are not waited for


def _outcome(answer, seed):
    chapter = f"ch{answer.chapter[:2]}"
    task = task_named(chapter, answer.task)
    checks = importlib.import_module(f"course_lib.checks.{chapter}")
    try:
        value = task.value_of(answer.source)
    except (
        Exception,
        SystemExit,
    ) as error:  # the cell itself stops: the student sees Python's words
        return Outcome("failed", f"{type(error).__name__}: {error}", "the cell itself stops")
    try:
        getattr(checks, task.check)(value, seed=seed)
    except CheckFailed as failure:
        rows = dict(failure.report.rows)
        return Outcome("failed", str(failure), rows.get("cause") or rows.get("likely") or "")
    except (Exception, SystemExit) as error:
        return Outcome("broken", f"{type(error).__name__}: {error}")
    return Outcome("passed")
