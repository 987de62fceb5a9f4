"""Run by tests/mpi/test_mpi_library.py under mpiexec with any number of ranks: every rank must end with exit status 0.

Arguments: which of PARTS to run, and a folder to write to.
"""

import os
import signal
import sys
import traceback

import numpy as np
from mpi4py import MPI
from mpi_tolerance import gradient_bound

from course_lib import mpi
from course_lib.data import load_fashion_mnist, load_mnist
from course_lib.machines.ranks.supervisor import unlink_shared_memory
from course_lib.mpi import blocking, checkpoint, cost, network
from course_lib.mpi.flat import pack, shard
from course_lib.serial import Network, gradients, sgd_step, targets, without_loss
from course_lib.serial.minibatch import gradients_and_loss

WORLD = MPI.COMM_WORLD
P, R = WORLD.size, WORLD.rank
OURS = (mpi.ring_allreduce, mpi.doubling_allreduce, mpi.tree_allreduce)


def data(rng, n, dtype):
    whole = np.dtype(dtype).kind in "iu"
    return (rng.integers(0, 5, n) if whole else rng.standard_normal(n)).astype(dtype)


def allreduces():
    for dtype in (np.float32, np.float16, np.int64, np.complex128):
        for n in (0, 1, 5, 7, 40001):
            all_of = [data(np.random.default_rng([n, r]), n, dtype) for r in range(P)]
            exact = np.sum([x.astype(np.complex128) for x in all_of], axis=0)
            size = np.sum([abs(x.astype(np.complex128)) for x in all_of], axis=0)
            for ours in OURS:
                mine = all_of[R].copy()
                assert ours(WORLD, mine) is mine and mine.dtype == dtype
                unit = np.finfo(dtype).eps if np.dtype(dtype).kind in "fc" else 0
                assert (abs(mine - exact) <= P * unit * size).all(), (
                    ours,
                    dtype,
                    n,
                )  # P - 1 roundings of eps/2 a sum
                assert len(set(WORLD.allgather(mine.tobytes()))) == 1, (
                    ours,
                    dtype,
                    n,
                    "ranks differ",
                )
    grid = np.full((3, 4), R + 1.0, np.float32)
    for ours in (*OURS, mpi.mpi_allreduce):
        assert (ours(WORLD, grid.copy()) == P * (P + 1) / 2).all()
        for bad in (grid.T, [1.0]):
            try:
                ours(WORLD, bad)
            except ValueError:
                continue
            assert ours is mpi.mpi_allreduce, bad


def rooted():
    """bcast, reduce, scatter, gather, beside MPI's own, from several roots."""
    for root in {0, P // 2, P - 1}:
        for dtype in (np.float32, np.float16, np.int64, np.complex128):
            for n in (0, 1, 5, 3001):
                all_of = [data(np.random.default_rng([n, r]), n, dtype) for r in range(P)]
                assert (mpi.tree_bcast(WORLD, all_of[R].copy(), root) == all_of[root]).all()
                mine, wanted = (
                    mpi.tree_reduce(WORLD, all_of[R].copy(), root),
                    np.zeros(n, np.complex128),
                )
                WORLD.Reduce(all_of[R].astype(np.complex128), wanted, root=root)
                size = np.sum([abs(x.astype(np.complex128)) for x in all_of], axis=0)
                unit = np.finfo(dtype).eps if np.dtype(dtype).kind in "fc" else 0
                assert root != R or (abs(mine - wanted) <= P * unit * size).all(), (root, dtype, n)
        for B in (0, 1, P, 3 * P + 1):
            rows, whole = shard(B, P, R), np.arange(3.0 * B).reshape(B, 3)
            mine, theirs = (
                np.full((rows.stop - rows.start, 3), np.nan),
                np.full((rows.stop - rows.start, 3), np.nan),
            )
            each = [3 * (s.stop - s.start) for s in (shard(B, P, r) for r in range(P))]
            mpi.linear_scatter(WORLD, whole if root == R else None, mine, root)
            WORLD.Scatterv([whole, each] if root == R else None, theirs, root=root)
            assert (mine == theirs).all() and (mine == whole[rows]).all()
            back = mpi.linear_gather(
                WORLD, mine, np.full((B, 3), np.nan) if root == R else None, root
            )
            assert (back == whole).all() if root == R else back is None


def counts():
    comm = mpi.CountingComm(WORLD)
    for n in (P * 12, P * 12 + 1, P - 1):
        for name, ours in zip(("ring", "doubling", "tree"), OURS, strict=True):
            comm.reset()
            ours(comm, np.zeros(n, np.float32))
            assert (comm.messages, comm.bytes) == cost.sent(name, P, n, R), (
                name,
                n,
                comm.messages,
                comm.bytes,
            )
            assert not comm.collectives
        assert n % P or cost.sent("ring", P, n, R) == cost.ring(P, 4 * n)
    assert WORLD.allreduce(cost.sent("doubling", P, 7, R)[0], op=MPI.MAX) == cost.doubling(P, 28)[0]
    assert WORLD.allreduce(cost.sent("tree", P, 7, R)[0]) == 2 * (P - 1)
    comm.reset()
    comm.Split(R % 2, R).Barrier()
    comm.Allreduce(MPI.IN_PLACE, np.zeros(3))
    comm.Sendrecv(np.zeros(3), dest=MPI.PROC_NULL, recvbuf=np.zeros(3), source=MPI.PROC_NULL)
    assert (
        comm.collectives == {"Barrier": 1, "Allreduce": 1} and comm.messages == 0 and comm.size == P
    )
    assert comm.handed == {"Barrier": 0, "Allreduce": 24}


def counts_of_a_step():
    """What each scheme sends on each rank, also for uneven shards of rows and neurons, equals its formula."""
    comm, net = mpi.CountingComm(WORLD), Network((9, 8, 7, 6), "sigmoid", "mse", 0.01)
    for B in (13, 4):
        X, Y = next(batches(net, B, 1, np.float32))
        for name, ours in zip(("ring", "doubling", "tree"), OURS, strict=True):
            params = net.init_params(3)
            comm.reset()
            mpi.DataParallel(comm, ours)(net, params, X, Y)
            assert (comm.messages, comm.bytes) == cost.sent(
                name, P, net.n_params + 1, R
            ) and not comm.collectives
            for data in (d for d in range(1, P + 1) if P % d == 0):
                grid = mpi.Grid(comm, net, data, P // data, ours)
                comm.reset()
                grid.gradients(grid.model.split(params), X, Y)
                exact = cost.step_sent(net, B, data, P // data, R, name)
                assert (comm.messages, comm.bytes) == exact, (
                    name,
                    data,
                    comm.messages,
                    comm.bytes,
                    exact,
                )
        comm.reset()
        mpi.master_worker_step(comm, net, params, *((X, Y) if R == 0 else (None, None)), 0.1)
        assert (comm.messages, comm.bytes) == cost.master_worker_sent(
            net, B, P, R
        ) and not comm.collectives
        layers = [4 * (W.size + b.size) for W, b in params]
        for bucket, messages in (
            (0, 3),
            (layers[2] + 5, 2),
            (10**9, 1),
        ):  # + 5: the loss, 4 bytes, is not enough
            comm.reset()
            mpi.Overlapped(comm, bucket)(net, params, X, Y)
            assert comm.collectives == {"Iallreduce": messages} and comm.messages == 0, (
                comm.collectives
            )
            assert comm.handed["Iallreduce"] == sum(layers) + 4
        comm.reset()
        mpi.DataParallel(comm)(net, params, X, Y)
        assert comm.collectives == {"Allreduce": 1} and comm.handed["Allreduce"] == sum(layers) + 4


def cuts_of_the_box():
    """Each cut of a product gives its part of D, and moves what the formula says; so do the layers of a net."""
    M, N, K = 7, 9, 11
    rng, comm = np.random.default_rng(5), mpi.CountingComm(WORLD)
    A, B = rng.standard_normal((M, K)), rng.standard_normal((K, N))
    for cut in blocking.cuts(P, M, N, K):
        for in_place in ("", "A", "B", "AB"):
            comm.reset()
            mine = blocking.multiply(comm, A, B, cut, in_place)
            i, _, j = np.unravel_index(R, cut)
            whole = (A @ B)[shard(M, cut.i, i), shard(N, cut.j, j)]
            assert mine.shape == whole.shape and np.abs(mine - whole).max() < 1e-12, cut
            assert WORLD.allreduce(comm.bytes) == 8 * sum(
                blocking.moved(M, N, K, cut, in_place).values()
            ), cut
        i, k, j = np.unravel_index(R, cut)
        part, sums = np.zeros_like(whole), comm.Split(int(i * cut.j + j), int(k))
        comm.reset()
        mpi.ring_reduce_scatter(sums, part)
        assert WORLD.allreduce(comm.bytes) == 8 * blocking.moved(M, N, K, cut, shared=False)["D"], (
            cut
        )


def batches(net, B, steps, dtype=np.float64):
    rng = np.random.default_rng(7)
    for _ in range(steps):
        Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
        yield rng.standard_normal((B, net.sizes[0])).astype(dtype), Y


def near(mine, wanted, what):
    for (W, b), (W0, b0) in zip(mine, wanted, strict=True):
        for got, want in ((W, W0), (b, b0)):
            assert np.abs(got - want).max() <= 1e-12 * (1 + np.abs(want).max()), what


NETS = [
    Network((7, 8, 6), "tanh", "cross_entropy", 0.1),
    Network((9, 8, 7, 6), "sigmoid", "mse", 0.01),
    Network((8, 7, 9, 6, 6), "relu", "cross_entropy"),
    Network((8, 6), "sigmoid", "mse"),
]


def every_scheme_equals_serial_at_every_step():
    for net in NETS:
        for B in (13, P, 1) if net is NETS[0] and P < 5 else (13,):
            serial, data_p, master = (net.init_params(3, np.float64) for _ in range(3))
            over, model = (
                [net.init_params(3, np.float64) for _ in range(2)],
                mpi.ModelParallel(WORLD, net),
            )
            splits = [(P // m, m) for m in range(1, P + 1) if P % m == 0]
            grids = [mpi.Grid(WORLD, net, *split, allreduce=mpi.ring_allreduce) for split in splits]
            local = model.split(serial)
            locals_ = [grid.model.split(serial) for grid in grids]
            for X, Y in batches(net, B, 2 if P > 4 else 3):
                grads, wanted = gradients_and_loss(net, serial, X, Y)
                sgd_step(serial, grads, 0.3)
                sgd_step(
                    data_p, mpi.DataParallel(WORLD, mpi.ring_allreduce)(net, data_p, X, Y)[0], 0.3
                )
                near(data_p, serial, "data parallel")
                mpi.master_worker_step(
                    WORLD, net, master, *((X, Y) if R == 0 else (None, None)), 0.3
                )
                if R == 0:
                    near(master, serial, "master and workers")
                for bucket, mine in zip((0, 500), over, strict=True):
                    grads, loss = mpi.Overlapped(WORLD, bucket)(net, mine, X, Y)
                    assert abs(loss - wanted) <= 1e-12 * (1 + wanted)
                    sgd_step(mine, grads, 0.3)
                    near(mine, serial, "overlapped")
                sgd_step(local, model.backward(local, model.forward(local, X), Y), 0.3)
                near(model.join(local), serial, "model parallel")
                for grid, own in zip(grids, locals_, strict=True):
                    sgd_step(own, grid.gradients(own, X, Y), 0.3)
                    near(grid.model.join(own), serial, "grid")


def bytes_of_a_step():
    net, B = Network((60, 120, 60, 120, 60)), 60
    params = net.init_params(0, np.float32)
    X, Y = next(batches(net, B, 1, np.float32))
    for data in (d for d in range(1, P + 1) if P % d == 0):
        comm = mpi.CountingComm(WORLD)
        grid = mpi.Grid(comm, net, data, P // data, allreduce=mpi.ring_allreduce)
        local = grid.model.split(params)
        comm.reset()
        grid.gradients(local, X, Y)
        exact = cost.step_bytes(net, B, data, P // data)
        total = WORLD.allreduce(
            comm.bytes
        )  # where a length is no multiple of the ranks, parts differ by one item
        assert abs(total / P - exact) <= 1e-9 * exact, (data, total / P, exact)


def a_net_trains_the_same_after_a_break(folder):
    net, some = Network((784, 30, 10), "sigmoid", "cross_entropy"), first(load_mnist(), 500)
    straight, broken = net.init_params(1), net.init_params(1)
    assert checkpoint.train(WORLD, net, straight, some, 3, 64, 0.5) == [0, 1, 2]
    assert checkpoint.train(WORLD, net, broken, some, 2, 64, 0.5, folder=folder) == [0, 1]
    WORLD.Barrier()
    again = net.init_params(2)  # what is restored does not depend on what was there
    assert checkpoint.train(WORLD, net, again, some, 3, 64, 0.5, folder=folder) == [2]
    same_bits(straight, again)


def first(dataset, n):
    return type("Some", (), {"x_train": dataset.x_train[:n], "y_train": dataset.y_train[:n]})


def drawn(n):
    rng = np.random.default_rng(2)
    return type(
        "Some", (), {"x_train": rng.random((n, 20), np.float32), "y_train": rng.integers(0, 5, n)}
    )


def same_bits(params, others):
    for (W, b), (V, c) in zip(params, others, strict=True):
        assert W.tobytes() == V.tobytes() and b.tobytes() == c.tobytes()


def datasets(_):
    """float32: from the same params, each step of each scheme, serial too, is within the derived bound of the exact.

    All start a step with the parameters of serial training: what is tested is that every step is right, at every point
    that training comes to. What a run of its own ends with is printed.
    """
    net, B, eta = Network((784, 40, 10), "sigmoid", "cross_entropy", 1e-4), 101, 0.5
    for dataset in (load_mnist(), load_fashion_mnist(sample=True)):
        whole = first(dataset, 24 * B)
        X, Y = whole.x_train, targets(net, whole.y_train, np.float32)
        serial, alone, worst = net.init_params(1), net.init_params(1), 0.0
        for start in range(0, len(Y), B):
            x, y = X[start : start + B], Y[start : start + B]
            found = each_scheme(net, serial, x, y)
            master = [(W.copy(), b.copy()) for W, b in serial]
            mpi.master_worker_step(WORLD, net, master, *((x, y) if R == 0 else (None, None)), eta)
            assert all(len(set(WORLD.allgather(flat.tobytes()))) == 1 for flat in found.values()), (
                "ranks differ"
            )
            if R == 0:
                worst = max(worst, within_the_bound(net, serial, x, y, found, pack(master), eta))
            sgd_step(alone, mpi.DataParallel(WORLD)(net, alone, x, y)[0], eta)
            sgd_step(serial, gradients(net, serial, x, y), eta)
        drift = abs(pack(alone) - pack(serial)).max()
        assert drift < 1e-4, drift
        if R == 0:
            print(
                f"{P} ranks: at most {worst:.2g} of the bound; after 24 steps of its own {drift:.2g} from serial"
            )


def each_scheme(net, params, X, Y):
    """{scheme: whole gradient, flat}, and "averaged": the plain mean of the ranks' gradients, which is wrong."""
    found = {
        "serial": gradients(net, params, X, Y),
        "data": mpi.DataParallel(WORLD, mpi.ring_allreduce),
        "overlapped": mpi.Overlapped(WORLD, 4096),
    }
    found |= {
        name: scheme(net, params, X, Y)[0] for name, scheme in found.items() if callable(scheme)
    }
    for split in cost.grids(net, len(X), P):
        grid = mpi.Grid(WORLD, net, *split)
        found[split] = grid.model.join(grid.gradients(grid.model.split(params), X, Y))
    rows = shard(len(X), P, R)
    mean = mpi.ring_allreduce(WORLD, pack(gradients(net, params, X[rows], Y[rows])) / np.float32(P))
    return {name: pack(grads) for name, grads in found.items()} | {"averaged": mean}


def within_the_bound(net, params, X, Y, found, master, eta):
    """The largest share of the bound that a scheme needs; shards of 26, 25, 25, 25 rows do not weigh alike."""
    exact, bound = map(pack, gradient_bound(net, params, X, Y))
    assert (bound < 0.05 * abs(exact).max()).all()
    off = {name: float((abs(flat - exact) / (bound + 1e-30)).max()) for name, flat in found.items()}
    assert off.pop("averaged") > 1 and all(share <= 1 for share in off.values()), off
    old, step = (
        pack(params),
        eta * exact,
    )  # the step's own roundings: eta dW, and the difference, u each
    assert (
        abs(master - (old - step))
        <= eta * bound + np.finfo(np.float32).eps * (abs(old) + abs(step))
    ).all()
    return max(off.values())


def killed(folder):
    """Rank 0 dies by kill -9 with half of its second checkpoint written."""
    save = np.savez

    def half(file, **arrays):
        save(file, **arrays)
        if arrays["W0"].tobytes() != marker:
            file.flush()
            os.truncate(file.fileno(), file.tell() // 2)
            unlink_shared_memory(os.getpid())  # MPICH's file, which nobody will tidy up
            os.kill(os.getpid(), signal.SIGKILL)

    net, some = Network((20, 9, 5), "sigmoid", "cross_entropy"), drawn(300)
    one = net.init_params(1)
    checkpoint.train(WORLD, net, one, some, 1, 64, 0.5)
    marker, np.savez = one[0][0].tobytes(), half
    checkpoint.train(WORLD, net, net.init_params(1), some, 3, 64, 0.5, folder=folder)


def goes_on(folder):
    assert len([name for name in os.listdir(folder) if name.endswith(".tmp")]) == 1 or R
    WORLD.Barrier()
    net, some = Network((20, 9, 5), "sigmoid", "cross_entropy"), drawn(300)
    straight, again = net.init_params(1), net.init_params(1)
    checkpoint.train(WORLD, net, straight, some, 3, 64, 0.5)
    assert checkpoint.train(WORLD, net, again, some, 3, 64, 0.5, folder=folder) == [1, 2]
    same_bits(straight, again)


def an_engine_a_rank(_):
    """Each rank's gradient from course_lib.gpu: the device, or the CPU engine, that is its own."""
    from course_lib.gpu.mlp import Mlp

    net = Network((20, 9, 5), "sigmoid", "cross_entropy", 0.01)
    params, (X, Y) = net.init_params(3), next(batches(net, 13, 1, np.float32))

    @without_loss
    def on_device(net, params, X, Y):
        return Mlp(net, params, 0.1).gradients(X, Y)

    exact, bound = gradient_bound(net, params, X, Y)
    grads, loss = mpi.DataParallel(WORLD, mpi.ring_allreduce, gradients=on_device)(
        net, params, X, Y
    )
    for pair, wanted, E in zip(grads, exact, bound, strict=True):
        assert all(
            (abs(got - want) <= e).all() for got, want, e in zip(pair, wanted, E, strict=True)
        )
    assert (
        abs(loss - gradients_and_loss(net, params, X, Y)[1]) < 1e-5 and mpi.local_rank(WORLD) == R
    )


def a_message_is_timed():
    if P == 1:
        return
    sizes = [8, 1000, 100_000]
    times = network.ping_pong(WORLD, sizes, 5)
    floods = {count: network.flood(WORLD, count, 3) for count in (4, 40)}
    assert (min(times) > 0 and min(floods[40]) > 0) == (R < 2)
    if R == 0:
        terms = network.fit_loggp(sizes, times, floods)
        assert min(terms) >= 0 and terms.message(10**6) >= terms.message(8) >= 0
        known = network.fit_loggp(sizes, [1e-6 + 1e-9 * size for size in sizes], floods)
        assert known.message(10**6) > known.message(8) > 0


def library(folder):
    allreduces()
    rooted()
    counts()
    counts_of_a_step()
    cuts_of_the_box()
    every_scheme_equals_serial_at_every_step()
    bytes_of_a_step()
    a_message_is_timed()
    a_net_trains_the_same_after_a_break(folder)


PARTS = {
    "library": library,
    "datasets": datasets,
    "killed": killed,
    "goes_on": goes_on,
    "engine": an_engine_a_rank,
}
try:
    PARTS[sys.argv[1]](sys.argv[2])
except BaseException:
    print(f"[rank {R} of {P}]", traceback.format_exc(), file=sys.stderr, flush=True)
    WORLD.Abort(1)
