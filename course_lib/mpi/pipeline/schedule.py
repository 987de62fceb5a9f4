"""A pipeline's schedule as data, in chapter 04's form: who does which task of which stage and micro-batch.

Stages are numbered as layers are, 0 to S - 1. A rank has v of them ("chunks"): stage s lies on rank s mod p.
"""

from collections import Counter, deque
from itertools import product
from typing import NamedTuple

from course_lib.errors import BadInput, check_count
from course_lib.measure import Span

LETTERS = {"forward": "F", "backward": "B", "delta": "D", "grad": "G"}
PARTS = {
    "backward": ("delta", "grad")
}  # a task that makes two results; the others make what their name says


class Task(NamedTuple):
    """One task of a stage, for one micro-batch.

    forward: A of its layers. delta: dZ of its layers, and the dA that goes to the stage before. grad: dW and db.
    backward: delta and grad as one task. Zero Bubble (Qi et al. 2023, section 1) calls delta B, and grad W.
    """

    rank: int
    kind: str
    stage: int
    micro: int

    def makes(self):
        """[(what, stage, micro)]: its results, what is "forward", "delta" or "grad"."""
        return [(what, self.stage, self.micro) for what in PARTS.get(self.kind, (self.kind,))]

    def comes_in(self, S):
        """The result of the neighbouring stage that it takes, (what, stage, micro); None where there is none."""
        if self.kind == "forward":
            return ("forward", self.stage - 1, self.micro) if self.stage else None
        last = self.stage == S - 1 or self.kind == "grad"
        return None if last else ("delta", self.stage + 1, self.micro)

    def needs(self, S):
        """All results that it waits for: the neighbour's, and what its own stage made before."""
        own = {"forward": [], "grad": ["delta"]}.get(self.kind, ["forward"])
        found = [(what, self.stage, self.micro) for what in own]
        return [*found, *filter(None, [self.comes_in(S)])]


class PipelineSchedule(tuple):
    """A tuple of Tasks, each rank's in the order in which it does them: p ranks, m micro-batches, v stages a rank.

    Raises BadInput for a task of another kind, rank, stage or micro-batch. What is missing, or in an order that waits
    for ever, `check` says: a wrong schedule may be made, and looked at.
    """

    p: int
    m: int
    v: int
    _ordered: tuple[Task, ...] | None = None

    def __new__(cls, tasks, p, m, v=1):
        self = super().__new__(cls, (Task(*task) for task in tasks))
        self.p, self.v = check_count("p (ranks)", p), check_count("v (stages a rank)", v)
        self.m = check_count("m (micro-batches)", m)
        for task in self:
            there = 0 <= task.stage < self.S and 0 <= task.micro < m
            if task.kind not in LETTERS or not there or task.rank != task.stage % p:
                where = f"p = {p} ranks, {self.S} stages and m = {m} micro-batches"
                raise BadInput(f"with {where} there is no {task}: stage s is on rank s mod p")
        return self

    def __getnewargs__(self):  # how a copy, or a rank, makes it again
        return tuple(self), self.p, self.m, self.v

    @property
    def S(self):
        """How many stages there are: p v."""
        return self.p * self.v

    def of(self, rank):
        """The tasks of one rank, in order."""
        return [task for task in self if task.rank == rank]

    def table(self):
        """Text: a row for each rank, its tasks in order, F1 forward of micro-batch 1, B backward, D delta, G grad.

        With v > 1 a letter follows: F1a is of the rank's first stage, F1b of its second.
        """
        rows = []
        for rank in range(self.p):
            tasks = " ".join(f"{self.label(task):3}" for task in self.of(rank))
            rows.append(f"rank {rank:<2}  {tasks}".rstrip())
        return "\n".join(rows)

    def label(self, task):
        """A task in short: F1, or F1b."""
        chunk = chr(ord("a") + task.stage // self.p) if self.v > 1 else ""
        return f"{LETTERS[task.kind]}{task.micro}{chunk}"

    def span(self, task, start, end):
        """A task as it ran: Span(rank, kind, micro-batch, start, end); "forward 2" is of a rank's second stage."""
        chunk = task.stage // self.p
        kind = f"{task.kind} {chunk + 1}" if chunk else task.kind
        return Span(task.rank, kind, task.micro, start, end)

    def check(self):
        """The schedule itself; BadInput where a task is missing or done twice, or where ranks wait for ever."""
        done = Counter(made for task in self for made in task.makes())
        for what, stage, micro in product(
            ("forward", "delta", "grad"), range(self.S), range(self.m)
        ):
            if (count := done[what, stage, micro]) != 1:
                told = f"is done {count} times" if count else "is missing"
                raise BadInput(f"{what} of stage {stage}, micro-batch {micro} {told}")
        for _ in self.in_order():
            pass
        return self

    def in_order(self):
        """The tasks in an order in which all can be done. Raises BadInput where ranks wait for ever."""
        self._ordered = self._ordered or tuple(self._one_by_one())  # looked for once
        return iter(self._ordered)

    def _one_by_one(self):
        todo: list[deque[Task]] = [deque() for _ in range(self.p)]
        done: set[tuple[str, int, int]] = set()
        for task in self:
            todo[task.rank].append(task)
        while any(todo):
            ready = [tasks for tasks in todo if tasks and done.issuperset(tasks[0].needs(self.S))]
            if not ready:
                raise BadInput(self._stuck([tasks[0] for tasks in todo if tasks], done))
            for tasks in ready:
                task = tasks.popleft()
                done.update(task.makes())
                yield task

    def _stuck(self, heads, done):
        """In words: where each rank stands, and what it waits for."""
        told = ["the schedule waits for ever"]
        for task in heads:
            what, stage, micro = next(need for need in task.needs(self.S) if need not in done)
            told.append(
                f"rank {task.rank} at {self.label(task)} (stage {task.stage}) waits for the {what} of stage "
                f"{stage}, micro-batch {micro}, of rank {stage % self.p}"
            )
        return "\n    ".join(told)
