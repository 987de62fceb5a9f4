"""Algorithm 3 in threads equals serial, at every step of a training run, bit for bit where that is promised."""

import threading

import numpy as np
import pytest
from thread_tools import (
    ALL_IDS,
    ALL_NETS,
    arrays,
    assert_close,
    batch,
    copied,
    no_thread_left,
    same_bits,
)

from course_lib import measure, serial
from course_lib.data import Dataset
from course_lib.errors import BadInput
from course_lib.threads import (
    DataParallel,
    Pool,
    ThreadFault,
    data_parallel,
    data_parallel_gradients,
    shards,
)

NET = serial.Network((5, 7, 3))
EPS = {dtype: float(np.finfo(dtype).eps) for dtype in (np.float32, np.float64)}


@pytest.fixture(autouse=True)
def nothing_left():
    with no_thread_left():
        yield


def tolerance(B, dtype, steps=1):
    """B + 10 additions in the longest sum, values near 1; another order of them moves each entry by so much at most."""
    return (B + 10) * EPS[dtype] * steps


@pytest.mark.parametrize("net", ALL_NETS, ids=ALL_IDS)
@pytest.mark.parametrize("dtype", EPS)
def test_equal_to_serial_at_every_step_of_a_training_run(net, dtype):
    ours, theirs = net.init_params(1, dtype), net.init_params(1, dtype)
    X, Y = batch(net, 41, dtype)
    with DataParallel(net, ours, 12, 3) as gradients:
        for step in range(12):
            rows = slice(step % 4 * 12, step % 4 * 12 + 12)  # 12, 12, 12, 5 rows
            grads = gradients(net, ours, X[rows], Y[rows])
            assert_close(
                grads,
                serial.gradients(net, theirs, X[rows], Y[rows]),
                tolerance(12, dtype, step + 1),
            )
            serial.sgd_step(ours, grads, 0.5)
            serial.sgd_step(theirs, serial.gradients(net, theirs, X[rows], Y[rows]), 0.5)
            assert_close(ours, theirs, tolerance(12, dtype, step + 1))


@pytest.mark.parametrize("T", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("B", [1, 2, 7, 13, 64])
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_equal_to_serial_for_any_batch_and_number_of_threads(B, T, lam):
    net = serial.Network((6, 4, 3, 2), "tanh", "cross_entropy", lam)
    params, (X, Y) = net.init_params(2, np.float64), batch(net, B, np.float64)
    want = serial.gradients(net, params, X, Y)
    if T > B:
        with pytest.raises(BadInput, match=f"from 1 to {B}, not {T}"):
            data_parallel_gradients(net, params, X, Y, T)
    else:
        assert_close(data_parallel_gradients(net, params, X, Y, T), want, tolerance(B, np.float64))
    with DataParallel(
        net, params, 64, T
    ) as gradients:  # a batch of fewer rows than T takes fewer threads
        assert_close(gradients(net, params, X, Y), want, tolerance(B, np.float64))


@pytest.mark.parametrize("T", [1, 3, 4])
def test_same_bits_with_a_pool_without_and_again(T):
    net = serial.Network((50, 40, 10), lam=0.1)
    params, (X, Y) = net.init_params(3), batch(net, 37)
    first = data_parallel_gradients(net, params, X, Y, T)
    with Pool(T + 1) as pool, DataParallel(net, params, 37, T) as gradients:
        for _ in range(3):
            assert same_bits(first, data_parallel_gradients(net, params, X, Y, T))
            assert same_bits(first, data_parallel_gradients(net, params, X, Y, T, pool=pool))
            assert same_bits(first, gradients(net, params, X, Y))


def test_the_partial_sums_are_added_in_the_order_of_the_shards():
    """float32 addition is not associative: the bits tell the order."""
    params, (X, Y) = NET.init_params(3), batch(NET, 23)
    with measure.blas_threads(1):
        partials = []
        for rows in shards(23, 5):
            partials.append([(np.empty_like(W), np.empty_like(b)) for W, b in params])
            data_parallel._numpy(NET, params, X[rows], Y[rows], partials[-1])
    want = [
        sum(group[1:], start=group[0]) / 23 for group in zip(*map(arrays, partials), strict=True)
    ]
    got = arrays(data_parallel_gradients(NET, params, X, Y, 5))
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))


@pytest.mark.parametrize("body", ["python", "numba"])
@pytest.mark.parametrize("dtype", EPS)
def test_the_three_bodies_agree(body, dtype):
    net = serial.Network((5, 7, 3), lam=0.2)
    params, (X, Y) = net.init_params(4, dtype), batch(net, 11, dtype)
    want = serial.gradients(net, params, X, Y)
    with DataParallel(net, params, 11, 3, body) as gradients:
        for rows in (
            slice(0, 11),
            slice(0, 2),
            slice(0, 11),
        ):  # the third must not see the second's sums
            want = serial.gradients(net, params, X[rows], Y[rows])
            assert_close(gradients(net, params, X[rows], Y[rows]), want, tolerance(11, dtype))
    got = data_parallel_gradients(net, params, X, Y, 4, body)
    assert_close(got, want, tolerance(11, dtype)) and got[0][0].dtype == dtype


def test_inputs_stay_as_they_are_and_strided_ones_are_taken():
    net = serial.Network((5, 7, 3), lam=0.2)
    params, (X, Y) = net.init_params(4), batch(net, 12)
    turned = [(np.asfortranarray(W), b) for W, b in params]
    before = [copied(params), X.copy(), Y.copy()]
    for body in ("numpy", "python", "numba"):
        want = data_parallel_gradients(net, params, X[::2].copy(), Y[::2].copy(), 2, body)
        assert_close(
            data_parallel_gradients(net, turned, X[::2], Y[::2], 2, body),
            want,
            tolerance(6, np.float32),
        )
    assert (
        same_bits(before[0], params)
        and np.array_equal(before[1], X)
        and np.array_equal(before[2], Y)
    )


def test_the_result_lies_in_the_buffer_of_partial_sums():
    params, (X, Y) = NET.init_params(4), batch(NET, 6)
    with DataParallel(NET, params, 6, 2) as gradients:
        first, again = (gradients(NET, params, X, Y) for _ in range(2))
        assert all(
            np.shares_memory(a, b) for a, b in zip(arrays(first), arrays(again), strict=True)
        )


def test_train_with_threads_is_train():
    X, Y = batch(NET, 47)
    data = Dataset(
        X,
        Y.argmax(1),
        X[:9],
        Y[:9].argmax(1),
        X[:5],
        Y[:5].argmax(1),
        ("a", "b", "c"),
        "toy",
        "made up",
    )
    ours, theirs = NET.init_params(5), NET.init_params(5)
    with DataParallel(NET, ours, 10, 3) as gradients:
        plug = serial.without_loss(gradients)
        threaded = serial.train(NET, ours, data, 4, 10, 0.5, gradients=plug, progress=False)
    plain = serial.train(NET, theirs, data, 4, 10, 0.5, progress=False)
    assert_close(ours, theirs, tolerance(10, np.float32, 20))
    np.testing.assert_allclose(threaded.loss, plain.loss, rtol=1e-5)


def test_blas_is_pinned_inside_and_as_before_outside(monkeypatch):
    params, (X, Y) = NET.init_params(4), batch(NET, 6)
    seen, forward = [], data_parallel.forward

    def spy(*args):
        seen.append((threading.current_thread(), measure.blas_library()["threads"]))
        return forward(*args)

    monkeypatch.setattr(data_parallel, "forward", spy)
    with measure.blas_threads(2):
        before = measure.blas_library()["threads"]
        data_parallel_gradients(NET, params, X, Y, 3)
        assert measure.blas_library()["threads"] == before
    assert len({thread for thread, _ in seen}) == 3 and {n for _, n in seen} <= {1, None}


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_fault_in_a_shard_names_it_and_nothing_hangs(monkeypatch, bad):
    params, (X, Y) = NET.init_params(4), batch(NET, 11)  # shards: rows 0 to 3, 4 to 7, 8 to 10
    forward = data_parallel.forward

    def broken(params, X, net):
        if np.shares_memory(X, batch_X[shards(11, 3)[bad]]):
            raise MemoryError("no memory")
        return forward(params, X, net)

    batch_X, before = X, measure.blas_library()["threads"]
    monkeypatch.setattr(data_parallel, "forward", broken)
    with DataParallel(NET, params, 11, 3) as gradients:
        for call in (gradients, lambda *args: data_parallel_gradients(*args, 3)):
            with pytest.raises(ThreadFault) as caught:
                call(NET, params, X, Y)
            rows = shards(11, 3)[bad]
            assert caught.value.where == f"shard {bad}, rows {rows.start} to {rows.stop - 1}"
            assert caught.value.thread == bad and isinstance(caught.value.__cause__, MemoryError)
            assert measure.blas_library()["threads"] == before
        monkeypatch.setattr(data_parallel, "forward", forward)
        assert_close(
            gradients(NET, params, X, Y),
            serial.gradients(NET, params, X, Y),
            tolerance(11, np.float32),
        )


@pytest.mark.parametrize("T", [0, -1, 1.5, True, None, 7])
def test_refuses_threads(T):
    params, (X, Y) = NET.init_params(4), batch(NET, 6)
    for call in (
        lambda: data_parallel_gradients(NET, params, X, Y, T),
        lambda: DataParallel(NET, params, 6, T),
    ):
        with pytest.raises(BadInput, match="whole number from 1 to 6"):
            call()


@pytest.mark.parametrize("B", [0, -1, 1.5, True, None])
def test_refuses_batches(B):
    with pytest.raises(BadInput, match="B must be a whole number"):
        DataParallel(NET, NET.init_params(0), B, 1)


def test_refuses_what_does_not_fit():
    params, (X, Y) = NET.init_params(4), batch(NET, 6)
    relu = serial.Network((5, 7, 3), "relu")
    for change, words in [
        ({"X": X[:, :4]}, "X must have shape"),
        ({"Y": Y[:5]}, "Y must have shape"),
        ({"Y": Y.argmax(1)}, "Y must have shape"),
        ({"X": X.astype(np.float64)}, "X must have dtype float32"),
        ({"X": X.tolist()}, "X must be a NumPy array"),
        ({"X": None}, "X must be a NumPy array"),
        ({"params": params[:1]}, "params must be a list of 2 pairs"),
        ({"net": (5, 7, 3)}, "net must be a Network"),
        ({"body": "c"}, "body must be one of numpy, python, numba"),
        ({"net": relu, "body": "numba"}, "sigmoid and mse"),
    ]:
        arguments = {"net": NET, "params": params, "X": X, "Y": Y, "T": 2} | change
        with pytest.raises(BadInput, match=words):
            data_parallel_gradients(**arguments)
    with Pool(1) as pool, pytest.raises(BadInput, match="number of calls"):
        data_parallel_gradients(NET, params, X, Y, 2, pool=pool)
    with DataParallel(NET, params, 6, 2) as gradients:
        with pytest.raises(
            BadInput, match="number of rows of X must be a whole number from 1 to 6, not 7"
        ):
            gradients(NET, params, *batch(NET, 7))
        with pytest.raises(BadInput, match="was made for"):
            gradients(relu, params, X, Y)
        with pytest.raises(BadInput, match=r"\(W\) must have dtype float32"):
            gradients(NET, NET.init_params(0, np.float64), X, Y)
    with pytest.raises(BadInput, match="closed"):
        gradients(NET, params, X, Y)
