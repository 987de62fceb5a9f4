"""Sharded optimisers and accumulation: equal to serial at every step; what they send and keep is as on paper."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi_tolerance import gradient_bound

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.ranks import launch
from course_lib.mpi import cost, sharded
from course_lib.mpi.accumulate import Accumulated
from course_lib.mpi.flat import pack
from course_lib.serial import SGD, Adam, Network, gradients, without_loss
from course_lib.serial.minibatch import gradients_and_loss

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
ROOT = Path(__file__).resolve().parents[2]
RULES = {
    "sgd": lambda: SGD(0.3),
    "momentum": lambda: SGD(0.1, mu=0.9),
    "adam": lambda: Adam(0.01),
}
NETS = [
    Network((7, 8, 6), "tanh", "cross_entropy", 0.1),
    Network((9, 8, 7, 6), "sigmoid", "mse", 0.01),
    Network((3, 2), "sigmoid", "mse"),  # layers with fewer numbers than ranks are cut too
    Network((8, 7, 9, 6, 6), "relu", "cross_entropy"),
]


def batch(net, B, dtype=np.float64, seed=1):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, net.sizes[-1], B)
    X = rng.standard_normal((B, net.sizes[0])).astype(dtype)
    return X, np.eye(net.sizes[-1], dtype=dtype)[labels]


def trained(comm, net, rule, stage, micro=1, B=13, steps=3, dtype=np.float64):
    """[(parameters, flat, share of the loss)] after each step, and the Sharded itself."""
    run, found = sharded.Sharded(comm, net, net.init_params(3, dtype), RULES[rule](), stage), []
    for step in range(steps):
        loss = run.step(*batch(net, B, dtype, step), micro)
        found.append((pack(run.params()), loss))
    return found


@pytest.mark.parametrize("stage", sharded.STAGES)
@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_each_step_equals_serial_training_with_the_same_rule(p, stage):
    def run(comm):
        return [trained(comm, net, name, stage, micro, B) for net, name, micro, B in cases]

    cases = [(net, name, 1, 13) for net in NETS for name in RULES]
    cases += [(NETS[0], "adam", 3, 13), (NETS[0], "adam", 2, 2), (NETS[1], "momentum", 5, 7)]
    report = mpi.rehearse(run, p, timeout=60)
    assert report.ok, str(report)
    for (net, name, _, B), *found in zip(cases, *report.results, strict=True):
        params, rule = net.init_params(3, np.float64), RULES[name]()
        for step, ranks in enumerate(zip(*found, strict=True)):
            grads, loss = gradients_and_loss(net, params, *batch(net, B, seed=step))
            rule.step(params, grads)
            want = pack(params)
            assert len({flat.tobytes() for flat, _ in ranks}) == 1, "ranks differ"
            assert abs(ranks[0][0] - want).max() <= 1e-12 * (1 + abs(want).max()), (net, name, step)
            assert abs(sum(share for _, share in ranks) - loss) <= 1e-12 * (1 + loss)


@pytest.mark.parametrize("name", RULES)
def test_all_stages_train_to_the_same_bits(name):
    """Whatever is cut, each number is added up by the same ring, and updated by the same rule."""

    def run(comm):
        return [trained(comm, NETS[1], name, stage, dtype=np.float32) for stage in sharded.STAGES]

    stages = mpi.rehearse(run, 3, timeout=60).results[0]
    assert len({flat.tobytes() for found in stages for flat, _ in found}) == 3  # steps


def counted(comm, net, stage, micro, slots):
    """(messages, bytes) of a step, and what was kept."""
    counts = mpi.CountingComm(comm)
    run = sharded.Sharded(counts, net, net.init_params(1), RULES[slots](), stage)
    run.step(*batch(net, 13, np.float32), micro)
    assert not counts.collectives
    return (counts.messages, counts.bytes), run.fullest


@pytest.mark.parametrize("stage", sharded.STAGES)
@pytest.mark.parametrize("p", [1, 2, 3, 6])
def test_bytes_sent_and_kept_are_those_on_paper(p, stage):
    def run(comm):
        return [counted(comm, net, stage, micro, slots) for net, micro, slots in cases]

    cases = [(net, micro, name) for net in NETS for micro in (1, 3) for name in RULES]
    report = mpi.rehearse(run, p, timeout=60)
    assert report.ok, str(report)
    for rank, found in enumerate(report.results):
        for (net, micro, name), (count, kept) in zip(cases, found, strict=True):
            assert count == sharded.sent(net, p, rank, stage, micro), (net, micro, rank)
            assert kept == sharded.memory(net, p, rank, stage, RULES[name]().slots), (net, name)


def test_where_parts_are_even_it_is_the_table_of_the_package():
    net, p = Network((59, 120, 60)), 4
    for stage, times in ((0, 2), (1, 2), (2, 2), (3, 3)):
        wanted = times * (p - 1) / p * 4 * net.n_params
        assert {sharded.sent(net, p, rank, stage)[1] for rank in range(p)} == {wanted}
    layer = 4 * (120 + 1) * 60
    adam = [sharded.memory(net, p, 0, stage, 2) for stage in sharded.STAGES]
    whole = 4 * net.n_params
    assert [sum(kept.values()) - layer for kept in adam] == [
        4 * whole, 2.5 * whole, 1.75 * whole, whole + layer,
    ]  # fmt: skip


def test_mixed_precision_gives_the_figures_of_the_paper():
    """ZeRO, figure 1: 7.5 billion parameters on 64 ranks, with Adam: 120, 31.4, 16.6 and 1.9 GB a rank."""
    found = [sharded.mixed_precision(7.5e9, 64, stage) / 1e9 for stage in sharded.STAGES]
    assert [round(gigabytes, 1) for gigabytes in found] == [120.0, 31.4, 16.6, 1.9]


# ------------------------------------------------------------------ float32, with the derived bound


def test_a_step_in_float32_is_within_the_derived_bound():
    """From the same parameters and a fresh rule, in which a first step of momentum is eta g, and one of Adam
    eta g / (|g| + eps), that grows with g: so its value at g - E and at g + E are the bounds."""
    net, B, p = Network((20, 15, 10), "sigmoid", "cross_entropy", 1e-3), 26, 4
    X, Y = batch(net, B, np.float32)

    def run(comm):
        found = []
        for make in (lambda: SGD(0.5, 0.9), lambda: Adam(0.01)):
            for stage in sharded.STAGES:
                for micro in (1, 3):
                    one = sharded.Sharded(comm, net, net.init_params(1), make(), stage)
                    one.step(X, Y, micro)
                    found.append((type(one.rule).__name__, pack(one.params())))
        return found

    params = net.init_params(1)
    g, E = map(pack, gradient_bound(net, params, X, Y))
    old, eps = pack(params).astype(float), np.finfo(np.float32).eps
    rules = {"SGD": lambda g: 0.5 * g, "Adam": lambda g: 0.01 * g / (abs(g) + 1e-8)}
    assert E.max() < 0.05 * abs(g).max()
    for name, new in mpi.rehearse(run, p, timeout=60).results[0]:
        least, most = rules[name](g - E), rules[name](g + E)
        slack = eps * (abs(old) + 8 * abs(rules[name](abs(g) + E)))  # of the rule: 8 roundings
        assert (old - new >= least - slack).all() and (old - new <= most + slack).all(), name


def test_a_gradient_of_twice_the_size_is_outside_of_the_bound():
    net = Network((20, 15, 10), "sigmoid", "cross_entropy", 1e-3)
    g, E = map(pack, gradient_bound(net, net.init_params(1), *batch(net, 26, np.float32)))
    assert (abs(2 * g - g) > E).mean() > 0.99


# ------------------------------------------------------------------ accumulation


@pytest.mark.parametrize("k", [1, 2, 5, 26, 40])
def test_micro_batches_add_up_to_the_large_batch(k):
    net = Network((20, 15, 10), "sigmoid", "cross_entropy", 1e-3)
    params, (X, Y) = net.init_params(1), batch(net, 26, np.float32)
    exact, E = map(pack, gradient_bound(net, params, X, Y))
    grads, loss = Accumulated(k)(net, params, X, Y)
    assert grads[0][0].dtype == np.float32 and (abs(pack(grads) - exact) <= E).all()
    assert (
        abs(loss - gradients_and_loss(net, params, X, Y)[1]) <= 26 * np.finfo(np.float32).eps * loss
    )


def test_ragged_micro_batches_do_not_weigh_alike():
    """26 rows in 4: 7, 7, 6, 6. The plain mean of their gradients is another gradient."""
    net = Network((20, 15, 10), "sigmoid", "cross_entropy", 1e-3)
    params, (X, Y) = net.init_params(1), batch(net, 26, np.float32)
    exact, E = map(pack, gradient_bound(net, params, X, Y))
    parts = zip(np.array_split(X, 4), np.array_split(Y, 4), strict=True)
    mean = np.mean([pack(gradients(net, params, x, y)) for x, y in parts], axis=0)
    assert (abs(mean - exact) > E).any()


@pytest.mark.parametrize("p", [1, 2, 4])
def test_inside_of_data_parallel_it_sends_once_and_outside_k_times(p):
    net, k = NETS[1], 3
    params, (X, Y) = net.init_params(1, np.float64), batch(net, 13)
    want = pack(gradients(net, params, X, Y))

    def run(comm):
        found = []
        for wrapped in (
            lambda counts: mpi.DataParallel(counts, mpi.ring_allreduce, Accumulated(k)),
            lambda counts: Accumulated(k, mpi.DataParallel(counts, mpi.ring_allreduce)),
        ):
            counts = mpi.CountingComm(comm)
            grads, _ = wrapped(counts)(net, params, X, Y)
            found.append((pack(grads), counts.messages, counts.bytes))
        return found

    report = mpi.rehearse(run, p)
    assert report.ok, str(report)
    for rank, (inside, outside) in enumerate(report.results):
        for (flat, messages, sent), times in ((inside, 1), (outside, k)):
            one = cost.sent("ring", p, net.n_params + 1, rank, itemsize=8)
            assert (messages, sent) == (times * one[0], times * one[1])
            assert abs(flat - want).max() < 1e-12


def test_accumulated_takes_gradients_without_a_loss():
    net = NETS[0]
    params, (X, Y) = net.init_params(1, np.float64), batch(net, 13)
    _, loss = Accumulated(2, without_loss(gradients))(net, params, X, Y)
    assert abs(loss - gradients_and_loss(net, params, X, Y)[1]) < 1e-12


# ------------------------------------------------------------------ bad input


def refused(comm, what):
    """What one call of the wrong kind is told."""
    net = NETS[0]
    params, (X, Y), used = net.init_params(1), batch(net, 4, np.float32), Adam()
    used.step(params, gradients(net, params, X, Y))
    make = lambda rule=None, stage=1, net=net: sharded.Sharded(  # noqa: E731
        comm, net, params, rule or Adam(), stage
    )
    calls = {
        "stage": lambda: make(stage=4),
        "used": lambda: make(rule=used),
        "rule": lambda: make(rule=0.1),
        "params": lambda: make(net=NETS[1]),
        "micro": lambda: make().step(X, Y, 0),
        "X": lambda: make().step(X.astype(float), Y),
        "Y": lambda: make().step(X, Y[:3]),
        "rows": lambda: make().step(X[:0], Y[:0]),
        "paper": lambda: sharded.sent(net, 4, 0, 5),
        "kept": lambda: sharded.memory(net, 4, 0, -1, 2),
        "mixed": lambda: sharded.mixed_precision(10, 4, "3"),
        "k": lambda: Accumulated(0),
        "empty": lambda: Accumulated(2)(net, params, X[:0], Y[:0]),
    }
    with pytest.raises(BadInput) as told:
        calls[what]()
    return str(told.value)


@pytest.mark.parametrize(
    "what, words",
    [
        ("stage", "stage must be a whole number from 0 to 3"), ("used", "1 steps elsewhere: make a new Adam"),
        ("rule", "such as Adam()"), ("params", "params"), ("micro", "micro must be"),
        ("X", "X must have dtype float32"), ("Y", "Y must have shape (4, 6)"), ("rows", "no rows"),
        ("paper", "stage must be"), ("kept", "stage must be"), ("mixed", "stage must be"),
        ("k", "micro must be"), ("empty", "no rows"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(what, words):
    assert words in mpi.rehearse(refused, 1, what).results[0]


# ------------------------------------------------------------------ real ranks


@pytest.mark.timeout(900 * SLOW)
@pytest.mark.parametrize("p", [2, 4])
def test_on_real_ranks_each_stage_trains_sends_and_holds_what_it_says(p):
    script = ROOT / "tests" / "support" / "mpi_sharded.py"
    env = os.environ | launch.QUIET | launch.ONE_THREAD | {"PYTHONPATH": str(ROOT)}
    run = [launch.mpiexec(), "-n", str(p), sys.executable, str(script)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600 * SLOW, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
