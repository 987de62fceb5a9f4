"""Run by tests/test_mpi_library.py under mpiexec with any number of ranks: every rank must end with exit status 0."""

import sys
import traceback

import numpy as np
from mpi4py import MPI

from course_lib import mpi
from course_lib.data import load_mnist
from course_lib.mpi import checkpoint, cost
from course_lib.mpi.flat import shard
from course_lib.serial import Network, gradients, sgd_step

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
                assert (abs(mine - exact) <= P * unit * size).all(), (ours, dtype, n)  # P - 1 roundings of eps/2 a sum
                assert len(set(WORLD.allgather(mine.tobytes()))) == 1, (ours, dtype, n, "ranks differ")
    grid = np.full((3, 4), R + 1.0, np.float32)
    for ours in (*OURS, mpi.mpi_allreduce):
        assert (ours(WORLD, grid.copy()) == P * (P + 1) / 2).all()
        for bad in (grid.T, [1.0]):
            try:
                ours(WORLD, bad)
            except ValueError:
                continue
            assert ours is mpi.mpi_allreduce, bad


def counts():
    for n in (P * 12, P * 12 + 1, P - 1):
        sizes = [part.nbytes for part in np.array_split(np.zeros(n), P)]
        comm = mpi.CountingComm(WORLD)
        mpi.ring_allreduce(comm, np.zeros(n))
        assert comm.messages == 2 * (P - 1), comm.messages
        assert comm.bytes == (2 * sum(sizes) - sizes[(R + 1) % P] - sizes[(R + 2) % P] if P > 1 else 0)
        assert n % P or (comm.messages, comm.bytes) == cost.ring(P, 8 * n)
        for ours, total in ((mpi.tree_allreduce, 2 * (P - 1)), (mpi.doubling_allreduce, None)):
            comm.reset()
            ours(comm, np.zeros(n))
            assert comm.bytes == comm.messages * 8 * n and not comm.collectives
            if total is None:
                assert WORLD.allreduce(comm.messages, op=MPI.MAX) == cost.doubling(P, 8 * n)[0]
            else:
                assert WORLD.allreduce(comm.messages) == total
    comm = mpi.CountingComm(WORLD)
    comm.Split(R % 2, R).Barrier()
    comm.Allreduce(MPI.IN_PLACE, np.zeros(3))
    comm.Sendrecv(np.zeros(3), dest=MPI.PROC_NULL, recvbuf=np.zeros(3), source=MPI.PROC_NULL)
    assert comm.collectives == {"Barrier": 1, "Allreduce": 1} and comm.messages == 0 and comm.size == P


def batches(net, B, steps, dtype=np.float64):
    rng = np.random.default_rng(7)
    for _ in range(steps):
        Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
        yield rng.standard_normal((B, net.sizes[0])).astype(dtype), Y


def near(mine, wanted, what):
    for (W, b), (W0, b0) in zip(mine, wanted, strict=True):
        for got, want in ((W, W0), (b, b0)):
            assert np.abs(got - want).max() <= 1e-12 * (1 + np.abs(want).max()), what


NETS = [Network((7, 8, 6), "tanh", "cross_entropy", 0.1), Network((9, 8, 7, 6), "sigmoid", "mse", 0.01),
        Network((8, 7, 9, 6, 6), "relu", "cross_entropy"), Network((8, 6), "sigmoid", "mse")]  # fmt: skip


def every_scheme_equals_serial_at_every_step():
    for net in NETS:
        for B in (13, P, 1) if net is NETS[0] and P < 5 else (13,):
            serial, data_p, master = (net.init_params(3, np.float64) for _ in range(3))
            over, model = net.init_params(3, np.float64), mpi.ModelParallel(WORLD, net)
            splits = [(P // m, m) for m in range(1, P + 1) if P % m == 0]
            grids = [mpi.Grid(WORLD, net, *split, allreduce=mpi.ring_allreduce) for split in splits]
            local = model.split(serial)
            locals_ = [grid.model.split(serial) for grid in grids]
            for X, Y in batches(net, B, 2 if P > 4 else 3):
                sgd_step(serial, gradients(net, serial, X, Y), 0.3)
                sgd_step(data_p, mpi.DataParallel(WORLD, mpi.ring_allreduce)(net, data_p, X, Y)[0], 0.3)
                near(data_p, serial, "data parallel")
                mpi.master_worker_step(WORLD, net, master, *((X, Y) if R == 0 else (None, None)), 0.3)
                if R == 0:
                    near(master, serial, "master and workers")
                if B >= P:
                    sgd_step(over, mpi.Overlapped(WORLD)(net, over, X, Y)[0], 0.3)
                    near(over, serial, "overlapped")
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
        total = WORLD.allreduce(comm.bytes)  # where a length is no multiple of the ranks, parts differ by one item
        assert abs(total / P - exact) <= 1e-9 * exact, (data, total / P, exact)


def a_net_trains_the_same_after_a_break(folder):
    whole, sizes = load_mnist(), (784, 30, 10)
    net = Network(sizes, "sigmoid", "cross_entropy")
    some = type("Some", (), {"x_train": whole.x_train[:500], "y_train": whole.y_train[:500]})
    straight, broken = net.init_params(1), net.init_params(1)
    assert checkpoint.train(WORLD, net, straight, some, 3, 64, 0.5) == [0, 1, 2]
    assert checkpoint.train(WORLD, net, broken, some, 2, 64, 0.5, folder=folder) == [0, 1]
    WORLD.Barrier()
    again = net.init_params(2)  # what is restored does not depend on what was there
    assert checkpoint.train(WORLD, net, again, some, 3, 64, 0.5, folder=folder) == [2]
    for a, b in zip(straight, again, strict=True):
        assert (a[0] == b[0]).all() and (a[1] == b[1]).all()
    assert sum(range(P + 1)) == P * (P + 1) // 2 and shard(10, 3, 0) == slice(0, 4)


try:
    allreduces()
    counts()
    every_scheme_equals_serial_at_every_step()
    bytes_of_a_step()
    a_net_trains_the_same_after_a_break(sys.argv[1])
except BaseException:
    print(f"[rank {R} of {P}]", traceback.format_exc(), file=sys.stderr, flush=True)
    WORLD.Abort(1)
