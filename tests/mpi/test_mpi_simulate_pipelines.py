"""Two models of a pipeline, `mpi.pipeline.simulate` and `mpi.simulate`: where they agree, and where links differ."""

import itertools

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.mpi.pipeline import NAMES, Costs, schedule
from course_lib.mpi.pipeline import simulate as on_paper
from course_lib.mpi.pipeline.simulate import step_seconds
from course_lib.mpi.simulate import Cluster, Program, pipeline, simulate


class Wires(Program):
    """A Program in which each message has a wire of its own, a rank that does nothing else: none waits for another."""

    def __init__(self, p):
        super().__init__()
        self.free = p

    def message(self, source, dest, nbytes, after=()):
        self.free += 1
        return self.compute(self.free - 1, nbytes, after)


def plans(ranks, micro=(1, 3, 4, 8, 12)):
    found = itertools.product(NAMES, ranks, micro, (1, 2, 3))
    fits = {"interleaved": lambda p, m, v: m % p == 0}
    return [
        (name, p, m, v)
        for name, p, m, v in found
        if fits.get(name, lambda p, m, v: v == 1)(p, m, v)
    ]


def uneven(plan, seed, longest):
    """Costs of a random length for each stage, and of messages up to `longest`."""
    rng = np.random.default_rng(seed)
    parts = rng.uniform(0.5, 2.0, (3, plan.S)).tolist()
    return Costs(*parts, rng.uniform(0.0, longest, plan.S - 1).tolist())


def on_links(plan, costs, recompute=False, wires=False):
    """The Run of the schedule as a Program, a message of n bytes taking n seconds."""
    program = Wires(plan.p) if wires else Program()
    pipeline(program, plan, range(plan.p), lambda task: costs.of(task, recompute), costs.message)
    return simulate(program, Cluster(getattr(program, "free", plan.p), 1, between=(0.0, 1.0)))


@pytest.mark.parametrize(("name", "p", "m", "v"), plans((1, 2, 3, 4, 6)))
def test_where_no_message_waits_for_another_both_models_are_one(name, p, m, v):
    """Uneven stages; no messages, short ones, and some that take longer than a task; with and without recomputation."""
    plan = schedule(name, p, m, v)
    for seed, longest, recompute in ((1, 0.0, False), (2, 0.4, True), (3, 5.0, False)):
        costs = uneven(plan, seed, longest)
        line = on_paper(plan, costs, recompute)
        run = on_links(plan, costs, recompute, wires=longest > 0)
        assert run.seconds == pytest.approx(line.makespan, rel=1e-12)
        ranks = run.timeline(range(p))
        assert step_seconds(ranks) == pytest.approx(step_seconds(line), rel=1e-12)
        for rank in range(p):
            assert ranks.busy(rank) == pytest.approx(line.busy(rank), rel=1e-12)


@pytest.mark.parametrize(("name", "p", "m", "v"), plans((2,)))
def test_on_two_ranks_short_messages_never_queue(name, p, m, v):
    """Each has one neighbour, who sends one thing a task: if messages are shorter than tasks, the way is free."""
    plan = schedule(name, p, m, v)
    costs = uneven(plan, 4, 0.5)
    assert on_links(plan, costs).seconds == pytest.approx(on_paper(plan, costs).makespan, rel=1e-12)


@pytest.mark.parametrize(("name", "p", "m", "v"), plans((2, 3, 4, 6), (4, 12)))
def test_links_that_queue_make_it_longer_never_shorter(name, p, m, v):
    """Every rank's order is fixed, so what comes later can only delay."""
    plan = schedule(name, p, m, v)
    for seed, longest in ((5, 0.5), (6, 3.0)):
        costs = uneven(plan, seed, longest)
        assert on_links(plan, costs).seconds >= on_paper(plan, costs).makespan * (1 - 1e-12)


def test_messages_that_queue_are_what_the_models_differ_in():
    """1F1B, 3 ranks, 3 micro-batches, messages of 2 behind tasks of 1: a rank's next one leaves when this is there."""
    plan, costs = schedule("1f1b", 3, 3), Costs(1.0, 0.5, 0.5, 2.0)
    paper, links = on_paper(plan, costs).makespan, on_links(plan, costs).seconds
    assert paper == on_links(plan, costs, wires=True).seconds == 22.0 and links == 23.0


def test_bytes_for_each_boundary():
    plan = schedule("gpipe", 3, 1)
    program = Program()
    pipeline(program, plan, range(3), lambda task: 1.0, [10.0, 2.0])
    assert simulate(program, Cluster(3, 1, between=(0.0, 1.0))).seconds == 6 + 2 * (10 + 2)
    with pytest.raises(BadInput, match="nbytes must be one number, or 2 of them, not 3"):
        pipeline(Program(), plan, range(3), lambda task: 1.0, [1.0, 2.0, 3.0])
