"""`course bench gpu`, its training: on the CPU engine, with a GPU played by stand-ins, its arithmetic and figures."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.bench import (
    gpu_docs,
    gpu_measuring,
    gpu_training,
    gpu_training_tables,
    gpu_workers,
    tables,
)
from course_lib.bench.gpu_catalogue import BATCHES, ENGINE_WAYS, TRAINERS, TRAINING_WAYS
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.progress import Progress
from course_lib.bench.training import Effort
from course_lib.measure import step_flops

ROOT, HERE = Path(__file__).resolve().parents[1], Path(__file__).parent
SMALL = {"Net-1h": (784, 16, 10), "Net-2h": (784, 16, 24, 10)}
SETTINGS = gpu_measuring.Settings(
    rounds=2, seconds=0.01, nets=("Net-1h", "Net-2h"), batches=(20, 33)
)


def path_to(*folders):
    return {
        "PYTHONPATH": os.pathsep.join(
            [*(str(HERE / f) for f in folders), os.environ.get("PYTHONPATH", "")]
        )
    }


def made_of(cases, **more):
    """A part of a result as measure_training makes it."""
    settings = {"threads": 2, "nets": ["Net-1h", "Net-2h"], "epoch": 50_000, "seconds": 0.2}
    return {"settings": settings, "training": cases, "engine": [], **more}


# On the CPU engine ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_gpu():
    settings = gpu_measuring.Settings(rounds=2, seconds=0.01)
    return gpu_training.measure_training(settings, 2, False, Progress("test", 9))


@needs_compiler
def test_without_a_gpu_a_small_net_runs_on_the_engine_and_is_called_that(without_gpu):
    assert (without_gpu["error"], without_gpu["training"]) == ("not measured: no GPU", [])
    (case,) = without_gpu["engine"]
    assert case["sizes"] == [784, 64, 10] and set(case["ways"]) == {way.key for way in ENGINE_WAYS}
    for key, row in case["ways"].items():
        assert len(row["seconds"]) == 2 and min(row["seconds"]) > 0, (key, row)
        assert row["disagreement"] < 1e-5
    assert gpu_training.training_failures(without_gpu) and not whole(without_gpu)["failures"]


@needs_compiler
def test_without_a_gpu_the_report_says_so(without_gpu):
    result = whole(without_gpu)
    assert (
        gpu_training_tables.training_note(result)
        == "Net-1h and Net-2h on a GPU: not measured: no GPU."
    )
    (table,) = gpu_training_tables.engine_training_tables(result)
    assert "on the CPU engine: this says nothing about a GPU" in table.title
    assert all(row[1].startswith("CPU, ") for row in table.rows) and len(table.rows) == len(
        ENGINE_WAYS
    )
    assert not list(
        gpu_training_tables.training_tables(result)
    ) and not gpu_training_tables.training_figures(result)


def whole(training, **gpu):
    """A result with that training and nothing else, and what failed in it."""
    made = {
        "products": [],
        "barrier": {},
        "compile": [],
        "gpu": gpu,
        "training": training,
        "device": "Fake GPU",
    }
    return {**made, "failures": gpu_measuring.failures(made)}


def test_a_result_from_before_says_what_it_lacks():
    older = {"device": "CPU engine"}
    assert "older" in gpu_training_tables.training_note(older) and "older" in gpu_docs.BLOCKS[
        "small"
    ](older)


# A GPU, played by stand-ins ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played():
    """The cases of a GPU: our kernels on the engine in its place, and the stand-in for PyTorch."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_training, "NETS", SMALL)
        patch.setitem(gpu_workers.ENVIRONMENT, "mlp", {"COURSE_GPU": "cpu"})
        patch.setitem(gpu_workers.ENVIRONMENT, "torch-gpu-training", path_to("fake_torch"))
        patch.setitem(gpu_workers.ENVIRONMENT, "torch", path_to("fake_torch"))
        libraries = dict.fromkeys(way.library for way in TRAINING_WAYS)
        workers, versions = gpu_workers.start(stack, libraries, None)
        assert all(isinstance(worker, Worker) for worker in workers.values()), workers
        assert "+fake" in versions["torch"]
        workers.pop("torch").close()  # of it, the stand-in has only what serves on a GPU
        workers["torch"] = "not installed: pip install torch"
        return gpu_training.on_gpu(workers, Effort(2, 2, 0.01), SETTINGS, Progress("test", 9))


@needs_compiler
def test_every_way_trains_as_the_serial_library_does(played):
    assert [(case["net"], case["B"]) for case in played] == [
        (net, B) for net in SMALL for B in (20, 33)
    ]
    for case in played:
        assert tuple(case["sizes"]) == SMALL[case["net"]] and set(case["ways"]) == {
            way.key for way in TRAINING_WAYS
        }
        for key, row in case["ways"].items():
            if TRAINERS[key].library == "torch":
                assert row["error"] == "not installed: pip install torch"
                continue
            assert len(row["seconds"]) == 2 and min(row["seconds"]) > 0, (key, row)
            assert row["disagreement"] < 1e-5, "TF32 would be off by 1e-4 and more"


@needs_compiler
def test_tables_and_figures_of_a_gpu(played):
    result = whole(made_of(played), products=[])
    made = list(gpu_training_tables.training_tables(result))
    assert [table.title.partition(";")[0] for table in made] == [
        f"{net} ({'-'.join(map(str, sizes))}), B = {B}"
        for net, sizes in SMALL.items()
        for B in (20, 33)
    ]
    assert [row[1] for row in made[0].rows] == [
        "CPU, 1 thread",
        "CPU, 2 threads",
        "CPU, 1 thread",
        "CPU, 2 threads",
        *["GPU"] * 4,
    ]
    names = [
        f"fake-gpu-{net}-{kind}.png"
        for net in ("net-1h", "net-2h")
        for kind in ("time", "gflops", "speedup")
    ]
    found = gpu_training_tables.training_figures(result)
    assert list(found) == names and "our kernels, 4 x 4 a thread" in found[names[0]].alt
    block = gpu_docs.BLOCKS["training"](result)
    assert (
        all(f"benchmarks/results/{name}" in block for name in names)
        and tables.markdown(made[0]) in block
    )


@needs_compiler
def test_a_gpu_that_computes_nothing_is_not_timed():
    """The stand-in for PyCUDA launches no kernel of ours: the parameters stay as they were."""
    env = {**path_to("fake_pycuda"), "COURSE_GPU": "cuda"}
    with Worker("mlp", env=env) as worker:
        worker.ask("hello")
        for key in ("mlp-tiles", "mlp-paper"):
            with pytest.raises(
                WorkerError,
                match="not the serial library's step: differs by 1 of the largest change",
            ):
                worker.ask(
                    "build", key=key, sizes=(784, 16, 10), B=20, threads=1, seconds=0.01, check=True
                )


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
        worker.ask("hello")
    assert gpu_workers.absent(library, caught.value).startswith(words)


def test_pytorch_on_a_gpu_gets_what_it_should():
    """TF32 off, batches page-locked and copied without waiting, and a wait before the clock stops."""
    code = """
import torch
import numpy as np
from course_lib.bench.desk_gpu_torch_training import TorchGpuTrainingDesk
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
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **path_to("fake_torch", "..")},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "done\n", done.stdout + done.stderr


def test_tf32_in_pytorch_would_be_seen():
    """The stand-in rounds as TF32 does while that is on: what the desk reports then is far above its usual."""
    code = """
import torch
from course_lib.bench.desk_gpu_torch_training import TorchGpuTrainingDesk
desk = TorchGpuTrainingDesk()
for torch.matmul.allow_tf32 in (False, True):
    print(desk.build("torch-gpu-sent", (784, 64, 10), 100, 1, 0.01, True)["disagreement"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **path_to("fake_torch", "..")},
        capture_output=True,
        text=True,
    )
    off, on = map(float, done.stdout.split())
    assert off < 1e-5 and on > 5e-5


# Arithmetic ----------------------------------------------------------------------------------------------------------


def case(B, sizes=(784, 1024, 10), **seconds):
    ways = {
        key: {"threads": 1, "note": "", "disagreement": 1e-6, "seconds": list(s)}
        for key, s in seconds.items()
    }
    return {
        "net": "Net-1h",
        "sizes": list(sizes),
        "B": B,
        "ways": ways,
        "rates": {"sgemm-1": [90.0, 100.0, 110.0]},
    }


def test_numbers_of_a_table_from_the_runs():
    """The speed-up is the median of ratios within a round; GFLOP/s count the products of an epoch."""
    keys = {"numpy": (2.0, 4.0, 3.0), "mlp-tiles": (0.02, 0.02, 0.05)}
    (table,) = gpu_training_tables.training_tables(whole(made_of([case(64, **keys)])))
    assert table.header == gpu_training_tables.HEADER
    flops = step_flops((784, 1024, 10), 50_000).products
    (numpy, ours) = table.rows
    assert ours == (
        TRAINERS["mlp-tiles"].label,
        "GPU",
        "0.0200",
        "0.0200 to 0.0350",
        f"{flops / 0.02 / 1e9:,.0f}",
        "100",
        "1.0e-06",
    )
    assert numpy[5] == "1.00" and "sgemm in the same rounds: 100 on 1 thread GFLOP/s" in table.title


def test_the_peak_is_cublas_at_the_largest_square():
    def product(M, N, K, seconds):
        return {"shape": [M, N, K], "ways": {"cublas-cupy": {"seconds": [seconds]}}}

    gpu = {
        "products": [
            product(1024, 1024, 1024, 1e-4),
            product(2048, 2048, 2048, 1e-3),
            product(4095, 4097, 1, 1e-9),
        ]
    }
    rate, words = gpu_training_tables._peak(whole(made_of([]), **gpu))
    assert (
        np.isclose(rate, 2 * 2048**3 / 1e-3 / 1e9)
        and words == "cuBLAS's product of 2048 x 2048 matrices"
    )
    result = whole(
        made_of([case(B, numpy=(2.0,), **{"mlp-tiles": (0.1,)}) for B in (64, 256)]), **gpu
    )
    titles = [figure.alt for figure in gpu_training_tables.training_figures(result).values()]
    assert len(titles) == 3 and "cuBLAS's product of 2048 x 2048 matrices as the peak" in titles[1]


def test_a_way_that_failed_is_shown_counted_and_not_drawn():
    made = made_of([case(64, numpy=(2.0,), **{"mlp-tiles": (0.1,)}), case(256, numpy=(2.0,))])
    made["training"][1]["ways"]["mlp-tiles"] = {
        "threads": 1,
        "error": "failed: ArithmeticError: not the step",
    }
    result = whole(made)
    assert result["failures"] == [
        "Net-1h, B = 256: mlp-tiles: failed: ArithmeticError: not the step"
    ]
    assert "failed: ArithmeticError" in tables.plain(
        list(gpu_training_tables.training_tables(result))[1]
    )
    assert all(
        "our kernels" not in f.alt for f in gpu_training_tables.training_figures(result).values()
    )


def test_what_is_measured_is_what_was_asked_for():
    assert set(SETTINGS.nets) == {"Net-1h", "Net-2h"} and len(BATCHES) >= 4 and min(BATCHES) <= 64
    assert {way.library for way in TRAINING_WAYS} == {
        "course",
        "torch",
        "mlp",
        "torch-gpu-training",
    }
    assert (
        set(gpu_training_tables.DRAWN) <= {way.key for way in TRAINING_WAYS}
        and len(gpu_training_tables.DRAWN) <= 7
    )
