"""GridStep equals serial at every step, allocates nothing in its loop, and does not hang whatever fails."""

import gc
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from pairwise import pairwise
from thread_tools import (
    assert_close,
    batch,
    copied,
    interrupt_after,
    needs_signals,
    no_thread_left,
    same_bits,
)

from course_lib import measure, serial
from course_lib.errors import BadInput
from course_lib.threads import GridStep, ThreadFault, choose_split, kernels
from course_lib.threads.barrier import Barrier

NET = serial.Network((6, 9, 8, 4))
EPS = float(np.finfo(np.float32).eps)
SPLITS = [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (1, 5), (4, 3)]


@pytest.fixture(autouse=True)
def nothing_left():
    with no_thread_left():
        yield


def serial_epoch(net, params, B, eta, X, Y, order):
    """What GridStep.epoch claims to do, by the serial library."""
    total = 0.0
    for start in range(0, len(order), B):
        rows = order[start : start + B]
        total += serial.loss_value(net, params, X[rows], Y[rows]) * len(rows)
        serial.sgd_step(params, serial.gradients(net, params, X[rows], Y[rows]), eta)
    return total / len(order)


# equal to serial


@pytest.mark.parametrize(
    "sizes, activation, loss, lam, split",
    pairwise(
        [(5, 7, 3), (6, 9, 8, 4)],
        list(serial.ACTIVATIONS),
        list(serial.LOSSES),
        [0.0, 0.05],
        SPLITS,
    ),
)
def test_equal_to_serial_at_every_step_of_a_training_run(sizes, activation, loss, lam, split):
    net, (T, P) = serial.Network(sizes, activation, loss, lam), split
    ours, theirs = net.init_params(1), net.init_params(1)
    X, Y = batch(net, 29)
    with GridStep(net, ours, 8, 0.5, T, P) as grid:
        for step in range(8):
            rows = slice(step % 4 * 8, step % 4 * 8 + 8)  # 8, 8, 8, 5 rows
            want = serial.loss_value(net, theirs, X[rows], Y[rows])
            assert abs(grid.step(X[rows], Y[rows]) - want) <= 1e-5 * max(1, want)
            serial.sgd_step(theirs, serial.gradients(net, theirs, X[rows], Y[rows]), 0.5)
            assert_close(ours, theirs, 20 * EPS * (step + 1))


@pytest.mark.parametrize("T, P", SPLITS)
@pytest.mark.parametrize("sizes", [(3, 1), (3, 2), (70, 90, 80, 5), (1, 1, 1), (4, 3, 200)])
def test_an_epoch_in_any_order_is_the_serial_epoch(sizes, T, P):
    net = serial.Network(sizes, lam=0.01)
    if max(sizes[1:]) < P:
        with pytest.raises(BadInput, match=r"P \(threads of a group\)"):
            GridStep(net, net.init_params(0), 16, 0.2, T, P)
        return
    ours, theirs = net.init_params(1), net.init_params(1)
    X, Y = batch(net, 50)
    with GridStep(net, ours, 16, 0.2, T, P) as grid:
        for order in (
            None,
            np.random.default_rng(0).permutation(50),
            np.arange(49, 0, -3, dtype=np.int32),
            [7],
        ):
            order = np.array(order) if isinstance(order, list) else order
            want = serial_epoch(
                net, theirs, 16, 0.2, X, Y, np.arange(50) if order is None else order
            )
            assert abs(grid.epoch(X, Y, order) - want) <= 1e-5 * max(1, want)
            assert_close(ours, theirs, 200 * EPS)


def test_batches_smaller_than_the_number_of_threads():
    ours, theirs = NET.init_params(1), NET.init_params(1)
    X, Y = batch(NET, 10)
    with GridStep(NET, ours, 9, 0.5, 9, 2) as grid:
        for rows in (1, 2, 5, 9, 10):
            want = serial_epoch(NET, theirs, 9, 0.5, X[:rows], Y[:rows], np.arange(rows))
            assert abs(grid.epoch(X[:rows], Y[:rows]) - want) <= 1e-5
            assert_close(ours, theirs, 100 * EPS)


@pytest.mark.parametrize("T, P", [(1, 1), (3, 1), (1, 3), (2, 2)])
def test_same_bits_in_each_run(T, P):
    net = serial.Network((30, 50, 40, 10), lam=0.01)
    X, Y = batch(net, 70)
    runs = []
    for _ in range(3):
        params = net.init_params(1)
        with GridStep(net, params, 32, 0.5, T, P) as grid:
            losses = [grid.epoch(X, Y) for _ in range(5)]
        runs.append((params, losses))
    assert all(same_bits(params, runs[0][0]) and losses == runs[0][1] for params, losses in runs)


def late_run(T, P, late=None, without=None):
    """(loss, params) of three steps with thread `late` slow before each call, and without the calls of that number."""
    net = serial.Network((6, 9, 8, 4), lam=0.01)
    params, (X, Y) = net.init_params(1), batch(net, 24)
    with GridStep(net, params, 8, 0.5, T, P) as grid:
        grid.step(X[:8], Y[:8])
        for t, (_, calls) in enumerate(grid._calls[8]):
            if without is not None:
                calls[without] = ("nothing", int, ())
            if t == late:
                calls[:] = [c for call in calls for c in (("late", time.sleep, (0.001,)), call)]
        return grid.epoch(X, Y), params


@pytest.mark.parametrize("T, P", [(3, 1), (1, 3), (2, 2)])
def test_any_thread_may_be_slow_anywhere_thanks_to_the_barriers(T, P):
    """Whoever is late, wherever, the bits are the same; take one barrier away, whichever, and they are not."""
    loss, params = late_run(T, P)
    for late in range(T * P):
        got = late_run(T, P, late)
        assert got[0] == loss and same_bits(got[1], params)
    with GridStep(NET, NET.init_params(1), 8, 0.5, T, P) as grid:
        grid.step(*batch(NET, 8))
        meetings = [
            (i, function.__self__)
            for i, (_, function, _) in enumerate(grid._calls[8][0][1])
            if isinstance(getattr(function, "__self__", None), Barrier)
        ]
    assert (
        len(meetings) == 7
    )  # a group: gathered, 2 forward, 2 backward; all: before and after the update
    for number, (i, barrier) in enumerate(meetings):
        if len(barrier._gates) > 1:
            tries = (
                late_run(T, P, T * P - 1, i) for _ in range(5)
            )  # on a busy machine others may be as late
            assert any(got[0] != loss or not same_bits(got[1], params) for got in tries), (
                f"barrier {number}: no need"
            )


def test_params_change_in_place_and_data_does_not():
    params, (X, Y) = NET.init_params(1), batch(NET, 10)
    start, kept, order = copied(params), (X.copy(), Y.copy()), np.arange(9, -1, -1)
    inside = [array for pair in params for array in pair]
    with GridStep(NET, params, 4, 0.5, 2) as grid:
        grid.epoch(X, Y, order)
    assert all(a is b for a, b in zip(inside, (a for pair in params for a in pair), strict=True))
    assert not same_bits(start, params)
    assert np.array_equal(X, kept[0]) and np.array_equal(Y, kept[1]) and order[0] == 9


def test_strided_data_and_read_only_data_are_taken():
    ours, theirs, (X, Y) = NET.init_params(1), NET.init_params(1), batch(NET, 20)
    frozen = np.asfortranarray(X[::2])
    frozen.flags.writeable = False
    with GridStep(NET, ours, 4, 0.5, 2) as grid:
        grid.epoch(frozen, Y[::2])
    serial_epoch(NET, theirs, 4, 0.5, X[::2], Y[::2], np.arange(10))
    assert_close(ours, theirs, 50 * EPS)


def test_training_that_diverges_shows_in_the_loss_and_nowhere_else():
    for loss in serial.LOSSES:
        for activation in serial.ACTIVATIONS:
            net = serial.Network((6, 9, 4), activation, loss)
            params, (X, Y) = net.init_params(1), batch(net, 12)
            params[0][0][2, 3] = np.nan
            with GridStep(net, params, 6, 0.5, 2) as grid, warnings.catch_warnings():
                warnings.simplefilter("error")
                assert np.isnan(grid.epoch(X, Y)) and np.isnan(params[-1][0]).any()
    relu = serial.Network((6, 9, 9, 4), "relu", "cross_entropy")
    params, (X, Y) = relu.init_params(1), batch(relu, 12)
    with GridStep(relu, params, 6, 1e30, 2) as grid, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.isfinite([grid.epoch(X, Y) for _ in range(4)][-1])


# the loop


@pytest.mark.parametrize("T, P", [(1, 1), (2, 1), (1, 2)])
def test_nothing_is_allocated_in_the_loop(T, P):
    net = serial.Network((100, 200, 10), lam=0.01)
    X, Y = batch(net, 640)
    with GridStep(net, net.init_params(1), 64, 0.1, T, P) as grid:
        few, many = np.arange(64), np.arange(640)
        grid.epoch(X, Y, many)
        peaks = []
        for order in (few, many):
            gc.collect()
            tracemalloc.start()
            grid.epoch(X, Y, order)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    # A[1] of one batch has 51,200 bytes, dW[0] 80,000. Nine more steps may cost the order's copy and nine views.
    assert peaks[1] - peaks[0] < 640 * 8 + 9 * 300 + 4000, peaks


def test_blas_is_pinned_inside_and_as_before_outside():
    seen = []
    with GridStep(NET, NET.init_params(1), 4, 0.5, 2) as grid, measure.blas_threads(2):
        X, Y = batch(NET, 4)
        grid.step(X, Y)
        before = measure.blas_library()["threads"]
        spy = ("spy", lambda: seen.append(measure.blas_library()["threads"]), ())
        grid._calls[4][1][1].insert(0, spy)
        grid.step(X, Y)
        assert (
            measure.blas_library()["threads"] == before
            and set(seen) <= {1, None}
            and len(seen) == 1
        )


# faults


@pytest.mark.parametrize("T, P", [(1, 1), (3, 1), (1, 3), (2, 2)])
def test_a_fault_anywhere_reaches_the_caller_and_nothing_hangs(T, P):
    """Every call of every thread fails in turn, while the others go on to their barriers."""
    X, Y = batch(NET, 20)
    before = measure.blas_library()["threads"]
    with GridStep(NET, NET.init_params(1), 6, 0.1, T, P) as grid:
        grid.epoch(X, Y)
        for t in range(T * P):
            calls = grid._calls[6][t][1]
            for i, (what, function, arguments) in enumerate(calls):
                calls[i] = (what, lambda: 1 // 0, ())
                with pytest.raises(ThreadFault) as caught:
                    grid.epoch(X, Y)
                fault = caught.value
                calls[i] = (what, function, arguments)
                assert fault.thread == t and isinstance(fault.__cause__, ZeroDivisionError)
                assert fault.where.startswith(f"shard {t // P}, row") and fault.where.endswith(
                    f"of batch 0, {what}"
                )
        assert np.isfinite(grid.epoch(X, Y)) and measure.blas_library()["threads"] == before


def test_a_fault_in_a_later_batch_is_named():
    X, Y = batch(NET, 20)
    with GridStep(NET, NET.init_params(1), 8, 0.1, 2) as grid:
        grid.epoch(X, Y)
        grid._calls[4][1][1][1] = ("layer 0, forward", lambda: [][0], ())
        with pytest.raises(
            ThreadFault, match=r"shard 1, rows 2 to 3 of batch 2, layer 0, forward \(thread 1\): In"
        ):
            grid.epoch(X, Y)


@needs_signals
@pytest.mark.parametrize("T, P", [(1, 1), (2, 1), (1, 2)])
def test_an_interrupt_ends_the_epoch_between_two_steps(T, P):
    """The parameters are those after some whole number of steps, and training can go on from there."""
    ours, theirs, (X, Y) = NET.init_params(1), NET.init_params(1), batch(NET, 4)
    order, before = np.tile(np.arange(4), 100_000), measure.blas_library()["threads"]
    with GridStep(NET, ours, 4, 1e-3, T, P) as grid:
        grid.step(X, Y)
        with interrupt_after(0.3):
            grid.epoch(X, Y, order)
        stopped = copied(ours)
        time.sleep(0.05)
        assert same_bits(stopped, ours) and measure.blas_library()["threads"] == before
        with GridStep(NET, theirs, 4, 1e-3, T, P) as other:
            for _ in range(100_000):
                other.step(X, Y)
                if same_bits(ours, theirs):
                    break
        assert same_bits(ours, theirs)
        assert grid.step(X, Y) > 0


def test_a_grid_that_is_dropped_ends_its_threads():
    X, Y = batch(NET, 8)
    before = threading.active_count()
    grid = GridStep(NET, NET.init_params(1), 4, 0.1, 2, 2)
    grid.epoch(X, Y)
    assert threading.active_count() == before + 4
    del grid


# bad input


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
@pytest.mark.parametrize("name", ["T", "P", "B"])
def test_refuses_numbers_that_cannot_be(name, bad):
    with pytest.raises(BadInput, match=f"{name} .*must be a whole number"):
        GridStep(NET, NET.init_params(0), **({"B": 6, "eta": 0.1} | {name: bad}))


def test_refuses_what_does_not_fit():
    params, (X, Y) = NET.init_params(0), batch(NET, 12)
    turned = [(np.asfortranarray(W), b) for W, b in params]
    frozen = copied(params)
    frozen[1][1].flags.writeable = False
    for change, words in [
        ({"T": 7}, "from 1 to 6, not 7"),
        ({"P": 10}, "from 1 to 9, not 10"),
        ({"eta": 0}, "eta must be a finite number above 0"),
        ({"eta": np.nan}, "eta must be a finite number above 0"),
        ({"params": NET.init_params(0, np.float64)}, "must have dtype float32, not float64"),
        ({"params": params[:2]}, "params must be a list of 3 pairs"),
        ({"params": turned}, r"params\[0\] \(W\) must be C-contiguous"),
        ({"params": frozen}, r"params\[1\] \(b\) must be C-contiguous and writable"),
    ]:
        arguments = {"net": NET, "params": params, "B": 6, "eta": 0.1} | change
        with pytest.raises(BadInput, match=words):
            GridStep(**arguments)
    with GridStep(NET, params, 6, 0.1, 2) as grid:
        for arguments, words in [
            ((X[:, :5], Y), "X must have shape"),
            ((X, Y[:11]), "Y must have shape"),
            ((X, Y.argmax(1)), "Y must have shape"),
            ((X.astype(np.float64), Y), "X must have dtype float32"),
            ((X, Y.astype(np.float64)), "Y must have dtype float32"),
            ((None, Y), "X must be a NumPy array"),
            (
                (X, Y, np.array([0, 12])),
                "order must hold one or more row numbers of X, from 0 to 11",
            ),
            ((X, Y, np.array([-1, 2])), "order must hold"),
            ((X, Y, np.array([0.0, 1.0])), "order must hold"),
            ((X, Y, np.array([], dtype=int)), "order must hold"),
            ((X, Y, np.ones((2, 2), int)), "order must have shape"),
            ((X, Y, [1, 2]), "order must be a NumPy array"),
            ((X[:0], Y[:0]), "one or more row"),
        ]:
            with pytest.raises(BadInput, match=words):
                grid.epoch(*arguments)
        for rows in (0, 7):
            with pytest.raises(
                BadInput, match="number of rows of X must be a whole number from 1 to 6"
            ):
                grid.step(X[:rows], Y[:rows])
        with pytest.raises(BadInput, match="X must be a NumPy array"):
            grid.step(None, Y)
    with pytest.raises(BadInput, match="closed"):
        grid.step(X[:2], Y[:2])


# kernels


def test_exp_is_accurate_and_passes_nan_on():
    x = np.concatenate([np.linspace(-86, 88, 200_001), np.linspace(-1e-3, 1e-3, 1001)]).astype(
        np.float32
    )
    got = np.array([kernels.exp(v) for v in x[::7]], dtype=np.float64)
    want = np.exp(x[::7].astype(np.float64))
    assert (np.abs(got - want) <= 2 * EPS * want).all()
    assert np.isnan(kernels.exp(np.float32(np.nan)))
    assert kernels.exp(np.float32(-np.inf)) < 1e-37 and kernels.exp(np.float32(np.inf)) > 1e38


@pytest.mark.parametrize("name", serial.ACTIVATIONS)
def test_activations_and_their_derivatives(name):
    rng = np.random.default_rng(0)
    Z, b = (
        5 * rng.standard_normal((3, 40), dtype=np.float32),
        rng.standard_normal(40, dtype=np.float32),
    )
    Z[0, :6] = [200, -200, 3e38, -3e38, 0, -0.0]
    b[:6] = 0
    activate, derive, constant = kernels.ACTIVATIONS[name]
    A, dZ = Z.copy(), np.ones_like(Z)
    activate(A, b, 0, 30, constant)
    derive(dZ, A, 0, 30, constant)
    assert (
        np.array_equal(A[:, 30:], Z[:, 30:]) and (dZ[:, 30:] == 1).all()
    )  # other columns are another thread's
    z = (Z + b)[:, :30].astype(np.float64)
    f, derivative = serial.ACTIVATIONS[name]
    want = f(z)
    np.testing.assert_allclose(A[:, :30], want, rtol=1e-6, atol=3 * EPS)
    np.testing.assert_allclose(dZ[:, :30], derivative(z, want), rtol=1e-5, atol=3 * EPS)


# choose_split


def test_choose_split_takes_one_that_fits():
    net = serial.Network((20, 30, 5))
    assert choose_split(net, 8, 1) == (1, 1)
    assert choose_split(net, 8, 4) in [(1, 4), (2, 2), (4, 1)]
    assert choose_split(net, 1, 3) == (1, 3)
    assert choose_split(serial.Network((9, 2)), 9, 6) in [(3, 2), (6, 1)]


@pytest.mark.parametrize(
    "B, threads", [(4, 0), (4, -1), (4, 1.5), (0, 1), (4, True), (None, 2), (2, 1000), (4, 31)]
)
def test_choose_split_refuses(B, threads):
    with pytest.raises(BadInput, match="whole number"):
        choose_split(serial.Network((20, 30, 5)), B, threads)
