"""`course bench gpu`: the command, its workers, its arithmetic, a GPU played by stand-ins, and the committed report."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.bench import (
    docs,
    gpu_command,
    gpu_docs,
    gpu_measuring,
    gpu_tables,
    gpu_targets,
    gpu_workers,
    products,
    tables,
)
from course_lib.bench.gpu_catalogue import PEERS, RUNGS, SHAPES, SIZES, TRACED, WAY, WAYS
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.progress import Progress
from course_tools.__main__ import main

ROOT, HERE = Path(__file__).resolve().parents[1], Path(__file__).parent
SLOW = float(os.environ.get("COURSE_SLOW", "1"))
QUICK = gpu_measuring.Settings(**gpu_measuring.QUICK)


def bench(*arguments, **more):
    command = [sys.executable, "-m", "course_lib", "bench", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **more
    )


# The quick run -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, its result, the folder it wrote to, seconds)."""
    folder = tmp_path_factory.mktemp("bench")
    clock, used = time.monotonic(), _used()
    done = bench("gpu", "--quick", "--json", "--out", folder)
    assert done.returncode == 0, done.stderr
    return done, json.loads(done.stdout), folder, min(time.monotonic() - clock, _used() - used)


def _used():
    """Processor seconds of all children so far: a busy machine makes them wait, but hardly more at work."""
    spent = os.times()
    return spent.children_user + spent.children_system


@needs_compiler
def test_quick_run_ends_well_and_soon(quick):
    done, _, _, seconds = quick
    assert seconds < 60 * SLOW, "under a minute on two quiet cores"
    assert "part 1 of" in done.stderr, "progress is shown on standard error"


@needs_compiler
def test_json_on_standard_output_is_the_file(quick):
    _, result, folder, _ = quick
    (path,) = folder.glob("*.json")
    assert result == json.loads(path.read_text(encoding="utf-8"))
    assert path.stem == gpu_command.slug(result["device"])
    assert (result["schema"], result["benchmark"]) == (1, "gpu") and result["versions"][
        "the engine's compiler"
    ]


@needs_compiler
def test_every_way_has_a_number_or_says_why_not(quick):
    result = quick[1]
    (case,) = result["products"]
    assert set(case["ways"]) == {way.key for way in WAYS}
    for key, row in case["ways"].items():
        if "error" in row:
            assert WAY[key].library in ("numba-sim", "vgre") and "failed" not in row["error"], row[
                "error"
            ]
        else:
            assert (
                all(s is None or s > 0 for s in row["seconds"])
                and row["error_units"] <= products.ROUNDINGS
            )
    assert not case["ways"]["numba-naive"].get("error"), "Numba is one of the course's packages"
    assert all(rate > 0 for rate in case["rates"]["sgemm-1"])
    assert all(len(row["seconds"]) == 2 for row in result["barrier"].values())
    assert set(result["compile"][0]["kernels"]) == set(RUNGS)


@needs_compiler
def test_without_a_gpu_that_is_said_and_is_no_failure(quick):
    result = quick[1]
    if "error" not in result["gpu"]:
        pytest.skip("there is a GPU here")
    assert (
        result["gpu"]["error"].startswith("not measured: PyCUDA")
        and gpu_measuring.failures(result) == []
    )
    assert "On a GPU: not measured" in gpu_docs.report(result)
    rows = gpu_tables.target_table(result).rows
    assert [row[-1] for row in rows if "on the GPU" in row[1]] == ["not measured: no GPU"] * 2


@needs_compiler
def test_result_names_no_place_of_this_machine(quick):
    texts = [quick[0].stdout, *(path.read_text(encoding="utf-8") for path in COMMITTED)]
    for text in texts:
        for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
            assert private not in text, f"{private} stands in the JSON"
        assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", text)


@needs_compiler
def test_tables_again_from_the_json(quick, tmp_path):
    (path,) = quick[2].glob("*.json")
    done = bench("gpu", "--reuse", path, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "64 x 64 x 64 on the CPU",
        "engine, warptile, traced",
        "A barrier of the engine",
        "nothing cached",
        "Numba's CUDA simulator, naive",
        "Targets",
        "a glance, not a measurement",
    ):
        assert words in done.stdout


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--record", "--out", "somewhere"], "leave out --out"),
        (["--record", "--quick"], "leave out --quick"),
        (["--reuse", "/no/such/file.json"], "cannot be read"),
        (
            ["--reuse", str(ROOT / "benchmarks/results/threads.json")],
            "no result of `course bench gpu`",
        ),
        (["--peers-python", "/no/such/python"], "must be a Python"),
        (["--fast"], "unrecognized arguments"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys):
    try:
        status = main(["bench", "gpu", *arguments])
    except SystemExit as end:  # argparse's way out
        status = end.code
    said = capsys.readouterr()
    assert status == 2 and words in said.err and not said.out


# Workers -------------------------------------------------------------------------------------------------------------


def test_a_wrong_product_is_not_timed():
    problem = products.Problem((70, 50, 300))
    good = (problem.A.astype(np.float64) @ problem.B).astype(np.float32)
    assert products.check(good, problem) <= 1
    for wrong in (
        good + np.float32(1e-3),
        np.where(good == good.max(), np.float32(np.nan), good),
        problem.A[:, 1:] @ problem.B[1:],
    ):
        with pytest.raises(ArithmeticError, match="wrong result"):
            products.check(wrong, problem)


def test_tf32_does_not_pass_the_check():
    from fake_gemm import _rounded

    for shape in ((64, 64, 64), (100, 100, 4096)):
        problem = products.Problem(shape)
        assert products.check(problem.A @ problem.B, problem) <= products.ROUNDINGS
        with pytest.raises(ArithmeticError):
            products.check(_rounded(problem.A) @ _rounded(problem.B), problem)


def test_numbas_simulator_scales_what_it_runs_in_part():
    with Worker("numba-sim", env={"NUMBA_ENABLE_CUDASIM": "1"}) as worker:
        made = worker.ask("build", key="numba-naive", shape=(96, 96, 96), seconds=0.01)
        assert made["share"] == 1 / 36 and made["note"] == "timed on 1 block of 36"
        assert worker.ask("time", key="numba-naive") > 1e-3


def test_a_library_that_is_not_there_is_no_failure():
    error = WorkerError("ModuleNotFoundError: No module named 'vgre'", "ModuleNotFoundError")
    assert gpu_workers.absent("vgre", error) == "not installed: pip install vgre"
    refused = gpu_measuring._why(WorkerError("VGREError: Unknown error", "VGREError"))
    assert refused == "not possible: VGREError: Unknown error"
    assert gpu_measuring._why(
        WorkerError("ArithmeticError: wrong result", "ArithmeticError")
    ).startswith("failed: ")


def test_a_gpu_that_is_there_and_does_not_work_is_a_failure(monkeypatch):
    error = WorkerError("RuntimeError: PyCUDA: not installed; CuPy: not installed", "RuntimeError")
    monkeypatch.setattr(gpu_workers, "ask", lambda *command: "GPU 0: NVIDIA T4")
    assert gpu_workers.absent("gpu", error).startswith("failed: there is a GPU, but PyCUDA: ")
    monkeypatch.setattr(gpu_workers, "ask", lambda *command: None)
    assert (
        gpu_workers.absent("gpu", error)
        == "not measured: PyCUDA: not installed; CuPy: not installed"
    )


# A GPU, played by stand-ins ------------------------------------------------------------------------------------------


def on_fakes(*folders, torch="not installed: pip install torch", **scenes):
    """The GPU's part of the result, with the stand-ins in these folders for PyCUDA and CuPy."""
    path = os.pathsep.join(
        [*(str(HERE / name) for name in folders), os.environ.get("PYTHONPATH", "")]
    )
    with Worker("gpu", env={"PYTHONPATH": path, **scenes}) as worker:
        worker.ask("hello")
        return gpu_measuring._gpu({"gpu": worker, "torch-gpu": torch}, QUICK, Progress("test", 9))


def whole(gpu):
    """A result with that GPU part and nothing on the CPU."""
    machine = {"logical": 2, "physical": 2, "usable": 2}
    return {
        "products": [],
        "barrier": {},
        "compile": [],
        "gpu": gpu,
        "settings": {"threads": 2},
        "machine": machine,
    }


@pytest.mark.parametrize("folders", [("fake_pycuda", "fake_cupy"), ("fake_cupy",)])
def test_the_ladder_beside_cublas(folders):
    """Events of the stand-ins are always 1 ms apart, so the rate follows from the number of launches."""
    gpu = on_fakes(*folders)
    assert gpu["attributes"]["name"] == "Fake GPU"
    assert gpu["attributes"]["launched_by"] == ("PyCUDA" if "fake_pycuda" in folders else "CuPy")
    assert [case["shape"] for case in gpu["products"]] == [list(shape) for shape in QUICK.shapes]
    for case in gpu["products"]:
        assert set(case["ways"]) == {*RUNGS, *PEERS}
        for key in (*RUNGS, "cublas-cupy"):
            row = case["ways"][key]
            assert row["seconds"] == [1e-3 / row["repeats"]] * QUICK.rounds and row["repeats"] == 20
        assert case["ways"]["cublas-torch"]["error"] == "not installed: pip install torch"
    assert gpu_measuring.failures(whole(gpu)) == []


def test_copies_and_launches():
    gpu = on_fakes("fake_pycuda")
    assert len(gpu["transfers"]) == 4 * len(QUICK.transfers) and all(
        min(c["seconds"]) > 0 for c in gpu["transfers"]
    )
    assert gpu["launches"]["in_a_row"] > 0 and gpu["launches"]["waited_for"] > 0
    titles = [table.title for table in gpu_tables.gpu_tables(whole(gpu))]
    assert [title.partition(" ")[0] for title in titles] == ["M,", "M,", "Copies", "A"]
    for case in gpu["products"]:
        assert case["ways"]["cublas-cupy"]["error"].startswith("not installed: pip install")


def test_a_wrong_gpu_is_shown_and_counted():
    gpu = on_fakes("fake_pycuda", "fake_cupy", FAKE_PYCUDA="inexact", FAKE_CUPY="inexact")
    found = gpu_measuring.failures(whole(gpu))
    assert len(found) == 2 * 5 and all("ArithmeticError: wrong result" in line for line in found)
    assert "wrong result" in tables.plain(next(gpu_tables.gpu_tables(whole(gpu))))


@pytest.mark.parametrize("scene", ["no-libcuda", "no-driver", "no-device"])
def test_without_a_driver_both_reasons_are_said(scene):
    both = r"PyCUDA: PyCUDA (does not load|finds no GPU).*; CuPy: CuPy finds no GPU"
    with pytest.raises(WorkerError, match=both) as caught:
        on_fakes("fake_pycuda", "fake_cupy", FAKE_PYCUDA=scene, FAKE_CUPY="no-device")
    assert caught.value.kind == "RuntimeError"


# Arithmetic ----------------------------------------------------------------------------------------------------------


def result(plain=0.1, numba=2.0, traced=0.4, barrier=15e-9, gpu=None):
    """A made-up result of two rounds."""

    def case(n):
        ways = {
            "blas": 0.001,
            **{f"plain-{r}": plain for r in RUNGS},
            **{f"traced-{r}": traced for r in RUNGS},
            "numba-naive": numba,
            "numba-shared": numba,
        }
        rows = {key: {"threads": 1, "note": "", "seconds": [s, s]} for key, s in ways.items()}
        return {"n": n, "ways": rows, "rates": {"sgemm-1": [90.0, 100.0]}}

    return {
        **whole(gpu or {"error": "not measured: no GPU"}),
        "products": [case(n) for n in (64, 128, 512)],
        "barrier": {"256": {"seconds": [barrier] * 2}},
        "load": {"before": None, "after": None},
    }


def met(made):
    return {(t.what, t.where): t.met for t in gpu_targets.targets(made)}


def test_targets_at_their_bounds():
    good = met(result(numba=20.0, traced=0.5, barrier=20e-9))
    assert [value for (_, where), value in good.items() if "on the GPU" not in where] == [True] * 11
    slow = met(result(plain=0.101, numba=20.0, traced=0.501, barrier=20.1e-9))
    assert not any(slow.values())
    assert [value for (_, where), value in good.items() if "on the GPU" in where] == [None, None]


def gpu_part(**times):
    shape = {
        "shape": [4096, 4096, 4096],
        "ways": {key: {"seconds": [s, s]} for key, s in times.items()},
    }
    return {"attributes": {}, "products": [shape]}


def test_targets_on_a_gpu_take_the_quicker_cublas():
    times = {
        "shared": 32e-3,
        "register_16x4": 8e-3,
        "warptile": 2e-3,
        "cublas-cupy": 2e-3,
        "cublas-torch": 3e-3,
    }
    found = [
        t for t in gpu_targets.targets(result(gpu=gpu_part(**times))) if "on the GPU" in t.where
    ]
    assert [(t.met, round(t.got, 3)) for t in found] == [(True, 1.0), (True, 4.0)]
    found = [
        t
        for t in gpu_targets.targets(result(gpu=gpu_part(shared=1, register_16x4=0.5)))
        if "GPU" in t.where
    ]
    assert [t.met for t in found] == [None, False]


def test_growth_is_an_exponent():
    assert gpu_tables._exponent((64, 128, 256), (1.0, 8.0, 64.0)) == "3.0"
    assert gpu_tables._exponent((64, 128), (1.0, None)) == ""


def test_what_is_measured_is_what_was_asked_for():
    assert (64 in SIZES and 512 in SIZES) and TRACED == 128
    assert all((n, n, n) in SHAPES for n in (1024, 2048, 4096)) and any(
        len(set(shape)) == 3 for shape in SHAPES
    )


def test_a_device_as_a_file_name():
    assert gpu_command.slug("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert gpu_command.slug("CPU engine, AMD EPYC") == "cpu-engine-amd-epyc"


# The report ----------------------------------------------------------------------------------------------------------

COMMITTED = [
    ROOT / "benchmarks/results" / f"{gpu_command.slug(one['device'])}.json"
    for one in gpu_command.recorded()
]


def test_report_is_what_the_results_say():
    text = (ROOT / "docs/bench-gpu.md").read_text(encoding="utf-8")
    again = "make it again: course bench gpu --record --reuse benchmarks/results/<device>.json"
    assert docs.written(text, {}, gpu_docs.blocks(gpu_command.recorded())) == text, again


def test_committed_runs_are_whole():
    assert COMMITTED
    for path in COMMITTED:
        made = json.loads(path.read_text(encoding="utf-8"))
        assert not made["settings"]["quick"] and gpu_measuring.failures(made) == []
        assert gpu_command.text(made) == path.read_text(encoding="utf-8"), (
            "written again it is the same text"
        )
        first = made["products"][0]["ways"]
        peers = (
            "numba-naive",
            "numba-shared",
        )  # vgre is no package of the course: it may be missing
        assert all("seconds" in first[key] for key in peers), "the peers were there"
        assert [case["n"] for case in made["products"]] == list(SIZES)
