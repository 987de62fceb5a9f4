"""The checks on a naive pipeline: where its blocking sends stand still, and the same without blocking."""

import numpy as np

from course_lib.checks.kit.core import normal, property_check, require
from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.ranks.check import (
    RankCase,
    RankCheck,
    at_most_messages,
    at_most_seconds,
    no_collectives,
)
from course_lib.checks.kit.trees import a_thing
from course_lib.mpi.pipeline import Costs, schedule, simulate

# stands -------------------------------------------------------------------------------------------

P, M = 3, 4  # the pipeline that the task names
TRUTH = ("F2", "F1", "B0")  # tests rehearse it


@property_check("stands")
def check_stands(stands, *, rng):
    """For each rank the task whose result it never gets rid of."""
    plan = schedule("1f1b", P, M)
    orders = [[plan.label(task) for task in plan.of(rank)] for rank in range(P)]
    listed = isinstance(stands, tuple | list) and len(stands) == P
    require(listed, f"{P} texts are wanted in a tuple or a list, one per rank", got=a_thing(stands))
    for rank, said in enumerate(stands):
        require(
            isinstance(said, str) and said in orders[rank],
            f"rank {rank} has no such task",
            got=repr(said),
            wanted="one of " + ", ".join(orders[rank]),
        )
    whole = _read_otherwise(tuple(stands), orders)
    for rank, (said, truth) in enumerate(zip(stands, TRUTH, strict=True)):
        late = orders[rank].index(said) > orders[rank].index(truth)
        require(
            said == truth,
            f"rank {rank} does not stand at {said}",
            cause=whole or _past(rank, said, late),
        )
    return "so it stands: nobody receives"


def _read_otherwise(said, orders):
    """What all three texts together answer, where that is another question; None: they do not."""
    after = [own[own.index(truth) + 1] for own, truth in zip(orders, TRUTH, strict=True)]
    if said == tuple(after):
        return (
            "these are the tasks whose message each rank would receive next: asked is which result it is still "
            "trying to send"
        )
    if said == TRUTH[::-1]:
        return "the ranks are in reversed order: rank 0, with the first stage, comes first"
    if said == tuple(f"{truth[0]}{int(truth[1:]) + 1}" for truth in TRUTH):
        return (
            "each number is one too high: micro-batches are counted from 0; or, if you have counted from 0, "
            f"rank 0 never gets to {said[0]}: an earlier send of its own already waits for ever"
        )
    return None


def _past(rank, said, late):
    """What is wrong with this task: it sends nothing, is never reached, or its message is received."""
    if (rank == P - 1 and said[0] == "F") or (rank == 0 and said[0] == "B"):
        return f"rank {rank} sends nothing after {said}: it has no neighbour on that side"
    if late:
        return (
            f"rank {rank} never gets to {said}: an earlier send of its own already waits for ever"
        )
    other = rank + 1 if said[0] == "F" else rank - 1
    received = f"rank {other} receives this message, before its own send stands still"
    return f"rank {rank} gets past {said}: {received}"


# repaired -------------------------------------------------------------------------------------------


def _order(name, n, m, rank):
    return [(task.kind, task.micro) for task in schedule(name, n, m).of(rank)]


def _cases(rng, n):
    found = []
    # GPipe has the backwards in the reversed order of the forwards
    for name, m in (("1f1b", 5), ("1f1b", 2), ("gpipe", 3)):
        rows, width = (int(x) for x in rng.choice(np.arange(3, 9), 2, replace=False))
        X, Y = normal(rng, m, rows, width), normal(rng, m, rows, width)
        args = [
            (_order(name, n, m, r), normal(rng, width, width, scale=0.6), X, Y) for r in range(n)
        ]
        found.append(RankCase(args, f"{name}, m = {m}", K=4 * n * width + m * rows))
    return found


def _gradients(ranks):
    _, _, X, Y = ranks[0]
    grads = [np.zeros_like(W) for _, W, _, _ in ranks]
    for x, y in zip(X, Y, strict=True):
        A = [x]
        for _, W, _, _ in ranks:
            A.append(np.tanh(A[-1] @ W))
        dA = A[-1] - y
        for r in reversed(range(len(ranks))):
            dZ = dA * (1 - A[r + 1] ** 2)
            grads[r] += A[r].T @ dZ
            dA = dZ @ ranks[r][1].T
    return grads


@limit("the order")
def _keeps_order(report, n, case):
    """A forward takes 1 s and a backward 2 s: so the clock shows what each rank did."""
    for rank in range(n):
        mine = [e for e in report.events if e["rank"] == rank and e["op"] == "compute"]
        took = [round(e["end"] - e["begin"]) for e in mine]
        wanted = [1 if kind == "forward" else 2 for kind, _ in case.args[rank][0]]
        if took != wanted:
            did = " ".join("FB"[s - 1] if s in (1, 2) else "?" for s in took)
            return (
                f"rank {rank} does {did}; its order is {' '.join('FB'[s - 1] for s in wanted)}",
                _more_or_fewer(took, wanted) or ANOTHER_ORDER,
            )
    return None


ANOTHER_ORDER = (
    "the tasks stay in the order that was given: only the sends change. Another order keeps more "
    "micro-batches, or waits"
)


def _more_or_fewer(took, wanted):
    """The kind of task that is not done as often as the order has it, in words; None: each is."""
    for seconds, name, again in ((1, "forward", KEEP), (2, "backward", ONCE)):
        done, due = took.count(seconds), wanted.count(seconds)
        if done != due:
            more = done > due
            return f"{name} is called {done} times, {due} are due: {again if more else CALL}"
    return None


KEEP = "keep its input and its output for the backward, which needs both"
ONCE = "once for each backward of the order"
CALL = "call it for each task of the order, it stands for the time as well"


def _as_long(n, case):
    """What the order costs if no send waits."""
    name, m = case.label.split(", m = ")
    return simulate(schedule(name, n, int(m)), Costs(1, 1, 1)).makespan


IN_SEND = (
    "a rank waits in a send while it could compute: start the send, go on, and Wait at the end"
)
LATE = (
    "a rank receives something before a task that does not need it, or sends a result later than it has it: receive "
    "right before the task that needs it, and start the send right after the task"
)


def _why_slow(report, n, case):
    """A Wait with work left is one for a send, unless the rank has called Irecv."""
    held, maybe = False, False
    for rank in range(n):
        mine = [e for e in report.events if e["rank"] == rank]
        last = max(at for at, e in enumerate(mine) if e["op"] == "compute")
        ops = {e["op"].lower() for e in mine[:last] if e["wait"] > 1e-9}
        waits = any(op.startswith("wait") for op in ops)
        asked = any(e["op"].lower() == "irecv" for e in mine)
        held |= bool(ops & {"send", "ssend"}) or (waits and not asked)
        maybe |= waits and asked
    return IN_SEND if held else f"{IN_SEND}. Or {LATE}" if maybe else LATE


def _ops(error):
    return [place["op"] for place in (error["ranks"] or {}).values()]


def _some_send(error):
    """Ranks that wait for each other, all of them in sends."""
    if error["tool"] != "deadlock" or not error["cycle"]:
        return False
    ops = [error["ranks"][rank]["op"] for rank in error["cycle"]]
    sends = ("Send(", "Ssend(", "send(", "ssend(", "Wait for Isend", "Wait for Issend")
    return len(set(error["cycle"])) > 1 and all(op.startswith(sends) for op in ops)


def _some_swap(error):
    return error["tool"] == "deadlock" and any("sendrecv" in op.lower() for op in _ops(error))


def _pickled(error):
    return error["tool"] == "truncation" and "uint8" in error["message"]


check_repaired = RankCheck(
    "repaired",
    _cases,
    _gradients,
    ranks=(1, 2, 4),
    limits=[
        no_collectives("neighbours talk to each other, nobody else"),
        at_most_messages(lambda n, case: 2 * len(case.args[0][2]), "a message for each A and dA"),
        _keeps_order,
        at_most_seconds(
            _as_long,
            0.0,
            0.0,
            _why_slow,
        ),
    ],
    causes=[
        (
            _some_send,
            "a rank that waits in Send, or in Wait right after Isend, receives nothing meanwhile: its "
            "neighbour, which waits in the same way, never gets rid of its own message",
        ),
        (
            _some_swap,
            "a Sendrecv waits until the partner has sent something as well: in most places of the order one of "
            "the two neighbours alone has something to send",
        ),
        (
            _pickled,
            "a small letter sends a pickle, and Recv takes an array: Isend, with a capital I",
        ),
    ],
)
