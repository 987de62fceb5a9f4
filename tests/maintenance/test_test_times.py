"""The plugin that measures tests: seconds kept test by test, slow tests counted where two workers leave them out."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import slow_tests

from course_tools.maintenance import test_times

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

def burn(seconds):
    import os
    began = sum(os.times()[:2])
    while sum(os.times()[:2]) - began < seconds:
        pass

def test_quick():
    pass

@pytest.mark.alone
@pytest.mark.slow
def test_slow():
    burn(0.3)

def test_in_a_child():
    import subprocess, sys
    code = "import os\\nwhile sum(os.times()[:2]) < 0.5: pass"
    subprocess.run([sys.executable, "-c", code])
"""


def run(folder, *options, long=20.0):
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n  alone\n")
    code = "import sys, pytest; from course_tools.maintenance import test_times as t; "
    code += f"t.LONG = {long}; sys.exit(pytest.main(sys.argv[1:], plugins=[t]))"
    command = [sys.executable, "-c", code, "-p", "no:cacheprovider", *options]
    if "-n" in options:  # its workers load the plugin by name
        command = [sys.executable, "-m", "pytest", "-p", test_times.__name__, *command[3:]]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}"}
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True).stdout


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["one process", "two"]
)
def test_what_is_left_out_is_told(tmp_path, workers):
    said = run(tmp_path, "-m", "not slow", *workers)
    assert "2 passed" in said
    assert "LEFT OUT: 1 slow tests. They run with: python3 start.py test --all" in said
    assert "LEFT OUT" not in run(tmp_path, *workers)
    assert "LEFT OUT" not in run(tmp_path, "-m", "not alone", *workers)


def test_seconds_are_of_the_processor_and_are_kept(tmp_path):
    run(tmp_path)
    times = test_times.read(tmp_path / test_times.TIMES)
    assert times["test_some.py::test_slow"][0] >= 0.3
    assert times["test_some.py::test_in_a_child"][0] >= 0.5
    assert len(times) == 3
    test_times.keep(tmp_path / test_times.TIMES, {"test_some.py::test_quick": [7.0, 8.0]})
    renewed = test_times.read(tmp_path / test_times.TIMES)
    assert renewed == times | {"test_some.py::test_quick": [7.0, 8.0]}
    (tmp_path / "test_some.py").unlink()
    test_times.keep(tmp_path / test_times.TIMES, {})
    assert test_times.read(tmp_path / test_times.TIMES) == {}


def test_a_long_test_without_a_reason_is_named(tmp_path):
    said = run(tmp_path, long=0.4)
    assert "NO REASON GIVEN: test_some.py::test_in_a_child" in said and "test_slow took" not in said


def test_table():
    times = {
        "tests/a/test_x.py::test_1": [2.4, 3.0],
        "tests/a/test_x.py::test_2": [0.2, 0.2],
        "tests/b/test_y.py::test": [30.0, 9.0],
    }
    assert test_times.table(times)[2:] == [
        "| `tests/b` | 1 | 30 | 9 | 30 s, `test_y.py` |",
        "| `tests/a` | 2 | 3 | 3 | 2 s, `test_x.py` |",
        "| together | 3 | 33 | 12 |  |",
    ]
    assert test_times.long_files(times) == ["tests/b/test_y.py", "tests/a/test_x.py"]


def test_files_that_take_long_begin_first(monkeypatch, tmp_path):
    """Of each the tests stay in order; files that the list does not name come last, as they came."""
    listed = tmp_path / "long_files.txt"
    listed.write_text("tests/c.py\ntests/gone.py\ntests/b.py\n")
    monkeypatch.setattr(slow_tests, "LONG_FILES", listed)
    names = ["a.py::1", "b.py::1", "b.py::2", "c.py::1", "c.py::0", "d.py::1"]
    items = [SimpleNamespace(nodeid=f"tests/{name}") for name in names]
    slow_tests.longest_first(items)
    given = [item.nodeid.removeprefix("tests/") for item in items]
    assert given == ["c.py::1", "c.py::0", "b.py::1", "b.py::2", "a.py::1", "d.py::1"]


def test_the_list_of_long_files_names_files_that_are_there():
    """A file that was renamed or dropped leaves the list: test_times --write."""
    files = slow_tests.LONG_FILES.read_text(encoding="utf-8").split()
    assert files and all((ROOT / file).is_file() for file in files)
