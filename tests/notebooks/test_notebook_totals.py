"""All notebooks of a folder together have a limit: what they took is told, and too much is red."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sample_chapter import notebook

ROOT = Path(__file__).parents[2]
PLUGINS = [
    "-p",
    "course_tools.notebooks.notebook_totals",
    "-p",
    "course_tools.notebooks.nbval_strict",
    "--nbval",
]


BUSY = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass"


def run(folder, allowed, *options):
    """pytest on two notebooks of 0.6 processor seconds each, whose folder may take `allowed` seconds."""
    for name in ("a", "b"):
        notebook(folder / "lessons" / f"{name}.ipynb", BUSY)
    (folder / "pytest.ini").write_text(
        f"[pytest]\nnotebook_folder_seconds =\n    lessons {allowed}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *PLUGINS, *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True)


@pytest.fixture(autouse=True)
def lessons(tmp_path):
    (tmp_path / "lessons").mkdir()


def test_enough(tmp_path):
    done = run(tmp_path, 30)
    assert (
        done.returncode == 0 and "lessons: the cells of 2 took 1 s, of 30 s allowed" in done.stdout
    )
    assert "TOO LONG" not in done.stdout


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two"])
def test_each_alone_would_do_but_not_both(tmp_path, options):
    done = run(tmp_path, 1, *options)
    assert done.returncode == 1 and "4 passed" in done.stdout
    assert "TOO LONG: lessons: the cells of 2 took 1 s, of 1 s allowed" in done.stdout


def test_a_slow_machine_is_allowed_more(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SLOW", "30")
    done = run(tmp_path, 1)
    assert done.returncode == 0 and "of 30 s allowed" in done.stdout
