"""What a process does once it is in its sandbox: serve the grader, as a student process or as the check process."""

import contextlib
import os

from course_tools.grading.rpc.control import ControlServer
from course_tools.grading.rpc.peer import Peer
from course_tools.grading.rpc.rank_server import install
from course_tools.grading.sandbox import sandbox, syscalls
from course_tools.grading.sandbox.check_process import CheckProcess
from course_tools.grading.sandbox.student_process import StudentProcess


def main(shell, role, control, others):
    """Serve the grader until it closes the connection. Never returns.

    role: "student" or "checker". control: the socket of the grader's questions; others: to the other processes.
    """
    server = ControlServer(control, may_interrupt=role == "student")
    methods = _of_student(shell, *others) if role == "student" else _of_checker(others)
    status = 1
    with contextlib.suppress(OSError):
        server.serve(methods)
        status = 0
    os._exit(status)


def _of_student(shell, other):
    student = StudentProcess(shell, Peer(other))
    return {"run": student.run, "attend": student.attend}


def _of_checker(others):
    sandbox.unreadable()  # what a student's CUDA C does in a process of its own must not reach this one
    _limit_programs()
    checker = CheckProcess(*(Peer(other, guarded=True) for other in others))
    if len(others) > 1:
        install()
    return {"judge": checker.judge, "needs": checker.needs}


def _limit_programs():
    """Compiled CUDA C may compute here, and no more."""
    from course_lib.machines.cpu_engine import process

    if syscalls.available():
        process.before_program = syscalls.limiting()
