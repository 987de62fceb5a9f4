"""In what a thread of the student's stands when nothing goes on: a queue, a lock, a join, or a loop of its own."""

import dis
import queue
import threading
import time

TELLS = hasattr(time, "pthread_getcpuclockid")  # what a thread has used; not on macOS, nor Windows
FULL, QUEUE, LOCK = "waits at a full queue", "waits at a queue", "waits for a lock"
BARRIER, EVENT = "waits at a barrier", "waits for an event"
DONE = "waits in a queue's join"
JOIN, LOOP = "waits in a join", "is in a loop"
INSIDE = {  # by the function of Python's own that the student's line has called
    "Thread.join": JOIN,
    "Barrier.wait": BARRIER,
    "Event.wait": EVENT,
    "Condition.__enter__": LOCK,
    "Queue.get": QUEUE,
    "Queue.put": FULL,
    "Queue.join": DONE,
}
AT_ONCE = {"get": QUEUE, "acquire": LOCK, "with": LOCK, "sleep": LOOP}  # written in C: no frame
HIDDEN = {
    "BEFORE_WITH": "with",
    "FOR_ITER": "get",
}  # without a call: `for part in iter(box.get, None)`
CAUSES = {
    QUEUE: "a queue into which nobody puts what it waits for",
    LOCK: "a lock that is never released. It was taken without `with`, twice by one thread, or by a thread that "
    "itself waits",
    BARRIER: "a barrier at which fewer threads arrive than it was made for. One ends before it, is not started yet, or "
    "was not counted",
    DONE: "a task_done() for each task that was put into the queue: its join() counts them",
    EVENT: "an event that no thread sets",
    LOOP: "a loop that never ends, for what it asks for never comes true",
}
SEVERAL = (
    "a lock that is never released (use `with lock:`), a join of a thread that is itself waiting, or a queue or "
    "barrier that nothing fills"
)


def cause(stands):
    """What never happens. stands: what each thread stands in; a lock explains why others wait, a join nothing.

    Those that wait at a queue take what is put there: the join of that queue explains why nothing more comes.
    """
    kinds = {each for each in stands if each} - {JOIN}
    if LOCK in kinds and LOOP not in kinds:
        kinds = {LOCK}
    if kinds == {DONE, QUEUE}:
        kinds = {DONE}
    return CAUSES.get(min(kinds), SEVERAL) if len(kinds) == 1 else SEVERAL


def stands_in(frame, below, spins):
    """What the thread of a student's frame stands in, "" if that is not known. below: the frame it has called."""
    if spins:
        return LOOP
    if below is None:
        return AT_ONCE.get(_called(frame), "") if TELLS else ""
    ours = below.f_code.co_filename in (threading.__file__, queue.__file__)
    return INSIDE.get(below.f_code.co_qualname, "") if ours else ""


def _called(frame):
    """The name of what a frame is just calling, the last one of `box.get()`; "with" where it enters a block."""
    name, begins = "", dict[object, str]()
    for each in dis.get_instructions(frame.f_code):
        place = each.positions and (each.positions.lineno, each.positions.col_offset)
        if each.offset == frame.f_lasti:
            name = HIDDEN.get(each.opname) or begins.get(place, "")
        elif each.opname.startswith("LOAD_") and isinstance(each.argval, str):
            begins[place] = each.argval if each.offset < frame.f_lasti else begins.get(place, "")
    return name


def spinning(threads, seconds=0.1):
    """Those that use processor time; none where the system does not tell (macOS, Windows)."""
    if not (TELLS and threads):
        return []
    clocks = {
        thread: time.pthread_getcpuclockid(thread.ident) for thread in threads if thread.is_alive()
    }
    used = {thread: -time.clock_gettime(clock) for thread, clock in clocks.items()}
    time.sleep(seconds)
    return [
        thread
        for thread in clocks
        if thread.is_alive() and used[thread] + time.clock_gettime(clocks[thread]) > seconds / 20
    ]
