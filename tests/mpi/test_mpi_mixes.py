"""The search for a mix: against closed forms of the library, against events, and against trying all."""

import itertools

import pytest

from course_lib.errors import BadInput
from course_lib.mpi import cost, scaling
from course_lib.mpi.pipeline import activation_bytes, net_costs, schedule
from course_lib.mpi.pipeline import simulate as on_paper
from course_lib.mpi.sharded import paper
from course_lib.mpi.simulate import (
    Cluster,
    Mix,
    Program,
    Work,
    mixes,
    price,
    ring_allreduce,
    run_mix,
    search,
    simulate,
    tree_allreduce,
)  # fmt: skip
from course_lib.mpi.simulate.mixes import micro_batches, stages
from course_lib.serial import Network

NET = Network((64, 128) * 8 + (64,))
INSIDE, BETWEEN = (1e-6, 1e-11), (2e-6, 1e-10)
WORK = Work(NET, B=4096, rate=1e11, room=1e9, rows=64)


def cluster(ranks=16, per_node=4, links=4):
    return Cluster(ranks, per_node, INSIDE, BETWEEN, links)


# ------------------------------------------------------------------ closed forms


def test_one_rank_computes_and_no_more():
    alone = price(WORK, cluster(1, 1, 1), Mix(1, 1, 1))
    assert alone.causes["computing"] == pytest.approx(scaling.flops(NET, WORK.B) / WORK.rate)
    assert alone.seconds == pytest.approx(alone.causes["computing"])


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("d", [2, 4, 16])
def test_the_weights_of_copies_are_what_sharded_sends(stage, d):
    """Seconds without alpha are bytes times beta, of parts of equal size."""
    net = Network((63, 64, 63, 64))  # (n_in + 1) n_out: multiples of 64
    work, alone = WORK._replace(net=net), Cluster(d, 1, between=(0.0, 1e-10))
    found = price(work, alone, Mix(1, 1, d, stage)).causes["weights"]
    m, _ = micro_batches(work, Mix(1, 1, d))
    assert found == pytest.approx(1e-10 * paper.sent(net, d, 0, stage, m)[1], rel=0.02)


@pytest.mark.parametrize("t", [2, 4])
def test_the_sums_in_layers_are_model_parallelisms(t):
    found = price(WORK, cluster(t, t, 1), Mix(t, 1, 1)).causes["sums in layers"]
    m, rows = micro_batches(WORK, Mix(t, 1, 1))
    sums = [(p, n) for p, n, _ in cost.allreduces(NET, rows, 1, t) if p == t]
    assert found == pytest.approx(m * sum(cost.seconds(p, 4 * n, *INSIDE) for p, n in sums))


@pytest.mark.parametrize("q", [1, 2, 4, 8])
@pytest.mark.parametrize("m", [1, 8, 64])
def test_a_pipelines_formula_is_the_schedules_makespan(q, m):
    """Exact but for stage 0, whose first layer has no delta: the formula lets others wait for the slowest stage."""
    work = WORK._replace(rows=WORK.B // m)
    found = price(work, cluster(q, 1, 1), Mix(1, q, 1)).seconds
    costs = net_costs(NET, [16 // q] * q, work.rows, work.rate, *BETWEEN)
    wanted = on_paper(schedule("1f1b", q, m), costs).makespan
    assert wanted * (1 - 1e-9) <= found <= 1.03 * wanted


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("q", [1, 2, 4])
def test_what_is_kept_is_what_pipelines_and_shards_keep(q, stage):
    """sharded.paper counts one layer more, in flight; the stage with most activations is the first."""
    mix = Mix(1, q, 16 // q, stage)
    m, rows = micro_batches(WORK, mix)
    acts = activation_bytes(schedule("1f1b", q, m), NET, [16 // q] * q, m * rows)
    part = Network(NET.sizes[: 16 // q + 1])
    states = paper.memory(part, mix.data, 0, stage, slots=2)
    layer = 4 * max(n for n in (65 * 128, 129 * 64))
    states["gradients"] -= layer
    states["parameters"] -= layer if stage == 3 else 0
    assert price(WORK, cluster(), mix).kept == pytest.approx(max(acts) + sum(states.values()))


def test_model_parallelism_cuts_weights_work_and_inner_activations():
    one, four = (stages(WORK, cluster(), Mix(t, 2, 1))[1] for t in (1, 4))
    assert four.forward == one.forward / 4 and four.backward == one.backward / 4
    assert four.params == one.params / 4 and one.sums == 0 < four.sums
    assert one.kept == 64 + 2 * 4 * (128 + 64) and four.kept == 64 + 2 * 4 * (32 + 64)


# ------------------------------------------------------------------ events


@pytest.mark.parametrize("links", [1, 2, 4])
def test_every_mix_simulated_takes_what_its_formula_says(links):
    """Within 2 %. With fewer links than ranks the formula lets all rings of a node send at once; in events late stages
    have theirs behind them when stage 0 is ready, so the formula may be up to 5 % too long."""
    machine, work = cluster(links=links), WORK._replace(B=2048)
    for mix in mixes(work, machine):
        if mix.stage == 0:
            wanted = run_mix(work, machine, mix).seconds
            found = price(work, machine, mix).seconds
            assert 0.98 * wanted <= found <= (1.02 if links == 4 else 1.05) * wanted, mix


@pytest.mark.parametrize("mix", [(2, 2, 4), (4, 2, 2), (2, 4, 2), (4, 4, 1), (1, 4, 4)])
def test_one_rank_may_stand_for_a_group(mix):
    """Beside it, all ranks one by one, with the sums in layers as messages, which now queue with those of stages."""
    machine, mix = cluster(), Mix(*mix)
    found = run_mix(WORK, machine, mix).seconds * (1 - 1e-9)
    assert found <= rank_by_rank(WORK, machine, mix) <= 1.03 * found


def test_gradients_may_go_by_trees():
    """8 copies on a node each: 3 messages up and 3 down, all bytes in each."""
    machine, mix, work = Cluster(8, 1, between=BETWEEN), Mix(1, 1, 8), WORK._replace(B=512)
    ring, tree = (run_mix(work, machine, mix, a) for a in (ring_allreduce, tree_allreduce))
    n = 4 * NET.n_params
    more = cost.seconds(8, n, *BETWEEN, "tree") - cost.seconds(8, n, *BETWEEN, "ring")
    assert tree.seconds - ring.seconds == pytest.approx(more)
    assert len(ring.program) - len(tree.program) == 2 * 7 * 8 - 2 * 7 - 1


def rank_by_rank(work, machine, mix):
    """Seconds of a step with all t q d ranks: each task of a stage on t ranks, half of its sums as rings after it."""
    (t, q, d, _), (m, rows) = mix, micro_batches(work, mix)
    parts, program, ends = stages(work, machine, mix), Program(), {}
    sums = [ring_bytes(part.sums / 2, t) for part in parts]
    for copy, task in itertools.product(range(d), schedule("1f1b", q, m).in_order()):
        group = [(copy * q + task.stage) * t + i for i in range(t)]
        comes, after = task.comes_in(q), [[ends.get(("last", rank), -1)] for rank in group]
        if comes:
            step = (comes[1] - task.stage) * t
            for rank, wait in zip(group, after, strict=True):
                made = ends[comes[0], comes[1], task.micro, rank + step]
                wait.append(program.message(rank + step, rank, 4 * rows * 64 / t, [made]))
        part = parts[task.stage]
        seconds = part.forward if task.kind == "forward" else part.backward
        tasks = [program.compute(r, seconds, w) for r, w in zip(group, after, strict=True)]
        done = ring_allreduce(program, group, sums[task.stage], tasks) if t > 1 else tasks
        for rank, end in zip(group, done, strict=True):
            last = ends["last", rank] = int(end)
            ends |= {(made, task.stage, task.micro, rank): last for made, *_ in task.makes()}
    for place in range(t * q):
        copies = range(place, t * q * d, t * q)
        last = [ends["last", rank] for rank in copies]
        ring_allreduce(program, copies, 4 * parts[place // t].params, last)
    return simulate(program, machine).seconds


def ring_bytes(seconds, t):
    """Of one ring inside a node that takes so long."""
    return t * (seconds / (2 * (t - 1)) - INSIDE[0]) / INSIDE[1] if t > 1 else 0.0


# ------------------------------------------------------------------ the search


@pytest.mark.parametrize("between", [1e-11, 1e-10, 1e-9])
@pytest.mark.parametrize("B", [256, 4096])
@pytest.mark.parametrize("room", [1.2e6, 1e9])
def test_no_simulated_mix_beats_the_search_by_more_than_the_formulas_are_off(between, B, room):
    """Brute force: all mixes of stages 0 and 1 that fit, event by event."""
    machine = Cluster(16, 4, INSIDE, (2e-6, between), 4)
    work = WORK._replace(B=B, room=room)
    fits = [
        mix
        for mix in mixes(work, machine)
        if mix.stage < 2 and price(work, machine, mix).kept <= room
    ]
    best = next(found for found in search(work, machine).prices if found.mix in fits)
    times = {mix: run_mix(work, machine, mix).seconds for mix in fits}
    assert len(times) > 1 and times[best.mix] <= 1.05 * min(times.values())


def test_every_mix_is_there_once_and_uses_all_ranks():
    found = mixes(WORK, cluster())
    assert len(set(found)) == len(found)
    assert {(t * q * d, 4 % t) for t, q, d, _ in found} == {(16, 0)}
    wanted = {(t, q, 16 // (t * q)) for t in (1, 2, 4) for q in (1, 2, 4, 8) if t * q <= 16}
    assert {mix[:3] for mix in found} == wanted
    assert (
        Mix(4, 4, 1, 0) in found and Mix(4, 4, 1, 1) not in found
    )  # one copy has nothing to shard


def test_the_reasons_add_up_and_name_every_neighbour():
    found = search(WORK, cluster())
    best = found.best
    assert best == min(found.fits, key=lambda p: (p.seconds, p.kept)) and len(found.fits) > 9
    for other in found.neighbours():
        assert other.mix != best.mix and str(tuple(other.mix)) in str(found)
        moved = [a for a, b in zip(other.mix[:3], best.mix[:3], strict=True) if a != b]
        assert len(moved) in (0, 2)
    assert {other.mix[3] for other in found.neighbours()} == set(range(4))
    other = found.of(4, 4, 1, 0)
    lost = sum(other.causes[cause] - best.causes[cause] for cause in best.causes)
    assert lost == pytest.approx(other.seconds - best.seconds)
    assert "ms slower: " in found.reason(other) and f"best {tuple(best.mix)}" in str(found)


def test_what_is_too_large_is_said_to_be():
    whole = search(WORK, cluster())
    room = (whole.best.kept + min(p.kept for p in whole.prices)) / 2
    small = search(WORK._replace(room=room), cluster())
    assert small.best.mix != whole.best.mix and small.best.kept <= room
    assert small.reason(whole.best).startswith("too large, 0.0")
    assert "faster" in small.reason(whole.best)


def test_a_slow_network_is_sent_less_and_a_fast_one_waits_less():
    slow, fast = (
        search(WORK, Cluster(16, 4, INSIDE, (0.0, beta), 4)).best.mix for beta in (1e-7, 1e-13)
    )
    assert slow.data < fast.data and fast.pipeline == 1 < slow.pipeline


def test_bad_input():
    with pytest.raises(BadInput, match="no mix fits"):
        search(WORK._replace(room=1.0), cluster())
    with pytest.raises(BadInput, match="no mix uses all of 13 ranks"):
        search(WORK._replace(B=4), cluster(13, 1, 1))
    with pytest.raises(BadInput, match="B must be"):
        search(WORK._replace(B=0), cluster())
    with pytest.raises(BadInput, match="rate"):
        search(WORK._replace(rate=-1.0), cluster())
    with pytest.raises(BadInput, match="only 0 and 1 are simulated"):
        run_mix(WORK, cluster(), Mix(1, 1, 16, 3))
    with pytest.raises(BadInput, match="no such mix"):
        search(WORK, cluster()).of(3, 3, 3, 0)
    with pytest.raises(BadInput, match="4 ranks of a node cannot share 3 links"):
        cluster(links=3)
