"""The corpus of faulty programs: every one is found and named, none of the right ones is blamed."""

import pytest
import rank_faults

from course_lib import mpi

PROGRAMS = rank_faults.programs()
FAULTY = [program for program in PROGRAMS if program.finds]
RIGHT = [program for program in PROGRAMS if not program.finds]


def rehearsed(program):
    return mpi.rehearse(program.fn, program.n, show=False, **program.how)


def test_the_corpus_is_large_enough():
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert len(FAULTY) >= 80 and len(RIGHT) >= 25
    assert len({program.kind for program in FAULTY}) >= 30


@pytest.mark.parametrize("program", FAULTY, ids=lambda program: program.name)
def test_a_fault_is_found_and_its_line_named(program):
    report = rehearsed(program)
    found = [error for error in report.errors if error["tool"] in program.finds]
    assert found, f"{program.finds} wanted: {report}"
    said = f"{report} {found[0]['cause']}"
    assert any(word in said for word in program.words.split("|")), said
    assert found[0]["rank"] is not None
    assert found[0]["line"] is not None or program.name == "is_killed", str(report)


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.name)
def test_a_right_program_is_not_blamed(program):
    assert rehearsed(program).ok, str(rehearsed(program))
