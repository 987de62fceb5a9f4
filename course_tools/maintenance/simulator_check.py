"""The simulator of clusters beside steps that ranks of this machine really take.

    .venv/bin/python -m course_tools.maintenance.simulator_check --steps 10

predict: the simulator's, from the mean cost of each kind of task on each stage, measured on these ranks in steps of
their own, and from alpha and beta of a message. off: how much longer the median step took. replay: the same, if each
task is given what it took in that very step: what is left are messages and the order of tasks, not a busy machine.
Sleeping ranks need no core: their tasks sleep, their messages are real. Computing ones need one each, so there are two.
Exit status 1 where a median is further from the prediction than --within says.
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from course_lib import mpi
from course_lib.measure import machine
from course_lib.mpi.network import fit, ping_pong
from course_lib.mpi.pipeline import Pipeline, layers_of, schedule
from course_lib.mpi.pipeline.messages import Messages
from course_lib.mpi.simulate import Cluster, Program, pipeline, simulate
from course_lib.serial import Network

NAMES = ("gpipe", "1f1b", "zb-h1")
SIZES = (64, 4096, 65_536, 262_144)  # bytes of the messages that alpha and beta are fitted to
WIDTH, ROWS, M = 256, 256, 8  # a layer, a micro-batch, and how many of these
LETTERS = {
    "forward": 1.0,
    "delta": 1.1,
    "grad": 0.9,
    "backward": 2.0,
}  # what sleepers take, in units
DEEP = Network((WIDTH,) * 13, "tanh", "cross_entropy")


class Row(NamedTuple):
    """A line of the table: seconds predicted, and of each step as measured and as replayed."""

    ranks: int
    tasks: str
    schedule: str
    predicted: float
    measured: list
    replayed: list

    @property
    def off(self):
        """How much longer the median step took than predicted: 0.1 is a tenth."""
        return statistics.median(self.measured) / self.predicted - 1

    @property
    def replay_off(self):
        """How much longer the median step took than the simulator says with that step's own tasks."""
        pairs = zip(self.measured, self.replayed, strict=True)
        return statistics.median(took / said for took, said in pairs) - 1

    def __str__(self):
        median = statistics.median(self.measured)
        seconds = self.predicted, median, min(self.measured), max(self.measured)
        told = " ".join(f"{1e3 * each:8.1f}" for each in seconds)
        offs = f"{self.off:+8.1%} {self.replay_off:+8.1%}"
        return f"{self.ranks}  {self.tasks:8} {self.schedule:6} {told} {offs}"


# ------------------------------------------------------------------ on the ranks


class Sleeper:
    """In place of a Pipeline: one layer a stage, tasks that sleep, messages of real arrays that nobody looks at."""

    def __init__(self, comm, plan, unit):
        self.comm, self.plan, self.unit, self.spans = comm, plan, unit, []
        self.net = Network((WIDTH,) * (plan.S + 1))
        self.array = np.zeros((ROWS, WIDTH), np.float32)

    def step(self):
        """One step; `spans` holds (task, seconds) of it."""
        S, rows, self.spans = self.plan.S, ROWS * self.plan.m, []
        layers = layers_of([1] * S)
        messages = Messages(self.comm, self.plan, layers, self.net, rows, np.float32)
        for task in self.plan.of(self.comm.rank):
            if came := task.comes_in(S):
                messages.take(came)
            start = time.perf_counter()
            time.sleep(self.unit * LETTERS[task.kind] * (1 + task.stage / 10))  # uneven stages
            for what, stage, micro in task.makes():
                if 0 <= (stage + 1 if what == "forward" else stage - 1) < S and what != "grad":
                    messages.send(what, (stage, micro), self.array)
            self.spans.append((task, time.perf_counter() - start))
        messages.end()


class Computer:
    """A Pipeline with a batch of its own: as `Sleeper`, but its tasks compute."""

    def __init__(self, comm, plan):
        rng, rows = np.random.default_rng(1), ROWS * plan.m
        self.X = rng.random((rows, WIDTH), np.float32)
        self.Y = np.eye(WIDTH, dtype=np.float32)[rng.integers(0, WIDTH, rows)]
        self.pipe = Pipeline(comm, DEEP, plan)
        self.local, self.spans = self.pipe.split(DEEP.init_params(1)), []

    def step(self):
        """One step; `spans` holds (task, seconds) of it."""
        self.pipe.gradients(self.local, self.X, self.Y)
        mine = self.pipe.schedule.of(self.pipe.comm.rank)
        self.spans = [(t, s.end - s.start) for t, s in zip(mine, self.pipe.timeline, strict=True)]


def take_steps(comm, unit, steps):
    """{schedule: [(seconds of a step, of the slowest rank; {(kind, stage, micro): seconds of each task here})]}.

    unit: seconds of a sleeper's unit of time, or None for tasks that compute. One step of each schedule after the
    other: what else the machine does disturbs all alike. The first of each is left out.
    """
    plans = {name: schedule(name, comm.size, M) for name in NAMES}
    ranks = {n: Sleeper(comm, p, unit) if unit else Computer(comm, p) for n, p in plans.items()}
    found: dict[str, list] = {name: [] for name in NAMES}
    for _ in range(steps + 1):
        for name, rank in ranks.items():
            comm.Barrier()
            start = time.perf_counter()
            rank.step()
            slowest = max(comm.allgather(time.perf_counter() - start))
            tasks = {(task.kind, task.stage, task.micro): took for task, took in rank.spans}
            found[name].append((slowest, tasks))
    return {name: taken[1:] for name, taken in found.items()}


def message_times(comm):
    """Seconds of a message of each of SIZES."""
    return ping_pong(comm, SIZES, repeats=100)


# ------------------------------------------------------------------ measured and predicted


def predicted(name, p, link, seconds):
    """Seconds of a step by the simulator: all ranks on one node, with this (alpha, beta)."""
    program, nbytes = Program(), 4 * ROWS * WIDTH
    pipeline(program, schedule(name, p, M), range(p), seconds, nbytes)
    return simulate(program, Cluster(p, p, inside=link)).seconds


def mean_costs(found):
    """{(kind, stage): mean seconds}, of what all ranks found in their steps. What adds up is the mean."""
    costs = defaultdict(list)
    for steps in (taken for rank in found for taken in rank.values()):
        for (kind, stage, _), seconds in (task for _, tasks in steps for task in tasks.items()):
            costs[kind, stage].append(seconds)
    return {key: statistics.mean(seconds) for key, seconds in costs.items()}


def rows_of(cluster, p, unit, steps):
    """A Row for each schedule: costs from every other step, times from the steps between."""
    link, kind = fit(SIZES, cluster.run(message_times)[0]), "sleep" if unit else "compute"
    found = cluster.run(take_steps, unit, 2 * steps)
    costs = mean_costs([{name: taken[::2] for name, taken in rank.items()} for rank in found])
    for name in NAMES:
        wanted = predicted(name, p, link, lambda task: costs[task.kind, task.stage])
        measured, replayed = [], []
        for ranks in zip(*(rank[name][1::2] for rank in found), strict=True):
            took = {key: seconds for _, tasks in ranks for key, seconds in tasks.items()}
            measured.append(ranks[0][0])
            replayed.append(predicted(name, p, link, lambda task, took=took: took[task[1:]]))
        yield Row(p, kind, name, wanted, measured, replayed)


def main(argv=None):
    """Print the table; exit status 1 where the simulator is off by more than asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10, help="of each schedule")
    parser.add_argument(
        "--unit", type=float, default=0.01, help="seconds that a sleeper's forward takes"
    )
    parser.add_argument("--within", type=float, default=15.0, help="per cent")
    asked, worst = parser.parse_args(argv), 0.0
    print(f"{machine()}; milliseconds a step, {M} micro-batches, {asked.steps} steps")
    print("p  tasks    order   predict   median  fastest  slowest      off   replay")
    for p, units in ((2, (asked.unit, None)), (4, (asked.unit,))):
        with mpi.cluster(p, timeout=300, progress=False) as cluster:
            for unit in units:
                for row in rows_of(cluster, p, unit, asked.steps):
                    print(row, flush=True)
                    worst = max(worst, abs(row.off))
    print(f"furthest off: {worst:.1%}")
    return int(100 * worst > asked.within)


if __name__ == "__main__":
    sys.exit(main())
