"""course_lib.measure: the arithmetic on a fake clock, counts against an instrumented step, probes that fail."""

import gc
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from course_lib import measure
from course_lib.errors import BadInput
from course_lib.measure import rates, timing
from course_lib.measure import this_machine as machine_module


class FakeClock:
    """A clock that a function under test moves on by itself: nothing else takes time."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(timing, "_clock", lambda: self.now)

    def lasting(self, durations):
        """A function whose i-th call lasts durations[i] seconds (the last one from then on)."""
        left = list(durations)

        def fn():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return fn


@pytest.fixture
def clock(monkeypatch):
    return FakeClock(monkeypatch)


def test_median_and_quartiles_of_known_times(clock):
    t = measure.time_it(
        clock.lasting([100.0, 4, 1, 3, 2, 5]), repeats=5
    )  # the warm-up takes the 100 s
    assert t.seconds == [4, 1, 3, 2, 5]
    assert (t.median, t.q25, t.q75, t.best, t.n, t.calls) == (3, 2, 4, 1, 5, 1)


def test_an_even_number_of_runs_interpolates(clock):
    t = measure.time_it(clock.lasting([1, 2, 3, 10]), repeats=4, warmup=0)
    assert (t.median, t.q25, t.q75) == (2.5, 1.75, 4.75)


def test_min_seconds_repeats_calls_within_a_run(clock):
    t = measure.time_it(clock.lasting([0.25]), repeats=3, warmup=0, min_seconds=1.0)
    assert t.calls == 4 and t.seconds == [0.25] * 3


def test_text_of_a_timing():
    assert str(measure.Timing([0.0119, 0.0123, 0.0129])) == "12.3 ms (12.1 to 12.6, 3 runs)"
    assert str(measure.Timing([2.5])) == "2.50 s (2.50 to 2.50, 1 run)"
    assert str(measure.Timing([250e-9, 250e-9])) == "250 ns (250 to 250, 2 runs)"
    assert measure.format_seconds(0.99996) == "1.00 s"
    assert measure.format_seconds(0.0) == "0.00 ns"


def test_a_real_sleep_is_timed_right():
    t = measure.time_it(time.sleep, 0.02, repeats=3, warmup=0)
    assert (
        0.02 <= t.best <= t.median < 0.2
    )  # the upper bound is loose: a busy machine wakes us late


def test_arguments_reach_the_function_and_the_machine_is_named():
    seen = []
    t = measure.time_it(lambda *a, **k: seen.append((a, k)), 1, 2, repeats=2, warmup=1, key=3)
    assert seen == [((1, 2), {"key": 3})] * 3
    assert t.machine.numpy == np.__version__


@pytest.mark.parametrize("was_on", [True, False])
def test_collector_is_off_inside_and_as_before_afterwards(was_on):
    states = []
    (gc.enable if was_on else gc.disable)()
    try:
        measure.time_it(lambda: states.append(gc.isenabled()), repeats=2, warmup=0)
        with pytest.raises(ZeroDivisionError):
            measure.time_it(lambda: 1 / 0, warmup=0)
        assert states == [False, False] and gc.isenabled() is was_on
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"fn": 3}, "nothing to call"),
        ({"fn": len, "repeats": 0}, "repeats"),
        ({"fn": len, "repeats": 2.5}, "repeats"),
        ({"fn": len, "warmup": -1}, "warmup"),
        ({"fn": len, "min_seconds": float("nan")}, "min_seconds"),
    ],
)
def test_bad_timing_input(kwargs, words):
    with pytest.raises(BadInput, match=words):
        measure.time_it(**kwargs)


@pytest.mark.parametrize("seconds", [[], [float("nan")], [-1.0], [float("inf")]])
def test_a_timing_of_no_time_is_refused(seconds):
    with pytest.raises(BadInput):
        measure.Timing(seconds)


def test_compare_interleaves_and_rotates():
    order = []
    result = measure.compare({n: lambda n=n: order.append(n) for n in "abc"}, repeats=3, warmup=0)
    assert "".join(order) == "abc" + "bca" + "cab"
    assert result.baseline == "a" and result["b"].n == 3


def test_ratios_pair_the_runs_of_a_round(clock):
    slow, fast = clock.lasting([2, 4, 8]), clock.lasting([1, 2, 1])
    result = measure.compare({"slow": slow, "fast": fast}, repeats=3, warmup=0)
    assert result.ratios("fast").tolist() == [2, 2, 8]
    assert result.ratio("fast") == 2 and result.ratio("slow") == 1 and result.fastest == "fast"
    assert result.rows()[1][:2] == ("fast", 1.0)
    text = str(result)
    assert "4.00 s" in text and "times as fast as slow" in text and str(result.machine) in text


@pytest.mark.parametrize("variants", [{}, None, [len], {"a": 1}])
def test_compare_refuses(variants):
    with pytest.raises(BadInput):
        measure.compare(variants)


# ------------------------------------------------------------------ counts, against an instrumented step


class Counted(np.ndarray):
    """An array that counts what NumPy does with it: flops of products apart from those of elementwise work."""

    products = 0
    elementwise = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(i) if isinstance(i, Counted) else i for i in inputs]
        if kwargs.get("out"):
            kwargs["out"] = tuple(np.asarray(o) for o in kwargs["out"])
        result = np.asarray(getattr(ufunc, method)(*plain, **kwargs))
        if ufunc is np.matmul:
            Counted.products += 2 * plain[0].shape[0] * plain[0].shape[1] * plain[1].shape[1]
        elif method == "reduce":
            Counted.elementwise += plain[0].size - result.size
        else:
            Counted.elementwise += result.size
        return result.view(Counted)


def instrumented_step(sizes, B):
    """One step, sigmoid and squared error, written as the docstring of step_flops has it; returns both counts."""
    rng = np.random.default_rng(0)
    params = [
        [rng.standard_normal((i, o)).view(Counted), np.zeros(o).view(Counted)]
        for i, o in zip(sizes, sizes[1:], strict=False)
    ]
    A = [rng.random((B, sizes[0])).view(Counted)]
    Y = rng.random((B, sizes[-1])).view(Counted)
    Counted.products = Counted.elementwise = 0
    for W, b in params:
        Z = A[-1] @ W + b
        A.append(1 / (1 + np.exp(-Z)))
    dZ = 2 / B * (A[-1] - Y) * A[-1] * (1 - A[-1])
    grads = []
    for i in reversed(range(len(params))):
        grads.append((A[i].T @ dZ, dZ.sum(axis=0)))
        if i:
            dZ = (dZ @ params[i][0].T) * A[i] * (1 - A[i])
    before_update = Counted.elementwise
    for pair, (dW, db) in zip(params, reversed(grads), strict=True):
        pair[0] -= 0.1 * dW
        pair[1] -= 0.1 * db
    return Counted.products, before_update, Counted.elementwise - before_update


@pytest.mark.parametrize(
    ("sizes", "B"), [((5, 3), 1), ((7, 4, 3), 1), ((11, 6, 5, 2), 13), ((784, 1024, 10), 3)]
)
def test_flops_equal_an_instrumented_step(sizes, B):
    count = measure.step_flops(sizes, B)
    assert (count.products, sum(count.elementwise), sum(count.update)) == instrumented_step(
        sizes, B
    )
    assert count.total == sum(instrumented_step(sizes, B))


def test_flops_of_net_1h_by_hand():
    one = measure.step_flops((784, 1024, 10), 1)
    assert one.forward == (2 * 784 * 1024, 2 * 1024 * 10) == one.dW
    assert one.dA == (0, 2 * 1024 * 10)
    assert one.products == 3_272_704
    assert measure.step_flops((784, 1024, 10), 128).products == 128 * 3_272_704


def test_bytes_of_a_small_net_by_hand():
    """(3, 2), B = 4, float64, counted array by array: X 12, W 6, b 2, Z A Y dZ 8 each."""
    count = measure.step_bytes((3, 2), 4, itemsize=8)
    assert count.forward == (8 * (12 + 6 + 8),) == count.dW
    assert count.dA == (0,)
    bias, activation, delta, db = 8 + 2 + 8, 8 + 8, 8 + 8 + 8, 8 + 2
    assert count.elementwise == (8 * (bias + activation + delta + db),)
    assert count.update == (8 * (3 * 6 + 3 * 2),)
    assert count.total == count.products + count.elementwise[0] + count.update[0]


def test_intensity_grows_with_the_batch():
    sizes = (784, 1024, 10)
    intensity = [
        measure.step_flops(sizes, B).total / measure.step_bytes(sizes, B).total
        for B in (1, 8, 64, 512)
    ]
    assert intensity == sorted(intensity) and intensity[0] < 0.5 and intensity[-1] > 30


def test_a_count_prints_as_a_table():
    text = str(measure.step_flops((784, 1024, 10), 1))
    assert "784 -> 1024" in text and "1,605,632" in text and "3,272,704 flops" in text


@pytest.mark.parametrize(
    "args", [((784,), 1), ((784, 0), 1), ((784, 10), 0), ("78", 1), (784, 1), ((784, 1.5), 1)]
)
def test_counts_refuse(args):
    for count in (measure.step_flops, measure.step_bytes):
        with pytest.raises(BadInput):
            count(*args)


def test_gflops():
    assert measure.gflops(3e9, 1.5) == 2.0
    for flops, seconds in ((1, 0), (1, -1), (1, float("nan")), (-1, 1), (float("nan"), 1)):
        with pytest.raises(BadInput):
            measure.gflops(flops, seconds)


# ------------------------------------------------------------------ rates


def test_roofline_values():
    assert measure.roofline(2.0, 100.0, 20.0) == 40.0
    assert measure.roofline(5.0, 100.0, 20.0) == 100.0
    got = measure.roofline(np.array([[1.0, 4.0], [5.0, 50.0]]), 100.0, 20.0)
    assert got.tolist() == [[20.0, 80.0], [100.0, 100.0]]


@pytest.mark.parametrize(
    "args", [(0, 1, 1), (1, 0, 1), (1, 1, -1), (float("nan"), 1, 1), (1, float("inf"), 1)]
)
def test_roofline_refuses(args):
    with pytest.raises(BadInput):
        measure.roofline(*args)


def test_sgemm_rate_counts_two_n_cubed(monkeypatch):
    fixed = measure.Timing([0.5, 0.25, 1.0])
    monkeypatch.setattr(rates, "time_it", lambda *a, **k: fixed)
    rate = measure.sgemm_rate(n=1000)
    assert (rate, rate.best, rate.median) == (8.0, 8.0, 4.0)
    assert "GFLOP/s" in str(rate) and f"{rate:.1f}" == "8.0"


def test_copy_rate_counts_read_and_write(monkeypatch):
    monkeypatch.setattr(rates, "time_it", lambda *a, **k: measure.Timing([0.001, 0.002, 0.004]))
    monkeypatch.setattr(rates, "last_level_cache", lambda: 2_000_000)
    rate = measure.copy_rate(megabytes=4, threads=2)
    assert (rate.best, rate.median) == (8.0, 4.0)
    assert "read + write" in rate.note and "CAUTION" not in rate.note
    assert "CAUTION" in measure.copy_rate(megabytes=1, threads=1).note


def test_rates_really_measure():
    assert 0.01 < measure.sgemm_rate(n=128, threads=1, repeats=3) < 1e6
    assert 0.01 < measure.copy_rate(megabytes=8, threads=2, repeats=3) < 1e6


def test_copy_rate_really_copies(monkeypatch):
    targets = []
    zeros = np.zeros_like
    monkeypatch.setattr(rates.np, "zeros_like", lambda a: targets.append(zeros(a)) or targets[-1])
    measure.copy_rate(megabytes=2, threads=3, repeats=1)
    assert targets[0].nbytes == 2_000_000 and (targets[0] == 1).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: measure.sgemm_rate(0),
        lambda: measure.copy_rate(0),
        lambda: measure.sgemm_rate(8, threads=0),
    ],
)
def test_rates_refuse(call):
    with pytest.raises(BadInput):
        call()


# ------------------------------------------------------------------ BLAS and machine


def test_blas_threads_sets_and_restores():
    before = measure.blas_library()["threads"]
    if before is None:
        pytest.skip("this BLAS cannot be told its number of threads")
    with measure.blas_threads(1) as n:
        assert n == 1 == measure.blas_library()["threads"]
    assert measure.blas_library()["threads"] == before
    with pytest.raises(RuntimeError), measure.blas_threads(1):
        raise RuntimeError
    assert measure.blas_library()["threads"] == before


def test_blas_threads_refuses_and_says_when_it_cannot(monkeypatch):
    with pytest.raises(BadInput), measure.blas_threads(0):
        pass
    monkeypatch.setattr("course_lib.measure.blas._loaded", lambda: [])
    monkeypatch.setattr("course_lib.measure.blas._warned", False)
    with pytest.warns(RuntimeWarning, match="cannot be told"), measure.blas_threads(1) as n:
        assert n is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with measure.blas_threads(1) as n:  # once is enough
            assert n is None


def test_machine_says_what_there_is():
    m = measure.machine()
    assert m.numpy == np.__version__ and m.python == ".".join(map(str, sys.version_info[:3]))
    assert m.logical >= 1 and 1 <= m.usable <= m.logical and m.memory > 2**28
    assert "\n" not in m.full and m.cpu in str(m) and m.blas in m.full and len(str(m)) < len(m.full)


def test_machine_never_raises_when_every_probe_fails(monkeypatch):
    def broken(*args):
        raise OSError("no such thing here")

    for name in (
        "_cpu_name",
        "_physical_cores",
        "_usable_cores",
        "_memory",
        "_system",
        "blas_library",
    ):
        monkeypatch.setattr(machine_module, name, broken)
    monkeypatch.setattr(machine_module.os, "cpu_count", broken)
    monkeypatch.setattr(machine_module.platform, "python_version", broken)
    m = measure.machine()
    assert m.cpu is None and m.logical is None and m.blas is None and m.memory is None
    assert "unknown processor" in str(m) and "? hardware threads" in str(m)


@pytest.mark.parametrize(
    ("files", "usable"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({}, 8),
    ],
)
def test_a_container_quota_limits_the_usable_cores(monkeypatch, files, usable):
    monkeypatch.setattr(machine_module, "_read_first", lambda name: files.get(name, ""))
    monkeypatch.setattr(
        machine_module.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False
    )
    assert machine_module._usable_cores() == usable


def test_a_container_limits_the_memory(monkeypatch):
    monkeypatch.setattr(machine_module, "_installed_memory", lambda: 2**34)
    monkeypatch.setattr(
        machine_module, "_read_first", lambda name: str(2**30) if name == "memory.max" else ""
    )
    assert machine_module._memory() == 2**30
    monkeypatch.setattr(
        machine_module, "_read_first", lambda name: "max" if name == "memory.max" else ""
    )
    assert machine_module._memory() == 2**34


def test_import_needs_numpy_alone():
    code = (
        "import sys, course_lib.measure, course_lib.plots; "
        "bad = {'matplotlib', 'threadpoolctl', 'numba', 'scipy', 'sklearn', 'psutil', 'PIL'} & set(sys.modules); "
        "sys.exit(str(sorted(bad)) if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
