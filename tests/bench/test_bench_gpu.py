"""`course bench gpu`: a quick run, its workers, its arithmetic, a GPU played by stand-ins, the committed report."""

import os
import subprocess
import sys

import numpy as np
import pytest
from bench_runs import SUPPORT, bench, committed, quick_run
from engine_runs import needs_compiler
from fake_gemm import _rounded

from course_tools.bench.frame import Progress, Worker, WorkerError, workers
from course_tools.bench.frame.document import report
from course_tools.bench.frame.results import failures
from course_tools.bench.frame.tables import plain
from course_tools.bench.gpu import bench as gpu
from course_tools.bench.gpu import products, tables
from course_tools.bench.gpu.bench import BENCH
from course_tools.bench.gpu.catalogue import HALF, PEERS, RUNGS, SHAPES, SIZES, TRACED, WAY, WAYS

QUICK = gpu.Settings(**gpu.QUICK, quick=True)


# The quick run ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, its result, the file). It compiles every kernel twice: a minute."""
    return quick_run(tmp_path_factory.mktemp("bench"), "gpu")


@pytest.mark.slow
@needs_compiler
def test_every_way_has_a_number_or_says_why_not(quick):
    """Over 20 s of processor: the quick bench that this file reads is run for it, once."""
    _, result, path = quick
    assert path.stem == BENCH.stem(result) and result["versions"]["the engine's compiler"]
    (case,) = result["products"]
    assert set(case["ways"]) == {way.key for way in WAYS}
    for key, row in case["ways"].items():
        if "error" in row:
            assert WAY[key].library in ("numba-sim", "vgre"), row["error"]
            assert "failed" not in row["error"], row["error"]
        else:
            assert all(s is None or s > 0 for s in row["seconds"])
            assert row["error_units"] <= products.ROUNDINGS
    assert not case["ways"]["numba-naive"].get("error"), "Numba is one of the course's packages"
    assert all(rate > 0 for rate in case["rates"]["sgemm-1"])
    assert all(len(row["seconds"]) == 2 for row in result["barrier"].values())
    assert set(result["compile"][0]["kernels"]) == set(RUNGS)


@pytest.mark.slow
@needs_compiler
def test_without_a_gpu_that_is_said_and_is_no_failure(quick):
    result = quick[1]
    if "error" not in result["gpu"]:
        pytest.skip("there is a GPU here")
    assert result["gpu"]["error"].startswith("not measured: PyCUDA") and failures(result) == []
    assert "On a GPU: not measured" in report(BENCH, result)


@pytest.mark.slow
@needs_compiler
def test_tables_again_from_the_json(quick, tmp_path):
    done = bench("gpu", "--reuse", quick[2], "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    words = ("64 x 64 x 64 on the CPU", "engine, warptile, traced", "A barrier of the engine")
    more = ("nothing cached", "Numba's CUDA simulator, naive", "Targets", "a glance, not a measure")
    assert all(one in done.stdout for one in (*words, *more))


# Workers ----------------------------------------------------------------------------------------


def test_a_wrong_product_is_not_timed():
    problem = products.Problem((70, 50, 300))
    good = (problem.A.astype(np.float64) @ problem.B).astype(np.float32)
    assert products.check(good, problem) <= 1
    poisoned = np.where(good == good.max(), np.float32(np.nan), good)
    for wrong in (good + np.float32(1e-3), poisoned, problem.A[:, 1:] @ problem.B[1:]):
        with pytest.raises(ArithmeticError, match="wrong result"):
            products.check(wrong, problem)


@pytest.mark.parametrize("shape", [(64, 64, 64), (100, 100, 4096)])
def test_tf32_does_not_pass_the_check(shape):
    problem = products.Problem(shape)
    assert products.check(problem.A @ problem.B, problem) <= products.ROUNDINGS
    with pytest.raises(ArithmeticError):
        products.check(_rounded(problem.A) @ _rounded(problem.B), problem)


def test_sums_in_half_do_not_pass_the_check_of_half_precision():
    problem = products.HalfProblem((40, 30, 512))
    wide = problem.A.astype(np.float32), problem.B.astype(np.float32)
    assert products.check(wide[0] @ wide[1], problem) <= products.ROUNDINGS
    with pytest.raises(ArithmeticError, match="are allowed"):
        products.check((wide[0] @ wide[1]).astype(np.float16), problem)


def test_numbas_simulator_scales_what_it_runs_in_part():
    with Worker("numba-sim") as worker:
        made = worker.ask("build", key="numba-naive", shape=(96, 96, 96), seconds=0.01)
        assert made["share"] == 1 / 36 and made["note"] == "timed on 1 block of 36"
        assert worker.ask("time", key="numba-naive", seed=0) > 1e-3


def test_a_library_that_is_not_there_is_no_failure():
    error = WorkerError("ModuleNotFoundError: No module named 'vgre'", "ModuleNotFoundError")
    assert workers.absent("vgre", error) == "not installed: pip install vgre"
    assert workers.absent("engine", error).startswith("failed: ")


def test_a_gpu_that_is_there_and_does_not_work_is_a_failure(monkeypatch):
    error = WorkerError("RuntimeError: PyCUDA: not installed; CuPy: not installed", "RuntimeError")
    monkeypatch.setattr(workers, "ask", lambda *command: "GPU 0: NVIDIA T4")
    assert workers.absent("gpu", error).startswith("failed: there is a GPU, but PyCUDA: ")
    monkeypatch.setattr(workers, "ask", lambda *command: None)
    said = workers.absent("gpu", error)
    assert said == "not measured: PyCUDA: not installed; CuPy: not installed"


# A GPU, played by stand-ins ---------------------------------------------------------------------


def on_fakes(*folders, **scenes):
    """The GPU's part of the result, with the stand-ins in these folders for PyCUDA and CuPy."""
    places = [*(str(SUPPORT / name) for name in folders), os.environ.get("PYTHONPATH", "")]
    with Worker("gpu", env={"PYTHONPATH": os.pathsep.join(places), **scenes}) as worker:
        worker.connect()
        found = {"gpu": worker, "torch-gpu": "not installed: pip install torch"}
        return gpu.on_gpu(found, QUICK, Progress("test", 9))


def whole(part):
    """A result with that GPU part and nothing on the CPU."""
    empty = {"products": [], "barrier": {}, "compile": [], "gpu": part}
    return {**empty, "settings": {"threads": 2}}


@pytest.mark.parametrize("folders", [("fake_pycuda", "fake_cupy"), ("fake_cupy",)])
def test_the_ladder_beside_cublas(folders):
    """Events of the stand-ins are always 1 ms apart, so the rate follows from the number of launches."""
    part = on_fakes(*folders)
    assert part["attributes"]["name"] == "Fake GPU"
    assert part["attributes"]["launched_by"] == ("PyCUDA" if "fake_pycuda" in folders else "CuPy")
    assert [case["shape"] for case in part["products"]] == [list(one) for one in QUICK.shapes]
    for case in part["products"]:
        assert set(case["ways"]) == {*RUNGS, *HALF, *PEERS}
        for key in (*RUNGS, *HALF, "cublas-cupy"):
            row = case["ways"][key]
            assert row["seconds"] == [1e-3 / row["repeats"]] * QUICK.rounds and row["repeats"] == 20
        assert case["ways"]["cublas-torch"]["error"] == "not installed: pip install torch"
    assert failures(whole(part)) == []


def test_copies_and_launches():
    part = on_fakes("fake_pycuda")
    assert len(part["transfers"]) == 4 * len(QUICK.transfers)
    assert all(min(case["seconds"]) > 0 for case in part["transfers"])
    assert set(part["launches"]) == {"in_a_row", "waited_for", "in_a_graph"}
    assert min(part["launches"].values()) > 0
    made = list(tables.gpu_tables(whole(part)))
    words = ["M,", "M,", "Copies", "A", "The"]
    assert [table.title.partition(" ")[0] for table in made] == words
    assert [row[0] for row in made[2].rows] == [f"{size:,}" for size in QUICK.transfers]
    for case in part["products"]:
        assert case["ways"]["cublas-cupy"]["error"].startswith("not installed: pip install")


def test_a_step_one_by_one_and_as_a_graph():
    """On a fake GPU of 108 multiprocessors: its products are chosen by size, and every launch is counted."""
    step = on_fakes("fake_pycuda")["step"]
    assert step["launched"] > 0 and step["graph"] > 0
    assert (step["net"], step["B"], step["kernels"]) == (
        "Net-1h",
        64,
        12 + 2,
    )  # two products in slices
    table = list(tables.gpu_tables(whole({"products": [], "step": step})))[-1]
    assert table.title == "The 14 kernels of a step of Net-1h, B = 64, until all are done"
    assert [row[0] for row in table.rows] == ["one by one", "one graph"]
    without = on_fakes("fake_cupy")
    assert without["step"]["error"].startswith("not measured: PyCUDA:")
    assert without["launches"]["in_a_graph"] > 0


def test_a_graph_is_recorded_in_its_stream_and_launched_as_a_whole():
    """The driver's functions in their order, on stand-ins; what it refuses is said."""
    code = """
from pycuda import driver
from course_tools.bench.gpu.graphs import Graph
stream, other = driver.Stream(), driver.Stream()
graph = Graph(stream, lambda: driver.Function("nothing")(block=(1, 1, 1), stream=stream))
graph.launch(), graph.launch()
names = [call[0] for call in driver.calls]
assert names == ["cuStreamBeginCapture_v2", "launch", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                 "cuGraphDestroy", "cuGraphLaunch", "cuGraphLaunch"], names
handles = {call[1] for call in driver.calls if "Stream" in call[0]}
assert handles == {stream.handle} and driver.calls[-1][1:] == (4096, stream.handle)
driver.Libcuda.__getattr__ = lambda self, name: lambda *args: 900 * (name == "cuStreamEndCapture")
try:
    Graph(stream, list)
except RuntimeError as error:
    print(error)
"""
    places = [SUPPORT.parents[1], SUPPORT / "fake_pycuda"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "cuStreamEndCapture failed with CUresult 900\n", done.stdout + done.stderr


def test_a_wrong_gpu_is_shown_and_counted():
    part = on_fakes("fake_pycuda", "fake_cupy", FAKE_PYCUDA="inexact", FAKE_CUPY="inexact")
    found = failures(whole(part))
    assert len(found) == 2 * (len(RUNGS) + 1) and all(
        "ArithmeticError: wrong result" in line for line in found
    )
    assert "wrong result" in plain(next(tables.gpu_tables(whole(part))))


@pytest.mark.parametrize("scene", ["no-libcuda", "no-driver", "no-device"])
def test_without_a_driver_both_reasons_are_said(scene):
    both = r"PyCUDA: PyCUDA (does not load|finds no GPU).*; CuPy: CuPy finds no GPU"
    with pytest.raises(WorkerError, match=both) as caught:
        on_fakes("fake_pycuda", "fake_cupy", FAKE_PYCUDA=scene, FAKE_CUPY="no-device")
    assert caught.value.kind == "RuntimeError"


# Arithmetic -------------------------------------------------------------------------------------


def result(plain=0.1, numba=2.0, traced=0.4, barrier=15e-9, part=None):
    """A made-up result of two rounds."""
    ways = {"blas": 0.001, "numba-naive": numba, "numba-shared": numba}
    for rung in RUNGS:
        ways |= {f"plain-{rung}": plain, f"traced-{rung}": traced}
    rows = {key: {"threads": 1, "note": "", "seconds": [s, s]} for key, s in ways.items()}
    cases = [{"n": n, "ways": rows, "rates": {"sgemm-1": [90.0, 100.0]}} for n in (64, 128, 512)]
    barriers = {"256": {"seconds": [barrier] * 2}}
    part = part or {"error": "not measured: no GPU"}
    return {**whole(part), "products": cases, "barrier": barriers}


def targets(made, on_gpu=False):
    return [one for one in BENCH.targets(made) if ("on the GPU" in one.where) == on_gpu]


def test_targets_at_their_bounds():
    good = result(numba=20.0, traced=0.5, barrier=20e-9)
    many = 2 * len(RUNGS) + 3  # BLAS's time and tracing for each rung; Numba twice; the barrier
    assert [target.met for target in targets(good)] == [True] * many
    slow = result(plain=0.101, numba=20.0, traced=0.501, barrier=20.1e-9)
    assert [target.met for target in targets(slow)] == [False] * many
    missing = [target.verdict for target in targets(good, on_gpu=True)]
    assert missing == ["not measured: no GPU"] * 2


def gpu_part(**times):
    ways = {key.replace("_via_", "-"): {"seconds": [s, s]} for key, s in times.items()}
    return {"attributes": {}, "products": [{"shape": [4096, 4096, 4096], "ways": ways}]}


def test_targets_on_a_gpu_take_the_quicker_cublas():
    times = {"shared": 32e-3, "register_16x4": 8e-3, "warptile": 2e-3}
    part = gpu_part(**times, cublas_via_cupy=2e-3, cublas_via_torch=3e-3)
    found = targets(result(part=part), on_gpu=True)
    assert [(target.met, round(target.got, 3)) for target in found] == [(True, 1.0), (True, 4.0)]
    found = targets(result(part=gpu_part(shared=1, register_16x4=0.5)), on_gpu=True)
    assert [target.verdict for target in found] == ["not measured", "NOT MET"]


def test_growth_is_an_exponent():
    assert tables.exponent({64: 1.0, 128: 8.0, 256: 64.0}) == "3.0"
    assert tables.exponent({64: 1.0, 128: None}) == ""


def test_what_is_measured_is_what_was_asked_for():
    assert (64 in SIZES and 512 in SIZES) and TRACED == 128
    assert all((n, n, n) in SHAPES for n in (1024, 2048, 4096))
    assert any(len(set(shape)) == 3 for shape in SHAPES)


# The report -------------------------------------------------------------------------------------


def test_recorded_runs_are_whole_and_the_report_their_own():
    for made in committed(BENCH):
        first = made["products"][0]["ways"]
        peers = ("numba-naive", "numba-shared")  # vgre is no package of the course: may be missing
        assert all("seconds" in first[key] for key in peers), "the peers were there"
        assert [case["n"] for case in made["products"]] == list(SIZES)
