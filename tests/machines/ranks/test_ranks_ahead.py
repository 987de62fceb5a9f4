"""Ranks are forks of one process; a second team stands ready for the cell after an error; nothing is left of either."""

import os
import time
import types
from typing import ClassVar

import psutil
import pytest

from course_lib import mpi
from course_lib.machines.ranks import forks, spare
from course_lib.machines.ranks import ranks as machinery
from course_lib.machines.ranks.team import Team

SUPERVISOR = "course_lib.machines.ranks.supervisor"
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
    assert not spare._waiting and ranks.ahead is None


def forked(team):
    """The forks of a team's supervisor, once there are as many as it has ranks and a controller."""
    supervisor, end = psutil.Process(team.supervisor.pid), time.monotonic() + 60 * SLOW
    while time.monotonic() < end:
        found = [child for child in supervisor.children() if SUPERVISOR in child.cmdline()]
        if len(found) == team.n + 1:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{team.n} ranks did not come: {supervisor.children()}")


def lost(ranks):
    """A cell in which a rank ends."""
    with pytest.raises(mpi.RankError, match="died"):
        ranks.execute("import os\nos._exit(3)")


def works(ranks):
    """Is the next cell right?"""
    return ranks.run(lambda comm: comm.allreduce(1)) == [2, 2]


def draw(comm):
    import random

    import numpy as np

    return random.random(), np.random.rand(), os.getppid()


def test_ranks_are_forks_that_draw_numbers_of_their_own(two):
    (a, b, parent), (c, d, other) = two.run(draw)
    assert parent == other == two.team.supervisor.pid
    assert a != c and b != d


def test_the_ranks_of_the_cell_after_an_error_stand_ready_before_it(two):
    """All that is left for that cell is to give them their life lines: no rank is started after the error."""
    two.execute("x = 1")
    ready = two.ahead
    two.execute("x += 1")
    assert two.ahead is ready, "a right cell does not need them"
    before = {process.pid for process in forked(ready)}
    lost(two)
    with pytest.raises(mpi.RankError, match="name 'x' is not defined"):
        two.execute("x")
    assert works(two)
    assert two.team is ready and set(two.team.pids.values()) < before
    assert two.ahead is not ready, "the next ones are on their way"
    last = two.ahead.supervisor.pid
    two.stop()
    assert not psutil.pid_exists(last) and not psutil.pid_exists(ready.supervisor.pid)


def test_the_supervisor_of_a_large_team_waits_without_ranks(two, monkeypatch):
    monkeypatch.setattr(spare, "MOST", 1)
    assert not spare._waiting, "it waits from the end of the first cell on"
    two.run(lambda comm: None)
    waiting = spare._waiting[0][0].pid
    assert two.ahead is None
    lost(two)
    assert works(two)
    assert two.team.supervisor.pid == waiting
    assert spare._waiting[0][0].pid != waiting
    last = spare._waiting[0][0].pid
    two.stop()
    assert not psutil.pid_exists(last) and not psutil.pid_exists(waiting)


@pytest.mark.parametrize(
    "which", ["a rank", pytest.param("the supervisor", marks=pytest.mark.slow)]
)
def test_a_team_that_ended_while_it_stood_ready_is_not_taken(two, which):
    two.run(lambda comm: None)
    forks_of_it, supervisor = forked(two.ahead), two.ahead.supervisor
    victim = forks_of_it[-1] if which == "a rank" else psutil.Process(supervisor.pid)
    victim.kill()
    psutil.wait_procs([victim], timeout=60 * SLOW)
    lost(two)
    assert works(two) and two.team.supervisor is not supervisor
    assert not [process for process in forks_of_it if lives(process)]


def test_a_fork_whose_supervisor_was_killed_before_it_could_ask_to_die_with_it_ends():
    pid = os.fork()
    if pid == 0:
        forks.die_with_parent(parent=1)  # as if it had been given to another process meanwhile
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def lives(process):
    """False also of one that has ended and that init has not yet been told of."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def mapped(process):
    """What a process maps of the files by which ranks of an MPI find each other."""
    with open(f"/proc/{process.pid}/maps") as maps:
        return {row.split(maxsplit=5)[-1].strip() for row in maps if "/dev/shm/mpich_shm" in row}


def test_a_team_that_stands_ready_has_no_file_that_could_stay_behind(two):
    """Were its supervisor killed, nobody would be left to remove one."""
    two.run(lambda comm: None)
    ranks, end = forked(two.ahead), time.monotonic() + 60 * SLOW
    while time.monotonic() < end:
        files = [found for process in ranks if (found := mapped(process))]
        if len(files) == 2 and all(path.endswith("(deleted)") for path in set().union(*files)):
            return
        time.sleep(0.05)
    raise AssertionError(f"these still have a name: {files}")


def test_none_waits_where_that_is_not_wanted(two, monkeypatch):
    monkeypatch.setenv("COURSE_MPI_SPARE", "0")
    two.run(lambda comm: None)
    assert not spare._waiting and two.ahead is None


def test_one_that_waits_in_other_surroundings_is_not_taken(two, monkeypatch):
    two.run(lambda comm: None)
    process = two.ahead.supervisor
    monkeypatch.setenv("COURSE_OTHER", "1")
    with pytest.raises(mpi.RankError):
        two.execute("import os\nos._exit(3)")
    assert two.run(lambda comm: os.environ["COURSE_OTHER"]) == ["1", "1"]
    assert process.poll() is not None


def test_a_cell_can_import_what_a_start_leaves_out(two):
    """A start without the debugger does not take it away."""
    assert two.run(lambda comm: __import__("debugpy").__name__) == ["debugpy", "debugpy"]


def test_a_rank_whose_first_message_is_lost_is_asked_again(monkeypatch):
    """The controller forgets a message to an engine whose socket is not connected yet (seen beside a load of 26)."""
    request, lost = Team._request, []

    def forgetful(self, i, how):
        if i == 0 and not lost:
            lost.append(i)
            return types.SimpleNamespace(ready=lambda: False)
        return request(self, i, how)

    monkeypatch.setattr(Team, "_request", forgetful)
    monkeypatch.setattr(machinery, "_current", [])
    spare.end()
    with mpi.cluster(3, timeout=60 * SLOW, progress=False) as ranks:
        assert lost == [0]
        assert ranks.run(lambda comm: comm.allreduce(1)) == [3, 3, 3]


class Deaf:
    """A client that knows the engines of its turn and is told of no other: the first misses one."""

    made: ClassVar[list] = []

    def __init__(self, file, timeout):
        Deaf.made.append(self)
        self.ids, self.closed = list(range(min(len(Deaf.made), 2))), False

    def close(self):
        self.closed = True


def test_an_engine_that_registers_while_the_client_connects_is_not_missed(monkeypatch, tmp_path):
    monkeypatch.setattr("ipyparallel.Client", Deaf)
    monkeypatch.setattr("course_lib.machines.ranks.team.AGAIN", 0)
    team, said = object.__new__(Team), []
    team.n, team.folder, team.end = 2, tmp_path, time.monotonic() + 60
    team.supervisor = types.SimpleNamespace(poll=lambda: None)
    team._connect(tmp_path / "client.json", 1, said.append)
    assert said == ["rank 1 of 2", "rank 2 of 2"]
    assert team.client is Deaf.made[1] and [one.closed for one in Deaf.made] == [True, False]
