"""What could not be decided on this machine costs nobody points for ever: it is said, and tried again.

Which failures these are, the checks say by their kind. No words decide anything, neither a check's nor a student's.
"""

import ast
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from kernel_tasks import solved

from course_lib import __version__
from course_lib.checks.kit.kinds import BLANK, BROKEN, CLOCK, UNAVAILABLE, WRONG
from course_tools.grading.commands import summary
from course_tools.grading.commands.grade import Run
from course_tools.grading.sandbox import check_process, resources
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import runner, session, undecided
from course_tools.grading.verdict.results import Result, Task
from course_tools.grading.verdict.session import Session, SessionLost

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says how long a process waited"
)
WORDS = (
    "No module named 'numba'",
    "the CPU engine needs a C++ compiler: install g++",
    "no folder can be written for compiled kernels",
    "it did not finish within 5 s: a deadlock",
    "the launch was stopped after 2.5 s",
    "the check of neuron is broken, and that is not your fault: its cases raise",
)


@pytest.mark.parametrize(
    ("status", "kind", "starved", "want"),
    [
        ("pass", "", True, "pass"),
        ("missing", BLANK, True, "missing"),
        ("wrong", WRONG, True, "wrong"),
        ("wrong", CLOCK, True, "inconclusive"),
        ("wrong", CLOCK, False, "wrong"),
        ("wrong", UNAVAILABLE, False, "not-run-here"),
        ("error", UNAVAILABLE, False, "not-run-here"),
        ("error", WRONG, True, "error"),
        ("error", BROKEN, False, "inconclusive"),
    ],
)
@pytest.mark.parametrize("message", [WORDS[0], WORDS[3]])
def test_verdicts(status, kind, starved, want, message):
    given = {"status": status, "kind": kind, "message": message}
    made = undecided.verdict(given, lambda: starved)
    assert (
        made["status"] == want and message in made["message"] and set(made) == {*given} - {"kind"}
    )


# How busy the machine was ---------------------------------------------------------------------------------------------


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
    assert undecided.starving_a_while(samples, since) is want


@pytest.mark.parametrize(
    ("rooms", "want"),
    [
        ([], 10),
        ([[(0, 0, 0), (10, 9.5, 0)]], 10),  # a loop on a quiet machine
        ([[(0, 0, 0), (10, 2, 8)]], 2),  # got a fifth, waited for the rest
        ([[(0, 0, 0), (10, 0, 0)]], 10),  # asleep: that is its own time
        ([[(0, 0, 0), (10, 20, 9)]], 20),  # its own threads fight for two processors
        ([[(0, 0, 0), (10, 1, 4)], [(0, 0, 0), (10, 1, 4)]], 2),  # two rooms that wait in turn
        ([[(0, 5, 5), (10, 15, 5)]], 10),
    ],
)
def test_the_seconds_that_count(rooms, want):
    assert undecided.counted(10, rooms, 0) == want


def test_starving_for_a_while():
    """Two seconds without a processor spoil a check's wait, and not the minute that a cell may take."""
    samples = [(0, 0, 0), (10, 10, 0), (11, 10, 1), (12, 10, 2), (60, 58, 2)]
    assert undecided.starving_a_while(samples, 0) and not undecided.starving(samples, 0)
    assert not undecided.starving_a_while(samples, 12)
    assert not undecided.starving_a_while([(0, 0, 0), (0.5, 0, 0.5)], 0)  # too short to spoil one


def threads(had, waited):
    """A source of what a room's one thread has had, and has waited for, in shares of the time that passes."""
    began = time.monotonic()

    def of(pid):
        seconds = time.monotonic() - began
        return {(pid, 1): (had * seconds, waited * seconds)}

    return of


STARVED, SERVED = (0.0, 1.0), (1.0, 0.0)


def test_what_ended_threads_had_still_counts(monkeypatch):
    told = iter([{1: (5.0, 1.0)}, {1: (6.0, 1.5), 2: (0.5, 2.0)}, {1: (6.5, 1.5)}])
    monkeypatch.setattr(resources, "threads_of", lambda pid: next(told))
    processor = resources.Processor(7)
    processor.look()
    processor.look()
    assert [sample[1:] for sample in processor.samples] == [(0, 0), (1.5, 2), (2, 2)]


@on_linux
def test_the_system_tells_what_a_thread_had():
    def mine():
        return sum(had for had, _ in resources.threads_of(os.getpid()).values())

    before, end = mine(), time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    assert mine() > before


# In rooms -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fork_server():
    with ForkServer("none") as made:
        yield made


@pytest.mark.parametrize(
    ("shares", "status", "words"),
    [(STARVED, "inconclusive", "too busy"), (SERVED, "timeout", "did not finish")],
)
def test_a_loop_that_no_processor_runs_is_inconclusive(
    monkeypatch, fork_server, shares, status, words
):
    monkeypatch.setattr(resources, "threads_of", threads(*shares))
    loop = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    with Session(fork_server, 1) as made, pytest.raises(SessionLost) as error:
        made.run(loop, 1.0)
    assert error.value.status == status and words in str(error.value)


@pytest.mark.parametrize(("shares", "seconds"), [((0.2, 0.8), 0.8), (STARVED, 1.5)])
def test_waiting_for_a_processor_does_not_count(monkeypatch, fork_server, shares, seconds):
    """A right answer that takes longer than its limit by the clock alone."""
    monkeypatch.setattr(resources, "threads_of", threads(*shares))
    with Session(fork_server, 1) as made:
        reply = made.run(f"import time; time.sleep({seconds}); x = 1", 0.5)
        assert reply["status"] == "ok" and made.given > 0
    monkeypatch.setattr(resources, "threads_of", threads(*SERVED))
    with Session(fork_server, 1) as made:
        reply = made.run(f"import time; time.sleep({seconds}); x = 1", 0.5)
        assert reply["status"] == "error" and made.given == 0


@pytest.mark.parametrize(
    ("status", "timeout", "same"),
    [
        ("timeout", 10.0, True),
        ("timeout", 20.0, False),
        ("wrong", 20.0, True),
        ("inconclusive", 10.0, False),
    ],
)
def test_a_longer_timeout_is_honoured(status, timeout, same):
    """What took too long is graded again with more time, and nothing else is."""
    how = {"release": "id", "grader": __version__, "seed": 7, "isolation": "sandbox"}
    row = {"student": "ann", "id": "1", "chapter": "01", "file": "x", "digest": "d"}
    old = Result(**row, **how, tasks=[Task("neuron", status, 0, 2)], timeout=10.0)
    run = Run.__new__(Run)
    run.args = SimpleNamespace(again=False, timeout=timeout, isolation="sandbox", seed=None)
    assert run._same(old, SimpleNamespace(digest="d"), SimpleNamespace(id="id")) is same


IMPATIENT = """
import time
from course_lib.checks import ch04
from course_lib.checks.kit import threads

def check(fn):
    def missed(meeting):
        time.sleep(0.1)
        meeting.missed = True
    threads.Meeting.wait = missed
    time.sleep(1.5)  # longer than the second that starvation needs to count
    ch04.check_leapfrog_backward(fn)
"""


@pytest.mark.parametrize(("shares", "want"), [(STARVED, "inconclusive"), (SERVED, "wrong")])
def test_a_solution_on_a_starved_machine_is_not_wrong(monkeypatch, fork_server, shares, want):
    """Its threads never meet. That is wrong only where the machine had time for them."""
    monkeypatch.setattr(resources, "threads_of", threads(*shares))
    with Session(fork_server, 1) as made:
        assert made.run(solved("04"), 60)["status"] == "ok"
        verdict = made.check("hidden.check", "leapfrog_backward", 7, 60, IMPATIENT)
    assert verdict["status"] == want and "at work at the same time" in verdict["message"]


LACKING = """
from course_lib.checks.kit.core import Case, Check
from course_lib.errors import Unavailable

def lacks(x):
    raise Unavailable("install g++")

check = Check("neuron", lambda rng: [Case((1.0,))], lacks)

def check_import(fn):
    raise ModuleNotFoundError("No module named 'mpi4py'", name="mpi4py")

def check_mine(fn):
    raise ModuleNotFoundError("No module named 'mine'", name="mine")

def check_name(fn):
    return nothing

broken = Check("neuron", lambda rng: [Case((1.0,))], lambda x: 1 / 0)
"""


@pytest.mark.parametrize(
    ("check", "want"),
    [
        ("check", "not-run-here"),
        ("check_import", "not-run-here"),
        ("check_mine", "error"),
        ("check_name", "error"),  # of the check's own, not a task without an answer
        ("broken", "inconclusive"),
    ],
)
def test_what_the_room_of_the_checks_raises(fork_server, check, want):
    with Session(fork_server, 1) as made:
        made.run("def neuron(x): return x", 20)
        assert made.check(f"hidden.{check}", "neuron", 7, 20, LACKING)["status"] == want
        missing = made.check(f"hidden.{check}", "softmax", 7, 20, LACKING)
        assert missing == {"status": "missing", "message": "its cell defines no softmax"}


RAISES = """
class Told(Exception):
    kind = {kind!r}

class CheckBroken(RuntimeError):
    kind = {kind!r}

class Unavailable(ValueError):
    kind = {kind!r}

def neuron(x, w, b):
    print({words!r})
    raise {error}({words!r})

def reduce_slice(partials, out, t, B):
    raise {error}({words!r})

def total(comm, x):
    raise {error}({words!r})
"""
RANKS = """
from course_lib.checks.kit.ranks.check import RankCase, RankCheck

check = RankCheck("total", lambda rng, n: [RankCase((1.0,))], lambda ranks: 2.0, ranks=(2,))
"""
CHECKS = (
    ("ch01.check_neuron", "neuron", ""),
    ("ch03.check_reduce_slice", "reduce_slice", ""),
    ("hidden.check", "total", RANKS),
)


@pytest.mark.parametrize("words", WORDS)
def test_who_raises_those_very_words_is_wrong(monkeypatch, fork_server, words):
    """Whatever a student's code raises or prints: it is wrong, however starved the machine."""
    monkeypatch.setattr(resources, "threads_of", threads(*STARVED))
    errors = ("Told", "CheckBroken", "Unavailable", "ModuleNotFoundError")
    with Session(fork_server, 1) as made:
        for error, kind in zip(errors, (CLOCK, BROKEN, UNAVAILABLE, UNAVAILABLE), strict=True):
            made.run(RAISES.format(kind=kind, words=words, error=error), 20)
            for check, name, code in CHECKS:
                verdict = made.check(check, name, 7, 60, code)
                said = " ".join(verdict["message"].split())
                assert verdict["status"] == "wrong" and words in said, error


def test_an_undecided_task_is_counted_and_noted():
    """0 points, a word for the instructor, and an exit status that a script sees."""
    tasks = [Task("neuron", "pass", 2, 2), Task("softmax", "inconclusive", 0, 3, "too busy")]
    one = Result("ann", "1", "01-tiny", "x.ipynb", "digest", "id", "1", 7, "sandbox", tasks)
    assert summary.failed([("ann", [one])]) == 1 and one.points == 2
    one.tasks[1].status = "wrong"
    assert summary.failed([("ann", [one])]) == 0


# No verdict reads prose -----------------------------------------------------------------------------------------------

GRADING = Path(undecided.__file__).parent
MESSAGES = {"message", "said", "verdict", "messages"}


def _names(tree):
    """All names, attributes and texts in a piece of code."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "value"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def _patterns(tree):
    """The names of compiled patterns in a module, and `re` itself."""
    return {"re"} | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and "compile" in _names(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@pytest.mark.parametrize("file", sorted(GRADING.rglob("*.py")), ids=lambda file: file.stem)
def test_no_regular_expression_meets_a_message(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    patterns = _patterns(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and patterns & set(_names(call.func)):
            given = {name for argument in call.args for name in _names(argument)}
            assert not given & MESSAGES, f"{file.name}:{call.lineno}"


@pytest.mark.parametrize("module", [undecided, resources, check_process, session, runner])
def test_what_makes_verdicts_has_no_regular_expressions(module):
    assert not hasattr(module, "re")


@pytest.mark.parametrize("status", undecided.STATUSES)
def test_a_hidden_run_shows_nothing_of_its_inputs(monkeypatch, status):
    """What its check said may hold them; the page says why there is no verdict, in words of the grader's own."""
    from types import SimpleNamespace

    from course_tools.grading.verdict.results import Task
    from course_tools.grading.verdict.runner import Runner

    secret = "x = [0.123, 0.456] gave 0.789"
    run = Runner.__new__(Runner)
    run.seed, run.release = 1, SimpleNamespace(hidden={})
    run.assembled = SimpleNamespace(chapter=SimpleNamespace(name="03"))
    monkeypatch.setattr(run, "_judged", lambda *a: {"status": status, "message": secret})
    task = Task("a", "missing", 0, 1)
    run._hidden(SimpleNamespace(check="ch03.check_a", of="a", name="a"), task)
    assert task.status == status and task.message and "0." not in task.message
