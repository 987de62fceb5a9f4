"""What kind of failure a check says: wrong, by the clock alone, or impossible on this machine."""

import sys
import threading
from functools import cache

import numpy as np
import pytest
from engine_runs import needs_compiler
from kernel_tasks import solved

from course_lib.checks import ch03, ch04, ch07
from course_lib.checks.ch04 import chain as ch04_chain
from course_lib.checks.ch04 import patience as ch04_patience
from course_lib.checks.ch07 import hazards
from course_lib.checks.kit import threads as guard
from course_lib.checks.kit.core import Case, Check, CheckBroken, CheckFailed, NotWritten, require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.kernels import running as kernels_run
from course_lib.checks.kit.kernels.check import KernelCheck, Launch, x_across
from course_lib.checks.kit.kinds import BLANK, BROKEN, CLOCK, KINDS, UNAVAILABLE, WRONG, kind_of
from course_lib.checks.kit.messages import Report, cannot_check, not_written
from course_lib.checks.kit.ranks import running as ranks_run
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.errors import BadInput, OutOfTime, Unavailable
from course_lib.machines.cpu_engine import compiler

THREADS = (
    (ch03, "fork_join_gradient"),
    (ch03, "shared_sum"),
    (ch03, "run_pinned"),
    (ch03, "train_parallel"),
    (ch04, "leapfrog_backward"),
    (ch04, "deferred_backward"),
)
LACKING = "the CPU engine needs a C++ compiler: install g++"


def kind(check, answer, seed=7):
    with pytest.raises((CheckFailed, CheckBroken)) as failure:
        check(answer, seed=seed)
    assert failure.value.kind in KINDS
    return failure.value.kind


# The kinds of errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "want"),
    [
        (CheckFailed("the sum is 3, not 4"), WRONG),
        (CheckFailed("it did not finish within 5 s", CLOCK), CLOCK),
        (not_written("neuron"), BLANK),
        (NotWritten(Report("neuron is not written yet")), BLANK),
        (CheckBroken("neuron", "its cases raise", 7), BROKEN),
        (Unavailable(LACKING), UNAVAILABLE),
        (ModuleNotFoundError("No module named 'mpi4py'", name="mpi4py"), UNAVAILABLE),
        (ModuleNotFoundError("No module named 'mpi4py.x'", name="mpi4py.x"), UNAVAILABLE),
        (ModuleNotFoundError("No module named 'mpi4py'"), WRONG),  # words alone, as anybody's
        (ModuleNotFoundError("No module named 'mine'", name="mine"), WRONG),
        (BadInput(LACKING), WRONG),
        (compiler.CompileTooSlow("the compiler was stopped"), CLOCK),
        (compiler.CompileError("the compiler was stopped after 60 s"), WRONG),
        (OutOfTime(), CLOCK),
        (TypeError("a bug"), WRONG),
    ],
)
def test_an_error_has_a_kind(error, want):
    assert kind_of(error) == want


def test_a_kind_that_is_none_of_ours_proves_nothing():
    error = RuntimeError()
    error.kind = "excused"
    assert kind_of(error) == WRONG


def test_a_check_that_fails_by_itself_is_broken_unless_something_is_missing():
    assert kind_of(cannot_check("neuron", "its cases raise", ValueError("a bug"))) == BROKEN
    lacking = cannot_check("neuron", "its cases raise", Unavailable(LACKING))
    assert kind_of(lacking) == UNAVAILABLE and LACKING in str(lacking)
    with pytest.raises(CheckFailed, match="too late"):
        cannot_check("neuron", "its cases raise", CheckFailed("too late", CLOCK))


# What the checks say -------------------------------------------------------------------------------------------------


def _lacks(*args):
    raise Unavailable(LACKING)


def _plain(reference, cases=lambda rng: [Case((1.0,))]):
    return Check("double", cases, reference)


def test_a_check_of_values():
    assert kind(_plain(lambda x: 2 * x), lambda x: x) == WRONG
    assert kind(_plain(lambda x: 1 / 0), lambda x: x) == BROKEN
    assert kind(_plain(_lacks), lambda x: x) == UNAVAILABLE
    assert kind(_plain(lambda x: x, _lacks), lambda x: x) == UNAVAILABLE


def test_the_words_of_an_answer_are_no_evidence():
    """A student's error may say what it likes: to a Check it is an error of the answer."""
    for words in (
        LACKING,
        "No module named 'numba'",
        "stopped after 5 s",
        "that is not your fault",
    ):

        def raises(x, words=words):
            raise RuntimeError(words)

        assert kind(_plain(lambda x: x), raises) == WRONG


def test_a_free_form_check():
    @function_check("halve")
    def check(fn, *, rng):
        require(fn(4) == 2, "not the half")
        require(fn(0) == 0, "too late", kind=CLOCK)
        return "right" if fn(1) else _lacks()

    assert kind(check, lambda x: x) == WRONG
    assert kind(check, lambda x: x / 2 + (x == 0)) == CLOCK
    assert kind(check, lambda x: x / 2 * (x != 1)) == UNAVAILABLE


def test_a_call_without_end(monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(ch04_patience, "PATIENCE", 0.2)
    monkeypatch.setattr(guard, "DEADLINE", 0.2)
    for checks, name in ((ch04, "thread_levels"), *THREADS):
        check = getattr(checks, f"check_{name}")
        assert kind(check, lambda *args: ended.wait()) == CLOCK, name
    ended.set()


def _launches(rng):
    args = {"n": np.int32(40), "y": np.zeros(40, np.float32)}
    return [Launch(1, 64, args, out=("y",), owner=x_across)]


ONES = """__global__ void ones(int n, float *y)
{
    int i = threadIdx.x;
    if (i < n) y[i] = 1;
}"""
check_ones = KernelCheck("ONES", "ones", _launches, lambda n, y: np.ones(40))


@needs_compiler
def test_a_kernel(monkeypatch):
    assert kind(check_ones, ONES.replace("= 1", "= 2")) == WRONG
    assert kind(check_ones, ONES.replace("= 1;", "= ;")) == WRONG
    monkeypatch.setattr(kernels_run, "SECONDS", 1.0)
    assert kind(check_ones, ONES.replace("if (i < n)", "while (i < n)")) == CLOCK
    monkeypatch.setattr(compiler, "DEADLINE", 0.001)
    assert kind(check_ones, ONES.replace("= 1", "= 3 - 2 * 1")) == CLOCK


@pytest.fixture
def untraced():
    """What earlier tests traced is forgotten."""
    hazards.without.cache_clear()
    yield
    hazards.without.cache_clear()


def test_a_kernel_without_a_compiler(monkeypatch, untraced):
    monkeypatch.setattr(kernels_run, "trace", lambda *args, **named: _lacks())
    assert kind(check_ones, ONES) == UNAVAILABLE
    assert kind(ch07.check_hazards, lambda: dict.fromkeys("ABCDE", "RAW")) == UNAVAILABLE


def test_a_kernel_of_the_checks_own_that_was_stopped(monkeypatch, untraced):
    stopped = type("Traced", (), {"errors": [{"tool": "timeout", "message": "stopped"}]})
    monkeypatch.setattr(kernels_run, "trace", lambda *args, **named: stopped)
    assert kind(ch07.check_hazards, lambda: dict.fromkeys("ABCDE", "RAW")) == CLOCK


check_sum = RankCheck(
    "total", lambda rng, n: [RankCase((1.0,))], lambda ranks: float(len(ranks)), ranks=(2,)
)


def test_ranks(monkeypatch):
    assert kind(check_sum, lambda comm, x: x) == WRONG
    assert kind(check_sum, lambda comm, x: comm.recv(source=1 - comm.rank)) == WRONG  # a deadlock
    monkeypatch.setattr(ranks_run, "SECONDS", 0.2)

    def endless(comm, x):
        while True:
            pass

    assert kind(check_sum, endless) == CLOCK
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert kind(check_sum, lambda comm, x: comm.allreduce(x)) == UNAVAILABLE


# The course's own solutions, on a machine that has no time for them ---------------------------------------------------


@cache
def solution_of(checks, name):
    """The solution of what a task of a chapter asks for."""
    made: dict = {}
    exec(solved(checks.__name__[-2:]), made)
    return made[name]


@pytest.mark.parametrize(("checks", "name"), THREADS)
def test_no_solution_is_wrong_where_its_threads_never_meet(monkeypatch, checks, name):
    monkeypatch.setattr(guard.Meeting, "wait", lambda self: setattr(self, "missed", True))
    assert kind(getattr(checks, f"check_{name}"), solution_of(checks, name)) == CLOCK


def test_no_solution_is_wrong_where_its_threads_begin_late(monkeypatch):
    """The chain of deltas is done before any other thread has begun."""

    class Chain(ch04_chain._Chain):
        def __init__(self, *args, **named):
            super().__init__(*args, **named)
            self.begun.wait = lambda seconds: False

    monkeypatch.setattr(ch04_chain, "_Chain", Chain)
    assert kind(ch04.check_deferred_backward, solution_of(ch04, "deferred_backward")) == CLOCK


def test_no_solution_is_wrong_where_its_chain_comes_too_late_to_help(monkeypatch):
    """The fault of the chain's own gradients cannot be seen where the other threads have done them all."""

    class Chain(ch04_chain._Chain):
        def grad(self, layer, dZ):
            mine = threading.current_thread() is self.chain_thread
            self.grad_fault = None if self.grad_fault == "chain" and mine else self.grad_fault
            return super().grad(layer, dZ)

    monkeypatch.setattr(ch04_chain, "_Chain", Chain)
    assert kind(ch04.check_deferred_backward, solution_of(ch04, "deferred_backward")) == CLOCK
