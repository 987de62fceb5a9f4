"""Who computes what in the backward pass: leapfrogging as Saraiya 2018 prints it and repaired, and deferred gradients.

Layers are numbered 0 to L - 1, as in `params`. Saraiya 2018 also counts the input: layer l there is
our l - 2, L there our L + 1.
"""

from typing import NamedTuple

import numpy as np

from course_lib.errors import BadInput, check_choice, check_count, check_number

FORMS = ("repaired", "algorithm 1", "section 3", "proof")


class Task(NamedTuple):
    """kind "delta": dZ of a layer (Saraiya 2018, eq. 4 at the last, 5 below); "grad": its db and dW (eq. 6 and 7)."""

    thread: int
    kind: str
    layer: int


class Schedule(tuple):
    """A tuple of Tasks, each thread's in the order in which it does them, for L layers and the threads 0 to k - 1.

    The first `fork` tasks are the parent's: no other thread starts before they are done. Then it goes on as thread 0.
    Raises BadInput for a task of another kind, thread or layer.
    """

    L: int
    k: int
    fork: int

    def __new__(cls, tasks, L, k, fork=0):
        self = super().__new__(cls, (Task(*task) for task in tasks))
        self.L, self.k, self.fork = L, k, fork
        for task in self:
            known = task.kind in ("delta", "grad")
            if not (known and 0 <= task.thread < k and 0 <= task.layer < L):
                raise BadInput(f"with L = {L} layers and k = {k} threads there is no {task}")
        return self

    def of(self, thread):
        """The tasks of one thread, in order; the parent's are thread 0's."""
        return [task for task in self if task.thread == thread]

    def coverage(self):
        """{layer: how often its gradient is computed}. It should be once, at every layer."""
        layers = [task.layer for task in self if task.kind == "grad"]
        return {layer: layers.count(layer) for layer in range(self.L)}

    def table(self):
        """Text: a row for each layer, the last one first, and a column for the parent and for each thread."""
        columns = {"parent": list(self[: self.fork])} if self.fork else {}
        for t in range(self.k):
            columns[f"thread {t}"] = [task for task in self[self.fork :] if task.thread == t]
        lines = ["layer  " + "".join(f"{name:12}" for name in columns) + "gradients"]
        for layer, count in reversed(self.coverage().items()):
            row = f"{layer:5}  "
            for tasks in columns.values():
                row += f"{' '.join(task.kind for task in tasks if task.layer == layer):12}"
            lines.append(f"{row}{count:9}")
        return "\n".join(lines)


def leapfrog_schedule(L, k, form="repaired"):
    """Saraiya 2018: the parent does the last k layers; then thread j walks the deltas and takes every k-th gradient.

    form: the text says in three places who does what. "algorithm 1" leaves out the gradient of layer L - 1; "section 3"
    those of L - k - 1 and L - k - 2; with the "proof" of theorem 1, L - 2 to L - k are done twice. (Their parent does
    L - 1: "all quantities have been computed for the last k layers", "each level j such that j > L - k".) "repaired"
    is algorithm 1 with equations 6 and 7 at layer L - 1. What is said of levels without weights is left out.
    The threads compute k (L - k + 1) deltas, (k - 1)(L - k) too many. Raises BadInput unless 1 <= k <= L.
    """
    L, k = check_shape(L, k)
    check_choice("form", form, FORMS)
    last = range(L - 1, L - k - 1, -1)
    parent = [Task(0, kind, layer) for layer in last for kind in ("delta", "grad")]
    if form == "algorithm 1":
        del parent[1]
    children = [task for j in range(k) for task in _thread(form, L, k, j)]
    return Schedule([*parent, *children], L, k, fork=len(parent))


def _thread(form, L, k, j):
    """Thread j after the fork: the deltas from `top` down to `bottom`, and gradients where it is its turn."""
    top, bottom = L - k - 1, 0
    if form == "section 3":  # its levels j, j + k, ..., as long as they are below (L + 1) - k - 1
        grads = [level - 2 for level in range(j, L - k, k)]
    elif form == "proof":  # its levels (L + 1) - 1 - j - k m
        grads = [*range(L - 2 - j, -1, -k)]
    else:  # from delta L - 1 - j, which the parent hands over: k deltas, then a gradient, as long as layers are left
        grads = [*range(L - 1 - j - k, -1, -k)]
        top, bottom = L - 2 - j, min(grads, default=L)
    # the proof's: with the parent's delta
    yield from (Task(j, "grad", layer) for layer in grads if layer > top)
    for layer in range(top, bottom - 1, -1):
        yield Task(j, "delta", layer)
        if layer in grads:
            yield Task(j, "grad", layer)


def deferred_schedule(L, k, f2=1, f3=1):
    """Thread 0 walks the deltas, each once; the gradient of a layer goes to the thread that can start it first.

    f2, f3: what a delta and a gradient cost, one number or one a layer; thread 0 helps when the deltas are done.
    Raises BadInput unless 1 <= k <= L.
    """
    L, k = check_shape(L, k)
    f2, f3 = per_layer("f2", f2, L), per_layer("f3", f3, L)
    known = [sum(f2[layer:]) for layer in range(L)]  # when the delta of each layer is there
    free = [known[0]] + [0.0] * (k - 1)  # when each thread is free
    tasks = [Task(0, "delta", layer) for layer in reversed(range(L))]
    for layer in reversed(range(L)):
        start, thread = min((max(known[layer], free[t]), t) for t in range(k))
        free[thread] = start + f3[layer]
        tasks.append(Task(thread, "grad", layer))
    return Schedule(tasks, L, k)


def per_layer(name, cost, L):
    """One number, or one for each layer, as a list of L floats; BadInput unless all are finite and >= 0."""
    costs = [cost] * L if np.ndim(cost) == 0 else list(cost)
    if len(costs) != L:
        wanted = f"one number, or one for each of the {L} layers"
        raise BadInput(f"{name} must be {wanted}, not {len(costs)} numbers")
    return [check_number(f"{name} of layer {l}", cost, False) for l, cost in enumerate(costs)]


def check_shape(L, k):
    """L and k as ints; BadInput unless they are whole and 1 <= k <= L."""
    L = check_count("L (layers with weights)", L)
    return L, check_count("k (threads, no more than layers with weights)", k, 1, L)
