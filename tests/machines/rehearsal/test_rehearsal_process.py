"""One process does all runs of a rehearsal, and a run finds it as the first one did."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

from course_lib import mpi
from course_lib.machines.rehearsal import apart

pytestmark = pytest.mark.skipif(not apart.possible(), reason="no process can be forked here")


@pytest.fixture
def children(monkeypatch):
    made = []

    class Counted(apart.Child):
        def __init__(self, *args):
            made.append(self)
            super().__init__(*args)

    monkeypatch.setattr(apart, "Child", Counted)
    return made


def swaps(comm, stay=False):
    """MPI holds memory of it: a rehearsal has three runs."""
    got = np.empty(1)
    request = comm.Irecv(got, source=1 - comm.rank)
    comm.Send(np.full(1, random.random() + np.random.rand()), dest=1 - comm.rank)
    request.Wait()
    if stay:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return got[0]


def test_all_runs_of_a_rehearsal_have_one_process(children):
    assert mpi.rehearse(swaps, 2, show=False).ok
    assert len(children) == 1


def test_each_run_draws_the_same_random_numbers(monkeypatch):
    """So that runs which differ in the poison alone can be compared: none has to be run again."""
    asked = []
    run = apart.Child.run

    def watched(child, *job):
        asked.append(run(child, *job))
        return asked[-1]

    monkeypatch.setattr(apart.Child, "run", watched)
    mpi.rehearse(swaps, 2, show=False)
    assert len(asked) == 3
    assert len({outcome.report.results[0] for outcome in asked}) == 1


def test_a_process_with_threads_left_in_it_is_not_used_again(children):
    assert mpi.rehearse(swaps, 2, True, show=False).ok
    assert len(children) >= 3 and all(child.spent for child in children)


def test_what_cannot_be_copied_is_not_changed_by_a_run_for_the_next(children):
    lock, calls = threading.Lock(), []

    def counts(comm):
        with lock:
            calls.append(comm.rank)
        swaps(comm)
        return len(calls)

    assert max(mpi.rehearse(counts, 2, show=False).results) == 2
    assert len(children) >= 3 and calls == []


def test_rehearsals_share_a_process_until_one_spoils_it(children):
    with apart.one_process():
        assert all(mpi.rehearse(swaps, 2, show=False).ok for _ in range(3))
        assert len(children) == 1 and not children[0].spent
        assert mpi.rehearse(swaps, 2, True, show=False).ok
        assert mpi.rehearse(swaps, 2, show=False).ok
    assert len(children) > 2 and all(child._number == 0 for child in children)


def test_a_rehearsal_after_one_that_ended_its_process(children):
    def ends(comm):
        os.kill(os.getpid(), signal.SIGKILL)

    with apart.one_process():
        assert mpi.rehearse(swaps, 2, show=False).ok
        assert not mpi.rehearse(ends, 2, show=False).ok
        assert mpi.rehearse(swaps, 2, show=False).ok
    assert len(children) == 2


def test_no_process_is_left(children):
    mpi.rehearse(swaps, 2, show=False)
    assert children[0]._number == 0


def test_the_same_is_said_without_a_process_of_its_own():
    """As where nothing can be forked (Windows, macOS)."""

    def swapped(comm):
        comm.send(comm.rank, dest=1 - comm.rank)
        return comm.recv(source=1 - comm.rank)

    with apart.not_apart():
        stuck, right = mpi.rehearse(swapped, 2), mpi.rehearse(lambda comm: comm.allreduce(1), 3)
    assert str(stuck) == str(mpi.rehearse(swapped, 2)) and stuck.errors[0]["tool"] == "deadlock"
    assert right.results == [3, 3, 3]


def test_a_process_that_was_late_while_the_machine_stood_still_is_tried_once_more(
    children, tmp_path
):
    """What a standstill leaves is a clock that has gone on: its signal comes, though nothing was computed."""

    def stands_still_once(comm, stood):
        if comm.rank == 1 and not stood.exists():
            stood.touch()
            os.kill(os.getpid(), apart.ALARM)
        return comm.rank

    report = mpi.rehearse(stands_still_once, 2, tmp_path / "stood", show=False)
    assert report.ok and report.results == [0, 1] and len(children) >= 2


def test_a_process_that_is_late_again_is_at_fault():
    def always(comm):
        os.kill(os.getpid(), apart.ALARM)

    (error,) = mpi.rehearse(always, 1, show=False).errors
    assert error["tool"] == "timeout" and error["rank"] == 0


def test_a_clock_that_jumps_makes_no_rank_late(monkeypatch):
    real = time.process_time
    monkeypatch.setenv("SECONDS_MORE", "0")  # a rank has copies of all other variables
    monkeypatch.setattr(time, "process_time", lambda: real() + float(os.environ["SECONDS_MORE"]))

    def jumps(comm):
        os.environ["SECONDS_MORE"] = "1000"
        time.sleep(0.1)
        return comm.allreduce(1)

    with apart.not_apart():
        assert mpi.rehearse(jumps, 2, show=False).results == [2, 2]
