"""Ranks are forks of one process; a second such process waits for the next ones, and nothing is left of either."""

import os

import psutil
import pytest

from course_lib import mpi
from course_lib.machines.ranks import forks, spare
from course_lib.machines.ranks import ranks as machinery

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
pytestmark = [
    pytest.mark.timeout(600 * SLOW),
    pytest.mark.skipif(not forks.LINUX, reason="ranks are forked on Linux alone"),
]


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setattr(machinery, "_current", [])
    spare.end()
    with mpi.cluster(2, timeout=60 * SLOW, progress=False) as ranks:
        yield ranks
    assert not spare._waiting


def draw(comm):
    import random

    import numpy as np

    return random.random(), np.random.rand(), os.getppid()


def test_ranks_are_forks_that_draw_numbers_of_their_own(two):
    (a, b, parent), (c, d, other) = two.run(draw)
    assert parent == other == two.team.supervisor.pid
    assert a != c and b != d


def test_the_next_ranks_come_from_the_process_that_waits(two):
    assert not spare._waiting, "it waits from the end of the first cell on"
    two.run(lambda comm: None)
    waiting = spare._waiting[0][0].pid
    with pytest.raises(mpi.RankError, match="died"):
        two.execute("import os\nos._exit(3)")
    assert two.run(lambda comm: comm.allreduce(1)) == [2, 2]
    assert two.team.supervisor.pid == waiting
    assert spare._waiting[0][0].pid != waiting
    last = spare._waiting[0][0].pid
    two.stop()
    assert not psutil.pid_exists(last) and not psutil.pid_exists(waiting)


def test_none_waits_where_that_is_not_wanted(two, monkeypatch):
    monkeypatch.setenv("COURSE_MPI_SPARE", "0")
    two.run(lambda comm: None)
    assert not spare._waiting


def test_one_that_waits_in_other_surroundings_is_not_taken(two, monkeypatch):
    two.run(lambda comm: None)
    process = spare._waiting[0][0]
    monkeypatch.setenv("COURSE_OTHER", "1")
    with pytest.raises(mpi.RankError):
        two.execute("import os\nos._exit(3)")
    assert two.run(lambda comm: os.environ["COURSE_OTHER"]) == ["1", "1"]
    assert process.poll() is not None


def test_a_cell_can_import_what_a_start_leaves_out(two):
    """A start without the debugger does not take it away."""
    assert two.run(lambda comm: __import__("debugpy").__name__) == ["debugpy", "debugpy"]
