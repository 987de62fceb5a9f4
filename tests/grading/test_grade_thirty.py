"""The worked example: the guide's commands over thirty submissions give the honest points and the guide's gradebook."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from course_tools.grading.sandbox import sandbox

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "grading-details.md").read_text(encoding="utf-8")
WHY_NOT = sandbox.available()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")


def commands(folder):
    """The commands of the guide's section, with this Python, in another folder than thirty/."""
    text = (
        GUIDE.partition("## Thirty submissions")[2]
        .partition("<!-- made: thirty -->")[0]
        .replace("\\\n", " ")
    )
    for line in re.findall(r"^    (\.venv/bin/python .*)$", text, re.MULTILINE):
        words = [re.sub(r"^thirty\b", str(folder), word) for word in shlex.split(line)]
        yield [sys.executable, *words[1:]]


def read(file):
    with open(file, encoding="utf-8-sig", newline="") as stream:
        return list(csv.reader(stream))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example, made, released and graded."""
    made = tmp_path_factory.mktemp("example") / "thirty"
    done = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        for command in commands(made)
    ]
    assert [one.returncode for one in done] == [0, 0, 1], (
        done[-1].stdout + done[-1].stderr
    )  # 1: two cannot be read
    return made


def test_each_gets_the_honest_points(folder):
    head, *rows = read(folder / "marks" / "gradebook.csv")
    tasks = slice(2, 5)
    assert [name.split()[1] for name in head[tasks]] == read(folder / "expected.csv")[0][tasks]
    *rows, absent = rows
    assert absent[:2] == ["Absent, Ada", "4999"] and not any(absent[2:-1])
    found = {row[1]: [cell or "0" for cell in row[tasks]] for row in rows}
    wanted = {row[1]: row[tasks] for row in read(folder / "expected.csv")[1:]}
    wanted["4020"][0] = "0.5"  # given by hand
    assert found == wanted


def test_the_guide_shows_this_gradebook(folder):
    command = [
        sys.executable,
        ROOT / "examples" / "make_thirty.py",
        "--gradebook",
        folder / "marks" / "gradebook.csv",
    ]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    shown = GUIDE.partition("<!-- made: thirty -->")[2].partition("<!-- end -->")[0].strip()
    assert made.splitlines() == shown.splitlines()


def test_canvas_gets_all_that_were_graded(folder):
    before, after = read(folder / "canvas.csv"), read(folder / "marks" / "canvas.csv")
    blank = [row[0] for row in after[2:] if not row[5]]
    assert blank == ["Virtanen, Aino", "Wagner, Tom", "Absent, Ada"]
    assert [row[:5] + row[6:] for row in before] == [row[:5] + row[6:] for row in after]
