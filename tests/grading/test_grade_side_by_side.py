"""How many students are graded at a time: more while processors idle, fewer where there are too many."""

import json

import pytest
from test_grade_command import NEURON, notebook, put, released, work_in

from course_tools.__main__ import main
from course_tools.grading.sandbox import resources, sandbox
from course_tools.grading.workers import jobs, pool, side_by_side

WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
ROOM = sandbox.Limits().memory


@pytest.fixture
def two(monkeypatch):
    """A machine of two processors with memory for fifty rooms."""
    monkeypatch.setattr(side_by_side, "processors", lambda: (2, True))
    monkeypatch.setattr(resources, "free", lambda: 50 * ROOM)


def test_more_while_processors_idle(two):
    size = side_by_side.SideBySide(100)
    assert (size.base, size.most) == (4, 16)
    # one a processor at a time, and no more than the processors have time for
    assert [size._change(4, share) for share in (0.0, 0.4, 0.6, 0.7, 0.85, 1.0)] == [2, 2, 1, 0] + [
        0,
        0,
    ]
    assert [size._change(count, 0.1) for count in (14, 15, 16, 17)] == [2, 1, 0, 0]
    assert size._change(4, None) == 0  # a system that does not say


def test_fewer_where_there_are_too_many(two):
    size = side_by_side.SideBySide(100)
    assert [size._change(9, share) for share in (1.0, 0.9, 1.0, 1.0, 1.0)] == [0, 0, 0, -2, 0]
    for count, want in ((4, 0), (5, -1), (3, 0)):  # never fewer than two a processor
        size = side_by_side.SideBySide(100)
        assert [size._change(count, 1.0) for _ in range(2)][-1] == want, count


def test_never_more_than_there_are_students_or_memory_for(two, monkeypatch):
    assert side_by_side.SideBySide(3).base == side_by_side.SideBySide(3).most == 3
    size = side_by_side.SideBySide(6)
    assert size._change(5, 0.1) == 1
    monkeypatch.setattr(resources, "free", lambda: 5 * ROOM - 1)
    assert size._change(4, 0.1) == 0
    monkeypatch.setattr(resources, "free", lambda: None)
    assert size._change(4, 0.1) == 0


def test_a_share_of_a_machine_is_not_filled(two, monkeypatch):
    """In a container with half the time of its processors, idle ones are not for the taking."""
    monkeypatch.setattr(side_by_side, "processors", lambda: (2, False))
    size = side_by_side.SideBySide(100)
    assert size.most == size.base == 4 and size._change(4, 0.1) == 0


def test_what_is_in_use():
    assert side_by_side.busy((10, 100), (30, 200)) == 0.2
    assert side_by_side.busy(None, (1, 2)) is None and side_by_side.busy((1, 2), (1, 2)) is None
    found = side_by_side.ticks()
    assert found is None or 0 < found[0] <= found[1]
    count, fillable = side_by_side.processors()
    assert count >= 1 and fillable in (True, False)


class Workers:
    """Workers that only have names."""

    def __init__(self, folder):
        self.folder, self.count, self.running = folder, 2, set()

    rest, working = pool.LocalWorkers.rest, pool.LocalWorkers.working

    def start(self):
        self.running.add(f"w{len(self.running)}")

    def ended(self):
        return []

    def close(self):
        pass


class Size:
    """Says what it was told to say."""

    def __init__(self, *changes):
        self.changes, self.counts = list(changes), []

    def change(self, count):
        self.counts.append(count)
        return self.changes.pop(0)


def test_the_pool_does_as_is_said(tmp_path):
    work = work_in(tmp_path, students=4)
    workers, size = Workers(work.folder), Size(3, -2, 0, 9)
    with pool.WorkerPool(work, workers, size) as made:
        assert made.look() and not size.counts  # none is at work yet
        jobs.take(work, "w0", 1)
        for _ in range(4):
            assert made.look()
    assert size.counts == [2, 5, 3, 3]
    assert len(workers.running) == 8  # three students wait: no more than three are started for them
    assert [n for n in range(8) if jobs.rests(work.folder, f"w{n}")] == [3, 4]


@needs_sandbox
def test_a_class_beside_which_workers_come_and_go(tmp_path, monkeypatch):
    """Everybody is graded once, by workers that were added and by those that ended again."""
    released(tmp_path / "release")
    slow = notebook(neuron="import time; time.sleep(0.4)\n" + NEURON)
    put(tmp_path / "in", **{f"student{n:02d}": slow for n in range(30)})
    shares, started = [0.1] * 3 + [1.0] * 4 + [0.1] * 1000, []
    monkeypatch.setattr(side_by_side, "EVERY", 0.3)
    monkeypatch.setattr(side_by_side, "busy", lambda *two: shares.pop(0))
    monkeypatch.setattr(side_by_side, "processors", lambda: (1, True))
    monkeypatch.setattr(resources, "free", lambda: 50 * ROOM)
    start, rest = pool.LocalWorkers.start, pool.LocalWorkers.rest
    monkeypatch.setattr(pool.LocalWorkers, "start", lambda s: (started.append(1), start(s)))
    monkeypatch.setattr(pool.LocalWorkers, "rest", lambda s: (started.append(-1), rest(s)))
    words = ["grade", tmp_path / "in", "--release", tmp_path / "release", "--out", tmp_path / "out"]
    assert main([*map(str, words), "--json"]) == 0
    found = [json.loads(file.read_text()) for file in tmp_path.glob("out/student*.json")]
    assert [one["chapters"][0]["points"] for one in found] == [2] * 30
    assert started[:2] == [1, 1] and sum(started) > 2 and -1 in started
