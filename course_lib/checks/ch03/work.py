"""Shards of a batch, and the work on them, as the checks of chapter 03 hand it to students' threads.

A network of independent linear layers stands for any: its gradient is a sum over examples, with two lines of code.
"""

import threading
from itertools import combinations

import numpy as np

from course_lib.checks.ch03.race import part
from course_lib.checks.kit.compare import Rules, compare
from course_lib.checks.kit.core import normal, ragged
from course_lib.checks.kit.known.planted import task_of
from course_lib.checks.kit.threads import Meeting, come_late, started_since

STEP = 64  # X[i, 0] is i / STEP, exactly: a worker can be asked which rows it has


def shard_sizes(B, T):
    """T sizes that differ by one at most, the larger first."""
    return [B // T + (t < B % T) for t in range(T)]


def shard_slices(B, T):
    """The slices of those sizes."""
    ends = np.cumsum([0, *shard_sizes(B, T)]).tolist()
    return [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]


def make_batch(rng, B, n_layers=2):
    """(params, X, Y) float32: layer l uses the first columns of X and Y, as many as it has inputs and outputs."""
    sizes = ragged(rng, 2 * n_layers, 2, 9)
    params = [
        (normal(rng, n, m), normal(rng, m)) for n, m in zip(sizes[::2], sizes[1::2], strict=True)
    ]
    X, Y = normal(rng, B, max(sizes)), normal(rng, B, max(sizes))
    X[:, 0] = np.arange(B, dtype=np.float32) / STEP
    return params, X, Y


def gradient_sum(params, X, Y):
    """The sum over the rows of the gradients of 1/2 ||x W + b - y||^2, layer by layer: a list of (dW, db)."""
    grads = []
    for W, b in params:
        inputs = X[:, : W.shape[0]]
        residual = inputs @ W + b - Y[:, : len(b)]
        grads.append((inputs.T @ residual, residual.sum(axis=0)))
    return grads


def scaled(grads, factor):
    """Every part of a gradient times the factor."""
    return [(dW * factor, db * factor) for dW, db in grads]


def added(many):
    """The sum of several gradients; [] of none."""
    return [
        (sum(p[0] for p in layer), sum(p[1] for p in layer)) for layer in zip(*many, strict=True)
    ]


def sums_of_shards(params, X, Y, T):
    """The exact (float64) gradient sums of the T shards."""
    wide = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    return [gradient_sum(wide, X[rows], Y[rows]) for rows in shard_slices(len(X), T)]


def misses(got, want, K):
    """What is wrong with a list of (dW, db), by the rules of all checks; [] if nothing is."""
    return compare(got, want, Rules(8.0, K, "float32", "float32", each=("dW", "db")))


def alike(got, want, K):
    """The same but for rounding?"""
    return not any(m for m in misses(got, want, K) if m.kind != "dtype")


class Workers:
    """A gradient_sum that remembers its calls. One shard, `slow`, comes late; one, `fault`, raises.

    All T calls wait for each other first: they can meet only if they run side by side. fault "caller": whatever the
    caller computes itself raises, and all others come late. most: calls at the same time; alone: the caller has waited
    for others when there was no other thread; queued: threads were there, and did not come.
    calls: (first row, number of rows) of each, in order of time; threads: who made them; last: who made the last.
    traffic: if given, the sums are `Part`s: threads that add them into one place without a lock lose some.
    """

    def __init__(self, B, T, slow=None, fault=None, traffic=None):
        self.rows = [(s.start, s.stop - s.start) for s in shard_slices(B, T)]
        self.slow, self.fault, self.traffic = slow, fault, traffic
        self.remote = False
        self.meeting, self.calls, self.threads, self.ended = Meeting(T), [], set(), 0
        self.most, self.alone, self.queued, self.raised = 0, False, False, False
        self.last = None
        self._lock, self._before = threading.Lock(), set(threading.enumerate())

    def unfinished(self):
        """How many shards have not been computed to the end."""
        return len(self.rows) - self.ended

    def __call__(self, params, X, Y):
        if len(X) != len(Y):
            raise ValueError(
                f"gradient_sum got {len(X)} rows of X and {len(Y)} of Y: cut both by the same slice"
            )
        rows = (first_row(X), len(X))
        shard = self.rows.index(rows) if rows in self.rows else None
        with self._lock:
            self.calls.append(rows)
            self.last = threading.current_thread()
            self.threads.add(self.last)
            self.most = max(self.most, len(self.calls) - self.ended)
        self._meet()
        by_caller = threading.current_thread().name == "check"
        try:
            if shard is not None and (
                shard == self.slow or (self.fault == "caller" and not by_caller)
            ):
                come_late()
            if shard is not None and (
                shard == self.fault or (self.fault == "caller" and by_caller)
            ):
                self.raised = True
                raise ArithmeticError(f"shard {shard} cannot be computed")
            return as_parts(gradient_sum(params, X, Y), self.traffic)
        finally:
            with self._lock:
                self.ended += 1

    def _meet(self):
        missed = self.meeting.missed
        self.meeting.wait()
        if self.meeting.missed and not missed:
            others = [t for t in started_since(self._before) if t.name != "check"]
            self.alone = not others
            self.queued = len(others) > len(self.calls) - self.ended


def as_parts(grads, traffic):
    """The gradient of one worker as parts of a sum whose writes are held up; as it is without a traffic."""
    if traffic is None:
        return grads
    traffic.enter()
    return [(part(dW, traffic), part(db, traffic)) for dW, db in grads]


KEPT = (
    "a default argument, `sums=[]`, is made once, with the function: it still holds the values of the last "
    "call. Make the list inside"
)


def kept_defaults(fn):
    """The default arguments of a function in which calls have left something."""
    given = [
        *(getattr(fn, "__defaults__", None) or ()),
        *(getattr(fn, "__kwdefaults__", None) or {}).values(),
    ]
    return [value for value in given if isinstance(value, (list, dict, set)) and value]


LOST_UPDATE = (
    "a lost update: right while the threads happen to add one after the other, wrong when two read the same "
    "array before either wrote it. Guard the whole of read, add and write with ONE lock, or give each thread "
    "its own place and add up after the join. (A variable that all threads assign, `nonlocal` or `global`, loses "
    "values in the same way)"
)


def first_row(X):
    """Which row of the batch X begins with; None for no rows, or for numbers that the batch does not have."""
    number = float(X[0, 0]) * STEP if len(X) else 0.5
    return int(number) if number == int(number) and number >= 0 else None


def explain_gradient(got, shards, B, K, late=None):
    """The likely cause of a wrong mean gradient, or None. shards: exact sums; late: the shard that came last."""
    return (
        _explain_missing(got, shards, B, K, late)
        or _combined_wrongly(got, shards, B, K)
        or _as_if_equal(got, shards, B, K)
    )


def _combined_wrongly(got, shards, B, K):
    """What the planted answers to `combine` say of these sums: whoever divides here makes the same mistakes."""
    task = task_of(__name__, "combine")
    for says, source in task.planted if task and len(shards) > 1 else ():
        if alike(got, task.value_of(source)(shards, shard_sizes(B, len(shards))), K):
            return says
    return None


def _as_if_equal(got, shards, B, K):
    """Were the sums divided by T times the same number of rows, where the shards are not equally long?"""
    T = len(shards)
    for rows in (B // T, -(-B // T)):
        if rows * T != B and alike(got, scaled(added(shards), 1 / (rows * T)), K):
            return (
                f"divided by T x {rows} = {rows * T} rows, as if all shards were equally long: here they have {B} "
                "rows together, s.stop - s.start each"
            )
    return None


_EARLY = "the parts were added up before its thread had been joined"
_WITH_ROWS = "either two shards share one place (or key), or some are left out, or added up before they are there"


def _explain_missing(got, shards, B, K, late):
    T = len(shards)
    if T > 1 and alike(got, scaled(added(shards), 0.0), K):
        return "no part is in the sum: the parts were added up before the join, or never"
    for size in range(1, T):
        for some in combinations(range(T), size):
            if alike(got, scaled(added([shards[t] for t in some]), 1 / B), K):
                lost = [t for t in range(T) if t not in some]
                if lost == [late]:
                    return f"the part of shard {late} is missing, the one that was ready last: {_EARLY}"
                return f"the part of shard {' and '.join(map(str, lost))} is missing"
            rows = sum(shard_sizes(B, T)[t] for t in some)
            if alike(got, scaled(added([shards[t] for t in some]), 1 / rows), K):
                return f"{T - size} of {T} parts are missing, and their rows, too: {_WITH_ROWS}"
    for t in range(T):
        if alike(got, scaled(added([*shards, shards[t]]), 1 / B), K):
            return f"the part of shard {t} is counted twice"
        if alike(got, scaled(shards[t], T / B), K):
            return f"the part of shard {t} is taken {T} times: each thread must keep its own"
    return None
