"""[000] algorithms 4 and 5 in plain Python, in Numba and for whole batches: the same gradients at every step."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import Network, per_example

pytestmark = pytest.mark.filterwarnings("error")
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def batch(sizes, B, dtype, seed=0):
    rng = np.random.default_rng(seed)
    params = [
        (W, (b + rng.normal(size=b.shape)).astype(dtype))
        for W, b in serial.init_params(sizes, seed, dtype)
    ]
    Y = np.eye(sizes[-1], dtype=dtype)[np.arange(B) % sizes[-1]]
    return params, rng.normal(size=(B, sizes[0])).astype(dtype), Y


def tolerance(sizes, B, dtype):
    """Sums of at most K terms of order 10, K the widest sum, through 2 n_layers layers: 10 K eps 2 n_layers."""
    return 10 * max(*sizes, B) * np.finfo(dtype).eps * 2 * (len(sizes) - 1)


def largest_difference(g, h):
    return max(
        float(np.max(np.abs(a - b)))
        for u, v in zip(g, h, strict=True)
        for a, b in zip(u, v, strict=True)
    )


@DTYPES
@pytest.mark.parametrize("sizes", [(6, 4), (7, 5, 3), (4, 6, 5, 3)], ids=str)
def test_three_forms_agree_at_every_step_of_a_training_run(sizes, dtype):
    numba_form = pytest.importorskip("course_lib.serial.per_example_numba")
    net = Network(sizes)
    params, X, Y = batch(sizes, 13, dtype)
    start = [W.copy() for W, _ in params]
    for step in range(6):
        rows = slice(4 * (step % 4), 4 * (step % 4) + 4)  # the fourth batch has one example only
        forms = [f(params, X[rows], Y[rows]) for f in (per_example.gradients, numba_form.gradients)]
        whole = serial.gradients(net, params, X[rows], Y[rows])
        for name, form in zip(("plain Python", "Numba"), forms, strict=True):
            assert all(g.dtype == dtype for pair in form for g in pair), name
            diff = largest_difference(form, whole)
            assert diff <= tolerance(sizes, 4, dtype), f"{name}, step {step}: off by {diff:.1e}"
        serial.sgd_step(params, whole, 0.5)
    assert all(np.max(np.abs(W - V)) > 1e-3 for (W, _), V in zip(params, start, strict=True)), (
        "nothing was trained"
    )


def test_one_example_takes_nested_lists_and_gives_kamras_z_a_and_gradient():
    params = [
        ([[0.5, -1.0, 0.25], [2.0, 0.0, 1.0]], [0.1, 0.2, -0.3]),
        ([[1.0], [-2.0], [0.5]], [0.05]),
    ]
    z, a = per_example.forward_example(params, [0.3, -0.7])
    arrays = [(np.array(W), np.array(b)) for W, b in params]
    cache = serial.forward(arrays, np.array([[0.3, -0.7]]))
    for layer in range(2):
        assert np.max(np.abs(np.array(z[layer]) - cache.Z[layer][0])) <= 1e-15
        assert np.max(np.abs(np.array(a[layer + 1]) - cache.A[layer + 1][0])) <= 1e-15
    grads = per_example.backward_example(params, [0.3, -0.7], [1.0])
    whole = serial.backward(arrays, cache, np.array([[1.0]]))
    assert largest_difference([(np.array(dW), np.array(db)) for dW, db in grads], whole) <= 1e-15


@pytest.mark.parametrize("z", [-1e4, -745.2, -40.0, 0.0, 40.0, 1e4])
def test_the_plain_sigmoid_never_overflows(z):
    assert abs(per_example.sigmoid(z) - float(serial.sigmoid(np.array([z]))[0])) <= 1e-15


def test_numba_takes_read_only_and_strided_arrays_without_compiling_again():
    numba_form = pytest.importorskip("course_lib.serial.per_example_numba")
    params, X, Y = batch((7, 5, 3), 8, np.float32)
    want = numba_form.gradients(params, X[::2].copy(), Y[::2].copy())
    compiled = len(numba_form._add_examples.signatures)
    X.flags.writeable = False
    got = numba_form.gradients([(np.asfortranarray(W), b) for W, b in params], X[::2], Y[::2])
    assert (
        largest_difference(got, want) == 0 and len(numba_form._add_examples.signatures) == compiled
    )


def test_numba_sums_over_parts_add_up_to_the_mean():
    numba_form = pytest.importorskip("course_lib.serial.per_example_numba")
    params, X, Y = batch((7, 5, 3), 11, np.float64)
    parts = [
        numba_form.gradient_sums(params, X[rows], Y[rows])
        for rows in (slice(0, 4), slice(4, 11), slice(11, 11))
    ]
    mean = [
        tuple(sum(part[layer][which] for part in parts) / 11 for which in range(2))
        for layer in range(2)
    ]
    assert largest_difference(mean, numba_form.gradients(params, X, Y)) <= tolerance(
        (7, 5, 3), 11, np.float64
    )


def test_numba_lets_other_threads_run():
    numba_form = pytest.importorskip("course_lib.serial.per_example_numba")
    params, X, Y = batch((300, 300, 3), 200, np.float32)
    numba_form.gradients(params, X[:1], Y[:1])  # compile or load
    ticks, done = [], threading.Event()

    def clock():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    other = threading.Thread(target=clock)
    other.start()
    try:
        give_up, between = time.perf_counter() + 60, 0
        while between < 3 and time.perf_counter() < give_up:  # a busy machine may need a few calls
            begin = time.perf_counter()
            numba_form.gradients(params, np.repeat(X, 10, axis=0), np.repeat(Y, 10, axis=0))
            end = time.perf_counter()
            between = sum(begin < tick < end for tick in ticks)
    finally:
        done.set()
        other.join()
    assert between >= 3, "no other thread ran while Numba computed"


@pytest.mark.parametrize("form", ["per_example", "per_example_numba"])
@pytest.mark.parametrize(
    "change, says",
    [
        (lambda p, X, Y: (p, X[:, :3], Y), r"X must have shape \(B, 4\)"),
        (lambda p, X, Y: (p, X.astype(np.float64), Y), "X must have dtype float32"),
        (lambda p, X, Y: (p, X, Y[:2]), r"Y must have shape \(5, 2\)"),
        (lambda p, X, Y: (p, X, Y.astype(int)), "Y must have dtype float32"),
        (lambda p, X, Y: (p, X[:0], Y[:0]), "X has no rows"),
        (lambda p, X, Y: (None, X, Y), "make them with init_params"),
    ],
)
def test_input_that_does_not_fit_gets_one_clear_error(form, change, says):
    module = pytest.importorskip(f"course_lib.serial.{form}")
    params, X, Y = batch((4, 3, 2), 5, np.float32)
    with pytest.raises(BadInput, match=says):
        module.gradients(*change(params, X, Y))


def test_numba_works_where_no_cache_can_be_written():
    """The code Numba would cache beside the module, or in the user's folder: here neither may be written."""
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from course_lib.serial import per_example_numba as form\n"
        "import numpy as np\n"
        "print(round(float(form._sigmoid(0.0)), 3))\n"
    )
    pytest.importorskip("numba")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert done.stdout.strip() == "0.5", done.stderr
