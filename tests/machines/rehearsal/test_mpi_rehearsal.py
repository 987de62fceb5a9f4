"""Rehearsals: equal to real ranks, exact in what they count, right in what they find, and gone afterwards."""

import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import rank_programs
from mpi4py import MPI

from course_lib import mpi
from course_lib.errors import BadInput
from course_lib.machines.ranks import launch
from course_lib.machines.rehearsal.memory.unwritten import is_unwritten
from course_lib.serial import Network, sgd_step
from course_lib.serial.minibatch import gradients_and_loss

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def nothing_is_left():
    """After every rehearsal, failed or not: no thread, the old stdout, the real MPI."""
    before = sys.stdout, MPI.COMM_WORLD, MPI.Request, MPI.Wtime
    yield
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith("pretend rank")
    ]
    assert (sys.stdout, MPI.COMM_WORLD, MPI.Request, MPI.Wtime) == before


def same(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.timeout(900 * SLOW)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_programs_give_what_real_ranks_give(n, tmp_path):
    run = [
        launch.mpiexec(),
        "-n",
        str(n),
        sys.executable,
        str(ROOT / "tests" / "support" / "rank_programs.py"),
        str(tmp_path / "real"),
    ]
    env = os.environ | launch.QUIET | launch.ONE_THREAD | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, capture_output=True, text=True, timeout=50 * SLOW, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    real = pickle.loads((tmp_path / "real").read_bytes())
    for program in rank_programs.PROGRAMS:
        for schedule in (None, 1):
            report = mpi.rehearse(program, n, schedule=schedule)
            assert report.ok or program.__name__ == "too_long", f"{program.__name__}: {report}"
            assert same(report.results, real[program.__name__]), (program.__name__, report.results)


NET = Network((7, 8, 6), "tanh", "cross_entropy", 0.1)


def every_scheme(comm, X, Y, eta):
    """The params after three steps of each scheme, whole."""
    start = NET.init_params(3, np.float64)
    schemes = [
        mpi.DataParallel(comm, mpi.ring_allreduce),
        mpi.DataParallel(comm),
        mpi.Overlapped(comm),
    ]
    grids = [
        (mpi.Grid(comm, NET, comm.size // m, m))
        for m in range(1, comm.size + 1)
        if comm.size % m == 0
    ]
    ours, master = [NET.init_params(3, np.float64) for _ in schemes], NET.init_params(3, np.float64)
    model = mpi.ModelParallel(comm, NET)
    local, parts = model.split(start), [grid.model.split(start) for grid in grids]
    for k in range(3):
        for scheme, params in zip(schemes, ours, strict=True):
            sgd_step(params, scheme(NET, params, X[k], Y[k])[0], eta)
        mpi.master_worker_step(
            comm, NET, master, *((X[k], Y[k]) if comm.rank == 0 else (None, None)), eta
        )
        sgd_step(local, model.backward(local, model.forward(local, X[k]), Y[k]), eta)
        for grid, own in zip(grids, parts, strict=True):
            sgd_step(own, grid.gradients(own, X[k], Y[k]), eta)
    whole = [grid.model.join(own) for grid, own in zip(grids, parts, strict=True)]
    return [*ours, model.join(local), *whole, *([master] if comm.rank == 0 else [])]


@pytest.mark.parametrize("n", range(1, 7))
def test_the_library_trains_in_rehearsal_as_serial_does(n):
    rng, serial = np.random.default_rng(n), NET.init_params(3, np.float64)
    X, Y = rng.standard_normal((3, 13, 7)), np.eye(6)[rng.integers(0, 6, (3, 13))]
    report = mpi.rehearse(every_scheme, n, X, Y, 0.3, timeout=60 * SLOW)
    assert report.ok, report
    for x, y in zip(X, Y, strict=True):
        sgd_step(serial, gradients_and_loss(NET, serial, x, y)[0], 0.3)
    for result in report.results:
        for params in result:
            for pair, wanted in zip(params, serial, strict=True):
                assert all(
                    np.abs(got - want).max() < 1e-12 for got, want in zip(pair, wanted, strict=True)
                )


@pytest.mark.parametrize("n", range(1, 7))
def test_counts_are_those_of_the_counting_communicator(n):
    def program(comm):
        comm = mpi.CountingComm(comm)
        for allreduce in (
            mpi.ring_allreduce,
            mpi.doubling_allreduce,
            mpi.tree_allreduce,
            mpi.mpi_allreduce,
        ):
            allreduce(comm, np.arange(7.0))
        comm.Split(comm.rank % 2, 0).Bcast(np.zeros(3))
        comm.Barrier()
        comm.sendrecv(
            {"x": [1]}, dest=(comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size
        )
        comm.Send(np.zeros(3), dest=MPI.PROC_NULL)
        comm.Isend([np.zeros(3), MPI.DOUBLE], dest=(comm.rank + 1) % comm.size).Free()
        comm.Recv(np.zeros(3))
        return comm.messages, comm.bytes, comm.collectives

    report = mpi.rehearse(program, n)
    assert report.ok, report
    assert report.results == list(
        zip(report.messages, report.bytes, report.collectives, strict=True)
    )


def the_error(fn, n, tool, *args, **named):
    report = mpi.rehearse(fn, n, *args, **named)
    assert report.errors and report.errors[0]["tool"] == tool, str(report)
    assert report.errors[0]["message"].startswith(tool + ": ") and str(report).startswith(tool)
    return report.errors[0]


def swap_by_sends(comm):
    got = np.empty(2)
    comm.Send(np.zeros(2), dest=(comm.rank + 1) % comm.size)
    comm.Recv(got, source=(comm.rank - 1) % comm.size)


def test_sends_that_wait_for_each_other():
    error = the_error(swap_by_sends, 3, "deadlock")
    assert (
        error["cycle"] == [0, 1, 2, 0]
        and "0 waits for 1, 1 waits for 2, 2 waits for 0: a ring" in error["message"]
    )
    assert error["ranks"][1]["op"] == "Send(dest=2)" and "Sendrecv" in error["cause"]
    line = swap_by_sends.__code__.co_firstlineno + 2
    assert error["line"] == line and error["code"].startswith("comm.Send(np.zeros(2)")
    assert (
        mpi.rehearse(swap_by_sends, 3, eager=16).ok
        and not mpi.rehearse(swap_by_sends, 3, eager=15).ok
    )


def test_receives_first():
    def program(comm):
        comm.recv(source=1 - comm.rank)
        comm.send(1, dest=1 - comm.rank)

    error = the_error(program, 2, "deadlock", eager=100)
    assert error["cycle"] == [0, 1, 0] and "send first" in error["cause"]


def test_a_receive_that_has_begun_and_asks_for_another_tag():
    def program(comm):
        other, got = 1 - comm.rank, np.empty(4)
        request = comm.Irecv(got, source=other, tag=comm.rank)
        comm.Send(np.ones(4), dest=other, tag=comm.rank)
        request.Wait()

    (error,) = mpi.rehearse(program, 2).errors
    assert "Irecv(source=1, tag=0) asks for another tag" in error["message"]
    assert "other tags" in error["cause"]


def test_a_send_that_is_stuck_beside_a_receive_from_somebody_else_is_not_told_of_tags():
    def program(comm):
        request = comm.Irecv(np.empty(4), source=(comm.rank + 1) % 3, tag=1)
        comm.Send(np.ones(4), dest=(comm.rank + 1) % 3)
        request.Wait()

    (error,) = mpi.rehearse(program, 3).errors
    assert "tag" not in error["cause"] and "receive first" in error["cause"]


def test_a_collective_that_others_answer_with_a_receive():
    def program(comm):
        if comm.rank == 0:
            comm.Scatter(np.ones(6), np.empty(2), root=0)
        else:
            comm.Recv(np.empty(2), source=0)

    (error,) = mpi.rehearse(program, 3).errors
    assert "a collective is called by all" in error["cause"]


def test_a_message_with_another_tag_and_a_rank_that_is_done():
    def program(comm):
        if comm.rank == 0:
            comm.recv(source=1, tag=5)
        else:
            comm.send(1, dest=0, tag=4)

    error = the_error(program, 2, "deadlock", eager=100)
    assert error["cycle"] == [] and "rank 1 has finished" in error["message"]
    assert (
        "a message from rank 1 to rank 0 with tag 4 has arrived" in error["message"]
        and "tags" in error["cause"]
    )


def test_a_rank_that_does_not_come_to_a_collective():
    def program(comm):
        if comm.rank != 1:
            comm.Barrier()

    error = the_error(program, 3, "deadlock")
    assert "rank 1 has finished and will not come" in error["message"] and set(error["ranks"]) == {
        0,
        2,
    }
    assert error["cause"].startswith("a rank has returned without the collective")


def test_a_rank_that_returns_before_a_message_is_not_told_of_a_collective():
    def program(comm):
        if comm.rank == 0:
            comm.recv(source=1)

    error = the_error(program, 2, "deadlock")
    assert error["cause"].startswith("a send needs a receive")


@pytest.mark.parametrize(
    ("what", "calls"),
    [
        ("another collective", [lambda c: c.Bcast(np.zeros(2)), lambda c: c.Barrier()]),
        ("another collective", [lambda c: c.bcast(1), lambda c: c.Bcast(np.zeros(2))]),
        ("another root", [lambda c: c.bcast(1, root=0), lambda c: c.bcast(1, root=1)]),
        ("another op", [lambda c: c.allreduce(1), lambda c: c.allreduce(1, MPI.MAX)]),
        (
            "another size",
            [lambda c: c.Reduce(MPI.IN_PLACE, np.zeros(2)), lambda c: c.Reduce(np.zeros(3), None)],
        ),
        (
            "another type",
            [lambda c: c.Bcast(np.zeros(2)), lambda c: c.Bcast(np.zeros(2, np.float32))],
        ),
        (
            "another size: rank 1 is sent 2 float64, but its buffer takes 1",
            [lambda c: c.Scatter(np.zeros(4), np.zeros(2)), lambda c: c.Scatter(None, np.zeros(1))],
        ),
        (
            "another collective",
            [lambda c: (c.Barrier(), c.bcast(1)), lambda c: (c.bcast(1), c.Barrier())],
        ),
        ("another collective", [lambda c: c.Ibarrier().Wait(), lambda c: c.Barrier()]),
    ],
)
def test_collectives_that_differ(what, calls):
    error = the_error(lambda comm: calls[comm.rank](comm), 2, "mismatch")
    assert (
        what in error["message"]
        and "rank 0 calls" in error["message"]
        and "rank 1 calls" in error["message"]
    )


def test_who_has_not_come_when_others_disagree():
    def program(comm):
        if comm.rank == 0:
            comm.Barrier()
        elif comm.rank == 1:
            comm.allreduce(1)
        else:
            comm.recv(source=0)

    error = the_error(program, 3, "mismatch")
    assert "rank 2 waits in recv(source=0)" in error["message"]


def test_a_message_longer_than_its_buffer():
    def program(comm, catch):
        if comm.rank == 0:
            return comm.Send(np.arange(3.0), dest=1)
        got = np.zeros(2)
        try:
            comm.Recv(got, source=0)
        except MPI.Exception as problem:
            if not catch or problem.Get_error_class() != MPI.ERR_TRUNCATE:
                raise
        return got

    error = the_error(program, 2, "truncation", False)
    assert (
        error["rank"] == 1
        and "has 3 float64, but the buffer of Recv(source=0) has room for 2" in error["message"]
    )
    report = mpi.rehearse(program, 2, True)
    assert report.ok and same(report.results[1], np.array([0.0, 1.0]))


def test_two_dtypes():
    def program(comm):
        if comm.rank == 0:
            comm.Send(np.arange(4, dtype=np.float32), dest=1)
        else:
            got = np.zeros(4)
            comm.Recv(got, source=0)
            return got

    error = the_error(program, 2, "type")
    assert "takes float64, but rank 0 has sent float32" in error["message"]

    def pickled(comm):
        comm.send([1, 2], dest=1) if comm.rank == 0 else comm.Recv(np.zeros(50, np.uint8), source=0)

    assert "pickled object" in the_error(pickled, 2, "type")["message"]


def test_a_buffer_that_changes_before_its_wait():
    def program(comm, early):
        data, got = np.arange(4.0), np.empty(4)
        if comm.rank == 0:
            request = comm.Isend(data, dest=1)
            if early:
                data[:] = -1
            request.Wait()
        else:
            comm.Recv(got, source=0)
        return got

    assert mpi.rehearse(program, 2, False).ok
    for eager, numbers in (
        (None, -np.ones(4)),
        (100, np.arange(4.0)),
    ):  # what MPI may do, and what it may do as well
        error = the_error(program, 2, "buffer", True, eager=eager)
        assert error["rank"] == 0 and error["code"].startswith("request = comm.Isend")
        assert same(mpi.rehearse(program, 2, True, eager=eager).results[1], numbers)


def test_a_receive_buffer_is_nobodys_until_its_wait():
    def program(comm, what):
        got = np.zeros(4)
        request = comm.Irecv(got, source=1 - comm.rank)
        comm.Send(np.arange(4.0), dest=1 - comm.rank)
        early = got.sum()
        if what == "write":
            got[0] = 5
        request.Wait()
        return early, got

    report = mpi.rehearse(program, 2, "read")
    assert np.isnan(report.results[0][0]) and same(report.results[0][1], np.arange(4.0))
    error = the_error(program, 2, "buffer", "read")
    assert "read the buffer of its Irecv(source=1)" in error["message"]
    assert error["code"].startswith("request = comm.Irecv")
    assert error["touched"]["code"] == "early = got.sum()"
    error = the_error(program, 2, "buffer", "write")
    assert "wrote to the buffer" in error["message"] and error["touched"]["code"] == "got[0] = 5"


def test_the_buffer_of_a_collective_that_does_not_wait():
    def program(comm):
        data, total = np.ones(3), np.zeros(3)
        request = comm.Iallreduce(data, total)
        seen = total.copy()
        data[0] = 7
        request.Wait()
        return seen, total

    assert the_error(program, 2, "buffer")["rank"] == 0
    report = mpi.rehearse(program, 2)
    assert np.isnan(report.results[1][0]).all() and same(report.results[1][1], np.full(3, 2.0))


def test_sendrecv_into_what_is_sent():
    def program(comm, replace):
        data = np.full(3, float(comm.rank))
        if replace:
            comm.Sendrecv_replace(data, dest=1 - comm.rank, source=1 - comm.rank)
        else:
            comm.Sendrecv(data, dest=1 - comm.rank, recvbuf=data, source=1 - comm.rank)
        return data

    assert "Sendrecv_replace" in the_error(program, 2, "buffer", False)["cause"]
    report = mpi.rehearse(program, 2, True)
    assert report.ok and same(report.results, [np.ones(3), np.zeros(3)])


def test_what_is_left_over():
    def program(comm):
        comm.isend("x", dest=1 - comm.rank, tag=3)
        comm.Irecv(np.zeros(2), source=1 - comm.rank, tag=9)

    report = mpi.rehearse(program, 2)
    assert [e["tool"] for e in report.errors] == ["leftover"] * 4
    assert "rank 1 never receives the message of" in str(
        report
    ) and "never waits for its Irecv(" in str(report)


def test_an_exception_is_told_with_its_rank_and_what_the_others_wait_in():
    def program(comm):
        if comm.rank == 2:
            raise KeyError("shard")
        comm.Barrier()

    error = the_error(program, 4, "exception")
    assert error["rank"] == 2 and isinstance(error["exception"], KeyError)
    assert error["code"] == 'raise KeyError("shard")'
    assert "rank 0 waits in Barrier()" in error["message"]
    error = the_error(lambda comm: 1 / 0, 5, "exception")
    assert "5 ranks" in error["message"] and len(mpi.rehearse(lambda comm: 1 / 0, 5).errors) == 1


@pytest.mark.parametrize("stop", [lambda: sys.exit(3), lambda: MPI.COMM_WORLD.Abort(1)])
def test_exit(stop):
    assert the_error(lambda comm: stop(), 2, "exception")["rank"] == 0


def test_a_loop_without_end_is_ended():
    def program(comm):
        while comm.rank == 1:
            pass
        comm.Barrier()

    begin = time.process_time()
    error = the_error(program, 3, "timeout", timeout=0.3)
    assert (
        error["rank"] == 1
        and time.process_time() - begin < 2 * SLOW
        and "while comm.rank == 1" in error["message"]
    )


def test_a_poll_without_end_and_a_deaf_loop_are_ended():
    def polls(comm):
        request = comm.Irecv(np.zeros(1), source=0)
        while not request.Test():
            pass

    begin = time.process_time()
    assert (
        the_error(polls, 2, "timeout", timeout=0.3)["line"]
        and time.process_time() - begin < 2 * SLOW
    )

    def deaf(comm):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                comm.Barrier()
                comm.recv()
            except BaseException:
                pass

    assert not mpi.rehearse(deaf, 2, timeout=5).ok


def test_compiled_code_is_outlived():
    def program(comm):
        if comm.rank == 0:
            threading.Event().wait()  # a lock: no exception gets in before it opens

    assert the_error(program, 2, "timeout", timeout=0.2)["rank"] == 0


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timers that interrupt"
)
def test_an_interrupt_ends_it():
    def program(comm):
        while True:
            pass

    signal.setitimer(signal.ITIMER_REAL, 0.3)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            mpi.rehearse(program, 2, timeout=20)
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_polling_lets_the_others_go_on():
    def program(comm):
        if comm.rank == 0:
            request, tries = comm.irecv(source=1), 0
            while not request.Test():
                tries += 1
            return request.wait()
        comm.send("there", dest=0)
        return None

    assert mpi.rehearse(program, 2).results == ["there", None]
    assert mpi.rehearse(program, 2, schedule=3).ok


def test_ranks_share_nothing():
    def program(comm, given):
        given.append(comm.rank)
        bag.append(comm.rank)
        return len(given), len(bag)

    bag, given = [], [5]
    assert mpi.rehearse(program, 3, given).results == [(2, 1)] * 3 and given == [5] and bag == []


def test_a_world_that_was_named_before_is_that_of_the_rehearsal():
    world = MPI.COMM_WORLD
    assert mpi.rehearse(lambda comm: (world.rank, world.allreduce(1)), 3).results == [
        (0, 3),
        (1, 3),
        (2, 3),
    ]


def test_a_function_that_cannot_be_copied_is_shared():
    def program(comm, given):
        with lock:
            given.append(comm.rank)
        return len(given)

    lock = threading.Lock()
    assert mpi.rehearse(program, 3, []).results == [1, 1, 1]


def test_what_ranks_print_comes_in_their_order(capsys):
    def program(comm):
        for k in range(2):
            print("line", k)
            comm.Barrier()

    report = mpi.rehearse(program, 2)
    assert (
        capsys.readouterr().out
        == "[rank 0] line 0\n[rank 0] line 1\n[rank 1] line 0\n[rank 1] line 1\n"
    )
    assert report.printed == ["line 0\nline 1\n"] * 2
    mpi.rehearse(program, 2, show=False)
    assert capsys.readouterr().out == ""


def winners(comm):
    if comm.rank == 0:
        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
    comm.send(comm.rank, dest=0)


def test_a_schedule_draws_another_order():
    orders = [tuple(mpi.rehearse(winners, 5, schedule=seed).results[0]) for seed in range(8)]
    assert len(set(orders)) > 2 and orders[3] == tuple(
        mpi.rehearse(winners, 5, schedule=3).results[0]
    )
    assert mpi.rehearse(winners, 5).results[0] == [1, 2, 3, 4]


def wrong_in_one_order(comm, bad):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    seen = tuple(comm.recv() for _ in range(comm.size - 1))
    assert seen != bad
    return sorted(seen)


@pytest.mark.parametrize("bad", list(itertools.permutations(range(1, 5)))[::3])
def test_the_search_finds_the_one_order_that_matters(bad):
    error = the_error(wrong_in_one_order, 5, "exception", bad)
    assert error["code"] == "assert seen != bad"
    if bad != (1, 2, 3, 4):
        assert "in an order where rank 0 first sees the message of rank" in error["message"]


def test_the_search_counts_orders_and_can_be_left_out():
    report = mpi.rehearse(wrong_in_one_order, 4, ())
    assert report.ok and report.orders >= 6 and report.outcomes == 1
    assert "nothing was found in" in str(report)
    assert mpi.rehearse(wrong_in_one_order, 5, (4, 3, 2, 1), schedule="one").ok
    with pytest.raises(BadInput, match="schedule"):
        mpi.rehearse(wrong_in_one_order, 4, (), schedule="all")


def test_output_that_is_cut_says_so():
    report = mpi.rehearse(lambda comm: print("x" * 200_000), 1, show=False)
    assert report.printed[0].endswith("(cut here: more than 100,000 characters)\n")


ALPHA, BETA = 2.0, 0.25


def test_the_clock_of_a_message():
    def program(comm):
        comm.compute(1.0 if comm.rank == 0 else 5.0)
        if comm.rank == 0:
            comm.Send(np.zeros(8, np.uint8), dest=1)
        else:
            comm.Recv(np.zeros(8, np.uint8), source=0)
        return MPI.Wtime()

    report = mpi.rehearse(program, 2, alpha=ALPHA, beta=BETA)
    assert report.results == [9.0, 9.0] and report.seconds == 9.0
    send = next(e for e in report.events if e["op"] == "Send")
    told = [send[key] for key in ("rank", "peer", "bytes", "begin", "end", "wait")]
    assert told == [0, 1, 8, 1.0, 9.0, 4.0]
    assert [e["end"] for e in report.events if e["op"] == "compute"] == [1.0, 5.0]
    assert mpi.rehearse(program, 2, alpha=ALPHA, beta=BETA, eager=8).results == [5.0, 5.0]


def test_a_rank_receives_one_message_at_a_time():
    def program(comm):
        if comm.rank == 0:
            MPI.Request.Waitall(
                [comm.Irecv(np.zeros(4, np.uint8), source=r) for r in range(1, comm.size)]
            )
        else:
            comm.Send(np.zeros(4, np.uint8), dest=0)

    assert mpi.rehearse(program, 4, alpha=ALPHA, beta=BETA).seconds == 9.0


@pytest.mark.parametrize("n", range(1, 7))
def test_the_ring_takes_what_its_formula_says(n):
    report = mpi.rehearse(
        lambda comm: mpi.ring_allreduce(comm, np.zeros(12 * n)), n, alpha=ALPHA, beta=BETA
    )
    assert report.seconds == pytest.approx(2 * (n - 1) * (ALPHA + 96 * BETA))


def test_collectives_begin_with_the_last_and_take_their_model():
    def program(comm):
        mpi.compute(comm, comm.rank)
        comm.Allreduce(MPI.IN_PLACE, np.zeros(16, np.uint8))
        return MPI.Wtime()

    for n in (2, 3, 4):
        rounds = (n - 1).bit_length()
        took = min(rounds * (ALPHA + 16 * BETA), 2 * (n - 1) * (ALPHA + 16 * BETA / n))
        assert mpi.rehearse(program, n, alpha=ALPHA, beta=BETA).results == pytest.approx(
            [n - 1 + took] * n
        )


def test_work_and_a_message_at_the_same_time():
    def program(comm):
        request = comm.Iallreduce(MPI.IN_PLACE, np.zeros(16, np.uint8))
        mpi.compute(comm, 4.0)
        request.Wait()

    assert mpi.rehearse(program, 2, alpha=ALPHA, beta=BETA).seconds == 6.0


def test_two_collectives_share_the_links():
    def program(comm):
        MPI.Request.Waitall(
            [comm.Iallreduce(MPI.IN_PLACE, np.zeros(16, np.uint8)) for _ in range(2)]
        )

    assert mpi.rehearse(program, 2, alpha=ALPHA, beta=BETA).seconds == 12.0


def test_compute_is_nothing_on_a_real_communicator():
    assert (
        mpi.compute(MPI.COMM_SELF, 100.0) is None
        and mpi.compute(mpi.CountingComm(MPI.COMM_SELF), 100.0) is None
    )


def test_many_ranks_and_bad_input():
    report = mpi.rehearse(lambda comm: comm.allreduce(comm.rank), 64)
    assert report.results == [2016] * 64
    assert repr(report) == "<Report on 64 ranks: nothing was found>"
    for n in (0, 65, 2.5):
        with pytest.raises(BadInput):
            mpi.rehearse(winners, n)

    def nested(comm):
        mpi.rehearse(winners, 2)

    assert "a rehearsal is running" in the_error(nested, 2, "exception")["message"]


def test_what_is_not_there_is_told():
    error = the_error(lambda comm: comm.Create_graph([], []), 1, "exception")
    assert "no 'Create_graph'" in error["message"]


def test_what_np_empty_gives_is_nan_in_a_rehearsal_alone():
    make = np.empty
    report = mpi.rehearse(
        lambda comm: (np.empty(3), np.empty_like(np.ones(2)), np.empty(2, int)), 2
    )
    first, second, whole = report.results[1]
    assert np.isnan(first).all() and np.isnan(second).all() and whole.dtype == int
    assert is_unwritten(first + 1) and not is_unwritten(np.full(2, np.nan))
    assert np.empty is make
