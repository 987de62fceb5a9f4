"""One pytest over the assembled notebooks of a folder: started by `grade`, on one core or on an engine of a cluster."""

import os
import subprocess
import sys
from pathlib import Path

INI = "[pytest]\naddopts =\n"


def command(folder):
    """The command line of a worker: nothing but the grader's own files configures it."""
    folder = Path(folder)
    (folder / "grader.ini").write_text(INI)
    return [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-c", str(folder / "grader.ini"),
            f"--rootdir={folder}", "--noconftest", "-p", "no:cacheprovider", "-p", "nbval.plugin", "--nbval",
            "-p", "course_lib.classroom.grading.plugin", f"--jobs={folder / 'jobs.json'}",
            f"--junitxml={folder / 'cells.xml'}", str(folder)]  # fmt: skip


def start(folder):
    """Start a worker on a folder written by `jobs.write`; its output goes to worker.log there."""
    root = str(Path(__file__).resolve().parents[3])
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": root, "PYTEST_ADDOPTS": ""}
    with open(Path(folder, "worker.log"), "w") as log:
        return subprocess.Popen(command(folder), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def run(folder):
    """Start a worker and wait for it: its exit status."""
    return start(folder).wait()
