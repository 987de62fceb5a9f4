"""Which runs of pytest `start.py test` starts, and what it makes of their exit statuses."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from course_tools.maintenance import run_tests

BESIDE = ["-n", "3", "--dist", "loadfile", "-m"]


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setattr(run_tests, "workers", lambda: 3)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ([], [[*BESIDE, "not slow and not alone"], ["-m", "not slow and alone"]]),
        (["--all"], [[*BESIDE, "not alone"], ["-m", "alone"]]),
        (
            ["-k", "x"],
            [
                [*BESIDE, "not slow and not alone", "-k", "x"],
                ["-m", "not slow and alone", "-k", "x"],
            ],
        ),
        (["tests/data", "-x"], [["tests/data", "-x"]]),
        (["start.py::test_it"], [["start.py::test_it"]]),
        (["-m", "gpu"], [["-m", "gpu"]]),
        (["--version"], [["--version"]]),
    ],
)
def test_runs(three, arguments, expected):
    assert run_tests.runs(arguments) == expected


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
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert run_tests.main([]) == expected and not left
    assert given[0][1]["OMP_NUM_THREADS"] == "1", "two workers, each with a BLAS of two threads"
    assert all("OMP_NUM_THREADS" not in env for _, env in given[1:])


@pytest.mark.parametrize(
    "cores, gigabytes, expected", [(2, 16, 2), (8, 4, 2), (1, 1, 1), (4, 99, 4)]
)
def test_workers(monkeypatch, cores, gigabytes, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (gigabytes << 30) // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    assert run_tests.workers() == expected
