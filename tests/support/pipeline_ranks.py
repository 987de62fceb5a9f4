"""Run by tests/mpi/test_mpi_pipeline.py under mpiexec: every rank must end with exit status 0.

Every schedule, with and without recomputation, beside serial training, step by step; what is kept and what is sent.
"""

import sys
import traceback

import numpy as np
from mpi4py import MPI
from mpi_tolerance import gradient_bound

from course_lib import mpi
from course_lib.mpi.flat import pack
from course_lib.mpi.pipeline import NAMES, Pipeline, activation_bytes, schedule, step_sent
from course_lib.serial import Network, gradients, sgd_step
from course_lib.serial.minibatch import gradients_and_loss

WORLD = MPI.COMM_WORLD
P, R = WORLD.size, WORLD.rank
NETS = {"Net-2h": (784, 1024, 1024, 10), "12 layers": (40, 32, 31, *[30] * 8, 20, 10)}


def plans(net):
    """(schedule, lengths) of every kind that the net has layers for; m = 3 is below p = 4."""
    for name in NAMES:
        for m in (3, 8):
            v = 2 if name == "interleaved" and net.n_layers >= 2 * P else 1
            if name != "interleaved" or m % P == 0:
                yield name, schedule(name, P, m, v)


def uneven(net, S):
    """The first stage has what the others leave."""
    return (net.n_layers - S + 1, *[1] * (S - 1))


def batches(net, B, steps, dtype):
    rng = np.random.default_rng(7)
    for _ in range(steps):
        Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
        yield rng.random((B, net.sizes[0])).astype(dtype), Y


def every_step_is_within_the_bound(net, B=30, eta=0.3):
    """float32, from the serial parameters of each step: the gradient is within the derived bound of the exact one."""
    serial = net.init_params(1)
    for X, Y in batches(net, B, 2, np.float32):
        exact, bound = map(pack, gradient_bound(net, serial, X, Y, scalings=2))
        loss = gradients_and_loss(net, serial, X, Y)[1]
        for name, plan in plans(net):
            for recompute in (False, True):
                pipe = Pipeline(WORLD, net, plan, recompute=recompute)
                grads, part = pipe.gradients(pipe.split(serial), X, Y)
                off = abs(pack(pipe.join(grads)) - exact)
                assert (off <= bound).all(), (name, plan.m, (off / bound).max())
                assert abs(WORLD.allreduce(part) - loss) <= 1e-5 * loss, name
        sgd_step(serial, gradients(net, serial, X, Y), eta)


def a_run_of_its_own_stays_beside_serial(net, B=13, eta=0.3):
    """float64, uneven stages: after each step the parameters are serial's, and the counts are those on paper."""
    for name, plan in plans(net):
        comm, lengths = mpi.CountingComm(WORLD), uneven(net, plan.S)
        pipe = Pipeline(comm, net, plan, lengths)
        serial = net.init_params(2, np.float64)
        local = pipe.split(serial)
        for X, Y in batches(net, B, 3, np.float64):
            comm.reset()
            sgd_step(local, pipe.gradients(local, X, Y)[0], eta)
            sent, kept = (comm.messages, comm.bytes), pipe.peak_bytes
            sgd_step(serial, gradients(net, serial, X, Y), eta)
            off = abs(pack(pipe.join(local)) - pack(serial)).max()
            assert off <= 1e-12, (name, off)
            assert sent == step_sent(plan, net, lengths, B, 8)[R], name
            assert kept == activation_bytes(plan, net, lengths, B, itemsize=8)[R], name
        assert len(pipe.timelines()) == len(plan)


try:
    for sizes in NETS.values():
        net = Network(sizes, "sigmoid", "cross_entropy", 1e-4)
        if net.n_layers >= P:
            every_step_is_within_the_bound(net)
            a_run_of_its_own_stays_beside_serial(net)
except BaseException:
    print(f"[rank {R} of {P}]", traceback.format_exc(), file=sys.stderr, flush=True)
    WORLD.Abort(1)
