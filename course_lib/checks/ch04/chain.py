"""The check of deferred gradients: a chain of deltas in one thread, a queue, and k threads at the gradients."""

import threading
import time

import numpy as np

from course_lib.checks.ch04.guard import (
    FAULT,
    Delta,
    hang,
    require_heard,
    require_no_error,
    require_no_strange_fault,
    require_none_waits,
)
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import at, function_check, require_in_time, require_returned
from course_lib.checks.kit.threads import HELD_BACK, Meeting, started_since
from course_lib.checks.kit.trees import a_thing


class _Chain:
    """The delta and grad of a network that notes everything. Tokens stand for deltas and gradients."""

    PATIENCE = 1.5

    def __init__(self, L, k, delta_fault=None, grad_fault=None, staged=True, late=2 * HELD_BACK):
        self.L, self.k, self.late = L, k, late
        self.delta_fault, self.grad_fault = delta_fault, grad_fault
        self.deltas, self.grads, self.threads = [], [], set()
        self.begun, self.chain_done = threading.Event(), threading.Event()
        self.meeting, self.staged, self.overlap = Meeting(k), staged and 1 < k <= L, True
        self.wrong, self.active, self.chain_thread, self.in_turn = None, 0, None, False
        self.failed = False  # the fault has happened
        self.seen, self.there = set(), []  # other threads: at any delta, at the last one
        self._lock, self._before = threading.Lock(), set(threading.enumerate())

    def delta(self, layer, above):
        """The delta of a layer, from that of the layer above (None for the last layer)."""
        got = above.layer if isinstance(above, Delta) else above
        right = got is None if layer == self.L - 1 else got == layer + 1
        if not right and self.wrong is None:
            self.wrong = (
                f"delta({layer}, ...) was called with {above!r}",
                "the chain goes from L - 1 down to 0, each delta from the one before: dZ = delta(layer, dZ)",
            )
        self.deltas.append(layer)
        self.chain_thread = threading.current_thread()
        self.there = [t for t in started_since(self._before) if t.name != "check"]
        self.there = [t for t in self.there if t is not self.chain_thread]
        self.seen |= set(self.there)
        time.sleep(
            self.late if layer == self.L - 1 else 0.002
        )  # threads that are there begin, and find nothing
        if layer == self.delta_fault:
            self.failed = True
            raise ArithmeticError(f"the delta of layer {layer} {FAULT}")
        if layer == 0:
            if self.grad_fault == "worker":
                self.begun.wait(0.3)
            if self.staged:
                self.overlap = self.begun.wait(0 if self.in_turn else self.PATIENCE)
            self.chain_done.set()
        return Delta(layer)

    def grad(self, layer, dZ):
        """The gradient of a layer from its delta. The first k gradients wait for each other when the chain is done."""
        with self._lock:
            self.grads.append(layer)
            self.threads.add(threading.current_thread())
            self.active += 1
            n = len(self.grads)
            if threading.current_thread() is self.chain_thread and not self.chain_done.is_set():
                self.in_turn = self.k > 1
            if not (isinstance(dZ, Delta) and dZ.layer == layer) and self.wrong is None:
                what = f"grad({layer}, ...) was called with {'the ' * isinstance(dZ, Delta)}{dZ!r}"
                self.wrong = what, _wrong_delta(layer, dZ)
        self.begun.set()
        try:
            who = "chain" if threading.current_thread() is self.chain_thread else "worker"
            if self.grad_fault in (layer, who):
                self.failed = True
                raise ArithmeticError(f"the gradient of layer {layer} {FAULT}")
            if not self.staged and threading.current_thread() is not self.chain_thread:
                time.sleep(
                    0.2 if self._is_last_started() else 0.03
                )  # whoever joins only some is found out
            if self.staged and n <= self.k and not self.in_turn:
                self.chain_done.wait(self.PATIENCE)
                self.meeting.wait()
                mine = threading.current_thread() is not self.chain_thread
                time.sleep(mine * (0.15 if self._is_last_started() else 0.05))
            time.sleep(0.001 * ((7 * layer) % 5))  # they end in another order than they begin
            return f"gradient of layer {layer}"
        finally:
            with self._lock:
                self.active -= 1

    def _is_last_started(self):
        return started_since(self._before)[-1] is threading.current_thread()


def _wrong_delta(layer, dZ):
    """Why grad did not get the delta of its layer."""
    pass_it = "pass the delta together with its layer, queue.put((layer, dZ))"
    if isinstance(layer, Delta):
        return "the two are swapped: grad(layer, dZ)"
    if dZ is None:
        return (
            "its delta does not exist yet: first dZ = delta(layer, dZ), then queue.put((layer, dZ))"
        )
    if not isinstance(dZ, Delta):
        return "the second argument is the delta of that layer, as delta has returned it"
    if dZ.layer > layer:
        return f"the delta of a layer above: first dZ = delta(layer, dZ), then {pass_it}"
    return f"a stale delta: {pass_it}: a shared variable may have changed before the other thread reads it"


_QUEUE = (
    "a thread waits at the queue for something that never arrives. Each waiting thread must take one None out and "
    "end there: put in one for each of them, and start k - 1 of them, since the chain's thread is the k-th, and "
    "takes out one more where it also asks for None"
)
_QUEUE_FAULT = (
    "a thread waits at the queue for something that never arrives: when the chain or a gradient fails, the "
    "end sign must still be sent (try, finally)"
)


def _check_deferred(fn, L, k, late):
    chain = _Chain(L, k, late=late)
    with at(f"L = {L}, k = {k}"):
        run = hang(fn, (L, k, chain.delta, chain.grad), _QUEUE)
        seen = not hasattr(fn, "aftermath")  # the threads of another process are not
        require_no_strange_fault(run)
        if chain.wrong:
            require(False, chain.wrong[0], cause=chain.wrong[1])
        require_no_error(run)
        _check_deltas(chain)
        _check_results(run, chain)
        _check_threads(chain, seen)
        require(
            not run.busy and not chain.active,
            "the function returned while a thread was still there",
            cause="tell every thread that the work is over, and join it before you return",
        )


def _check_deltas(chain):
    """Each once, and no gradient by their thread before the last of them."""
    L, given = chain.L, sorted(chain.deltas)
    cause = "one thread computes each delta once, the others take them from the queue"
    if given == list(range(1, L)):
        cause = "layer 0 is missing: reversed(range(L)) goes down to 0"
    require(
        given == list(range(L)),
        f"{len(given)} deltas were computed, there are {L}",
        got=f"layers {chain.deltas}",
        cause=cause,
    )
    require(
        not chain.in_turn,
        "the chain's thread computed a gradient before the chain was done",
        cause="every thread waits for the chain: its thread must compute only deltas until the chain is done, and "
        "pass on the rest",
    )


_PASS_ON = "pass a layer on as soon as its delta exists, to threads that already run"
_ENDS = (
    "`while not queue.empty()`, or a get with a timeout, ends a thread that starts too early: wait with queue.get(). "
    "So does a None that is sent too early"
)


def _apart_cause(chain, seen):
    """Why no gradient had begun. seen: are the other threads seen from here?"""
    if not seen:
        return f"{_PASS_ON}. {_ENDS}. And there must be k - 1 of them"
    if not chain.seen:
        return f"{_PASS_ON}: none of the k - 1 others had been started"
    if not chain.there:
        return f"{_PASS_ON}. The others had ended by then: {_ENDS}"
    return (
        f"{_PASS_ON}. The others were there and got nothing: are the layers put into the queue only after the "
        "chain, or does something else hold the threads back until then?"
    )


def _check_threads(chain, seen):
    """Gradients side by side with the chain, then k threads at them, no more and no fewer."""
    require_in_time(
        chain.overlap,
        "no gradient had begun when the chain of deltas ended",
        cause=_apart_cause(chain, seen),
    )
    mine = len(chain.threads | {chain.chain_thread})
    require(
        mine <= chain.k,
        f"{mine} threads computed deltas or gradients",
        wanted=f"k = {chain.k} threads in all",
        cause="the thread of the chain is one of the k: start k - 1 more",
    )
    require_in_time(
        not chain.meeting.missed,
        f"k = {chain.k} threads were never at work on gradients at the same time",
        cause="once the chain is done its thread must help with the remaining gradients, as one of k; and there "
        "must be k - 1 others, and no lock held while grad runs",
    )


def _check_results(run, chain):
    """Each gradient once, and all of them in their places."""
    L, given = chain.L, run.value
    again = [layer for layer in range(L) if chain.grads.count(layer) > 1]
    require(
        not again,
        f"the gradient of layer {min(again, default='')} was computed more than once",
        cause="the queue gives each layer to one thread: queue.get() takes it out",
    )
    lost = [layer for layer in range(L) if layer not in chain.grads]
    require(
        not lost,
        f"the gradient of layer {', '.join(map(str, lost))} was never computed",
        cause="either it was never put into the queue; or a thread stopped while there was work: end at the None, not "
        "before, and send the Nones after the last layer",
    )
    require_returned(given, "deferred_backward", "`return grads`")
    is_list = isinstance(given, (list, tuple)) and len(given) == L
    require(is_list, f"the result must be a list of {L} gradients", got=a_thing(given))
    right = [f"gradient of layer {layer}" for layer in range(L)]
    got, cause = f"grads[0] is {given[0]!r}", _cause_of_places(given, right)
    require(list(given) == right, "the gradients are not in their places", got=got, cause=cause)


def _cause_of_places(given, right):
    """Why the gradients are not in their places."""
    if any(one is None for one in given):
        return "some entry is empty: did you return before joining the threads?"
    if sorted(map(str, given)) == sorted(right):
        return (
            "they are in the order in which they were ready, or in that of the chain: put each in its place, "
            "grads[layer] = grad(layer, dZ)"
        )
    return "grads[layer] is what grad(layer, dZ) returned, and nothing else"


def _check_deferred_fault(fn, L, k, **fault):
    chain = _Chain(L, k, staged=False, **fault)
    kind, layer = next(iter(fault.items()))
    whose = {"chain": "the chain's thread", "worker": "another thread than the chain's"}
    of_layer = f"the {kind.split('_')[0]} of layer {layer}"
    place = f"a gradient of {whose[layer]}" if layer in whose else of_layer
    with at(f"L = {L}, k = {k}, an exception in {place}"):
        run = hang(fn, (L, k, chain.delta, chain.grad), _QUEUE_FAULT)
        require_no_strange_fault(run)
        if layer == "worker" and not chain.failed:
            return  # the chain was quicker than those that were forked
        require_in_time(
            chain.failed or run.error is not None,
            "the chain's thread computed no gradient",
            cause="once the chain is done its thread must help with the remaining gradients",
        )
        require_heard(run, "an exception", "at the end")
        require_none_waits(
            run,
            "the other threads never learned that the chain has ended: send the end signs, and join, in a `finally`",
        )
        require(
            not run.busy,
            "other threads were still at work when the exception came",
            cause="first join all threads, then raise; and an exception in the chain's own gradients must wait as well",
        )


@function_check("deferred_backward", slow=True)
def check_deferred_backward(fn, *, rng):
    """Each delta once and in order, each gradient once from its own delta, k threads, no fault lost, nobody waits."""
    plan = [(6, 2), (int(rng.integers(9, 14)), 3), (12, 9), (5, 1), (3, 3), (1, 1)]
    for n, (L, k) in enumerate(plan):
        _check_deferred(fn, L, k, 0.3 if n == 0 else 2 * HELD_BACK)
    _check_arrays(fn)
    faults = (
        {"delta_fault": 3},
        {"delta_fault": 6},
        {"grad_fault": 4},
        {"grad_fault": 0},
        {"grad_fault": "chain"},
        {"grad_fault": "worker"},
    )
    for fault in faults:
        _check_deferred_fault(fn, 7, 3, **fault)
    return f"{len(plan)} pairs of L and k, a run with arrays, and {len(faults)} runs with a fault in them"


def _check_arrays(fn, L=6, k=2):
    """Deltas that are arrays of one shape: a buffer that serves for all of them shows."""

    def delta(layer, above):
        return np.full(4, layer, np.float32)

    def grad(layer, dZ):
        time.sleep(0.01)
        return float(dZ[0])

    run = hang(fn, (L, k, delta, grad), _QUEUE)
    require_no_error(run)
    right = [float(layer) for layer in range(L)]
    require(
        list(run.value) == right,
        "the gradients are those of other layers' deltas",
        where=f"L = {L}, k = {k}",
        got=f"from the deltas of layers {run.value}",
        cause="a stale delta: one buffer for all deltas is overwritten while another thread still reads it. Pass "
        "each delta on as it is"
        if set(run.value) <= set(right)
        else "grads[layer] is what grad(layer, dZ) returned, also where that is 0.0",
    )
