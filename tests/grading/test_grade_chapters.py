"""A release of each chapter can be made: in a room, without its answers, solutions pass and given cells run."""

import dataclasses

import pytest

from course_tools.grading.commands import gate
from course_tools.grading.paths import BESIDE
from course_tools.grading.release import make
from course_tools.grading.release.manifest import Release
from course_tools.grading.sandbox import sandbox

WHY_NOT = sandbox.available()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}"),
]
READS = {read.chapter: read for read in make.exercises(BESIDE)}


def without_planted(cell):
    """The planted wrong answers of a task are tried by tests of their own."""
    if not cell.task:
        return cell
    return dataclasses.replace(cell, task=dataclasses.replace(cell.task, mutants=()))


@pytest.mark.parametrize("name", READS)
def test_solutions_pass_blanks_earn_nothing_and_given_cells_run(tmp_path, name):
    """It starts the processes of a whole exercise, with the real ranks that its cells ask for."""
    read = READS[name]
    read = dataclasses.replace(read, cells=[without_planted(cell) for cell in read.cells])
    release = Release(tmp_path, "id", 1, {name: make.chapter_of(read)})
    said: list = []
    gate.run([read], release, say=said.append)  # raises Refused, with a line for each fault
    tried = 2 * len(read.tasks)
    assert said == [f"{name}: {tried} answers tried, 0 not as meant"]
