"""Run by tests/mpi/test_mpi_sharded.py under mpiexec: each stage on real ranks, and the memory it holds."""

import sys
import traceback
import tracemalloc

import numpy as np
from mpi4py import MPI

from course_lib import mpi
from course_lib.mpi import sharded
from course_lib.mpi.flat import pack
from course_lib.serial import Adam, Network
from course_lib.serial.minibatch import gradients_and_loss

WORLD = MPI.COMM_WORLD
P, R = WORLD.size, WORLD.rank


def batch(net, B, dtype, seed):
    rng = np.random.default_rng(seed)
    Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
    return rng.standard_normal((B, net.sizes[0])).astype(dtype), Y


def every_stage_equals_serial_at_every_step():
    net = Network((9, 8, 7, 6), "sigmoid", "cross_entropy", 0.01)
    for stage in sharded.STAGES:
        for micro in (1, 3):
            params, rule = net.init_params(3, np.float64), Adam(0.01)
            counts = mpi.CountingComm(WORLD)
            run = mpi.Sharded(counts, net, params, Adam(0.01), stage)
            for step in range(4):
                X, Y = batch(net, 13, np.float64, step)
                grads, loss = gradients_and_loss(net, params, X, Y)
                rule.step(params, grads)
                counts.reset()
                share = run.step(X, Y, micro)
                sent = (counts.messages, counts.bytes)
                assert sent == sharded.sent(net, P, R, stage, micro, 8), (stage, micro, sent)
                flat = pack(run.params())
                assert len(set(WORLD.allgather(flat.tobytes()))) == 1, "ranks differ"
                assert abs(flat - pack(params)).max() <= 1e-12, (stage, micro, step)
                assert abs(WORLD.allreduce(share) - loss) <= 1e-12 * (1 + loss)


def python_holds_what_paper_says():
    """By tracemalloc, which knows each array, named or not: at the fullest moment parameters and gradients are there,
    and the state, which stays; and a message's buffer, of a part. When the layer's gradient has gone, a rule makes at
    most three arrays, as large as the one that it updates. 60,000 bytes for Python's own and the activations."""
    net = Network((300, 300, 300, 300, 300), "sigmoid", "cross_entropy")
    X, Y = batch(net, 4, np.float32, 1)
    for stage in sharded.STAGES:
        params = net.init_params(1)
        tracemalloc.start()
        run = mpi.Sharded(WORLD, net, params, Adam(), stage)
        del params
        run.step(X, Y)
        tracemalloc.reset_peak()
        run.step(X, Y)
        paper, (_, peak) = sharded.memory(net, P, R, stage, 2), tracemalloc.get_traced_memory()
        tracemalloc.stop()
        layer = 4 * 301 * 300
        more = max(layer / P, 3 * layer - layer if stage == 0 else 3 * layer / P - layer)
        assert run.fullest == paper, (stage, run.fullest, paper)
        assert 0 <= peak - sum(paper.values()) <= more + 60_000, (stage, peak, paper)


try:
    every_stage_equals_serial_at_every_step()
    python_holds_what_paper_says()
except BaseException:
    print(f"[rank {R} of {P}]", traceback.format_exc(), file=sys.stderr, flush=True)
    WORLD.Abort(1)
