"""`course bench gpu`, its training: on the CPU engine, with a GPU played by stand-ins, its arithmetic and figures."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
from bench_runs import ROOT, SUPPORT
from engine_runs import needs_compiler

from course_lib.measure import step_flops
from course_tools.bench.frame import Progress, Worker, WorkerError, start, workers
from course_tools.bench.frame.results import failures
from course_tools.bench.frame.tables import markdown, plain
from course_tools.bench.gpu import training
from course_tools.bench.gpu.bench import BENCH, Settings
from course_tools.bench.gpu.catalogue import BATCHES, ENGINE_WAYS, TRAINERS, TRAINING_WAYS
from course_tools.bench.training.measure import Effort

SMALL = {"Net-1h": (784, 16, 10), "Net-2h": (784, 16, 24, 10)}
SETTINGS = Settings(rounds=2, seconds=0.01, nets=("Net-1h", "Net-2h"), batches=(20, 33))
SECTIONS = {**BENCH.sections}


def path_to(*folders):
    places = [*(str(SUPPORT / name) for name in folders), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(places)}


def made_of(cases, **more):
    """A part of a result as measure_training makes it."""
    settings = {"threads": 2, "nets": ["Net-1h", "Net-2h"], "epoch": 50_000, "seconds": 0.2}
    return {"settings": settings, "training": cases, "engine": [], **more}


def whole(part, **gpu):
    """A result with that training and nothing else."""
    return {"products": [], "barrier": {}, "compile": [], "gpu": gpu, "training": part} | {
        "device": "Fake GPU"
    }


# On the CPU engine ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_gpu():
    return training.measure_training(Settings(rounds=2, seconds=0.01), False, Progress("test", 9))


@needs_compiler
def test_without_a_gpu_a_small_net_runs_on_the_engine_and_is_called_that(without_gpu):
    assert (without_gpu["error"], without_gpu["training"]) == ("not measured: no GPU", [])
    (case,) = without_gpu["engine"]
    assert case["sizes"] == [784, 64, 10] and set(case["ways"]) == {way.key for way in ENGINE_WAYS}
    for key, row in case["ways"].items():
        assert len(row["seconds"]) == 2 and min(row["seconds"]) > 0, (key, row)
        assert row["disagreement"] < 1e-5
    assert failures(whole(without_gpu)) == []


@needs_compiler
def test_without_a_gpu_the_report_says_so(without_gpu):
    result = whole(without_gpu)
    note = training.training_note(result)
    assert note == "Net-1h and Net-2h on a GPU: not measured: no GPU."
    (table,) = training.engine_training_tables(result)
    assert "on the CPU engine: this says nothing about a GPU" in table.title
    assert [row[1][:5] for row in table.rows] == ["CPU, "] * len(ENGINE_WAYS)
    assert not list(training.training_tables(result)) and not training.training_figures(result)


def test_a_result_from_before_says_what_it_lacks():
    older = {"device": "CPU engine"}
    assert "older" in training.training_note(older) and "older" in SECTIONS["small"](older)[0]


# A GPU, played by stand-ins ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def played():
    """The cases of a GPU: our kernels on the engine in its place, and the stand-in for PyTorch."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "NETS", SMALL)
        torch = path_to("fake_torch")
        played_by = {"mlp": {"COURSE_GPU": "cpu"}, "torch": torch, "torch-gpu-training": torch}
        for library, env in played_by.items():
            known = workers.LIBRARIES[library]
            patch.setitem(workers.LIBRARIES, library, known._replace(env=env))
        libraries = dict.fromkeys(way.library for way in TRAINING_WAYS)
        started, versions = start(stack, libraries, None)
        assert all(isinstance(worker, Worker) for worker in started.values()), started
        assert "+fake" in versions["torch"]
        started["torch"].close()  # of it, the stand-in has only what serves on a GPU
        started["torch"] = "not installed: pip install torch"
        return training.on_gpu(started, Effort(2, 2, 0.01), SETTINGS, Progress("test", 9))


@needs_compiler
@pytest.mark.slow
def test_every_way_trains_as_the_serial_library_does(played):
    wanted = [(net, B) for net in SMALL for B in (20, 33)]
    assert [(case["net"], case["B"]) for case in played] == wanted
    for case in played:
        assert tuple(case["sizes"]) == SMALL[case["net"]]
        assert set(case["ways"]) == {way.key for way in TRAINING_WAYS}
        for key, row in case["ways"].items():
            if TRAINERS[key].library == "torch":
                assert row["error"] == "not installed: pip install torch"
                continue
            assert len(row["seconds"]) == 2 and min(row["seconds"]) > 0, (key, row)
            assert row["disagreement"] < 1e-5, "TF32 would be off by 1e-4 and more"


@needs_compiler
def test_tables_and_figures_of_a_gpu(played):
    result = whole(made_of(played), products=[])
    made = list(training.training_tables(result))
    names = {net: f"{net} ({'-'.join(map(str, sizes))})" for net, sizes in SMALL.items()}
    titles = [f"{name}, B = {B}" for name in names.values() for B in (20, 33)]
    assert [table.title.partition(";")[0] for table in made] == titles
    cpu = [f"CPU, {n} thread{'s' if n > 1 else ''}" for n in (1, 2, 1, 2)]
    assert [row[1] for row in made[0].rows] == [*cpu, *["GPU"] * 5]
    kinds = ("time", "gflops", "speedup")
    files = [f"fake-gpu-net-{n}h-{kind}.png" for n in (1, 2) for kind in kinds]
    found = training.training_figures(result)
    assert list(found) == files and "our kernels, 4 x 4 a thread" in found[files[0]].alt
    note, *tables, figures = SECTIONS["training"](result)
    assert note == training.training_note(result) and list(figures) == files
    assert [markdown(table) for table in tables] == [markdown(table) for table in made]


@needs_compiler
def test_a_gpu_that_computes_nothing_is_not_timed():
    """The stand-in for PyCUDA launches no kernel of ours: the parameters stay as they were."""
    how = {"sizes": (784, 16, 10), "B": 20, "threads": 1, "seconds": 0.01, "check": True}
    words = "not the serial library's step: differs by 1 of the largest change"
    with Worker("mlp", env={**path_to("fake_pycuda"), "COURSE_GPU": "cuda"}) as worker:
        for key in ("mlp-tiles", "mlp-paper"):
            with pytest.raises(WorkerError, match=words):
                worker.ask("build", key=key, **how)


@pytest.mark.parametrize(
    ("library", "env", "words"),
    [
        ("mlp", {"FAKE_PYCUDA": "no-libcuda"}, "not measured: PyCUDA does not load (libcuda.so.1"),
        ("mlp", {"FAKE_PYCUDA": "no-device"}, "not measured: PyCUDA finds no GPU"),
        ("torch-gpu-training", {"FAKE_TORCH": "no-gpu"}, "not measured: PyTorch finds no GPU"),
    ],
)
def test_without_a_gpu_the_reason_is_said(library, env, words):
    env = {**path_to("fake_pycuda", "fake_torch"), "COURSE_GPU": "cuda", **env}
    with Worker(library, env=env) as worker, pytest.raises(WorkerError) as caught:
        worker.connect()
    assert workers.absent(library, caught.value).startswith(words)


def with_fake_torch(code):
    """What a program prints that finds the stand-in for PyTorch."""
    how = {"cwd": ROOT, "capture_output": True, "text": True}
    env = {**os.environ, **path_to("fake_torch", ".")}
    done = subprocess.run([sys.executable, "-c", code], env=env, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pytorch_on_a_gpu_gets_what_it_should():
    """TF32 off, batches page-locked and copied without waiting, and a wait before the clock stops."""
    said = with_fake_torch("""
import torch
import numpy as np
from course_tools.bench.gpu.desk_torch import TorchGpuTrainingDesk
from course_lib.serial import Network
desk = TorchGpuTrainingDesk()
assert not torch.matmul.allow_tf32
net, order = Network((784, 16, 10)), np.arange(50)
for key, copies in (("torch-gpu-sent", [("copy", "cuda", n * w * 4, True) for n in (20, 20, 10) for w in (784, 10)]),
                    ("torch-gpu-resident", [("copy", "cuda", n * 8, False) for n in (20, 20, 10)])):
    trainer = desk.make(key, net, 20, 1)
    torch.calls.clear()
    trainer.epoch(order)
    assert torch.calls == [("threads", 1), *copies, "synchronize"], torch.calls
print("done")
""")
    assert said == "done\n"


def test_tf32_in_pytorch_would_be_seen():
    """The stand-in rounds as TF32 does while that is on: what the desk reports then is far above its usual."""
    said = with_fake_torch("""
import torch
from course_tools.bench.gpu.desk_torch import TorchGpuTrainingDesk
desk = TorchGpuTrainingDesk()
for torch.matmul.allow_tf32 in (False, True):
    print(desk.build("torch-gpu-sent", (784, 64, 10), 100, 0.01, True)["disagreement"])
""")
    off, on = map(float, said.split())
    assert off < 1e-5 and on > 5e-5


# Arithmetic -------------------------------------------------------------------------------------


def case(B, **seconds):
    row = {"threads": 1, "note": "", "disagreement": 1e-6}
    ways = {key: {**row, "seconds": list(runs)} for key, runs in seconds.items()}
    rates = {"sgemm-1": [90.0, 100.0, 110.0]}
    return {"net": "Net-1h", "sizes": [784, 1024, 10], "B": B, "ways": ways, "rates": rates}


def test_numbers_of_a_table_from_the_runs():
    """The speed-up is the median of ratios within a round; GFLOP/s count the products of an epoch."""
    keys = {"numpy": (2.0, 4.0, 3.0), "mlp-tiles": (0.02, 0.02, 0.05)}
    (table,) = training.training_tables(whole(made_of([case(64, **keys)])))
    assert table.header == training.HEADER
    rate = step_flops((784, 1024, 10), 50_000).products / 0.02 / 1e9
    (numpy, ours) = table.rows
    assert ours[:4] == (TRAINERS["mlp-tiles"].label, "GPU", "0.0200", "0.0200 to 0.0350")
    assert ours[4:] == (f"{rate:,.0f}", "100", "1.0e-06")
    assert numpy[5] == "1.00" and "sgemm in the same rounds: 100 on 1 thread GFLOP/s" in table.title


def product(M, N, K, seconds):
    return {"shape": [M, N, K], "ways": {"cublas-cupy": {"seconds": [seconds]}}}


def test_the_peak_is_cublas_at_the_largest_square():
    times = {(1024, 1024, 1024): 1e-4, (2048, 2048, 2048): 1e-3, (4095, 4097, 1): 1e-9}
    gpu = {"products": [product(*shape, seconds) for shape, seconds in times.items()]}
    rate, words = training.cublas_peak(whole(made_of([]), **gpu))
    assert np.isclose(rate, 2 * 2048**3 / 1e-3 / 1e9)
    assert words == "cuBLAS's product of 2048 x 2048 matrices"
    cases = [case(B, numpy=(2.0,), **{"mlp-tiles": (0.1,)}) for B in (64, 256)]
    drawn = training.training_figures(whole(made_of(cases), **gpu)).values()
    assert len(drawn) == 3 and f"{words} as the peak" in [figure.alt for figure in drawn][1]


def test_a_way_that_failed_is_shown_counted_and_not_drawn():
    made = made_of([case(64, numpy=(2.0,), **{"mlp-tiles": (0.1,)}), case(256, numpy=(2.0,))])
    error = "failed: ArithmeticError: not the step"
    made["training"][1]["ways"]["mlp-tiles"] = {"threads": 1, "error": error}
    result = whole(made)
    assert failures(result) == [f"training, net = Net-1h, B = 256: ways: mlp-tiles: {error}"]
    shown = plain(list(training.training_tables(result))[1])
    assert "failed: ArithmeticError" in shown
    drawn = training.training_figures(result).values()
    assert all("our kernels" not in figure.alt for figure in drawn)


def test_what_is_measured_is_what_was_asked_for():
    assert set(SETTINGS.nets) == {"Net-1h", "Net-2h"} and len(BATCHES) >= 4 and min(BATCHES) <= 64
    libraries = {way.library for way in TRAINING_WAYS}
    assert libraries == {"course", "torch", "mlp", "torch-gpu-training"}
    assert set(training.DRAWN) <= {way.key for way in TRAINING_WAYS} and len(training.DRAWN) <= 7
