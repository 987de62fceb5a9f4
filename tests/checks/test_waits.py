"""A function that never ends: the message says in what each of its threads stands, and tells that cause."""

import queue
import threading
import time

import pytest

from course_lib.checks.kit import threads, waits
from course_lib.checks.kit.freeform import Unmet

over = threading.Event()  # ends the loops that a test leaves behind


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(threads, "DEADLINE", 0.4)
    over.clear()
    yield
    over.set()


def joined(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()


def takes_a_lock_twice():
    lock = threading.Lock()
    with lock, lock:
        pass


def lock_and_queue():
    lock, box = threading.Lock(), queue.SimpleQueue()
    lock.acquire()
    threading.Thread(target=lambda: box.get(), daemon=True).start()
    lock.acquire()


def asks_a_dict():
    found: dict = {}
    while found.get("part") is None and not over.is_set():
        pass


def sleeps_and_asks():
    while not over.is_set():
        time.sleep(0.01)


def queue_and_event():
    threading.Thread(target=lambda: queue.Queue().get(), daemon=True).start()
    threading.Event().wait()


def until_none():
    for _ in iter(queue.SimpleQueue().get, None):
        pass


def fills_a_queue():
    box = queue.Queue(1)
    for part in range(2):
        box.put(part)


@pytest.mark.skipif(not waits.TELLS, reason="the system does not tell what a thread has used")
@pytest.mark.parametrize(
    ("fn", "kind", "place"),
    [
        (lambda: joined(lambda: queue.Queue().get()), waits.QUEUE, "<lambda> waits at a queue"),
        (lambda: joined(lambda: queue.SimpleQueue().get()), waits.QUEUE, "joined waits in a join"),
        (lambda: joined(lambda: threading.Barrier(2).wait()), waits.BARRIER, "waits at a barrier"),
        (lambda: threading.Event().wait(), waits.EVENT, "<lambda> waits for an event"),
        (until_none, waits.QUEUE, "until_none waits at a queue"),
        (takes_a_lock_twice, waits.LOCK, "takes_a_lock_twice waits for a lock"),
        (lock_and_queue, waits.LOCK, "lock_and_queue waits for a lock"),
        (asks_a_dict, waits.LOOP, "asks_a_dict is in a loop"),
        (sleeps_and_asks, waits.LOOP, "sleeps_and_asks is in a loop"),
        (queue_and_event, None, "queue_and_event waits for an event"),
        (fills_a_queue, None, "fills_a_queue waits at a full queue"),
    ],
)
def test_a_hang_is_told_by_what_its_threads_stand_in(fn, kind, place):
    with pytest.raises(Unmet) as failure:
        threads.guarded(fn)
    rows = dict(failure.value.rows)
    assert place in rows["where"]
    assert waits.CAUSES.get(kind, waits.SEVERAL) in rows["cause"]
