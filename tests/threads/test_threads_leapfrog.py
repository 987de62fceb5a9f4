"""leapfrog_backward and deferred_backward: bit for bit serial.backward, literally their schedules, clean in faults."""

import gc
import signal
import threading

import numpy as np
import pytest

from course_lib import measure, serial
from course_lib.errors import BadInput
from course_lib.serial import Network, forward
from course_lib.threads import (
    Pool,
    ThreadFault,
    Timeline,
    deferred_backward,
    deferred_schedule,
    leapfrog_backward,
)
from course_lib.threads import leapfrog_schedule as schedule_of

# BLAS has been seen to raise the flag "invalid" over a product of finite numbers (once in some hundred runs): the
# results are compared in any case, and NaN fails there.
SPURIOUS = "ignore:invalid value encountered in matmul:RuntimeWarning"
pytestmark = [
    pytest.mark.filterwarnings("error", SPURIOUS),
    pytest.mark.timeout(900, method="thread"),
]
BOTH = pytest.mark.parametrize("backward", [leapfrog_backward, deferred_backward])
ACTIVATIONS = ("sigmoid", "tanh", "relu", "identity")


@pytest.fixture(autouse=True)
def nothing_left():
    """Every test leaves the threads and the BLAS threads that it found."""
    before, blas = set(threading.enumerate()), measure.blas_library()["threads"]
    yield
    assert set(threading.enumerate()) <= before
    assert measure.blas_library()["threads"] == blas


def case(L, B, activation="sigmoid", loss="mse", lam=0.0, dtype=np.float32, seed=0):
    """A net of L layers of unequal widths, its params with non-zero b, the cache of a batch, and Y."""
    rng = np.random.default_rng([L, B, seed])
    sizes = tuple(int(n) for n in rng.integers(2, 40, L + 1))
    net = Network(sizes, activation, loss, lam)
    params = [(W, rng.normal(size=b.shape).astype(dtype)) for W, b in net.init_params(seed, dtype)]
    X = rng.normal(size=(B, sizes[0])).astype(dtype)
    Y = np.eye(sizes[-1], dtype=dtype)[rng.integers(0, sizes[-1], B)]
    return net, params, X, Y


def reference(params, cache, Y):
    with measure.blas_threads(1):
        return serial.backward(params, cache, Y)


def assert_same(got, want, what=""):
    """Equal bit for bit; NaN would fail."""
    assert isinstance(got, list) and len(got) == len(want)
    for layer, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        for name, a, b in zip(("dW", "db"), mine, theirs, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), (
                what,
                layer,
                name,
            )


# ------------------------------------------------------------------ equal to serial


@BOTH
def test_bit_for_bit_for_any_depth_threads_and_batch(backward):
    for L in (1, 2, 3, 4, 5, 7, 8, 12, 13):
        for B in (1, 2, 17, 64):
            _, params, X, Y = case(L, B, lam=0.1)
            cache = serial.forward(params, X)
            want = reference(params, cache, Y)
            for k in {1, 2, 3, 4, L // 2, L - 1, L} & set(range(1, L + 1)):
                assert_same(backward(params, cache, Y, k), want, (L, B, k))


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_bit_for_bit_for_every_net(backward, activation, loss, dtype):
    for lam in (0.0, 0.25):
        net, params, X, Y = case(6, 23, activation, loss, lam, dtype, seed=3)
        cache = forward(params, X, net)
        for k in (2, 4):
            assert_same(backward(params, cache, Y, k), reference(params, cache, Y), (lam, k))


@BOTH
def test_bit_for_bit_where_blas_would_use_all_its_threads(backward):
    net = Network((300, 400, 500, 300, 10), "tanh", "cross_entropy", 0.01)
    params = net.init_params(5)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(257, 300)).astype(np.float32)
    Y = np.eye(10, dtype=np.float32)[rng.integers(0, 10, 257)]
    cache = forward(params, X, net)
    for _ in range(3):
        assert_same(backward(params, cache, Y, 2), reference(params, cache, Y))


@BOTH
def test_equal_at_every_step_of_a_training_run(backward):
    net, mine, _, _ = case(5, 1, "tanh", "cross_entropy", 0.05, seed=8)
    theirs = [(W.copy(), b.copy()) for W, b in mine]
    start = [W.copy() for W, _ in mine]
    rng = np.random.default_rng(8)
    for step in range(30):
        B = (16, 1, 5)[step % 3]
        X = rng.normal(size=(B, net.sizes[0])).astype(np.float32)
        Y = np.eye(net.sizes[-1], dtype=np.float32)[rng.integers(0, net.sizes[-1], B)]
        with measure.blas_threads(1):
            serial.sgd_step(theirs, serial.gradients(net, theirs, X, Y), 0.1)
            serial.sgd_step(mine, backward(mine, forward(mine, X, net), Y, 1 + step % 5), 0.1)
        assert_same(mine, theirs, step)
    assert all(not np.array_equal(W, before) for (W, _), before in zip(mine, start, strict=True)), (
        "nothing was learnt"
    )


@BOTH
def test_as_gradients_of_train(backward):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(70, 8)).astype(np.float32)
    y = rng.integers(0, 3, 70)
    from course_lib.data import Dataset

    dataset = Dataset(
        x[:50], y[:50], x[50:60], y[50:60], x[60:], y[60:], ("a", "b", "c"), "random", ""
    )
    net = Network((8, 9, 7, 3), "relu", "cross_entropy")
    runs, threads = {}, lambda net, params, X, Y: backward(params, forward(params, X, net), Y, 3)
    for name, gradients in {"serial": None, "threads": serial.without_loss(threads)}.items():
        runs[name] = net.init_params(4)
        with measure.blas_threads(1):
            serial.train(net, runs[name], dataset, 3, 16, 0.1, gradients=gradients, progress=False)
    assert_same(runs["threads"], runs["serial"])


@BOTH
def test_inputs_stay_as_they_were_and_results_are_fresh(backward):
    net, params, X, Y = case(4, 9, lam=0.5)
    cache = forward(params, X, net)
    held = [a.copy() for a in [*cache.A, *cache.Z, Y, *(p for pair in params for p in pair)]]
    one, two = backward(params, cache, Y, 2), backward(params, cache, Y, 2)
    now = [*cache.A, *cache.Z, Y, *(p for pair in params for p in pair)]
    assert all(np.array_equal(a, b) for a, b in zip(held, now, strict=True))
    arrays = [a for pair in one for a in pair]
    assert not any(
        np.shares_memory(a, b) for a in arrays for b in [*now, *(c for pair in two for c in pair)]
    )


# ------------------------------------------------------------------ who did what


def test_leapfrogging_does_its_schedule_literally():
    for L, k in ((1, 1), (5, 1), (5, 2), (9, 3), (7, 7), (12, 4)):
        net, params, X, Y = case(L, 4)
        line = Timeline()
        leapfrog_backward(params, forward(params, X, net), Y, k, line)
        for thread in range(k):
            assert [span[:3] for span in line if span.thread == thread] == schedule_of(L, k).of(
                thread
            ), (L, k)
        fork = max(span.end for span in line[: 2 * k])
        assert all(span.start >= fork for span in line[2 * k :]), (
            "the parent's tasks come before the fork"
        )


def test_leapfrogging_keeps_its_delta_chains_apart(monkeypatch):
    """A delta that one thread has computed wrongly is not used by another."""
    from course_lib.threads.equations import Equations

    right = Equations.do

    def spoilt(self, task, dZ=None):
        dZ = right(self, task, dZ)
        return (
            dZ + 1 if task == (1, "delta", 4) else dZ
        )  # layer 4 is walked by threads 0 and 1 of L = 8, k = 2

    net, params, X, Y = case(8, 4, "identity", lam=0.0)
    cache = forward(params, X, net)
    want = reference(params, cache, Y)
    monkeypatch.setattr(Equations, "do", spoilt)
    got = leapfrog_backward(params, cache, Y, 2)
    wrong = {layer for layer in range(8) if not np.array_equal(got[layer][0], want[layer][0])}
    assert wrong == {
        task.layer for task in schedule_of(8, 2).of(1) if task.kind == "grad" and task.layer <= 4
    }


def test_deferred_walks_once_and_each_gradient_waits_for_its_delta():
    for L, k in ((1, 1), (5, 1), (5, 2), (12, 4), (7, 7)):
        net, params, X, Y = case(L, 4)
        line = Timeline()
        deferred_backward(params, forward(params, X, net), Y, k, line)
        deltas = [span for span in line if span.kind == "delta"]
        assert [(span.thread, span.layer) for span in deltas] == [
            (0, layer) for layer in reversed(range(L))
        ]
        known = {span.layer: span.end for span in deltas}
        grads = [span for span in line if span.kind == "grad"]
        assert sorted(span.layer for span in grads) == list(range(L))
        assert all(span.start >= known[span.layer] for span in grads)
        assert all(span.start >= known[0] for span in grads if span.thread == 0), (
            "thread 0 helps only at the end"
        )
        assert len(line) == len(deferred_schedule(L, k))


@BOTH
def test_spans_of_a_thread_do_not_overlap_and_a_timeline_may_go_on(backward):
    net, params, X, Y = case(9, 8)
    cache, line = forward(params, X, net), Timeline()
    backward(params, cache, Y, 3, line)
    once = len(line)
    backward(params, cache, Y, 3, line)
    assert len(line) == 2 * once and min(span.start for span in line) >= 0
    for thread in range(3):
        mine = sorted((span.start, span.end) for span in line if span.thread == thread)
        assert all(a[0] <= a[1] <= b[0] for a, b in zip(mine, mine[1:], strict=False))


# ------------------------------------------------------------------ bad input


@BOTH
@pytest.mark.parametrize("k", [0, -1, 4, 1.5, 2.0, True, None, "2"])
def test_impossible_k_gets_one_clear_error(backward, k):
    net, params, X, Y = case(3, 4)
    with pytest.raises(BadInput, match=r"k \(threads.*\) must be a whole number from 1 to 3, not "):
        backward(params, forward(params, X, net), Y, k)


@BOTH
def test_labels_and_params_that_do_not_fit_get_serials_errors(backward):
    net, params, X, Y = case(3, 4)
    cache = forward(params, X, net)
    for arguments in [
        (params[:2], cache, Y),
        (params, cache, Y[:2]),
        (params, cache, Y.astype(np.float64)),
    ]:
        with pytest.raises(BadInput) as serials:
            serial.backward(*arguments)
        with pytest.raises(BadInput) as ours:
            backward(*arguments, 2)
        assert str(ours.value) == str(serials.value)


# ------------------------------------------------------------------ faults


class Broken:
    """Stands where an array was; whatever is asked of it fails."""

    __array_priority__ = 1000

    def __init__(self, error):
        self.error = error

    def fail(self, *_):
        raise self.error

    T = property(fail)
    __gt__ = fail


@BOTH
@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["delta", "grad"])
def test_an_error_in_any_task_reaches_the_caller_with_its_layer(backward, kind, k):
    for layer in range(6 if kind == "grad" else 5):
        net, params, X, Y = case(
            6, 4, "relu"
        )  # relu's derivative looks at Z alone, so that A is used by dW alone
        cache = forward(params, X, net)
        want = reference(params, cache, Y)
        place, error = (cache.Z if kind == "delta" else cache.A), ValueError("no such luck")
        held, place[layer] = place[layer], Broken(error)
        with pytest.raises(
            ThreadFault, match=rf"layer {layer}, {kind} .*ValueError: no such luck"
        ) as fault:
            backward(params, cache, Y, k)
        assert fault.value.where == f"layer {layer}, {kind}" and fault.value.__cause__ is error
        assert 0 <= fault.value.thread < k
        place[layer] = held
        assert_same(backward(params, cache, Y, k), want, "usable again after a fault")


@BOTH
def test_the_loss_may_fail_too(backward, monkeypatch):
    from course_lib.serial.losses import LOSSES

    net, params, X, Y = case(4, 4)
    cache = forward(params, X, net)

    def fail(*_):
        raise MemoryError("out of it")

    monkeypatch.setitem(LOSSES, "mse", LOSSES["mse"]._replace(dZ=fail))
    with pytest.raises(ThreadFault, match=r"layer 3, delta .*MemoryError"):
        backward(params, cache, Y, 3)


def test_all_helpers_dead_the_chain_still_ends():
    net, params, X, Y = case(8, 4, "relu")
    cache = forward(params, X, net)
    for layer in range(4, 8):
        cache.A[layer] = Broken(ValueError(f"layer {layer}"))
    with pytest.raises(ThreadFault, match=r"layer [4-7], grad"):
        deferred_backward(params, cache, Y, 3)


@BOTH
def test_numpys_warnings_arrive_and_are_silent_where_the_caller_silenced_them(backward):
    """serial.train runs inside np.errstate, so that a diverging run ends with its own words."""
    net, params, X, Y = case(6, 4, "identity")
    cache = forward(params, X, net)
    params[3][0][:], params[4][0][:] = np.float32(3e38), np.float32(1e10)
    with pytest.raises(ThreadFault, match=r"layer 2, delta .*(overflow|invalid)") as fault:
        backward(params, cache, Y, 2)
    assert isinstance(fault.value.__cause__, RuntimeWarning)
    with np.errstate(over="ignore", invalid="ignore"):
        got, want = backward(params, cache, Y, 2), reference(params, cache, Y)
    pairs = [
        pair
        for mine, theirs in zip(got, want, strict=True)
        for pair in zip(mine, theirs, strict=True)
    ]
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)
    assert not all(np.isfinite(dW).all() for dW, _ in got)


@BOTH
@pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="needs pthread_kill to press Ctrl-C"
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_ctrl_c_in_the_caller_ends_cleanly(backward, k):
    net, params, X, Y = case(6, 4, "relu")
    cache = forward(params, X, net)
    want = reference(params, cache, Y)

    class PressesCtrlC:
        """A[0], whose transpose is asked for by the last gradient, in a thread; the caller waits by then."""

        def __init__(self, array):
            self.array = array

        @property
        def T(self):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            return self.array.T

    held, cache.A[0] = cache.A[0], PressesCtrlC(cache.A[0])
    with pytest.raises(KeyboardInterrupt):
        backward(params, cache, Y, k)
        for _ in range(1000):  # k = L: the parent itself presses it
            pass
    cache.A[0] = held
    assert_same(backward(params, cache, Y, k), want)


@BOTH
def test_nothing_holds_on_to_the_batch(backward):
    import weakref

    net, params, X, Y = case(6, 4)
    cache = forward(params, X, net)
    A = weakref.ref(cache.A[2])
    grads = backward(params, cache, Y, 3)
    del cache
    gc.collect()
    assert A() is None and len(grads) == 6


@BOTH
def test_many_calls_leave_no_thread(backward):
    net, params, X, Y = case(5, 2)
    cache = forward(params, X, net)
    before = threading.active_count()
    for n in range(200):
        backward(params, cache, Y, 1 + n % 5)
    assert threading.active_count() == before


@BOTH
def test_two_callers_at_once(backward):
    net, params, X, Y = case(7, 6, lam=0.1)
    cache = forward(params, X, net)
    want = reference(params, cache, Y)
    found = []
    with measure.blas_threads(1):
        callers = [
            threading.Thread(target=lambda: found.append(backward(params, cache, Y, 3)))
            for _ in range(4)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert len(found) == 4
    for grads in found:
        assert_same(grads, want)


@BOTH
def test_a_kept_pool_gives_the_same_gradients(backward):
    net, params, X, Y = case(5, 7)
    cache = forward(params, X, net)
    with Pool(3) as pool:
        for _ in range(2):
            assert_same(backward(params, cache, Y, 3, pool=pool), reference(params, cache, Y))
        assert_same(backward(params, cache, Y, 2, pool=pool), reference(params, cache, Y))
        with pytest.raises(BadInput):
            backward(params, cache, Y, 4, pool=pool)


@BOTH
def test_with_a_pool_no_thread_is_forked(backward, monkeypatch):
    net, params, X, Y = case(4, 3)
    cache = forward(params, X, net)
    with Pool(2) as pool:
        monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("a new thread"))
        backward(params, cache, Y, 2, pool=pool)
