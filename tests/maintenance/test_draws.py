"""Verdicts on many draws: one that hangs on the draw is found, and the solutions of a chapter are tried."""

import itertools
from types import SimpleNamespace

import pytest

from course_lib.checks.kit.kinds import CLOCK
from course_lib.checks.kit.messages import CheckFailed, Report
from course_tools.maintenance import draws


@pytest.fixture
def odd_seeds(monkeypatch):
    """A task whose check lets every answer pass on odd seeds alone."""

    def check(value, seed):
        if seed % 2 == 0:
            raise CheckFailed(Report("no"), *([CLOCK] if value == "late" else []))

    monkeypatch.setattr(draws, "_check_and_value", lambda answer: (check, answer.cell))


def answer(name, cell="", wanted=4):
    return draws.Answer("00", "a-task", name, cell, wanted)


@pytest.mark.parametrize("name, amiss", [("solution", [1000, 1002]), ("wrong", [1001, 1003])])
def test_verdicts_that_hang_on_the_draw_are_named(odd_seeds, capsys, name, amiss):
    outcome = draws.tried(answer(name), 60)
    assert (outcome.draws, outcome.amiss, outcome.untold) == (4, amiss, 0)
    assert draws._printed([(answer(name), outcome)]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"WRONG 00 a-task {name}: 4 draws") and str(amiss[1]) in said


def test_what_took_too_long_is_no_verdict(odd_seeds):
    outcome = draws.tried(answer("solution", "late"), 60)
    assert (outcome.amiss, outcome.untold) == ([], 2)
    assert "no verdict 2" in draws.line(answer("solution"), outcome)


def test_budget_is_shared_by_draws(odd_seeds):
    seconds = itertools.count(0, 1).__next__  # each look at the clock takes one
    found = [answer("solution", wanted=30), answer("wrong", wanted=10)]
    first, second = [outcome.draws for _, outcome in draws.rows(found, 20, seconds)]
    assert 10 < first < 20 and 0 < second < 10
    assert f"{first} of 30 draws" in draws.line(
        found[0], SimpleNamespace(draws=first, amiss=[], untold=0)
    )


def test_a_cell_that_stops_has_no_draws(monkeypatch):
    def stops(answer):
        raise SyntaxError

    monkeypatch.setattr(draws, "_check_and_value", stops)
    assert draws.tried(answer("wrong"), 60).draws == 0
    with pytest.raises(SyntaxError):
        draws.tried(answer("solution"), 60)


@pytest.mark.parametrize("chapter", ["00", "14"])
def test_sample(chapter, capsys):
    assert draws.main([chapter, "--solutions", "5", "--planted", "2"]) == 0
    assert "verdicts that hang on the draw: 0" in capsys.readouterr().out


def test_chapter_that_is_not_there(capsys):
    assert draws.main(["77"]) == 2 and capsys.readouterr().err
