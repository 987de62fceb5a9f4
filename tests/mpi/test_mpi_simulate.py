"""The simulator of clusters: by hand, against the closed forms, and against the rehearsal's clock."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.mpi import cost, scaling, two_levels
from course_lib.mpi.simulate import (
    NOTHING,
    Cluster,
    Program,
    by_nodes,
    overlapped,
    pipeline,
    ring_allreduce,
    sharded,
    simulate,
    tree_allreduce,
)  # fmt: skip
from course_lib.serial import SGD, Network

ALPHA, BETA = 1e-6, 1e-9
INSIDE = (1e-6, 1e-10)


def seconds(add, ranks, *arguments, per_node=1, inside=(0.0, 0.0), between=(ALPHA, BETA), **named):
    program = Program()
    add(program, range(ranks), *arguments, **named)
    return simulate(program, Cluster(ranks, per_node, inside, between)).seconds


# ------------------------------------------------------------------ by hand


def test_tasks_wait_for_tasks_and_for_their_rank():
    program = Program()
    a = program.compute(0, 3.0)
    b = program.compute(0, 1.0)  # its rank is busy until 3
    c = program.message(0, 1, 10.0, [a])  # 3 to 3 + 2 + 10
    d = program.compute(1, 5.0, [c, NOTHING], ("forward", 7))
    e = program.join([b, d])
    run = simulate(program, Cluster(2, 1, between=(2.0, 1.0)))
    assert run.start.tolist() == [0, 3, 3, 15, 20] and run.end.tolist() == [3, 4, 15, 20, 20]
    assert (a, b, c, d, e) == (0, 1, 2, 3, 4) and run.seconds == 20
    assert run.busy().tolist() == [4, 5]
    assert run.timeline([1]) == [(1, "forward", 7, 15.0, 20.0)] and run.timeline([0]) == []
    assert simulate(Program(), Cluster(1)).seconds == 0


def test_a_rank_sends_one_message_at_a_time_and_receives_one_at_a_time():
    def ends(*pairs):
        program = Program()
        for source, dest in pairs:
            program.message(source, dest, 1.0)
        return simulate(program, Cluster(4, 4, inside=(0.0, 1.0))).end.tolist()

    assert ends((0, 1), (0, 2)) == [1, 2] and ends((0, 2), (1, 2)) == [1, 2]
    assert ends((0, 1), (1, 0)) == [1, 1] and ends((0, 1), (2, 3), (1, 2)) == [1, 1, 1]


def test_ranks_of_a_node_share_its_link_but_not_alpha():
    program = Program()
    for place in range(3):
        program.message(place, 3 + place, 10.0)
    program.message(0, 1, 10.0)  # inside, once rank 0 has sent: the node's link is not asked for
    run = simulate(program, Cluster(6, 3, inside=(0.0, 0.5), between=(4.0, 1.0)))
    assert run.start.tolist() == [0, 10, 20, 14] and run.end.tolist() == [14, 24, 34, 19]


def test_who_asks_first_is_served_first():
    program = Program()
    late = program.compute(1, 5.0)
    program.message(1, 2, 1.0, [late])
    program.message(0, 2, 8.0)  # added later, ready earlier
    assert simulate(program, Cluster(3, 3, inside=(0.0, 1.0))).end.tolist() == [5, 9, 8]


# ------------------------------------------------------------------ closed forms


@pytest.mark.parametrize("p", [1, 2, 3, 6, 64, 100])
def test_a_ring_and_a_tree_take_what_the_closed_forms_say(p):
    for n in (8.0, 1e6):
        ring, tree = seconds(ring_allreduce, p, n), seconds(tree_allreduce, p, n)
        assert ring == pytest.approx(cost.seconds(p, n, ALPHA, BETA, "ring"), rel=1e-9)
        assert tree == pytest.approx(cost.seconds(p, n, ALPHA, BETA, "tree"), rel=1e-9)


@pytest.mark.parametrize("p", [2, 5, 8])
def test_the_rehearsal_of_the_real_program_takes_as_long(p):
    n = 840 * 8
    for real, add in ((mpi.ring_allreduce, ring_allreduce), (mpi.tree_allreduce, tree_allreduce)):
        report = mpi.rehearse(
            lambda comm, real=real: real(comm, np.zeros(840)), p, alpha=ALPHA, beta=BETA
        )
        assert report.ok and report.seconds == pytest.approx(seconds(add, p, n), rel=1e-9)


@pytest.mark.parametrize("p, per_node", [(8, 4), (32, 8), (24, 1), (6, 6), (256, 8)])
def test_inside_each_node_first_takes_what_the_closed_form_says_or_a_little_less(p, per_node):
    """The closed form lets all ranks of a node wait alpha together. Here one waits while the link carries another's
    bytes: it takes less, by at most all alphas of the rings across. Equal without alpha, or nobody to share."""
    for alpha in (0.0, 2e-6):
        between, nodes = (alpha, BETA), p // per_node
        model = two_levels.by_nodes(p, per_node, 1e6, INSIDE, between)
        took = seconds(
            by_nodes, p, per_node, 1e6, per_node=per_node, inside=INSIDE, between=between
        )
        hidden = 0.0 if per_node == 1 else 2 * (nodes - 1) * alpha
        assert model - hidden <= took * (1 + 1e-9) and took <= model * (1 + 1e-9)


def test_a_hundred_thousand_ranks():
    took = seconds(tree_allreduce, 100_000, 1e6)
    assert took == pytest.approx(cost.seconds(100_000, 1e6, ALPHA, BETA, "tree"), rel=1e-9)


def test_trees_across_nodes_beat_rings_across_many_nodes():
    machine = {"per_node": 8, "inside": INSIDE, "between": (2e-6, BETA)}
    rings, trees = (
        seconds(by_nodes, 1024, 8, 80.0, across=a, **machine) for a in (None, tree_allreduce)
    )
    assert trees < 0.2 * rings  # 254 messages one after the other, or 14


def test_an_allreduce_starts_when_each_rank_has_something_and_others_follow():
    """All but the last rank wait for it in the end: the slowest decides, and nothing overtakes."""
    program, p = Program(), 5
    ready = [program.compute(rank, float(rank)) for rank in range(p)]
    ends = ring_allreduce(program, range(p), 10.0, ready)
    ends = tree_allreduce(program, range(p), 10.0, ends)
    run = simulate(program, Cluster(p, 1, between=(0.0, 1.0)))
    ring, tree = (cost.seconds(p, 10.0, 0.0, 1.0, name) for name in ("ring", "tree"))
    assert p - 1 + ring <= run.seconds <= p - 1 + ring + tree + 1e-9
    assert run.end[ends].max() == run.seconds and len(ends) == p


# ------------------------------------------------------------------ steps of training


@pytest.mark.parametrize("p", [1, 2, 4, 16])
@pytest.mark.parametrize("alpha", [1e-6, 1e-4])
def test_a_step_with_overlap_takes_what_the_model_says(p, alpha):
    """The model lets one allreduce follow the other; here rounds of several share the link, which is as long."""
    net, B, rate = Network((784, 400, 300, 10)), 512, 1e10
    layers = list(zip(net.sizes, net.sizes[1:], strict=False))
    products = [2 * B / p * n_in * n_out / rate for n_in, n_out in layers]
    nbytes = [4 * (n_in + 1) * n_out for n_in, n_out in layers]
    want = scaling.predict(
        "overlap", net, B, p, alpha, BETA, lambda rows: scaling.flops(net, rows) / rate
    )
    took = seconds(overlapped, p, products, nbytes, between=(alpha, BETA))
    assert took == pytest.approx(want.seconds, rel=1e-9)
    program = Program()
    overlapped(program, range(p), products, nbytes)
    assert simulate(program, Cluster(p)).busy() == pytest.approx(want.computing)


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("p", [1, 2, 4])
def test_the_rehearsal_of_a_sharded_step_takes_as_long(p, stage):
    """Layers of 3,600, 7,320 and 6,292 numbers: multiples of 4, so that all parts are of one size."""
    net = Network((59, 60, 120, 52))
    X, Y = np.ones((8, 59), np.float32), np.eye(52, dtype=np.float32)[np.arange(8)]
    nbytes = [4 * (a + 1) * b for a, b in zip(net.sizes, net.sizes[1:], strict=False)]
    assert all(count % 16 == 0 for count in nbytes)

    def run(comm):
        mpi.Sharded(comm, net, net.init_params(1), SGD(0.1), stage).step(X, Y)

    report = mpi.rehearse(run, p, alpha=ALPHA, beta=BETA)
    took = seconds(sharded, p, [0.0, 0.0, 0.0], nbytes, stage)
    assert report.ok and report.seconds == pytest.approx(took, rel=1e-9)
    alone = seconds(sharded, p, [1.0, 2.0, 3.0], nbytes, stage)  # forward 6, dW 6, dX 5
    assert alone == pytest.approx(17 + took)


class Task(NamedTuple):
    """As course_lib.mpi.pipeline's, with a forward and a whole backward for each stage and micro-batch."""

    rank: int
    kind: str
    stage: int
    micro: int

    def makes(self):
        return [(self.kind, self.stage, self.micro)]

    def comes_in(self, S):
        before = self.stage - 1 if self.kind == "forward" else self.stage + 1
        return (self.kind, before, self.micro) if 0 <= before < S else None


class GPipe:
    """All forwards, then all backwards."""

    def __init__(self, p, m):
        self.p, self.S, self.m = p, p, m

    def in_order(self):
        for kind, stages in (("forward", range(self.p)), ("backward", reversed(range(self.p)))):
            for stage in stages:
                yield from (Task(stage, kind, stage, micro) for micro in range(self.m))


@pytest.mark.parametrize("p, m", [(1, 3), (2, 1), (4, 8), (8, 8)])
def test_the_bubble_of_a_pipeline(p, m):
    """(p - 1)/(m + p - 1) of the time a rank waits (GPipe, Huang et al. 2019, section 2.3): F = 1, B = 2 here."""
    program = Program()
    last = pipeline(program, GPipe(p, m), range(p), lambda task: 1 + (task.kind == "backward"), 0.0)
    run = simulate(program, Cluster(p))
    assert run.seconds == 3 * (m + p - 1) and (run.busy() == 3 * m).all()
    assert 1 - run.busy().mean() / run.seconds == pytest.approx((p - 1) / (m + p - 1))
    assert len(run.timeline(range(p))) == 2 * p * m and max(run.end[last]) == run.seconds


def test_pipelines_side_by_side_and_the_allreduces_of_their_stages():
    """A grid of 3 pipelines of 4 stages: each stage's gradients are added up over the pipelines."""
    program, p, data, n = Program(), 4, 3, 90.0
    lasts = [
        pipeline(program, GPipe(p, 5), range(g * p, g * p + p), lambda task: 100.0, 10.0)
        for g in range(data)
    ]
    for stage in range(p):
        ring_allreduce(program, range(stage, data * p, p), n, [last[stage] for last in lasts])
    run = simulate(program, Cluster(data * p, 1, between=(1.0, 0.1)))
    passed = (
        2 * (p - 1) * (1.0 + 0.1 * 10)
    )  # messages on the way there and back: nothing hides these
    assert run.seconds == pytest.approx(2 * (5 + p - 1) * 100 + passed + 2 * 2 * (1 + 0.1 * 30))


# ------------------------------------------------------------------ bad input


def test_bad_input_is_refused_in_words():
    program = Program()
    first = program.compute(0, 1.0)
    for call, words in (
        (lambda: program.compute(0, -1.0), "seconds, or bytes, must be"),
        (lambda: program.compute(0, float("nan")), "seconds, or bytes, must be"),
        (lambda: program.compute(-2, 1.0), "there is no rank -2"),
        (lambda: program.message(1, 1, 5.0), "two ranks, not 1 and 1"),
        (lambda: program.message(0, -1, 5.0), "two ranks, not 0 and -1"),
        (lambda: program.message(0, 1, float("inf")), "must be finite"),
        (lambda: program.compute(0, 1.0, [first + 1]), "task 1 can wait for those before it"),
        (lambda: program.join([-2]), "task 1 can wait for those before it"),
        (lambda: Cluster(10, 4), "10 ranks are not a whole number of nodes of 4"),
        (lambda: Cluster(0), "ranks"),
        (lambda: Cluster(4, 2, inside=(1.0, -1.0)), "a time of inside"),
        (lambda: Cluster(4, 2, between=3.0), "between must be a pair (alpha, beta)"),
        (lambda: by_nodes(Program(), range(10), 4, 1.0), "10 ranks are not"),
        (lambda: ring_allreduce(Program(), range(4), 1.0, [0]), "one task for each of 4 ranks"),
        (lambda: ring_allreduce(Program(), range(4), -1.0), "bytes"),
        (lambda: simulate(_of(7), Cluster(4)), "names rank 7: the cluster has 4 ranks"),
    ):
        with pytest.raises(BadInput, match=re.escape(words)):
            call()
    assert len(program) == 1


def _of(rank):
    program = Program()
    program.message(0, rank, 1.0)
    return program
