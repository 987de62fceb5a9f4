"""The checks of chapter 04 on threads: the walk of one thread, the fork, the queue of deferred gradients.

Students' threads run under the guard of the kit: a call that hangs is told after some seconds, no more.
"""

import threading
import time

import numpy as np

from course_lib.checks.ch04.patience import stop
from course_lib.checks.ch04.schedules import child, leapfrog
from course_lib.checks.kit.core import Case, Check, normal, ragged, require
from course_lib.checks.kit.freeform import Unmet, function_check, require_in_time
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.threads import HELD_BACK, Meeting, guarded, require_met, started_since
from course_lib.checks.kit.trees import a_thing

# 4. walk --------------------------------------------------------------------------------------------------------


def _walk(tasks, dZ, params, A, grads):
    deltas = [dZ]
    for kind, layer in tasks:
        if kind == "delta":
            deltas.append(deltas[-1] @ params[layer + 1][0].T * (1 - A[layer + 1] ** 2))
        else:
            grads[layer] = A[layer].T @ deltas[-1], deltas[-1].sum(axis=0)
    return grads, deltas


def _walk_cases(rng):
    cases = []
    same = int(rng.integers(4, 7))
    plan = [
        (8, 3, 0, None, 5),
        (8, 3, 2, None, 4),
        (7, 2, 1, same, 3),
        (6, 4, 0, None, 1),
        (5, 1, 0, same, same),
        (6, 5, 3, None, 3),
    ]
    for L, k, j, width, B in plan:
        sizes = (
            [width] * (L + 1) if width else [*ragged(rng, 5, 2, 9), *ragged(rng, 5, 2, 9)][: L + 1]
        )
        params = [
            (normal(rng, n, m, scale=n**-0.5), normal(rng, m))
            for n, m in zip(sizes, sizes[1:], strict=False)
        ]
        A = [np.tanh(normal(rng, B, n)) for n in sizes]
        grads = [
            (normal(rng, n, m), normal(rng, m)) for n, m in zip(sizes, sizes[1:], strict=False)
        ]
        tasks, label = (
            child(L, k, j),
            f"thread {j} of {k}, {L} layers" + (" of equal width" if width else ""),
        )
        cases.append(Case((tasks, normal(rng, B, sizes[L - j]), params, A, grads), label))
    *_, params, A, grads = cases[0].args
    cases.append(
        Case(
            (leapfrog(8, 3)[0][1:], normal(rng, 5, len(params[-1][1])), params, A, grads),
            "the parent",
        )
    )
    return cases


def _call_walk(fn, tasks, dZ, params, A, grads):
    """The list of gradients that the function fills, and the deltas that it returns."""
    deltas = fn(tasks, dZ, params, A, grads)
    return grads, deltas


check_walk = Check(
    "walk",
    _walk_cases,
    _walk,
    call=_call_walk,
    K=90,
    c=8.0,
    may_change=(4,),
    parts=("grads", "what is returned"),
)

# 5. leapfrog_backward -------------------------------------------------------------------------------------------


class _Delta:
    """Stands for the delta of a layer: it can be handed on and looked at, and nothing else."""

    def __init__(self, layer):
        self.layer = layer

    def __repr__(self):
        return f"delta of layer {self.layer}"


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
                raise ArithmeticError("the parent cannot go on")
            return [dZ, *(_Delta(layer) for layer in range(self.L - 2, top - 1, -1))]
        if who in self.busy:
            self.meeting.wait()
        try:
            time.sleep(self.delay if who == self.slow else 0)
            if who is not None and who == self.fault:
                raise ArithmeticError(f"thread {who} cannot go on")
        finally:
            with self._lock:
                self.ended += 1
        return [dZ]


def hang(fn, args, cause):
    """`guarded`, with this cause where the call does not come to an end; its threads are then stopped if they spin."""
    before = set(threading.enumerate())
    try:
        return guarded(fn, *args)
    except Unmet as unmet:
        stop(started_since(before))
        where = [row for row in unmet.rows if row[0] == "where"]
        raise Unmet(unmet.what, [("cause", cause), *where], unmet.kind) from None


def _check_handed(walks, where):
    """Every child once, each from its own delta."""
    require(bool(walks.calls), "walk was never called", where=where)
    require(
        walks.odd is None,
        "walk was called with tasks that are neither the parent's nor a child's",
        where=where,
        got=walks.odd,
        wanted="pass parent, or one of the lists in children, as a whole",
    )
    parents = sum(call[0] == "parent" for call in walks.calls)
    require(
        parents <= 1,
        f"the parent's tasks were done {parents} times",
        where=where,
        cause="deltas = walk(parent, dZ), once",
    )
    require(
        not walks.early,
        "the children started before the parent had finished its part",
        where=where,
        cause="first deltas = walk(parent, dZ), then the threads: they start from its result",
    )
    for j in walks.busy:
        times = [call for call in walks.calls if call[0] == j]
        require(
            len(times) <= 1,
            f"thread {j}'s tasks were done {len(times)} times",
            where=where,
            cause="a lambda (or function) made in a loop reads j when it RUNS, and by then the loop has advanced: "
            "pass it, Thread(target=work, args=(j,))",
        )
    for j in walks.busy:
        times = [call for call in walks.calls if call[0] == j]
        require(
            bool(times),
            f"thread {j}'s tasks were never done",
            where=where,
            cause="making a Thread does not run it: start() does. Is there one for every child?",
        )
        got, wanted = times[0][1], walks.L - 1 - j
        bad = not isinstance(got, _Delta) or got.layer != wanted
        require(
            not bad,
            f"thread {j} started from {f'the {got}' if isinstance(got, _Delta) else a_thing(got)}",
            where=where,
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


def _all_told(error):
    """The text of an error and of the one it was raised from."""
    told = f"{error} {error.__cause__} {'' if error.__suppress_context__ else error.__context__}"
    return told + " ".join(
        str(one) for one in getattr(error, "exceptions", ())
    )  # those of an ExceptionGroup


def _lost_fault(run):
    lost = [fault for fault in run.faults if not isinstance(fault, ArithmeticError)]
    if lost:
        raise (
            lost[0]
            if isinstance(lost[0], NotImplementedError)
            else Unmet(
                f"one of your threads stopped with {short_error(lost[0])}",
                [
                    (
                        "cause",
                        "an exception ends only its own thread: the thread that started it never sees it",
                    )
                ],
            )
        )


def _fork_run(fn, walks):
    return hang(
        fn,
        (walks.parent, walks.children, _Delta(walks.L - 1), walks),
        "a thread waits for something that never happens: join() only threads that were started, and hold no "
        "lock while you wait",
    )


def _check_fork(fn, L, k, where, delay, idle=None):
    walks = _Walks(L, k, slow=0, delay=delay, idle=idle)
    run = _fork_run(fn, walks)
    early = walks.ended < sum(call[0] != "parent" for call in walks.calls)
    _lost_fault(run)
    if run.error is not None:
        raise run.error
    _check_handed(walks, where)
    require_met(
        walks.meeting,
        "threads were at work",
        "Thread(target=walk(...)) calls walk here and now; and start(), join() in one loop waits for each "
        "thread before the next one starts: first start all, then join all. A lock around the walk lets them wait for "
        "each other, too",
        where=where,
    )
    require(
        not early and not run.busy,
        "the function returned while a thread was still at work",
        where=where,
        cause="join every thread before you return: the gradients are not there yet",
    )
    mine = {call[2] for call in walks.calls if call[0] in walks.busy}
    require(
        len(mine) == len(walks.busy), "two children were walked by the same thread", where=where
    )


def _check_fork_fault(fn, L, k, fault):
    walks = _Walks(L, k, slow=0 if fault else k - 1, fault=fault, delay=0.25)
    run = _fork_run(fn, walks)
    where = f"L = {L}, k = {k}, an exception in " + (
        f"thread {fault}" if fault != "parent" else "the parent's part"
    )
    require(
        run.error is not None,
        "an exception in a thread was lost: the function returned as if nothing had failed",
        where=where,
        cause="an exception ends only its own thread: catch it there, keep it, and raise it after all joins",
    )
    told = isinstance(run.error, ArithmeticError) or "cannot go on" in _all_told(run.error)
    require(
        told,
        f"an exception in a thread became {short_error(run.error)}",
        where=where,
        cause="raise the exception that you kept, or `raise ... from` it: it tells what went wrong",
    )
    begun = sum(call[0] != "parent" for call in walks.calls)
    require(
        fault == "parent" or (walks.ended == begun and not run.busy),
        "the exception was raised while other threads were still at work",
        where=where,
        cause="join all threads first, then raise",
    )
    require(
        fault != "parent" or not begun,
        "the children started although the parent had failed",
        where=where,
    )
    require_in_time(
        not run.left,
        f"{len(run.left)} of your threads still waited when the exception came",
        where=where,
        cause="threads that wait for the parent's part must learn when it fails: start them after it",
    )


@function_check("leapfrog_backward", slow=True)
def check_leapfrog_backward(fn, *, rng):
    """The parent first, then all children side by side from their own deltas, all joined, no fault lost."""
    L = int(rng.integers(9, 13))
    plan = [(8, 3), (L, 2), (18, 9), (6, 1), (4, 4), (7, 5)]
    for n, (L, k) in enumerate(plan):
        _check_fork(fn, L, k, f"L = {L}, k = {k}", 0.15 + 0.6 * (n == 0))
    _check_fork(fn, 8, 3, "L = 8, k = 3, child 0 has no tasks", 0.15, idle=0)
    for k, fault in ((3, 2), (3, 0), (2, 1), (3, "parent")):
        _check_fork_fault(fn, 9, k, fault)
    return f"{len(plan)} pairs of L and k, an idle child before the others, and 4 runs with a fault in them"


# 6. deferred_backward -------------------------------------------------------------------------------------------


class _Chain:
    """The delta and grad of a network that notes everything. Tokens stand for deltas and gradients."""

    PATIENCE = 1.5

    def __init__(self, L, k, delta_fault=None, grad_fault=None, staged=True, late=2 * HELD_BACK):
        self.L, self.k, self.delta_fault, self.grad_fault, self.late = (
            L,
            k,
            delta_fault,
            grad_fault,
            late,
        )
        self.deltas, self.grads, self.threads = [], [], set()
        self.begun, self.chain_done = threading.Event(), threading.Event()
        self.meeting, self.staged, self.overlap = Meeting(k), staged and 1 < k <= L, True
        self.wrong, self.active, self.chain_thread, self.in_turn = None, 0, None, False
        self.failed = False  # the fault has happened
        self._lock, self._before = threading.Lock(), set(threading.enumerate())

    def delta(self, layer, above):
        """The delta of a layer, from that of the layer above (None for the last layer)."""
        got = above.layer if isinstance(above, _Delta) else above
        right = got is None if layer == self.L - 1 else got == layer + 1
        if not right and self.wrong is None:
            self.wrong = (
                f"delta({layer}, ...) was called with {above!r}",
                "the chain goes from L - 1 down to 0, each delta from the one before: dZ = delta(layer, dZ)",
            )
        self.deltas.append(layer)
        self.chain_thread = threading.current_thread()
        time.sleep(
            self.late if layer == self.L - 1 else 0.002
        )  # threads that are there begin, and find nothing
        if layer == self.delta_fault:
            self.failed = True
            raise ArithmeticError(f"the delta of layer {layer} cannot be computed")
        if layer == 0:
            if self.grad_fault == "worker":
                self.begun.wait(0.3)
            if self.staged:
                self.overlap = self.begun.wait(0 if self.in_turn else self.PATIENCE)
            self.chain_done.set()
        return _Delta(layer)

    def grad(self, layer, dZ):
        """The gradient of a layer from its delta. The first k gradients wait for each other when the chain is done."""
        with self._lock:
            self.grads.append(layer)
            self.threads.add(threading.current_thread())
            self.active += 1
            n = len(self.grads)
            if threading.current_thread() is self.chain_thread and not self.chain_done.is_set():
                self.in_turn = self.k > 1
            if not (isinstance(dZ, _Delta) and dZ.layer == layer) and self.wrong is None:
                self.wrong = (
                    f"grad({layer}, ...) was called with {'the ' if isinstance(dZ, _Delta) else ''}{dZ!r}",
                    "a stale delta: pass the delta together with its layer, queue.put((layer, dZ)): a shared "
                    "variable has changed before the other thread reads it"
                    if dZ is not None
                    else "its delta does not exist yet: first dZ = delta(layer, dZ), then queue.put((layer, dZ))",
                )
        self.begun.set()
        try:
            who = "chain" if threading.current_thread() is self.chain_thread else "worker"
            if self.grad_fault in (layer, who):
                self.failed = True
                raise ArithmeticError(f"the gradient of layer {layer} cannot be computed")
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


_QUEUE = (
    "a thread waits at the queue for something that never arrives. Each waiting thread takes one None out and "
    "ends: put in one for each of them, and start k - 1 of them, since the chain's thread is the k-th. (A "
    "Queue with a maxsize also waits, in put.)"
)
_QUEUE_FAULT = (
    "a thread waits at the queue for something that never arrives: when the chain or a gradient fails, the "
    "end sign must still be sent (try, finally)"
)


def _deferred_run(fn, chain, cause):
    return hang(fn, (chain.L, chain.k, chain.delta, chain.grad), cause)


def _check_deferred(fn, L, k, late):
    where, chain = f"L = {L}, k = {k}", _Chain(L, k, late=late)
    run = _deferred_run(fn, chain, _QUEUE)
    _lost_fault(run)
    if run.error is not None and chain.wrong is None:
        raise run.error
    if chain.wrong:
        require(False, chain.wrong[0], where=where, cause=chain.wrong[1])
    require(
        sorted(chain.deltas) == list(range(L)),
        f"{len(chain.deltas)} deltas were computed, there are {L}",
        where=where,
        got=f"layers {chain.deltas}",
        cause="layer 0 is missing: reversed(range(L)) goes down to 0"
        if sorted(chain.deltas) == list(range(1, L))
        else "one thread computes each delta once, the others take them from the queue",
    )
    require(
        not chain.in_turn,
        "the chain's thread computed a gradient before the chain was done",
        where=where,
        cause="every thread waits for the chain: its thread must compute only deltas until the chain is done, and "
        "pass on the rest",
    )
    _check_results(run, chain, where)
    require_in_time(
        chain.overlap,
        "no gradient had begun when the chain of deltas ended",
        where=where,
        cause="pass a layer on as soon as its delta exists, to threads that already run. `while not queue.empty()`, "
        "or a get with a timeout, ends a thread that starts too early: wait with queue.get(). And there must "
        "be k - 1 of them",
    )
    mine = len(chain.threads | {chain.chain_thread})
    require(
        mine <= k,
        f"{mine} threads computed deltas or gradients",
        where=where,
        wanted=f"k = {k} threads in all",
        cause="the thread of the chain is one of the k: start k - 1 more",
    )
    require_in_time(
        not chain.meeting.missed,
        f"k = {k} threads were never at work on gradients at the same time",
        where=where,
        cause="once the chain is done its thread must help with the remaining gradients, as one of k; and there "
        "must be k - 1 others, and no lock held while grad runs",
    )
    require(
        not run.busy and not chain.active,
        "the function returned while a thread was still there",
        where=where,
        cause="tell every thread that the work is over, and join it before you return",
    )


def _check_results(run, chain, where):
    L, given = chain.L, run.value
    lost = [layer for layer in range(L) if layer not in chain.grads]
    again = [layer for layer in range(L) if chain.grads.count(layer) > 1]
    require(
        not again,
        f"the gradient of layer {again[0] if again else ''} was computed more than once",
        where=where,
        cause="the queue gives each layer to one thread: queue.get() takes it out",
    )
    require(
        not lost,
        f"the gradient of layer {', '.join(map(str, lost))} was never computed",
        where=where,
        cause="a thread stopped while there was work: end at the None, not before; and send the Nones after the "
        "last layer",
    )
    require(
        given is not None,
        "deferred_backward returned None",
        where=where,
        cause="end with `return grads`",
    )
    require(
        isinstance(given, (list, tuple)) and len(given) == L,
        f"the result must be a list of {L} gradients",
        got=a_thing(given),
        where=where,
    )
    right = [f"gradient of layer {layer}" for layer in range(L)]
    order = (
        "they are in the order in which they were ready, or in that of the chain: put each in its place, "
        "grads[layer] = grad(layer, dZ)"
    )
    require(
        list(given) == right,
        "the gradients are not in their places",
        where=where,
        got=f"grads[0] is {given[0]!r}",
        cause=order
        if sorted(map(str, given)) == sorted(right)
        else "some entry is empty: did you return before joining the threads?",
    )


def _check_deferred_fault(fn, L, k, **fault):
    chain = _Chain(L, k, staged=False, **fault)
    kind, layer = next(iter(fault.items()))
    whose = {"chain": "the chain's thread", "worker": "another thread than the chain's"}
    place = (
        f"a gradient of {whose[layer]}"
        if layer in whose
        else f"the {kind.split('_')[0]} of layer {layer}"
    )
    where = f"L = {L}, k = {k}, an exception in {place}"
    try:
        run = _deferred_run(fn, chain, _QUEUE_FAULT)
    except Unmet as unmet:
        rows = [row for row in unmet.rows if row[0] != "where"]
        raise Unmet(unmet.what, [*rows, ("where", where)], unmet.kind) from None
    _lost_fault(run)
    if layer == "worker" and not chain.failed:
        return  # the chain was quicker than those that were forked
    require_in_time(
        chain.failed or run.error is not None,
        "the chain's thread computed no gradient",
        where=where,
        cause="once the chain is done its thread must help with the remaining gradients",
    )
    require(
        run.error is not None,
        "an exception was lost: the function returned as if nothing had failed",
        where=where,
        cause="an exception ends only its own thread: catch it there, keep it, and raise it at the end",
    )
    told = "cannot be computed" in _all_told(run.error)
    require(
        told,
        f"the exception became {short_error(run.error)}",
        where=where,
        cause="raise the exception that you kept, or `raise ... from` it",
    )
    require_in_time(
        not run.left,
        f"{len(run.left)} thread{'s' * (len(run.left) > 1)} still waited when the exception came",
        where=where,
        cause="the other threads never learned that the chain has ended: send the end signs, and join, in a "
        "`finally`",
    )
    require(
        not run.busy,
        "other threads were still at work when the exception came",
        where=where,
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
    _lost_fault(run)
    if run.error is not None:
        raise run.error
    right = [float(layer) for layer in range(L)]
    require(
        list(run.value) == right,
        "the gradients are those of other layers' deltas",
        where=f"L = {L}, k = {k}",
        got=f"from the deltas of layers {run.value}",
        cause="a stale delta: one buffer for all deltas is overwritten while another thread still reads it. Pass "
        "each delta on as it is",
    )
