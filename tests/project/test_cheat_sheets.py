"""The formulas of docs/cheat-sheets.md are those of the library: each as it is printed, beside what it says."""

import math
from pathlib import Path

import numpy as np
import pytest

from course_lib import serial
from course_lib.gpu.cpu_engine import trace
from course_lib.mpi import cost, sharded
from course_lib.mpi.pipeline import Costs, in_flight, schedule, simulate, step_seconds

PAGE = (Path(__file__).parents[2] / "docs" / "cheat-sheets.md").read_text(encoding="utf-8")
DELTAS = {
    "(A - Y) / B": ("cross_entropy", lambda A, Y, B: (A - Y) / B),
    "2 (A - Y) A (1 - A) / B": ("mse", lambda A, Y, B: 2 * (A - Y) * A * (1 - A) / B),
}
TIMES = {
    "2 (p - 1) (α + β n / p)": ("ring", lambda p, n, a, b: 2 * (p - 1) * (a + b * n / p)),
    "(α + β n) log2 p": ("doubling", lambda p, n, a, b: (a + b * n) * math.log2(p)),
    "2 (α + β n) log2 p": ("tree", lambda p, n, a, b: 2 * (a + b * n) * math.log2(p)),
}

WAITS = {
    "gpipe": ("GPipe", "(p - 1) (f + d + g)", lambda p, f, d, g: (p - 1) * (f + d + g)),
    "1f1b": ("1F1B", "(p - 1) (f + d + g)", lambda p, f, d, g: (p - 1) * (f + d + g)),
    "zb-h1": ("ZB-H1", "(p - 1) (f + d - g)", lambda p, f, d, g: (p - 1) * (f + d - g)),
    "zb-h2": ("ZB-H2", "(p - 1) (f + d - 2 g)", lambda p, f, d, g: (p - 1) * (f + d - 2 * g)),
}
KEPT = ["m", "p on rank 0, 1 on the last", "p", "2 p - 1"]
TWICE = ("2 (p - 1) N / p", lambda N, p: 2 * (p - 1) * N / p)
SHARDS = {
    0: ("0, plain", ("16 N", lambda N, p: 16 * N), TWICE),
    1: ("1, state", ("8 N + 8 N / p", lambda N, p: 8 * N + 8 * N / p), TWICE),
    2: ("2, and", ("4 N + 12 N / p", lambda N, p: 4 * N + 12 * N / p), TWICE),
    3: (
        "3, and",
        ("16 N / p", lambda N, p: 16 * N / p),
        ("3 (p - 1) N / p", lambda N, p: 3 * (p - 1) * N / p),
    ),
}


def row(start):
    """The cells of the row that begins with these words."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("formula", DELTAS)
def test_output_deltas(formula):
    assert f"| {formula} |" in PAGE
    name, said = DELTAS[formula]
    rng = np.random.default_rng(1)
    Z, Y = rng.normal(size=(5, 3)), np.eye(3)[rng.integers(0, 3, 5)]
    (loss,) = [loss for key, loss in serial.losses.LOSSES.items() if loss.value.__name__ == name]
    A = loss.output(Z)
    np.testing.assert_allclose(loss.dZ(Z, A, Y), said(A, Y, 5), rtol=1e-12)


@pytest.mark.parametrize("p", [2, 4, 8])
@pytest.mark.parametrize("formula", TIMES)
def test_times_of_an_allreduce(formula, p):
    assert f"| {formula} |" in PAGE
    name, said = TIMES[formula]
    assert cost.seconds(p, 4096, 2e-6, 1e-9, name) == pytest.approx(said(p, 4096, 2e-6, 1e-9))


@pytest.mark.parametrize("p", [2, 4, 8])
def test_messages_and_bytes_of_an_allreduce(p):
    assert row("ring")[1:3] == ["2 (p - 1)", "2 (p - 1) n / p"]
    assert cost.ring(p, 4096) == (2 * (p - 1), 2 * (p - 1) * 4096 / p)
    assert row("recursive doubling")[1:3] == ["log2 p", "n log2 p"]
    assert cost.doubling(p, 4096) == (math.log2(p), 4096 * math.log2(p))


@pytest.mark.parametrize("name", WAITS)
def test_waiting_in_a_pipeline(name):
    p, m, f, d, g = 4, 9, 5.0, 4.0, 2.0
    start, formula, waits = WAITS[name]
    assert row(start)[1] == formula
    line = simulate(schedule(name, p, m), Costs(f, d, g))
    assert step_seconds(line) - line.busy(0) == pytest.approx(waits(p, f, d, g))


def test_micro_batches_kept():
    p, m = 4, 9
    kept = {name: in_flight(schedule(name, p, m)) for name in WAITS}
    assert [row(start)[2] for start, _, _ in WAITS.values()] == KEPT
    assert max(kept["gpipe"]) == m and kept["1f1b"][0] == p and kept["1f1b"][-1] == 1
    assert max(kept["zb-h1"]) == p and max(kept["zb-h2"]) == 2 * p - 1


@pytest.mark.parametrize("stage", SHARDS)
def test_bytes_of_shards(stage):
    """A few bytes more than printed: biases that p does not divide, and a layer that is whole for a moment."""
    p, net = 4, serial.Network([64] * 129)
    start, kept, sends = SHARDS[stage]
    assert row(start)[1:] == [kept[0], sends[0]]
    most = sum(sharded.memory(net, p, 0, stage, slots=2).values())
    assert kept[1](net.n_params, p) <= most <= 1.02 * kept[1](net.n_params, p)
    assert sharded.sent(net, p, 0, stage)[1] / 4 == pytest.approx(sends[1](net.n_params, p))


@pytest.mark.parametrize("stride, sectors", [(1, 4), (8, 32), (9, 32)])
def test_sectors_of_a_request(stride, sectors):
    assert "4 for 32 neighbouring floats, 32 with a stride of 8 or more" in PAGE
    copy = """__global__ void copy(const float *x, float *y, int s)
    {
        y[threadIdx.x] = x[s * threadIdx.x];
    }"""
    x, y = np.ones(32 * stride, np.float32), np.zeros(32, np.float32)
    report = trace(copy, "copy", 1, 32, [x, y, np.int32(stride)])
    assert report.total("sectors", array="x") == sectors


@pytest.mark.parametrize("width, ways", [(32, 32), (33, 1)])
def test_conflicts_of_a_column(width, ways):
    assert "32-way conflict; of `tile[32][33]`, none" in PAGE
    column = f"""__global__ void column(float *y)
    {{
        __shared__ float tile[32][{width}];
        tile[threadIdx.x][0] = 1.0f;
        y[threadIdx.x] = tile[threadIdx.x][0];
    }}"""
    report = trace(column, "column", 1, 32, [np.zeros(32, np.float32)])
    assert {a["max_way"] for a in report.accesses if a["space"] == "shared"} == {ways}
