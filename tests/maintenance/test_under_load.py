"""The tests run beside programs that count; the result is that of all runs, and nothing goes on afterwards."""

import subprocess

import pytest

from course_tools.maintenance import run_tests, under_load


@pytest.mark.parametrize("statuses, expected", [([0, 0], 0), ([0, 1], 1)])
def test_runs(monkeypatch, capsys, statuses, expected):
    started, real, left = [], subprocess.Popen, list(statuses)

    def popen(*args):
        started.append(real(*args))
        return started[-1]

    def run(options):
        assert options == ["-k", "x"] and all(p.poll() is None for p in started)
        return left.pop(0)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(run_tests, "main", run)
    assert under_load.main(["--times", "2", "--loops", "3", "-k", "x"]) == expected
    assert len(started) == 3 and all(p.poll() is not None for p in started)
    said = capsys.readouterr().out
    assert said.count("green") + said.count("RED") == 2 and ("RED (1)" in said) == bool(expected)
