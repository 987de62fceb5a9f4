"""What could not be decided on this machine costs nobody points for ever: it is said, and tried again."""

import os
import subprocess
import sys
import time

import pytest

from course_lib.checks.kit.messages import CheckBroken
from course_tools.grading.commands import summary
from course_tools.grading.sandbox import resources
from course_tools.grading.sandbox.fork_server import Zygote
from course_tools.grading.verdict import undecided
from course_tools.grading.verdict.results import Result, Task
from course_tools.grading.verdict.session import Lost, Rooms

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says how long a process waited"
)


@pytest.mark.parametrize(
    ("status", "message", "starved", "want"),
    [
        ("pass", "within 5 s", True, "pass"),
        ("missing", "within 5 s", True, "missing"),
        ("wrong", "sum is 3, not 4", True, "wrong"),
        ("wrong", "it has not come to an end within 5 s: a deadlock", True, "inconclusive"),
        ("wrong", "it has not come to an end within 5 s: a deadlock", False, "wrong"),
        ("wrong", "the launch was stopped after 2.5 s", True, "inconclusive"),
        (
            "wrong",
            "cannot be launched\n  what  the CPU engine needs a C++ compiler: install g++",
            False,
            "not-run-here",
        ),
        ("error", "ModuleNotFoundError: No module named 'mpi4py'", False, "not-run-here"),
        ("error", "ModuleNotFoundError: No module named 'mine'", False, "error"),
        (
            "error",
            f"CheckBroken: {CheckBroken('neuron', 'its cases raise', 7)}",
            False,
            "inconclusive",
        ),
    ],
)
def test_verdicts(status, message, starved, want):
    made = undecided.verdict({"status": status, "message": message}, lambda: starved)
    assert made["status"] == want and message in made["message"]


def test_the_words_are_those_of_the_library():
    """What LACKS and CLOCK look for is what the engine and the checks say."""
    from course_lib.checks.ch04 import patience as ch04_patience
    from course_lib.checks.kit import threads as ch03_guard
    from course_lib.checks.kit.kernels import reporting as kernels_report
    from course_lib.machines.cpu_engine import compiler

    def texts(module):
        with open(module.__file__, encoding="utf-8") as file:
            return file.read()

    assert "needs a C++ compiler" in texts(
        compiler
    ) and "no folder can be written for compiled" in texts(compiler)
    assert "within {DEADLINE:g} s" in texts(ch03_guard) and "within {PATIENCE:g} s" in texts(
        ch04_patience
    )
    assert "stopped after {SECONDS:g} s" in texts(kernels_report)


@pytest.mark.parametrize(
    ("samples", "since", "want"),
    [
        ([], 0, False),
        ([(0, 0, 0)], 0, False),
        ([(0, 0, 0), (10, 0.5, 9.5)], 0, True),  # had a twentieth, waited for the rest
        ([(0, 0, 0), (10, 0, 0)], 0, False),  # a deadlock: nobody wanted one
        ([(0, 0, 0), (10, 9, 1)], 0, False),  # a loop that had one
        ([(0, 0, 0), (10, 20, 500)], 0, False),  # many processes that fight for it among themselves
        ([(0, 0, 0), (10, 0, 9), (20, 10, 9)], 10, False),  # was starved before, not since
        ([(5, 0, 0), (10, 0, 4)], 0, True),
    ],
)
def test_starving(samples, since, want):
    assert undecided.starving(samples, since) is want


@on_linux
def test_a_loop_that_no_processor_runs_is_inconclusive():
    with Zygote("none") as zygote:
        processor = min(os.sched_getaffinity(0))
        text = f"import os; os.sched_setaffinity(0, [{processor}])\nwhile True: pass"
        others = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(2)]
        try:
            time.sleep(0.3)
            status, message = lost(zygote, processor)
        finally:
            for one in others:
                one.kill()
                one.wait()
        assert status == "inconclusive" and "too busy" in message


def lost(zygote, processor):
    """(status, message) of a loop without end that may use this processor alone, when others do not want it."""
    with Rooms(zygote, 1) as rooms:
        for pid in resources.below(rooms.student.process.pid):
            for thread in map(int, os.listdir(f"/proc/{pid}/task")):
                os.sched_setaffinity(thread, [processor])
                os.setpriority(os.PRIO_PROCESS, thread, 19)
        with pytest.raises(Lost) as error:
            rooms.run(
                "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", 3.0
            )
        return error.value.status, str(error.value)


def test_an_undecided_task_is_counted_and_noted():
    """0 points, a word for the instructor, and an exit status that a script sees."""
    tasks = [Task("neuron", "pass", 2, 2), Task("softmax", "inconclusive", 0, 3, "too busy")]
    one = Result("ann", "1", "01-tiny", "x.ipynb", "digest", "id", "1", 7, "sandbox", tasks)
    assert summary.failed([("ann", [one])]) == 1 and one.points == 2
    one.tasks[1].status = "wrong"
    assert summary.failed([("ann", [one])]) == 0
