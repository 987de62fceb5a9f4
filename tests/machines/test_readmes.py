"""The examples in the READMEs of the machines run, alone, and print what stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ROOT / "course_lib" / "machines"
NAMES = ("cpu_engine", "cuda_c", "rehearsal", "ranks")
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# what a machine may have loaded of the library, beside itself, when its example is through
BELOW = ("course_lib", "course_lib.errors", "course_lib.machines", "course_lib.measure")
# the rooms that a machine stands on: how a report is shown, what is compiled; the books of ranks
ROOMS = {"cpu_engine": ("trace_page", "cuda_c"), "ranks": ("books",)}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs_and_prints_what_is_said(name):
    text = (MACHINES / name / "README.md").read_text(encoding="utf-8")
    (first, code), (second, printed) = BLOCK.findall(text)[:2]
    assert (first, second) == ("python", "text")
    told = f"{code}\nimport sys\nprint(*sys.modules)"
    run = [sys.executable, "-c", told]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    said, _, modules = done.stdout.rstrip("\n").rpartition("\n")
    assert f"{said}\n" == printed
    ours = [module for module in modules.split() if module.split(".")[0] == "course_lib"]
    rooms = tuple(f"course_lib.machines.{room}" for room in (name, *ROOMS.get(name, ())))
    alone = (*rooms, "course_lib.measure.")
    assert [module for module in ours if module not in BELOW and not module.startswith(alone)] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_names_every_file(name):
    text, folder = (MACHINES / name / "README.md").read_text(encoding="utf-8"), MACHINES / name
    files = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert [file for file in files if f"`{file}`" not in text] == []
    assert len(text.splitlines()) <= 100  # a page or two
