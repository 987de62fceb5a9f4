"""Which runs of pytest `start.py test` starts, and what it makes of their exit statuses."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from course_tools.maintenance import run_tests

BESIDE = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
QUICK = "not slow and not alone"
ALONE = ["tests/machines/test_one.py", "tests/mpi/test_two.py"]


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setattr(run_tests, "workers", lambda: 3)
    monkeypatch.setattr(run_tests, "alone_files", lambda: ALONE)
    for name in run_tests.BLAS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ([], [[*BESIDE, "-m", QUICK], [*ALONE, "-m", "not slow and alone"]]),
        (
            ["-k", "x"],
            [[*BESIDE, "-m", QUICK, "-k", "x"], [*ALONE, "-m", "not slow and alone", "-k", "x"]],
        ),
        (["tests/data", "-x"], [["tests/data", "-x"]]),
        (["start.py::test_it"], [["start.py::test_it"]]),
        (["-m", "gpu"], [["-m", "gpu"]]),
        (["--version"], [["--version"]]),
    ],
)
def test_runs(three, arguments, expected):
    assert [options for options, _ in run_tests.runs(arguments)] == expected


@pytest.mark.skipif(os.name != "posix", reason="the CPU engine does not run on Windows")
def test_all(three):
    beside, alone, ziglang = run_tests.runs(["--all", "-x"])
    assert beside[0] == [*BESIDE, "-m", "not alone", "-x"]
    assert alone == ([*ALONE, "-m", "alone", "-x"], {})
    assert ziglang[0][5] == "notebooks/05-gpu-first-kernels.ipynb" and ziglang[0][-1] == "-x"
    assert (
        len(ziglang[0]) == 5 + 8 + 1 + 1
        and ziglang[0][-2] == run_tests.CORPUS
        and ziglang[1]["COURSE_CXX"] == "ziglang"
    )
    assert beside[1]["OMP_NUM_THREADS"] == "1", (
        "or each would have a BLAS of as many threads as cores"
    )


def test_files_with_tests_that_run_alone_are_found():
    found = run_tests.alone_files()
    assert "tests/machines/ranks/test_mpi_cluster.py" in found
    assert "tests/mpi/test_mpi_pipeline.py" in found and "tests/conftest.py" not in found
    assert len(found) < 20, "most tests have others beside them"


@pytest.mark.parametrize(
    "statuses, expected",
    [((0, 0), 0), ((0, 5), 0), ((5, 0), 5), ((1, 0), 1), ((0, 1), 1), ((2,), 2)],
)
def test_exit_status(three, monkeypatch, statuses, expected):
    """A red run is red whatever comes after it; an interrupt ends all; nothing to measure (5) is fine."""
    given, left = [], list(statuses)

    def run(command, cwd, env):
        given.append((command[3:], env))
        return SimpleNamespace(returncode=left.pop(0))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert run_tests.main([]) == expected and not left
    assert given[0][1]["OMP_NUM_THREADS"] == "1"
    assert all("OMP_NUM_THREADS" not in env for _, env in given[1:])
    assert all("PYTHONDONTWRITEBYTECODE" not in env for _, env in given)


@pytest.mark.parametrize(
    "cores, gigabytes, expected", [(2, 16, 4), (8, 4, 2), (1, 1, 1), (4, 99, 6)]
)
def test_workers(monkeypatch, cores, gigabytes, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (gigabytes << 30) // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    assert run_tests.workers() == expected
