"""Collectives, counts and parallel training, in each number of ranks from 1 to 6."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.mpi import cost
from course_lib.mpi.flat import shard
from course_lib.mpi.launcher import launch
from course_lib.serial import Network

SLOW = float(os.environ.get("COURSE_SLOW", "1"))
HERE = Path(__file__).parent


def in_ranks(p, part, folder):
    run = [launch.mpiexec(), "-n", str(p), sys.executable, str(HERE / "mpi_script.py"), part, str(folder)]
    env = os.environ | launch.QUIET | launch.ONE_THREAD | {"PYTHONPATH": str(HERE.parent)}
    return subprocess.run(run, capture_output=True, text=True, timeout=40 * SLOW, env=env)


@pytest.mark.timeout(60 * SLOW)
@pytest.mark.parametrize("p", range(1, 7))
def test_in_ranks(p, tmp_path):
    done = in_ranks(p, "library", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["epoch-0002.npz", "epoch-0003.npz"]


@pytest.mark.timeout(60 * SLOW)
def test_each_step_on_mnist_and_fashion_mnist_is_within_the_derived_tolerance(tmp_path):
    done = in_ranks(4, "datasets", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("of the bound") == 2, done.stdout


@pytest.mark.timeout(60 * SLOW)
def test_a_run_that_is_killed_while_it_writes_goes_on_to_the_same_bits(tmp_path):
    assert in_ranks(2, "killed", tmp_path).returncode != 0
    names = [file.name for file in tmp_path.iterdir()]
    assert "epoch-0001.npz" in names and len(names) == 2 and any(name.endswith(".tmp") for name in names), names
    done = in_ranks(2, "goes_on", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["epoch-0002.npz", "epoch-0003.npz"]


@pytest.mark.timeout(60 * SLOW)
def test_each_rank_may_compute_on_its_own_device(tmp_path):
    done = in_ranks(2, "engine", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_shards_cover_all_rows():
    for B in range(12):
        rows = [shard(B, 4, r) for r in range(4)]
        assert [i for s in rows for i in range(s.start, s.stop)] == list(range(B))
        assert max(s.stop - s.start for s in rows) - min(s.stop - s.start for s in rows) <= 1


def test_fit_finds_what_made_the_times():
    sizes = [1, 100, 10_000, 1_000_000]
    alpha, beta = cost.fit(sizes, [3e-6 + 2e-10 * size for size in sizes])
    assert np.isclose(alpha, 3e-6, rtol=1e-6) and np.isclose(beta, 2e-10, rtol=1e-6)


def test_costs():
    net = Network((784, 1024, 10))
    items = 784 * 1024 + 1024 + 1024 * 10 + 10
    assert cost.step_bytes(net, 100, 4, 1) == 4 * 2 * 3 / 4 * items  # data parallel: all gradients
    assert cost.step_bytes(net, 100, 1, 4) == 4 * 2 * 3 / 4 * 100 * 10  # model parallel: the logits, [003] section 4.3
    assert cost.best_grid(net, 100, 4) == (1, 4)
    assert cost.best_grid(Network((10, 10, 10)), 100_000, 4) == (4, 1)
    assert cost.seconds(4, 400, 1e-6, 1e-9) == pytest.approx(6 * (1e-6 + 1e-7))
    assert cost.seconds(6, 400, 1e-6, 1e-9, "doubling") == pytest.approx(4 * (1e-6 + 4e-7))
    assert cost.seconds(6, 400, 1e-6, 1e-9, "tree") == pytest.approx(6 * (1e-6 + 4e-7))
    with pytest.raises(BadInput):
        cost.seconds(4, 400, 1e-6, 1e-9, "star")
