"""Which kernel for which product: the rule at its borders, every choice's numbers, its costs against the tracer's."""

import itertools

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib import serial
from course_lib.checks.kit.rounding import Rounding
from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.gpu.data_sheets import DATA_SHEETS
from course_lib.gpu.edits import marked
from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.inspect import available, inspect
from course_lib.gpu.mlp import ACTIVATIONS, SPECIFICATIONS, Kernels, Mlp, source
from course_lib.gpu.mlp.choice import (
    DEEP,
    RUNG,
    STEP,
    choose,
    cost,
    each_of,
    in_one,
    products,
    slice_length,
    slices_of,
)
from course_lib.gpu.mlp.slices import OPERANDS, in_slices

pytest_plugins = ["gpu_engine"]  # the fixtures `engine` and `cpu`
U = 2.0**-24
SMS = 108  # an A100's


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)


def put(array, order="C"):
    return device.gpuarray.to_gpu(np.asarray(array, order=order))


def unset(*shape, order="C"):
    return put(np.full(shape, np.nan, np.float32), order)


# The rule ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("M", "N", "K", "sms", "kernel", "slices", "each", "blocks"),
    [
        (4096, 1024, 784, 108, RUNG, 1, 0, 256),  # enough tiles of 128 x 128
        (1408, 1280, 64, 110, RUNG, 1, 0, 110),  # just enough
        (1408, 1280, 64, 111, "fused", 1, 4, 1760),  # one SM more: K is too short for two slices
        (1408, 1280, 63, 110, "fused", 1, 4, 1760),  # too short for a second pass over the result
        (1408, 1280, 128, 111, RUNG, 2, 0, 220),  # long enough for two
        (784, 1024, 4096, 108, RUNG, 2, 0, 112),  # Net-1h's first update with a batch of 4,096
        (64, 1024, 1024, 108, RUNG, 16, 0, 128),  # half of each tile is empty
        (63, 1024, 1024, 108, "tiles", 2, 2, 128),  # more than half
        (20000, 10, 1024, 108, "fused", 1, 4, 625),  # narrow, but many tiles
        (64, 10, 1024, 108, "tiles", 16, 2, 32),  # Net-1h's last forward product: thin
        (64, 10, 127, 108, "fused", 1, 2, 2),  # too short to be cut
        (64, 10, 128, 108, "tiles", 2, 2, 4),
        (64, 10, 128, 1, "fused", 1, 2, 2),  # one SM has work
        (13824, 32, 8, 108, "fused", 1, 4, 432),  # four blocks for each SM
        (13823 - 31, 32, 8, 108, "fused", 1, 2, 431),
    ],
)
def test_the_rule_at_its_borders(M, N, K, sms, kernel, slices, each, blocks):
    chosen = choose(M, N, K, sms)
    assert (chosen.kernel, chosen.slices, chosen.each) == (kernel, slices, each), chosen
    assert chosen.blocks == blocks and chosen.threads == (256 if each in (0, 2) else 64)
    assert str(blocks // slices) in chosen.why  # the reason names the tiles that it rests on


def test_a_product_and_its_transposed_are_computed_alike():
    for M, N, K in itertools.product((10, 64, 300, 1024), (10, 784, 1024), (10, 64, 1024)):
        one, other = choose(M, N, K, SMS), choose(N, M, K, SMS)
        assert (one.kernel, one.slices, one.blocks) == (other.kernel, other.slices, other.blocks)


def test_slices_cover_k_and_none_is_empty_or_short():
    for K, blocks, sms in itertools.product(
        (1, 63, 64, 127, 128, 784, 1000, 4096), (1, 8, 60), (1, 40, 132)
    ):
        slices = slices_of(K, sms, blocks)
        length = slice_length(K, slices)
        assert (slices - 1) * length < K <= slices * length and length % STEP == 0
        assert slices == 1 or length >= DEEP
        if blocks < sms and min(-(-sms // blocks), K // DEEP) == -(-sms // blocks):
            assert blocks * slices >= sms, "every SM has a block where K is long enough"


def test_the_reasons_of_the_constants():
    """A partial product moves 8 bytes for 2 DEEP flops: about a ridge. Four blocks of 2 warps: two a scheduler."""
    ridges = [sheet.ridge for sheet in DATA_SHEETS.values()]
    assert min(ridges) < 2 * DEEP / 8 < max(ridges)
    schedulers, warp = 4, 32
    for sms in (40, 108):
        for blocks in (sms, 4 * sms - 1, 4 * sms):
            each = each_of(blocks, sms)
            warps = blocks / sms * (32 // each) ** 2 / warp
            assert warps >= 2 * schedulers
        assert each_of(4 * sms - 1, sms) == 2 and each_of(4 * sms, sms) == 4


def test_products_of_a_step():
    made = list(products((7, 5, 3), 2))
    assert made == [
        ("forward", 0, 2, 5, 7), ("forward", 1, 2, 3, 5), ("transposed", 1, 2, 5, 3),
        ("update", 1, 5, 3, 2), ("update", 0, 7, 5, 2),
    ]  # fmt: skip


def test_who_chooses(cpu):
    """The CPU engine has no SMs to fill; `each` asks for the fused kernels; a number of SMs asks for the rule."""
    assert Kernels().choice((64, 10), 1024) == in_one(64, 10, 4)
    assert Kernels(each=1, sms=SMS).choice((64, 10), 1024) == in_one(64, 10, 1)
    assert Kernels(sms=SMS).choice((64, 10), 1024) == choose(64, 10, 1024, SMS)
    with pytest.raises(BadInput, match="sms must be"):
        Kernels(sms=0)


# The numbers ------------------------------------------------------------------------------------

# M, N, K and multiprocessors: the rung alone, in slices; small tiles in slices, ragged; fused
CASES = [
    (128, 128, 64, 1), (130, 131, 67, 4), (128, 64, 256, 3), (129, 100, 333, 7), (65, 70, 321, 3),
    (33, 10, 200, 9), (1, 1, 129, 4), (45, 37, 784, 108), (20, 30, 40, 5),
]  # fmt: skip


def near(got, want, size, K):
    got = got.get()
    assert got.dtype == np.float32 and got.shape == want.shape
    assert (np.abs(got - want) <= (K + 16) * U * (size + 1e-30)).all()


@pytest.mark.parametrize(("M", "N", "K", "sms"), CASES)
def test_forward(engine, M, N, K, sms):
    kernels = Kernels(sms=sms)
    A, W, b = normal(M, K), normal(K, N), normal(N)
    wide = [X.astype(np.float64) for X in (A, W, b)]
    z, f = SPECIFICATIONS["forward"](*wide, np.tanh)
    size = abs(A) @ abs(W) + abs(b)
    for a, w, o in ("CCC", "FFC", "CFF"):
        Z, F, only = (unset(M, N, order=o) for _ in range(3))
        args = put(A, a), put(W, w), put(b)
        kernels.forward(*args, Z, F, ACTIVATIONS["tanh"])
        kernels.forward(*args, None, only, ACTIVATIONS["tanh"])
        near(Z, z, size, K)
        near(F, f, size + 1, K)
        assert (only.get() == F.get()).all()


@pytest.mark.parametrize(("M", "N", "K", "sms"), CASES)
def test_transposed_and_update(engine, M, N, K, sms):
    kernels, tanh = Kernels(sms=sms), ACTIVATIONS["tanh"]
    dZ, W, A = normal(M, K), normal(N, K), normal(M, N, seed=1)
    want, size = dZ.astype(np.float64) @ W.T, abs(dZ) @ abs(W.T)
    for d, w in ("CC", "FF"):
        kernels.transposed(put(dZ, d), put(W, w), dA := unset(M, N), tanh)
        near(dA, want, size, K)
        kernels.transposed(put(dZ, d), put(W, w), dA := unset(M, N), tanh, True, None, put(A))
        near(dA, want * (1 - A.astype(np.float64) ** 2), size * (1 + A * A), K)
    X, D, before = normal(K, M), normal(K, N), normal(M, N)
    product = X.astype(np.float64).T @ D
    for x, o, same in (("C", "C", "C"), ("F", "F", "F"), ("C", "C", "F")):
        V = put(before, o)
        old = V if same == o else put(before, same)  # W and V stored differently
        kernels.update(put(X, x), put(D), old, V, -0.5, 0.75)
        near(V, 0.75 * before - 0.5 * product, abs(X.T) @ abs(D) + abs(before), K)
        kernels.update(put(X, x), put(D), unset(M, N, order=same), V := unset(M, N, order=o), 1, 0)
        near(V, product, abs(X.T) @ abs(D), K)  # beta = 0: W is not read


SIZES = [
    ((784, 1024, 10), 64),
    ((784, 1024, 1024, 10), 16),
    ((37, 130, 129, 3), 70),
    ((300, 64, 7), 1),
]


@pytest.mark.parametrize(("sizes", "B"), SIZES)
def test_gradients_are_the_serial_ones(engine, sizes, B):
    """Net-1h, Net-2h and ragged widths; both layouts; twice the same bits."""
    net, rng = serial.Network(sizes, "tanh", "cross_entropy", 0.01), np.random.default_rng(1)
    params, X = net.init_params(1), rng.standard_normal((B, sizes[0]), np.float32)
    Y = np.eye(sizes[-1], dtype=np.float32)[rng.integers(0, sizes[-1], B)]
    exact, bounds = Rounding(net, True).gradients(params, X, Y)
    for layout, fused in (("ours", False), ("paper", True)):
        mlp = Mlp(net, params, 0.1, layout=layout, fused=fused, kernels=Kernels(sms=SMS))
        got = mlp.gradients(X, Y)
        for pairs in zip(got, exact, bounds, strict=True):
            for g, e, bound in zip(*pairs, strict=True):
                assert g.dtype == np.float32 and (np.abs(g - e) <= bound).all()
        again = mlp.gradients(X, Y)
        assert all(
            (g == h).all()
            for one, two in zip(got, again, strict=True)
            for g, h in zip(one, two, strict=True)
        )


# The tracer -------------------------------------------------------------------------------------

# each way to compute a product, and multiples of 8, so that every row begins on a sector
COUNTED = [
    (128, 128, 64, 1),
    (128, 256, 192, 6),
    (64, 128, 256, 4),
    (32, 64, 256, 9),
    (64, 96, 40, 4),
    (40, 24, 136, 8),
]


@needs_compiler
@pytest.mark.parametrize(("M", "N", "K", "sms"), COUNTED)
def test_costs_are_what_the_tracer_counts(cpu, M, N, K, sms):
    A, W, b = put(normal(M, K)), put(normal(K, N)), put(normal(N))
    calls = {
        "forward": lambda kernels: kernels.forward(A, W, b, None, unset(M, N), ACTIVATIONS["relu"]),
        "transposed": lambda kernels: kernels.transposed(A, W.T, unset(M, N), ACTIVATIONS["relu"]),
        "update": lambda kernels: kernels.update(A.T, W, V := unset(M, N), V, 1.0, 1.0),
    }
    for name, call in calls.items():
        kernels = Kernels(traced=True, sms=sms)
        call(kernels)
        chosen, reports = kernels.choice((M, N), K), [report for _, report in kernels.reports]
        assert [
            error for report in reports for error in report.errors if error["tool"] != "initcheck"
        ] == []
        sectors = sum(
            row["sectors"]
            for report in reports
            for row in report.accesses
            if row["space"] == "global" and row["array"] != "b"
        )
        found = {"launches": len(reports), "flops": 2 * M * N * K, "bytes": 32 * sectors}
        assert found == cost(name, M, N, K, chosen), (name, chosen)


@needs_compiler
@pytest.mark.parametrize(
    "settings", [((130, 140, 3), 70, 3), ((300, 64, 10), 33, 108), ((70, 65, 66, 9), 65, 1)]
)
def test_the_tracer_finds_nothing(cpu, settings):
    """A step of chosen kernels: no bad access, race, unset value or wrong barrier."""
    sizes, B, sms = settings
    net, rng = serial.Network(sizes, "sigmoid", "mse"), np.random.default_rng(2)
    X = rng.standard_normal((B, sizes[0]), np.float32)
    Y = np.eye(sizes[-1], dtype=np.float32)[rng.integers(0, sizes[-1], B)]
    kernels = Kernels(traced=True, sms=sms)
    Mlp(net, net.init_params(0), 0.1, kernels=kernels).step(X, Y)
    names = {name for name, _ in kernels.reports}
    assert "gather" in names and names & {RUNG, "tiles"}
    for name, report in kernels.reports:
        assert report.ok, f"{name}: {report}"
    assert kernels.launched == len(kernels.reports)


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "tool"),
    [("if (e >= M * N) return;", "", "memcheck"), ("s < slices", "s <= slices", "memcheck")],
)
def test_planted_mistakes_in_the_gather_are_found(cpu, monkeypatch, old, new, tool):
    from course_lib.gpu.mlp import products as module

    whole = module.source
    assert whole("gather").count(old) == 1
    monkeypatch.setattr(module, "source", lambda *which: whole(*which).replace(old, new))
    kernels = Kernels(traced=True, sms=9)
    args = put(normal(33, 200)), put(normal(200, 10)), put(normal(10)), None, unset(33, 10)
    kernels.forward(*args, ACTIVATIONS["relu"])
    assert tool in {error["tool"] for _, report in kernels.reports for error in report.errors}


def test_slices_are_four_lines_more():
    for kernel in OPERANDS:
        text = in_slices(kernel)
        whole = RUNGS[RUNG].source if kernel.startswith("gemm_") else source("update")
        marks = marked(whole, text).splitlines()
        assert [mark[0] for mark in marks] == ["+"] * 4 and text.count("gridDim.z") == 2, kernel


@pytest.mark.skipif(
    not available(), reason="neither nvcc nor the package nvidia-cuda-nvrtc is here"
)
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_nvidia_compiles_the_slices_without_spilling(arch):
    for kernel in OPERANDS:
        found = inspect(in_slices(kernel), arch)[kernel]
        assert found["spilled_bytes"] == 0 and found["registers"] <= 128
