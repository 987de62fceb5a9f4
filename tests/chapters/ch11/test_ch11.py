"""Chapter 11: the facts that its text and checks rest on.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import subprocess
import sys

import numpy as np
import pytest
from kernel_tasks import tasks

from course_lib import mpi, serial
from course_lib.checks import ch11
from course_lib.checks.ch11 import costs as ch11_costs
from course_lib.checks.ch11 import overlap as ch11_overlap
from course_lib.checks.ch11 import step as ch11_step
from course_lib.mpi import cost
from course_lib.mpi.flat import pack, shard, unpack

CHAPTER = "11-mpi-data-parallelism"
RANKS = range(1, 7)


def test_every_task_has_five_mutants_or_more():
    assert len(tasks(CHAPTER)) == 8 and all(
        len(mutants) >= 5 for _, mutants in tasks(CHAPTER).values()
    )


# Weights of uneven shards -------------------------------------------------------------------------------------------


def gradient_of(net, params, X, Y):
    return pack(serial.gradients(net, params, X, Y))


@pytest.mark.parametrize("p", RANKS)
def test_shares_of_the_rows_are_the_weights_and_the_penalty_counts_once(p):
    rng, net = np.random.default_rng(p), serial.Network((5, 4, 3), "tanh", "cross_entropy", lam=0.3)
    params, X = net.init_params(1, np.float64), rng.standard_normal((17, 5))
    Y = np.eye(3)[rng.integers(0, 3, 17)]
    cuts = [shard(17, p, r) for r in range(p)]
    means, n = (
        [gradient_of(net, params, X[s], Y[s]) for s in cuts],
        [s.stop - s.start for s in cuts],
    )
    whole = gradient_of(net, params, X, Y)
    assert np.allclose(sum(g * k / 17 for g, k in zip(means, n, strict=True)), whole, atol=1e-14)
    averaged_is_right = np.allclose(sum(means) / p, whole, atol=1e-9)
    assert averaged_is_right == (17 % p == 0)


# Replicas -----------------------------------------------------------------------------------------------------------


def test_replicas_with_seeds_of_their_own_stay_as_far_apart_as_they_began():
    net = serial.Network((6, 5, 4))
    rng = np.random.default_rng(2)
    X, Y = rng.random((9, 6)), np.eye(4)[rng.integers(0, 4, 9)]

    def train(comm):
        params, kept = net.init_params(comm.rank, np.float64), []
        for _ in range(20):
            kept.append(pack(params))
            rows, total = shard(9, comm.size, comm.rank), np.empty(net.n_params)
            comm.Allreduce(
                gradient_of(net, params, X[rows], Y[rows]) * (rows.stop - rows.start) / 9, total
            )
            serial.sgd_step(params, unpack(total, params), 0.5)
        return kept

    kept = mpi.rehearse(train, 3).results
    for other in kept[1:]:
        assert np.allclose(other[-1] - kept[0][-1], other[0] - kept[0][0], atol=1e-13)


def test_python_salts_the_hash_of_bytes_in_each_process():
    told = {
        subprocess.run(
            [sys.executable, "-c", "print(hash(b'the same bytes'))"],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 2


def test_the_order_of_a_sum_matters_from_three_ranks_on():
    """So that the check of the mended training can see ranks that add in an order of their own."""
    x = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    assert ((x[0] + x[1]) == (x[1] + x[0])).all()
    assert ((x[0] + x[1]) + x[2] != (x[1] + x[2]) + x[0]).any()


# Bytes and seconds --------------------------------------------------------------------------------------------------


def master_and_workers(comm, n, B, s):
    """[004]'s step with each collective as a loop at the root: n and s in bytes."""
    weights, part = np.zeros(n, np.uint8), np.empty(n, np.uint8)
    mine = shard(B, comm.size, comm.rank)
    rows = np.empty((mine.stop - mine.start) * s, np.uint8)
    for r in range(1, comm.size) if comm.rank == 0 else ():
        theirs = shard(B, comm.size, r)
        comm.Send(weights, dest=r)
        comm.Send(np.zeros((theirs.stop - theirs.start) * s, np.uint8), dest=r)
    for r in range(1, comm.size) if comm.rank == 0 else ():
        comm.Recv(part, source=r)
    if comm.rank:
        comm.Recv(weights, source=0)
        comm.Recv(rows, source=0)
        comm.Send(weights, dest=0)


@pytest.mark.parametrize("p", RANKS)
def test_the_bytes_of_task_7_are_those_that_are_counted(p):
    reference = ch11_costs.check_step_bytes.reference
    for B in (p, 2 * p + 1, 13):
        n, s = 8 * 60, 12
        report = mpi.rehearse(master_and_workers, p, n, B, s)
        assert report.ok, str(report)
        sent, received, by_ring = reference(p, n, B, s)
        assert report.bytes[0] == sent and sum(report.bytes[1:]) == received
        ring = mpi.rehearse(lambda comm: mpi.ring_allreduce(comm, np.zeros(60)), p)
        assert ring.bytes == [by_ring] * p and by_ring == cost.ring(p, n)[1]


@pytest.mark.parametrize("p", RANKS)
def test_the_overlap_model_of_task_6_is_what_the_rehearsal_takes(p):
    sizes, seconds = [40, 55, 31], [2e-5, 1e-5, 3e-5]

    def overlapped(comm):
        flying = []
        for size, work in zip(sizes[::-1], seconds[::-1], strict=True):
            mpi.compute(comm, work)
            mine, total = np.ones(size, np.float32), np.empty(size, np.float32)
            flying.append((comm.Iallreduce(mine, total), total))
        for request, _ in flying:
            request.Wait()

    took = mpi.rehearse(overlapped, p, alpha=ch11_overlap.ALPHA, beta=ch11_overlap.BETA).seconds
    assert took == pytest.approx(ch11_overlap.model_seconds(p, sizes, seconds))


def test_the_efficiency_of_task_8_is_that_of_cost():
    for p, B in ((1, 7), (2, 7), (4, 10)):
        seconds, speedup, efficiency = ch11_costs.check_predict_efficiency.reference(
            p, B, 4000, 2e-4, 1e-3, 3e-5, 1e-9
        )
        assert seconds == pytest.approx(
            -(-B // p) * 2e-4 + 1e-3 + cost.seconds(p, 4000, 3e-5, 1e-9)
        )
        assert speedup == pytest.approx(
            (B * 2e-4 + 1e-3) / seconds
        ) and efficiency == pytest.approx(speedup / p)


# Known mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check", [ch11.check_step_bytes, ch11.check_predict_efficiency], ids=lambda c: c.name
)
def test_known_mistakes_on_paper_differ_from_the_truth(check):
    for seed in range(10):
        cases = check.draw(seed)
        for wrong, text in check.diagnoses:
            assert any(wrong(*case.args) != check.reference(*case.args) for case in cases), text


def test_the_mended_training_is_serial_training():
    rng, net = np.random.default_rng(4), serial.Network((5, 4, 3), "tanh", "cross_entropy", 0.05)
    X, Y = rng.standard_normal((20, 5)), np.eye(3)[rng.integers(0, 3, 20)]
    params, draw = net.init_params(7, np.float64), np.random.default_rng([7, 0])
    for _ in range(4):
        rows = draw.choice(20, 6, replace=False)
        serial.sgd_step(params, serial.gradients(net, params, X[rows], Y[rows]), 0.4)
    for p in (1, 4):
        trained = ch11_step.check_mended_training.reference([(net, X, Y, 6, 4, 0.4, 7)] * p)
        assert all(np.allclose(pack(mine), pack(params), atol=1e-13) for mine in trained)
