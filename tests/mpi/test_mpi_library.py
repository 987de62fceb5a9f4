"""Collectives, counts and parallel training, in each number of ranks from 1 to 6."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.ranks import launch
from course_lib.mpi import blocking, checkpoint, cost, network, scaling, two_levels
from course_lib.mpi.flat import pack, shard
from course_lib.serial import Network, save_params
from course_lib.serial.minibatch import gradients_and_loss

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
ROOT = Path(__file__).resolve().parents[2]


def in_ranks(p, part, folder):
    run = [
        launch.mpiexec(),
        "-n",
        str(p),
        sys.executable,
        str(ROOT / "tests" / "support" / "mpi_script.py"),
        part,
        str(folder),
    ]
    env = os.environ | launch.QUIET | launch.ONE_THREAD | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(run, capture_output=True, text=True, timeout=600 * SLOW, env=env)


@pytest.mark.timeout(900 * SLOW)
@pytest.mark.alone  # its ranks time messages
@pytest.mark.parametrize(
    "p", [1, 2, 3, *(pytest.param(p, marks=pytest.mark.slow) for p in (4, 5, 6))]
)
def test_in_ranks(p, tmp_path):
    done = in_ranks(p, "library", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["epoch-0002.npz", "epoch-0003.npz"]


@pytest.mark.timeout(900 * SLOW)
def test_each_step_on_mnist_and_fashion_mnist_is_within_the_derived_tolerance(tmp_path):
    done = in_ranks(4, "datasets", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("of the bound") == 2, done.stdout


@pytest.mark.timeout(900 * SLOW)
def test_a_run_that_is_killed_while_it_writes_goes_on_to_the_same_bits(tmp_path):
    assert in_ranks(2, "killed", tmp_path).returncode != 0
    names = [file.name for file in tmp_path.iterdir()]
    assert (
        "epoch-0001.npz" in names
        and len(names) == 2
        and any(name.endswith(".tmp") for name in names)
    ), names
    done = in_ranks(2, "goes_on", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["epoch-0002.npz", "epoch-0003.npz"]


@pytest.mark.timeout(900 * SLOW)
def test_each_rank_may_compute_on_its_own_device(tmp_path):
    done = in_ranks(2, "engine", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def restored(comm, net, folder):
    """(epochs done, the first weight that came back) of net, filled from the folder."""
    params = net.init_params(9)
    return checkpoint.restore(comm, net, params, folder), params[0][0][0, 0]


def test_where_the_newest_checkpoint_is_damaged_the_one_before_it_is_taken_on_all_ranks(
    tmp_path, capfd
):
    net = Network((4, 3, 2))
    for epoch in (2, 3):
        save_params(tmp_path / f"epoch-000{epoch}.npz", net, net.init_params(epoch))
    newest = tmp_path / "epoch-0003.npz"
    newest.write_bytes(newest.read_bytes()[:-50])
    assert (
        mpi.rehearse(restored, 3, net, tmp_path).results
        == [(2, net.init_params(2)[0][0][0, 0])] * 3
    )
    assert "passed over" in (told := capfd.readouterr().err) and "epoch-0003.npz" in told
    (tmp_path / "epoch-0002.npz").write_bytes(b"")
    report = mpi.rehearse(restored, 3, net, tmp_path)
    assert not report.ok and "epoch-0002.npz" in str(report) and "deadlock" not in str(report)


def test_shards_cover_all_rows():
    for B in range(12):
        rows = [shard(B, 4, r) for r in range(4)]
        assert [i for s in rows for i in range(s.start, s.stop)] == list(range(B))
        assert max(s.stop - s.start for s in rows) - min(s.stop - s.start for s in rows) <= 1


def test_fit_finds_what_made_the_times():
    sizes = [1, 100, 10_000, 1_000_000]
    alpha, beta = cost.fit(sizes, [3e-6 + 2e-10 * size for size in sizes])
    assert np.isclose(alpha, 3e-6, rtol=1e-6) and np.isclose(beta, 2e-10, rtol=1e-6)


def test_costs():
    net = Network((784, 1024, 10))
    items = 784 * 1024 + 1024 + 1024 * 10 + 10
    assert cost.step_bytes(net, 100, 4, 1) == 4 * 2 * 3 / 4 * items  # data parallel: all gradients
    assert (
        cost.step_bytes(net, 100, 1, 4) == 4 * 2 * 3 / 4 * 100 * 10
    )  # model parallel: the logits, [003] section 4.3
    assert cost.best_grid(net, 100, 4) == (1, 4)
    assert cost.best_grid(Network((10, 10, 10)), 100_000, 4) == (4, 1)
    assert cost.seconds(4, 400, 1e-6, 1e-9) == pytest.approx(6 * (1e-6 + 1e-7))
    assert cost.seconds(6, 400, 1e-6, 1e-9, "doubling") == pytest.approx(4 * (1e-6 + 4e-7))
    assert cost.seconds(6, 400, 1e-6, 1e-9, "tree") == pytest.approx(6 * (1e-6 + 4e-7))
    with pytest.raises(BadInput):
        cost.seconds(4, 400, 1e-6, 1e-9, "star")


def by_pieces(p, n, alpha, beta):
    """The best of all numbers of pieces, one after the other."""
    depth = (p - 1).bit_length()
    return min(2 * (depth + m - 1) * (alpha + beta * n / m) for m in range(1, 3000))


@pytest.mark.parametrize("p", [2, 3, 8, 1024])
@pytest.mark.parametrize("n", [8, 10_000, 1_000_000])
def test_two_trees_take_the_best_number_of_pieces(p, n):
    best = by_pieces(p, n, 1e-6, 1e-9)
    assert two_levels.trees(p, n, 1e-6, 1e-9) == pytest.approx(best, rel=0.01)
    assert cost.seconds(p, n, 1e-6, 1e-9, "trees") == two_levels.trees(p, n, 1e-6, 1e-9)


def test_inside_a_node_first():
    inside, between = (1e-6, 1e-10), (2e-6, 1e-9)
    one_node = two_levels.by_nodes(8, 8, 8000, inside, between)
    assert one_node == pytest.approx(2 * 7 * (1e-6 + 1e-10 * 1000))
    one_rank_each = two_levels.by_nodes(8, 1, 8000, inside, between)
    assert one_rank_each == pytest.approx(two_levels.flat_ring(8, 8000, *between))
    both = two_levels.by_nodes(8, 4, 8000, inside, between)
    wanted = 2 * 3 * (1e-6 + 1e-10 * 2000) + 2 * 1 * (2e-6 + 4 * 1e-9 * 1000)
    assert both == pytest.approx(wanted)
    with pytest.raises(BadInput):
        two_levels.by_nodes(10, 4, 8000, inside, between)


def test_the_crossover_is_where_both_take_as_long():
    at = two_levels.crossover(1024, 1e-6, 1e-9)
    assert two_levels.flat_ring(1024, at, 1e-6, 1e-9) == pytest.approx(
        two_levels.trees(1024, at, 1e-6, 1e-9), rel=1e-3
    )
    assert two_levels.trees(1024, at / 2, 1e-6, 1e-9) < two_levels.flat_ring(
        1024, at / 2, 1e-6, 1e-9
    )
    assert two_levels.trees(1024, at * 2, 1e-6, 1e-9) > two_levels.flat_ring(
        1024, at * 2, 1e-6, 1e-9
    )


# ------------------------------------------------------------------ rehearsed: every send waits for its receive

ALPHA, BETA = 1e-6, 1e-9
OURS = {"ring": mpi.ring_allreduce, "doubling": mpi.doubling_allreduce, "tree": mpi.tree_allreduce}
EVEN = Network((60, 120, 60, 120, 60))  # every share of rows or neurons is the same, up to 6 ranks
RAGGED = Network((9, 8, 7, 6), "sigmoid", "mse", 0.01)


def batch(net, B, dtype=np.float64):
    rng = np.random.default_rng(1)
    return rng.standard_normal((B, net.sizes[0])).astype(dtype), np.eye(net.sizes[-1], dtype=dtype)[
        rng.integers(0, net.sizes[-1], B)
    ]


@pytest.mark.parametrize("p", range(1, 9))
@pytest.mark.parametrize("name", OURS)
def test_an_allreduce_sends_and_takes_what_the_formula_says(name, p):
    def run(comm):
        return OURS[name](comm, np.arange(n) + comm.rank)

    for n in (0, 1, 24 * 35, 24 * 35 + 1):
        report = mpi.rehearse(run, p, alpha=ALPHA, beta=BETA)
        assert report.ok and all(
            (got == p * np.arange(n) + p * (p - 1) // 2).all() for got in report.results
        ), report
        counted = list(zip(report.messages, report.bytes, strict=True))
        assert counted == [cost.sent(name, p, n, r, itemsize=8) for r in range(p)]
        if n % p == 0 or name != "ring":  # of ragged parts, the longest decides
            assert report.seconds == pytest.approx(
                cost.seconds(p, 8 * n, ALPHA, BETA, name), rel=1e-9
            )


@pytest.mark.parametrize("p", range(1, 7))
def test_a_step_on_a_grid_sends_and_takes_what_the_model_says(p):
    X, Y = batch(EVEN, 60, np.float32)
    params = EVEN.init_params(1)
    for data, model in cost.grids(EVEN, 60, p):

        def run(comm, data=data, model=model):
            grid = mpi.Grid(comm, EVEN, data, model, mpi.ring_allreduce)
            grid.gradients(grid.model.split(params), X, Y)

        report = mpi.rehearse(run, p, alpha=ALPHA, beta=BETA)
        assert report.ok, str(report)
        step = [
            event for event in report.events if event["op"] == "Sendrecv"
        ]  # without the Splits before it
        took = max((event["end"] for event in step), default=0) - min(
            (event["begin"] for event in step), default=0
        )
        assert took == pytest.approx(
            sum(
                cost.seconds(ranks, 4 * n, ALPHA, BETA)
                for ranks, n, _ in cost.allreduces(EVEN, 60, data, model)
            )
        )
        assert sum(report.bytes) / p == pytest.approx(cost.step_bytes(EVEN, 60, data, model))


@pytest.mark.parametrize("p", range(1, 7))
def test_a_step_of_master_and_workers_sends_and_takes_what_the_model_says(p):
    X, Y = batch(RAGGED, 13, np.float32)

    def run(comm):
        mine = RAGGED.init_params(1)
        loss = mpi.master_worker_step(
            comm, RAGGED, mine, *((X, Y) if comm.rank == 0 else (None, None)), 0.1
        )
        return loss, pack(mine)

    report = mpi.rehearse(run, p, alpha=ALPHA, beta=BETA)
    assert report.ok and list(zip(report.messages, report.bytes, strict=True)) == [
        cost.master_worker_sent(RAGGED, 13, p, rank) for rank in range(p)
    ]
    predicted = scaling.predict("master", RAGGED, 13, p, ALPHA, BETA, lambda rows: 0.25 * rows)
    assert predicted.seconds - predicted.computing == pytest.approx(report.seconds)
    assert predicted.computing == 0.25 * -(-13 // p) and predicted.bytes == report.bytes[0]
    assert all(
        loss is None and (params == pack(RAGGED.init_params(1))).all()
        for loss, params in report.results[1:]
    )


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("p", range(1, 7))
def test_no_scheme_waits_for_ever_or_depends_on_who_comes_first(p, seed):
    X, Y = batch(RAGGED, 5)
    params = RAGGED.init_params(1, np.float64)
    grads, loss = gradients_and_loss(RAGGED, params, X, Y)
    A, B = X, RAGGED.init_params(2, np.float64)[0][0]

    def run(comm):
        found = [mpi.DataParallel(comm, ours)(RAGGED, params, X, Y) for ours in OURS.values()]
        found += [mpi.Overlapped(comm, bucket)(RAGGED, params, X, Y) for bucket in (0, 300, 10**6)]
        for data, model in cost.grids(RAGGED, 6, comm.size):
            grid = mpi.Grid(comm, RAGGED, data, model)
            found.append((grid.model.join(grid.gradients(grid.model.split(params), X, Y)), loss))
        for cut in blocking.cuts(comm.size, 5, 8, 9):
            blocking.multiply(comm, A, B, cut)
        for root in range(comm.size):
            mpi.tree_bcast(comm, np.ones(3), root)
            mpi.tree_reduce(comm, np.ones(3), root)
        return found

    report = mpi.rehearse(run, p, schedule=seed)
    assert report.ok, str(report)
    for found in report.results:
        for got, its_loss in found:
            assert abs(its_loss - loss) < 1e-12 and np.abs(pack(got) - pack(grads)).max() < 1e-12


# ------------------------------------------------------------------ the models


def test_layers_of_messages_hide_behind_the_layers_before():
    """784... by hand, with small numbers: a second a flop; each allreduce takes 2 alpha; see the comment."""
    net, row = Network((2, 3, 1)), 42  # flops of a row: Z 12 + 6, dW 12 + 6, dX 6

    def step(alpha):
        return scaling.predict(
            "overlap", net, 2, 2, alpha, 0.0, lambda rows: scaling.flops(net, rows)
        )

    assert scaling.flops(net, 1) == row
    # forward until 18, dW of layer 1 until 24: message; dX until 30, dW of layer 0 until 42: message
    assert step(1.0)[4:6] == (44.0, 42.0)  # 24 to 26, 42 to 44
    assert step(20.0)[4:6] == (104.0, 42.0)  # 24 to 64, 64 to 104
    assert step(1.0).efficiency == pytest.approx(84 / 2 / 44)


def test_extrapolation_is_a_table_of_what_can_be():
    net = Network((784, 1024, 10))
    alpha, beta, _ = network.NETWORKS["40 Gbit/s Ethernet"]
    rows = scaling.extrapolate(net, 512, alpha, beta, lambda rows: scaling.flops(net, rows) / 50e9)
    found = {(row.scheme, row.p): row for row in rows}
    assert all(
        found[scheme, 1].efficiency == 1 and found[scheme, 1].bytes == 0
        for scheme in scaling.SCHEMES
    )
    assert ("data", 1024) not in found and ("model", 1024) in found  # 512 rows, 1,024 neurons
    assert all(0 < row.efficiency <= 1 and row.data * row.model == row.p for row in rows)
    assert found["data", 64].seconds == pytest.approx(
        scaling.flops(net, 8) / 50e9 + 126 * (alpha + beta * 4 * net.n_params / 64)
    )
    assert (
        found["master", 256].efficiency
        < found["data", 256].efficiency
        < found["grid", 256].efficiency
    )
    weak = scaling.extrapolate(
        net, 512, alpha, beta, lambda rows: rows / 1e4, (1, 1024), ("data",), weak=True
    )
    assert [row.p for row in weak] == [1, 1024] and weak[1].computing == weak[0].computing
    for bad in ({"scheme": "ring"}, {"scheme": "data", "p": 513}, {"scheme": "model", "p": 1025}):
        with pytest.raises(BadInput):
            scaling.predict(
                **{"net": net, "B": 512, "p": 4, "alpha": 1, "beta": 1, "compute": float} | bad
            )
    assert all(net.source and net.alpha > 0 and net.beta > 0 for net in network.NETWORKS.values())


def test_cuts_of_a_layer_are_the_schemes():
    """[003] section 4.3: W1 by its rows (our columns), with the inputs shared once, W2 by its columns (our rows)."""
    B, p = 100, 4
    assert blocking.best_layer_cut(B, 784, 1024, p, first=True) == (1, 1, p)
    assert blocking.best_layer_cut(B, 1024, 10, p) == (1, p, 1)
    assert blocking.best_layer_cut(10**6, 784, 1024, p) == (p, 1, 1)  # many rows: data parallel
    assert blocking.best_cut(1000, 1000, 1000, 8, shared=False) == (
        2,
        2,
        2,
    )  # a cube has the smallest surface
    for net in (EVEN, Network((784, 1024, 10)), RAGGED):
        for data, model in cost.grids(net, 60, 6):
            columns = [kind == "column" for kind in mpi.model_parallel.kinds(net)]
            cuts = [(data, 1, model) if column else (data, model, 1) for column in columns]
            layers = zip(cuts, net.sizes, net.sizes[1:], strict=False)
            items = sum(
                sum(blocking.layer_moved(60, a, b, cut, first=n == 0 and cut[1] == 1).values())
                for n, (cut, a, b) in enumerate(layers)
            )
            biases = sum(
                b * (1 if cut[2] == model else model)
                for cut, b in zip(cuts, net.sizes[1:], strict=True)
            )
            assert 6 * cost.step_bytes(net, 60, data, model) == pytest.approx(
                4 * (items + 2 * (data - 1) * biases)
            )


def test_what_moves_is_the_surface_less_what_is_there():
    M, N, K = 24, 48, 72
    for cut in blocking.cuts(12, M, N, K):
        i, k, j = M // cut.i, K // cut.k, N // cut.j
        faces, owned = i * k + k * j + i * j, (M * K + K * N + M * N) / 12
        assert sum(blocking.moved(M, N, K, cut, shared=False).values()) / 12 == pytest.approx(
            faces - owned
        )
    with pytest.raises(BadInput):
        blocking.cuts(7, 6, 6, 6)


def test_loggp_is_found_from_ping_pong_and_flood():
    true = network.LogGP(L=4e-6, o=1e-6, g=3e-6, G=2e-10)
    sizes = [1, 1000, 100_000]
    times = [true.message(size) for size in sizes]
    assert times[0] == pytest.approx(6e-6) and times[1] == pytest.approx(6e-6 + 999 * 2e-10)
    floods = {
        count: (true.flood(count, 1) + 6e-6, 1e-6) for count in (10, 50)
    }  # and one message back
    found = network.fit_loggp(sizes, times, floods)
    assert found == pytest.approx(true, rel=1e-3)
