"""The checks of chapter 04 on schedules: their coverage, the levels of Saraiya 2018, the repaired algorithm 1."""

import dis

from course_lib.checks.ch04.patience import must_end
from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import Unmet, _failure, at, function_check, require_returned
from course_lib.checks.kit.inputs import choose_seed
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.trees import a_thing

# Truth ----------------------------------------------------------------------------------------------------------


def leapfrog(L, k):
    """(parent, children) of Saraiya 2018, algorithm 1, repaired, layers 0 to L - 1: lists of (kind, layer)."""
    parent = [(kind, layer) for layer in range(L - 1, L - k - 1, -1) for kind in ("delta", "grad")]
    return parent, [child(L, k, j) for j in range(k)]


def child(L, k, j):
    """Thread j: deltas from layer L - 2 - j down, and the gradients of L - 1 - j - k and on by k."""
    grads = range(L - 1 - j - k, -1, -k)
    tasks = []
    for layer in range(L - 2 - j, min(grads, default=L) - 1, -1):
        tasks += [("delta", layer)] + [("grad", layer)] * (layer in grads)
    return tasks


def flat(parent, children):
    """The same as one list of (thread, kind, layer): the parent is thread 0."""
    own = [(0, *task) for task in parent]
    return own + [(j, *task) for j, tasks in enumerate(children) for task in tasks]


# 1. coverage ----------------------------------------------------------------------------------------------------


def _coverage(tasks, L):
    done = [layer for _, kind, layer in tasks if kind == "grad"]
    return [done.count(layer) for layer in range(L)]


def _coverage_cases(rng):
    L = int(rng.integers(7, 10))
    ghosts = [(0, "delta", -1), (1, "grad", -1), (0, "grad", -2)]
    printed = [task for task in flat(*leapfrog(L, 3)) if task[1:] != ("grad", L - 1)]
    printed[4:4] = ghosts  # layers that exist come after them
    cases = [
        ("algorithm 1 as printed, with layers that do not exist", printed, L),
        ("the repaired schedule", flat(*leapfrog(L + 1, 2)), L + 1),
        (
            "layers counted twice, and one missing",
            [t for t in flat(*leapfrog(L, 4)) if t[2] != 1]
            + [(j, "grad", layer) for j, layer in enumerate((L - 2, L - 3, L - 2))]
            + [(0, "grad", L - 1)] * 2,
            L,
        ),
        (
            "a layer L, which does not exist",
            [*flat(*leapfrog(4, 2)), (1, "grad", 4), (1, "delta", 4)],
            4,
        ),
        ("no task at all", [], 3),
    ]
    return [Case((tasks, L), label) for label, tasks, L in cases]


def _as_list(value):
    return (
        value.tolist()
        if hasattr(value, "tolist")
        else list(value)
        if isinstance(value, range)
        else value
    )


check_coverage = Check(
    "coverage",
    _coverage_cases,
    _coverage,
    dtype=None,
    post=_as_list,
)

# 2. thread_levels -----------------------------------------------------------------------------------------------


def _levels(n, k, j):
    return list(range(n - k - j, 1, -k))


def _levels_cases(rng):
    plan = [
        (9, 3, 0),
        (9, 3, 2),
        (8, 3, 2),
        (int(rng.integers(20, 30)), 4, 1),
        (int(rng.integers(12, 20)), 5, 3),
        (7, 1, 0),
        (6, 5, 0),
        (7, 4, 2),
        (7, 4, 1),
    ]
    return [Case((n, k, j), f"L = {n}, k = {k}, thread {j}") for n, k, j in plan]


class _LoopCheck(Check):
    """Whoever types loops in forgets to go on: that must not hang the kernel."""

    def __call__(self, fn, seed=None):
        if callable(fn):
            seed = choose_seed(seed)
            try:
                must_end(
                    fn,
                    [case.args for case in self.draw(seed)],
                    "each loop must advance: i + 1 in the inner one, j + k in the outer one",
                )
            except Unmet as unmet:
                raise _failure(self.name, unmet, (fn,), seed) from None
        super().__call__(fn, seed)


check_thread_levels = _LoopCheck(
    "thread_levels",
    _levels_cases,
    _levels,
    dtype=None,
    post=_as_list,
)

# 3. leapfrog_schedule -------------------------------------------------------------------------------------------


def _form(given, L, k):
    """The answer as (parent, children), or a failure that says what it is instead."""
    require_returned(given, "leapfrog_schedule", "`return parent, children`")
    pair = isinstance(given, (tuple, list)) and len(given) == 2
    require(pair, "the result must be the pair (parent, children)", got=a_thing(given))
    parent, children = given
    swapped = _is_nested(parent) and len(parent) == k and not _is_nested(children)
    cause = "the two are swapped: return parent, children"
    require(not swapped, "parent is a list of lists", cause=cause)
    is_list = isinstance(children, (list, tuple))
    require(is_list, "children must be a list of k lists", got=a_thing(children))
    _check_number(children, L, k)
    names = ["parent", *(f"children[{j}]" for j in range(k))]
    for name, tasks in zip(names, (parent, *children), strict=True):
        good = isinstance(tasks, (list, tuple)) and all(map(_is_task, tasks))
        what = f'{name} must be a list of pairs ("delta" or "grad", layer)'
        require(good, what, got=str(tasks)[:80])
    return [tuple(t) for t in parent], [[tuple(t) for t in c] for c in children]


def _is_nested(tasks):
    return (
        isinstance(tasks, (list, tuple)) and bool(tasks) and all(isinstance(c, list) for c in tasks)
    )


def _is_task(task):
    return isinstance(task, (list, tuple)) and len(task) == 2 and task[0] in ("delta", "grad")


def _busy(L, k):
    """How many of the k threads have tasks."""
    return sum(bool(child(L, k, j)) for j in range(k))


def _check_number(children, L, k):
    """Is there a list for each thread, and no list twice?"""
    cause = "one list for each of the threads 0 to k - 1; the parent's is not one"
    if len(children) < k and (_busy(L, k) == len(children) or not all(children)):
        cause = "every thread has its list, even an empty one: append it for each j, not only if it has tasks"
    got = f"{len(children)} lists"
    require(len(children) == k, f"there must be k = {k} children", got=got, cause=cause)
    shared = k > 1 and isinstance(children[0], list) and children[0] and children[0] is children[1]
    require(
        not shared,
        "children[0] and children[1] are one and the same list",
        cause="[[]] * k holds one list k times, and so does a list made before the loop: make a new [] for each j",
    )


def _check_covers(parent, children, L):
    done = [layer for tasks in (parent, *children) for kind, layer in tasks if kind == "grad"]
    ghosts = [layer for layer in done if not 0 <= layer < L]
    require(
        not ghosts,
        f"a gradient at layer {min(ghosts, default='')}, which does not exist",
        cause="the layers are 0 to L - 1: " + ("stop at 0" if min(ghosts) < 0 else "begin at L - 1")
        if ghosts
        else None,
    )
    lost = [layer for layer in range(L) if layer not in done]
    require(
        not lost,
        f"the gradient of layer {', '.join(map(str, lost))} is never computed",
        likely="thread j's gradients are at L - 1 - j - k, and every k layers below",
    )
    twice = sorted({layer for layer in done if done.count(layer) > 1}, reverse=True)
    require(
        not twice,
        f"the gradient of layer {', '.join(map(str, twice))} is computed more than once",
        likely="each thread takes every k-th layer",
    )


def _check_chain(tasks, start, name, L):
    """Each delta comes right after the one above; each gradient when its delta is the one at hand."""
    last = start
    for kind, layer in tasks:
        if kind == "delta":
            _check_delta(layer, last, start, name, L)
            last = layer
        else:
            _check_gradient(layer, last, name, L)


def _check_delta(layer, last, start, name, L):
    """last: the layer of the delta before it, which is `start` where the thread begins, and L where there is none."""
    way = "the parent begins with the delta of the last layer, eq. 4"
    if start < L:
        way = "the deltas go down one layer at a time, on each thread"
    cause = f"{way}: none may be skipped, eq. 5 needs the delta of the next layer"
    if layer >= last:
        cause = f"{way}: none is computed again"
    if last == start:
        cause = f"thread j gets the delta of layer L - 1 - j; {way}"
    what = f"{name} begins with the delta of layer {layer}"
    if last < L:
        what = f"{name}: the delta of layer {layer} comes right after that of layer {last}"
    require(layer == last - 1, what, wanted=f"layer {last - 1}", cause=cause)


def _check_gradient(layer, last, name, L):
    has, cause = "it has no delta yet", "the parent begins with eq. 4, the delta of the last layer"
    if last < L:
        has = f"the thread's delta is that of layer {last}"
        cause = "the order is delta, gradient, layer by layer, so that one current delta is enough"
        cause = (
            f"the delta of layer {layer} is gone: " if layer > last else "a stale delta: "
        ) + cause
    what = f"{name}: the gradient of layer {layer} is taken when {has}"
    require(layer == last, what, cause=cause)


@function_check("leapfrog_schedule")
def check_leapfrog_schedule(fn, *, rng):
    """Every gradient once, no stale delta, the threads and the order of algorithm 1."""
    L = int(rng.integers(9, 14))
    plan = [(8, 3), (8, 2), (L, 4), (L, 1), (L, 3), (5, 5), (6, 4), (2, 1), (1, 1), (2, 2), (23, 6)]
    must_end(fn, plan, "each loop must advance to the next layer, or by k")
    for L, k in plan:
        with at(f"L = {L}, k = {k}"):
            parent, children = _form(_called(fn, L, k), L, k)
            _check_covers(parent, children, L)
            _check_chain(parent, L, "the parent", L)
            for j, tasks in enumerate(children):
                _check_chain(tasks, L - 1 - j, f"thread {j}", L)
            _check_same(parent, children, L, k)
    for L, k in ((4, 5), (3, 0), (6, -1)):
        _check_refused(fn, L, k)
    return f"{len(plan)} pairs of L and k: every gradient once, every delta at hand"


def _called(fn, L, k):
    """fn(L, k); a ValueError that the function raises itself is told from one of min() or max()."""
    try:
        return fn(L, k)
    except ValueError as error:
        require(
            not _is_raised(error),
            f"k = {k} threads for L = {L} layers were refused: {short_error(error)}",
            cause="k goes from 1 to L, and both ends are allowed: refuse k < 1 and k > L",
        )
        raise


def _is_raised(error):
    """Does a `raise` of the answer's raise it, and no function that it calls?"""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _check_same(parent, children, L, k):
    """The tasks of algorithm 1, and no others."""
    own, others = leapfrog(L, k)
    names = ["the parent", *(f"thread {j}" for j in range(k))]
    for name, got, wanted in zip(names, (parent, *children), (own, *others), strict=True):
        cause = "thread j's gradients are at L - 1 - j - k, and every k layers below"
        if name == "the parent":
            cause = "the parent has a delta and a gradient at each of the layers L - 1 to L - k"
        if got[: len(wanted)] == wanted:
            cause = "it continues after its last gradient: nothing uses those deltas"
        require(
            got == wanted,
            f"{name} has other tasks than in algorithm 1",
            got=str(got)[:150],
            wanted=str(wanted)[:150],
            cause=cause,
        )


def _check_refused(fn, L, k):
    cause = "k goes from 1 to L: there is at least one thread"
    if k > 0:
        cause = "k goes from 1 to L: with more, the parent's loop would run past layer 0"
    what = "were accepted"
    try:
        if isinstance(fn(L, k), Exception):
            cause = "an exception was returned: `raise` it"
    except ValueError:
        return
    except AssertionError:
        what = "end in an AssertionError"
        cause = "`if not ...: raise ValueError(...)`: python -O leaves out every assert"
    require(False, f"k = {k} threads for L = {L} layers {what}", wanted="a ValueError", cause=cause)
