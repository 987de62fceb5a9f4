"""Pipelines: schedules on paper, in rehearsal and on real ranks; all train as serial training does."""

import itertools
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mpi_tolerance import gradient_bound

from course_lib import mpi, plots
from course_lib.errors import BadInput
from course_lib.machines.ranks import launch
from course_lib.mpi.flat import pack
from course_lib.mpi.pipeline import (
    NAMES,
    Costs,
    Pipeline,
    PipelineSchedule,
    activation_bytes,
    bubble,
    in_flight,
    layer_flops,
    net_costs,
    predicted_bubble,
    schedule,
    simulate,
    split,
    step_sent,
)
from course_lib.mpi.pipeline.simulate import step_seconds
from course_lib.serial import Network, gradients

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
ROOT = Path(__file__).resolve().parents[2]
DEEP = Network((9, 8, 7, 6, 7, 5, 9, 4, 6), "sigmoid", "cross_entropy", 0.01)
ALONE = SimpleNamespace(size=1, rank=0, allgather=lambda mine: [mine])  # a rank that sends nothing


def plans(ranks=(1, 2, 3, 4), micro=(1, 2, 3, 5, 8), chunks=(1, 2)):
    """Every schedule of these sizes that there is."""
    found = itertools.product(NAMES, ranks, micro, chunks)
    return [
        (name, p, m, v)
        for name, p, m, v in found
        if (m % p == 0 if name == "interleaved" else v == 1)
    ]


def batch(net, B, dtype=np.float64):
    rng = np.random.default_rng(1)
    Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
    return rng.standard_normal((B, net.sizes[0])).astype(dtype), Y


# ------------------------------------------------------------------ stages


@pytest.mark.parametrize("seed", range(20))
def test_no_other_split_has_a_cheaper_dearest_stage(seed):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 9, rng.integers(1, 8)).tolist()
    for S in range(1, len(costs) + 1):
        lengths = split(costs, S)
        cuts = itertools.combinations(range(1, len(costs)), S - 1)
        stages = [np.split(np.array(costs), list(cut)) for cut in cuts]
        best = min(max(part.sum() for part in parts) for parts in stages)
        mine = np.split(np.array(costs), np.cumsum(lengths)[:-1])
        assert sum(lengths) == len(costs) and min(lengths) >= 1
        assert max(part.sum() for part in mine) == best


def test_a_net_is_split_by_its_flops():
    assert split(layer_flops(Network((784, 1024, 1024, 10))), 2) == (1, 2)
    assert layer_flops(Network((3, 4, 5))) == [(24, 0, 24), (40, 40, 40)]
    with pytest.raises(BadInput, match="no more than the 3 layers"):
        split([1, 1, 1], 4)


# ------------------------------------------------------------------ schedules


def test_schedules_as_text():
    assert schedule("gpipe", 2, 3).table().splitlines() == [
        "rank 0   F0  F1  F2  B2  B1  B0",
        "rank 1   F0  F1  F2  B2  B1  B0",
    ]
    assert schedule("1f1b", 3, 4).table().splitlines() == [
        "rank 0   F0  F1  F2  B0  F3  B1  B2  B3",
        "rank 1   F0  F1  B0  F2  B1  F3  B2  B3",
        "rank 2   F0  B0  F1  B1  F2  B2  F3  B3",
    ]
    assert schedule("zb-h1", 2, 3).table().splitlines() == [
        "rank 0   F0  F1  D0  G0  F2  D1  G1  D2  G2",
        "rank 1   F0  D0  F1  D1  G0  F2  D2  G1  G2",
    ]
    assert schedule("interleaved", 2, 2, 2).table().splitlines()[1] == (
        "rank 1   F0a F1a F0b B0b F1b B1b B0a B1a"
    )


@pytest.mark.parametrize(("name", "p", "m", "v"), plans(range(1, 7), range(1, 13), (1, 2, 3)))
def test_every_schedule_is_complete_can_run_and_waits_as_the_formula_says(name, p, m, v):
    plan = schedule(name, p, m, v).check()
    rng = np.random.default_rng(p * m)
    least, *others = sorted(rng.uniform(0.1, 2, 3).tolist())
    for f, d, g in ((1, 1, 1), (*others, least)):
        line = simulate(plan, Costs(f, d, g))
        assert line.busy(p - 1) == pytest.approx(m * v * (f + d + g))
        try:
            wanted = predicted_bubble(name, p, m, v, f, d, g)
        except BadInput:
            assert name.startswith("zb") and m < 2 * p - 1
            continue
        assert bubble(line) == pytest.approx(wanted, abs=1e-12)
    if not name.startswith("zb"):
        assert bubble(simulate(plan)) == pytest.approx((p - 1) / (m * v + p - 1))


@pytest.mark.parametrize("p", range(1, 6))
def test_zero_bubble_is_what_its_name_says_and_costs_memory(p):
    m = 2 * p + 3
    one, h1, h2 = (schedule(name, p, m) for name in ("1f1b", "zb-h1", "zb-h2"))
    assert bubble(simulate(h2)) == pytest.approx(0, abs=1e-12)
    assert step_seconds(simulate(h1)) == 3 * m + p - 1 and step_seconds(simulate(h2)) == 3 * m
    assert in_flight(one) == [p - rank for rank in range(p)]
    assert in_flight(h1) == [p] * p and in_flight(h2) == [2 * p - 1] * p
    assert in_flight(schedule("gpipe", p, m)) == [m] * p


@pytest.mark.parametrize("name", ["1f1b", "zb-h1", "zb-h2"])
def test_a_step_takes_a_ranks_own_time(name):
    """Two steps in a row, no rank waiting for all: the second ends a step later. ZB-H2's bubble stays 0."""
    p, m, plan = 4, 9, schedule(name, 4, 9)
    again = [task._replace(micro=task.micro + m) for task in plan]
    both = simulate(PipelineSchedule([*plan, *again], p, 2 * m).check())
    one = simulate(plan)
    assert both.makespan - one.makespan == step_seconds(one)


@pytest.mark.parametrize("name", NAMES)
def test_a_schedule_without_a_task_or_with_one_twice_is_refused(name):
    plan = schedule(name, 2, 4)
    for n, task in enumerate(plan):
        what = {"backward": "delta"}.get(task.kind, task.kind)
        named = f"{what} of stage {task.stage}, micro-batch {task.micro}"
        with pytest.raises(BadInput, match=f"{named} is missing"):
            PipelineSchedule([*plan[:n], *plan[n + 1 :]], 2, 4).check()
        with pytest.raises(BadInput, match=f"{named} is done 2 times"):
            PipelineSchedule([*plan, task], 2, 4).check()


def test_a_schedule_that_waits_for_ever_says_who_waits_for_whom():
    backward_first = [
        (0, "forward", 0, 0),
        (0, "backward", 0, 0),
        (1, "backward", 1, 0),
        (1, "forward", 1, 0),
    ]
    with pytest.raises(BadInput) as caught:
        PipelineSchedule(backward_first, 2, 1).check()
    told = str(caught.value).splitlines()
    assert told[0] == "the schedule waits for ever" and len(told) == 3
    assert "rank 0 at B0 (stage 0) waits for the delta of stage 1, micro-batch 0" in told[1]
    assert "rank 1 at B0 (stage 1) waits for the forward of stage 1, micro-batch 0" in told[2]
    crossed = schedule("1f1b", 2, 2)
    last = crossed.of(0)[-2:]
    held = [task for task in crossed if task not in last]
    PipelineSchedule([*held, *last[::-1]], 2, 2).check()  # B1 before B0: later, but no deadlock


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: schedule("gpipe", 2, 0), "m must be a whole number"),
        (lambda: schedule("gpipe", 0, 2), "p must be a whole number"),
        (lambda: schedule("2f2b", 2, 2), "name must be one of gpipe"),
        (lambda: schedule("interleaved", 4, 6, 2), "multiple of p = 4"),
        (lambda: schedule("1f1b", 4, 6, 2), "one stage a rank"),
        (lambda: PipelineSchedule([(0, "forward", 1, 0)], 2, 1), "stage s is on rank s mod p"),
        (lambda: PipelineSchedule([(0, "weights", 0, 0)], 2, 1), "there is no Task"),
        (lambda: simulate(schedule("gpipe", 2, 2), Costs(grad=[1, 2, 3])), "grad must be one"),
        (lambda: simulate(schedule("gpipe", 2, 2), Costs(delta=-1)), "delta must be a finite"),
        (lambda: predicted_bubble("zb-h2", 4, 6), "needs m >= 7"),
        (lambda: predicted_bubble("zb-h1", 4, 6, 1, 1, 1, 2), "needs grad <= forward"),
        (lambda: Pipeline(ALONE, DEEP, schedule("gpipe", 2, 2)), "p = 2 ranks, and there are 1"),
        (lambda: Pipeline(ALONE, DEEP, PipelineSchedule([], 1, 1)), "is missing"),
        (lambda: Pipeline(ALONE, DEEP, schedule("gpipe", 1, 1), (0,)), "stage 0 has no layer"),
        (lambda: Pipeline(ALONE, DEEP, schedule("gpipe", 1, 1), (7,)), "the net 8"),
        (lambda: Pipeline(ALONE, DEEP, schedule("gpipe", 1, 1), (4, 4)), "has 1 stages"),
        (lambda: activation_bytes(schedule("gpipe", 1, 5), DEEP, (8,), 4), "B .rows"),
    ],
)
def test_bad_input(bad, words):
    with pytest.raises(BadInput, match=words):
        bad()


def test_bad_batches():
    pipe = Pipeline(ALONE, DEEP, schedule("gpipe", 1, 6))
    local, (X, Y) = pipe.split(DEEP.init_params(1, np.float64)), batch(DEEP, 6)
    pipe.gradients(local, X, Y)
    for bad in (
        (local[1:], X, Y),
        (local[::-1], X, Y),
        (local, X[:5], Y[:5]),
        (local, X[:, 1:], Y),
        (local, X.astype(np.float32), Y),
        (local, X, Y[1:]),
    ):
        with pytest.raises(BadInput):
            pipe.gradients(*bad)


# ------------------------------------------------------------------ rehearsed


def one_step(comm, plan, params, X, Y, how):
    counting = mpi.CountingComm(comm)
    pipe = Pipeline(counting, DEEP, plan, **how)
    grads, part = pipe.gradients(pipe.split(params), X, Y)
    sent, loss = (counting.messages, counting.bytes), comm.allreduce(part)
    return pack(pipe.join(grads)), loss, sent, pipe.peak_bytes, len(pipe.timelines())


@pytest.mark.parametrize(("name", "p", "m", "v"), plans((1, 2, 4), (1, 3, 8)))
def test_the_gradient_is_serials_and_the_counts_are_those_on_paper(name, p, m, v):
    plan, B = schedule(name, p, m, v), 13
    params, (X, Y) = DEEP.init_params(1, np.float64), batch(DEEP, B)
    exact, bound = map(pack, gradient_bound(DEEP, params, X, Y, scalings=2))
    for recompute in (False, True):
        lengths = (8 - plan.S + 1, *[1] * (plan.S - 1))
        how = {"lengths": lengths, "recompute": recompute}
        report = mpi.rehearse(one_step, p, plan, params, X, Y, how)
        assert report.ok, str(report)
        kept = activation_bytes(plan, DEEP, lengths, B, recompute, itemsize=8)
        for rank, (flat, loss, sent, peak, spans) in enumerate(report.results):
            # `exact` is itself of float64: twice the bound
            assert (abs(flat - exact) <= 2 * bound).all()
            assert loss == pytest.approx(serial_loss(params, X, Y), rel=1e-13)
            assert sent == step_sent(plan, DEEP, lengths, B, 8)[rank] and peak == kept[rank]
            assert spans == len(plan)


def serial_loss(params, X, Y):
    from course_lib.serial.minibatch import gradients_and_loss

    return gradients_and_loss(DEEP, params, X, Y)[1]


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu", "identity"])
@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
def test_every_activation_and_loss(activation, loss):
    net = Network((5, 7, 6, 3), activation, loss)
    params, (X, Y) = net.init_params(1, np.float64), batch(net, 11)
    for name in NAMES:
        grads, _ = Pipeline(ALONE, net, schedule(name, 1, 3)).gradients(params, X, Y)
        assert abs(pack(grads) - pack(gradients(net, params, X, Y))).max() < 1e-13


def test_the_bound_would_catch_micro_batches_that_weigh_alike():
    params, (X, Y) = DEEP.init_params(1, np.float64), batch(DEEP, 13)
    exact, bound = map(pack, gradient_bound(DEEP, params, X, Y, scalings=2))
    parts = np.array_split(np.arange(13), 3)
    mean = sum(pack(gradients(DEEP, params, X[rows], Y[rows])) for rows in parts) / 3
    assert (abs(mean - exact) > 100 * bound).any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alpha", [0.0, 0.25])
def test_the_rehearsals_clock_is_the_models(name, alpha):
    """As long as a message takes no longer than a task: then its receive is posted before it is sent."""
    net = Network((4,) * 9, "sigmoid", "cross_entropy")
    plan, beta, (X, Y) = schedule(name, 4, 8), 1e-4, batch(net, 16)
    costs = Costs(1.0, 1.1, 0.9, alpha + beta * 2 * 4 * 8)

    def run(comm):
        pipe = Pipeline(comm, net, plan, costs=costs)
        pipe.gradients(pipe.split(net.init_params(1, np.float64)), X, Y)

    report = mpi.rehearse(run, 4, alpha=alpha, beta=beta)
    assert report.ok and report.seconds == pytest.approx(simulate(plan, costs).makespan)


def test_sends_that_wait_face_each_other():
    params, (X, Y) = DEEP.init_params(1, np.float64), batch(DEEP, 8)
    how = {"blocking": True}
    assert mpi.rehearse(one_step, 2, schedule("gpipe", 2, 4), params, X, Y, how).ok
    report = mpi.rehearse(one_step, 2, schedule("1f1b", 2, 4), params, X, Y, how)
    (error,) = report.errors
    assert error["tool"] == "deadlock" and error["cycle"] == [0, 1, 0]
    assert str(report).count("waits in Send(dest=") == 2


def test_messages_may_be_taken_in_another_order_than_they_are_sent():
    params, (X, Y) = DEEP.init_params(1, np.float64), batch(DEEP, 12)
    plan = schedule("gpipe", 2, 4)
    turned = [task for task in plan if task.rank == 1 and task.kind == "forward"][::-1]
    others = [task for task in plan if task not in turned]
    report = mpi.rehearse(one_step, 2, PipelineSchedule([*turned, *others], 2, 4), params, X, Y, {})
    assert report.ok, str(report)
    wanted = pack(gradients(DEEP, params, X, Y))
    assert all(abs(flat - wanted).max() < 1e-13 for flat, *_ in report.results)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_order_of_arrival_matters(seed):
    params, (X, Y) = DEEP.init_params(1, np.float64), batch(DEEP, 8)
    plan = schedule("interleaved", 4, 8, 2)
    one = mpi.rehearse(one_step, 4, plan, params, X, Y, {}, schedule=seed)
    two = mpi.rehearse(one_step, 4, plan, params, X, Y, {}, eager=10**6, schedule="one")
    assert one.ok and two.ok
    assert one.results[0][0].tobytes() == two.results[3][0].tobytes()


# ------------------------------------------------------------------ memory, costs, pictures


def test_the_interpreter_sees_the_memory_that_is_counted():
    """One rank, 16 micro-batches: GPipe keeps all, 1F1B one; what NumPy allocated at most differs by that."""
    net = Network((64, *[256] * 6, 8), "sigmoid", "cross_entropy")
    params, (X, Y) = net.init_params(1), batch(net, 1600, np.float32)
    seen, counted = {}, {}
    for name in ("gpipe", "1f1b"):
        plan = schedule(name, 1, 16)
        pipe = Pipeline(ALONE, net, plan)
        tracemalloc.start()
        pipe.gradients(params, X, Y)
        seen[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        (counted[name],) = activation_bytes(plan, net, (7,), 1600)
        assert pipe.peak_bytes == counted[name]
    # a micro-batch's X is a view, and so not allocated
    wanted = counted["gpipe"] - counted["1f1b"] - 15 * 100 * 64 * 4
    assert seen["gpipe"] - seen["1f1b"] == pytest.approx(wanted, rel=0.02)


def test_recomputation_keeps_inputs_and_takes_a_forward_more():
    net, plan = Network((16,) * 13), schedule("gpipe", 2, 8)
    whole, kept = (activation_bytes(plan, net, (6, 6), 80, again)[0] for again in (False, True))
    rows = 10 * 16 * 4  # bytes of one layer of a micro-batch
    assert whole == 8 * 13 * rows and kept == (8 + 12) * rows
    longer = simulate(plan, recompute=True)
    assert longer.makespan == simulate(plan).makespan + 9  # m + p - 1 of them on the way


def test_costs_of_a_net():
    net = Network((3, 4, 5, 6))
    costs = net_costs(net, (2, 1), rows=10, rate=100.0, alpha=1.0, beta=0.5)
    assert costs == Costs([6.4, 6.0], [4.0, 6.0], [6.4, 6.0], [1 + 0.5 * 10 * 5 * 4])
    line = simulate(schedule("gpipe", 2, 1), costs)
    assert [(span.thread, span.kind, span.start) for span in line] == [
        (0, "forward", 0.0),
        (1, "forward", 6.4 + 101),
        (1, "backward", 6.4 + 101 + 6),
        (0, "backward", pytest.approx(6.4 + 2 * 101 + 18)),
    ]


def test_a_schedule_is_drawn():
    line = simulate(schedule("interleaved", 2, 4, 2))
    figure = plots.timeline(line, unit="units", row="rank", label="micro-batch", title="Pieces")
    assert "a row for each rank" in figure.alt and "labelled with its micro-batch" in figure.alt
    assert figure.table[0][:3] == ("rank", "kind", "micro-batch") and "rank 1 busy" in figure.alt
    kinds = {"forward", "forward 2", "backward", "backward 2"}
    assert {row[1] for row in figure.table[1]} == kinds
    assert plots.step_timeline(line, row="rank").frames


@pytest.mark.timeout(900 * SLOW)
@pytest.mark.alone
@pytest.mark.parametrize("p", [1, 2, 4])
def test_on_real_ranks_every_step_is_serials(p):
    run = [launch.mpiexec(), "-n", str(p), sys.executable]
    run.append(str(ROOT / "tests" / "support" / "pipeline_ranks.py"))
    env = os.environ | launch.QUIET | launch.ONE_THREAD | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, timeout=600 * SLOW, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
