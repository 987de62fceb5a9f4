"""The check of leapfrogging with threads: the parent's part, then a thread for each child."""

import threading
import time

from course_lib.checks.ch04.guard import (
    FAULT,
    Delta,
    hang,
    require_heard,
    require_no_error,
    require_none_waits,
)
from course_lib.checks.ch04.schedules import leapfrog
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import at, function_check
from course_lib.checks.kit.threads import HELD_BACK, Meeting, likely_again, require_met
from course_lib.checks.kit.trees import a_thing


class _Walks:
    """A `walk` that notes who called it with what. One child is slow, one may raise; children meet, side by side."""

    def __init__(self, L, k, slow=None, fault=None, delay=0.15, idle=None):
        self.L, self.k, self.slow, self.fault, self.delay = L, k, slow, fault, delay
        self.parent, self.children = leapfrog(L, k)
        if idle is not None:
            self.children[idle] = []
        del self.parent[0]  # eq. 4: the delta of the last layer is there
        busy = [j for j in range(k) if self.children[j]]
        self.calls, self.ended, self.parent_done, self.early, self.odd = [], 0, False, False, None
        self.by_caller = False  # the fault came in the thread that called
        self.meeting, self.busy = Meeting(max(len(busy), 1)), busy
        self._lock = threading.Lock()

    def who(self, tasks):
        """ "parent", the number of a child, or None for a list that is nobody's."""
        if list(tasks) == self.parent:
            return "parent"
        same = [j for j in range(self.k) if list(tasks) == self.children[j] and tasks]
        return same[0] if same else "idle" if not tasks else None

    def __call__(self, tasks, dZ):
        pairs = isinstance(tasks, (list, tuple)) and all(
            isinstance(t, tuple) and len(t) == 2 for t in tasks
        )
        who = self.who(tasks) if pairs else None
        if who is None and self.odd is None:
            self.odd = str(tasks)[:100]
        with self._lock:
            self.calls.append((who, dZ, threading.current_thread()))
            self.early = self.early or (who != "parent" and not self.parent_done)
        if who == "parent":
            top = min([layer for kind, layer in tasks if kind == "delta"], default=self.L - 1)
            time.sleep(2 * HELD_BACK)  # children that do not wait begin now
            self.parent_done = True
            if self.fault == "parent":
                raise ArithmeticError(f"the parent's part {FAULT}")
            return [dZ, *(Delta(layer) for layer in range(self.L - 2, top - 1, -1))]
        if who in self.busy:
            self.meeting.wait()
        try:
            time.sleep(self.delay if who == self.slow else 0)
            if who is not None and who == self.fault:
                self.by_caller = threading.current_thread().name == "check"
                raise ArithmeticError(f"the part of thread {who} {FAULT}")
        finally:
            with self._lock:
                self.ended += 1
        return [dZ]


def _check_handed(walks):
    """Every child once, each from its own delta."""
    require(bool(walks.calls), "walk was never called")
    require(
        walks.odd is None,
        "walk was called with tasks that are neither the parent's nor a child's",
        got=walks.odd,
        wanted="pass parent, or one of the lists in children, as a whole",
    )
    parents = sum(call[0] == "parent" for call in walks.calls)
    require(
        parents <= 1,
        f"the parent's tasks were done {parents} times",
        cause="deltas = walk(parent, dZ), once",
    )
    require(
        not walks.early,
        "the children started before the parent had finished its part",
        cause="first deltas = walk(parent, dZ), then the threads: they start from its result",
    )
    counts = [sum(call[0] == j for call in walks.calls) for j in walks.busy]
    for j, times in zip(walks.busy, counts, strict=True):
        require(
            times <= 1,
            f"thread {j}'s tasks were done {times} times",
            likely=likely_again(counts, "child"),
        )
    for j in walks.busy:
        _check_start(walks, j)


def _check_start(walks, j):
    """Did child j begin, and from its own delta?"""
    given = [dZ for who, dZ, _ in walks.calls if who == j]
    require(
        bool(given),
        f"thread {j}'s tasks were never done",
        cause="is there a thread for every child, and is it started? (start() runs a thread; making it does not)",
    )
    got, wanted = given[0], walks.L - 1 - j
    mine = isinstance(got, Delta)
    require(
        mine and got.layer == wanted,
        f"thread {j} started from {f'the {got}' if mine else a_thing(got)}",
        wanted=f"deltas[{j}], the delta of layer L - 1 - {j} = {wanted}",
        cause=_delta_cause(walks),
    )


def _delta_cause(walks):
    given = {call[0]: call[1] for call in walks.calls if call[0] in walks.busy}
    if len(given) > 1 and len({id(dZ) for dZ in given.values()}) == 1:
        return "all threads start from the same delta: each has its own, deltas[j]"
    layers = [getattr(given.get(j), "layer", None) for j in walks.busy]
    if layers == [walks.L - 1 - n for n in range(len(layers))]:
        return "a child without tasks was left out before the others were numbered: child j has deltas[j], as before"
    return "thread j gets deltas[j]: the list begins with that of the last layer"


def _fork_run(fn, walks):
    return hang(fn, (walks.parent, walks.children, Delta(walks.L - 1), walks))


def _check_fork(fn, L, k, delay, idle=None):
    walks = _Walks(L, k, slow=0, delay=delay, idle=idle)
    with at(f"L = {L}, k = {k}" + ("" if idle is None else f", child {idle} has no tasks")):
        run = _fork_run(fn, walks)
        early = walks.ended < sum(call[0] != "parent" for call in walks.calls)
        require_no_error(run)
        _check_handed(walks)
        require_met(
            walks.meeting,
            "threads were at work",
            "each walk has ended before the next one begins, as in a loop of the caller's, with "
            "Thread(target=walk(...)), which calls walk here and now, with a lock around the walk, or with start() "
            "and join() in one loop, which waits for each thread before the next one starts: first start all, then "
            "join all",
        )
        require(
            not early and not run.busy,
            "the function returned while a thread was still at work",
            cause="join every thread before you return: the gradients are not there yet",
        )
        mine = {call[2] for call in walks.calls if call[0] in walks.busy}
        require(len(mine) == len(walks.busy), "two children were walked by the same thread")


_OWN = "the calling thread walks this part itself, and its exception ends the call: catch it there, too; "


def _check_fork_fault(fn, L, k, fault):
    walks = _Walks(L, k, slow=0 if fault else k - 1, fault=fault, delay=0.25)
    whose = "the parent's part" if fault == "parent" else f"thread {fault}"
    with at(f"L = {L}, k = {k}, an exception in {whose}"):
        run = _fork_run(fn, walks)
        require_heard(run, "an exception in a thread", "after all joins")
        begun = sum(call[0] != "parent" for call in walks.calls)
        require(
            fault == "parent" or (walks.ended == begun and not run.busy),
            "the exception was raised while other threads were still at work",
            cause=_OWN * walks.by_caller + "join all threads first, then raise",
        )
        require(
            fault != "parent" or not begun, "the children started although the parent had failed"
        )
        require_none_waits(
            run,
            "threads that wait for the parent's part must learn when it fails: start them after it",
        )


@function_check("leapfrog_backward", slow=True)
def check_leapfrog_backward(fn, *, rng):
    """The parent first, then all children side by side from their own deltas, all joined, no fault lost."""
    L = int(rng.integers(9, 13))
    plan = [(8, 3), (L, 2), (18, 9), (6, 1), (4, 4), (7, 5)]
    for n, (L, k) in enumerate(plan):
        _check_fork(fn, L, k, 0.15 + 0.6 * (n == 0))
    _check_fork(fn, 8, 3, 0.15, idle=0)
    for k, fault in ((3, 2), (3, 0), (2, 1), (3, "parent")):
        _check_fork_fault(fn, 9, k, fault)
    return f"{len(plan)} pairs of L and k, an idle child before the others, and 4 runs with a fault in them"
