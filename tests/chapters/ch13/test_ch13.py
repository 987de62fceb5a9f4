"""Chapter 13: the facts that its exercise rests on, and its checks with orders of every kind.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import mpi
from course_lib.checks import ch13 as checks
from course_lib.checks.ch13 import bubbles, choice, flow, shards
from course_lib.checks.kit.core import CheckFailed
from course_lib.mpi import sharded
from course_lib.mpi.pipeline import bubble, predicted_bubble, schedule, simulate
from course_lib.serial import Network

CHAPTER = Path(__file__).parents[3] / "chapters" / "13-pipelines-and-shards"
EXERCISE = (CHAPTER / "exercise.md").read_text(encoding="utf-8")


def names_of(*cells, **known):
    """The names that cells of the exercise define."""
    for cell in cells:
        code = re.search(
            rf"```{{code-cell}} ipython3\n:name: {cell}\n(?::.*\n)*(.*?)```", EXERCISE, re.DOTALL
        )
        exec(compile(code[1], cell, "exec"), known)
    return known


def test_all_checks_are_tried_in_the_exercise():
    assert set(re.findall(r"\.(check_\w+)\(", EXERCISE)) == set(checks.__all__)


# Bubbles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0.5, 0.25, 0.125, 0.0313, 0.9])
@pytest.mark.parametrize("p", [1, 2, 3, 7, 40])
def test_the_fewest_micro_batches_are_enough_and_one_fewer_is_not(p, most):
    m = bubbles.fewest(p, most)
    assert predicted_bubble("1f1b", p, m) <= most
    assert m == 1 or predicted_bubble("1f1b", p, m - 1) > most


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_waiting_is_the_librarys(seed):
    for case in bubbles._line_cases(np.random.default_rng(seed))[:4]:
        (line,) = case.args
        assert 0 < bubbles.share_waited(line) < 1
    line = simulate(schedule("zb-h2", 3, 7))
    plain = [(span.thread, span.start, span.end) for span in line]
    assert bubbles.share_waited(plain) == pytest.approx(bubble(line), abs=1e-12)


# A schedule -----------------------------------------------------------------------------------------------------------


def by_room(p, m):
    """1F1B by another rule: forward while there is room."""
    tasks = []
    for r in range(p):
        f = b = 0
        while b < m:
            ahead = f < m and f - b < p - r
            tasks.append((r, "forward" if ahead else "backward", r, f if ahead else b))
            f, b = f + ahead, b + (not ahead)
    return tasks


@pytest.mark.parametrize(
    "right",
    [
        by_room,
        lambda p, m: schedule("1f1b", p, m),
        lambda p, m: tuple(sorted(schedule("1f1b", p, m), key=lambda task: -task.rank)),
        lambda p, m: [list(task) for task in by_room(p, m)],
    ],
)
def test_any_schedule_as_good_as_1f1b_passes(right):
    checks.check_one_f_one_b(right, seed=3)


@pytest.mark.parametrize(
    "name, told", [("gpipe", "that is GPipe"), ("zb-h1", "1F1B keeps"), ("zb-h2", "1F1B keeps")]
)
def test_other_schedules_keep_too_much(name, told):
    with pytest.raises(CheckFailed, match=told):
        checks.check_one_f_one_b(lambda p, m: schedule(name, p, m), seed=3)


def test_a_schedule_that_waits_for_ever_is_told_where():
    with pytest.raises(CheckFailed, match="waits for ever"):
        checks.check_one_f_one_b(lambda p, m: by_room(p, m)[::-1], seed=3)


# The naive pipeline ---------------------------------------------------------------------------------------------------


def naive_step(comm, naive, name, m):
    order = [(task.kind, task.micro) for task in schedule(name, comm.size, m).of(comm.rank)]
    X, W = np.ones((m, 2, 5), np.float32), np.eye(5, dtype=np.float32) / 2
    return naive(comm, order, W, X, X)


def test_the_naive_pipeline_stands_where_the_check_says():
    naive = names_of("naive", "naive-pipeline", mpi=mpi, np=np)["naive"]
    report = mpi.rehearse(naive_step, flow.P, naive, "1f1b", flow.M)
    assert [error["tool"] for error in report.errors] == ["deadlock"]
    assert all(place["op"].startswith("Send(") for place in report.errors[0]["ranks"].values())
    plan = schedule("1f1b", flow.P, flow.M)
    for rank, wanted in enumerate(flow.TRUTH):
        done = [e for e in report.events if e["rank"] == rank and e["op"] == "compute"]
        assert plan.label(plan.of(rank)[len(done) - 1]) == wanted


def test_the_naive_pipeline_gets_through_gpipes_order():
    naive = names_of("naive", "naive-pipeline", mpi=mpi, np=np)["naive"]
    assert mpi.rehearse(naive_step, 3, naive, "gpipe", 4).ok


@pytest.mark.parametrize("m", [2, 3, 8])
def test_seconds_of_two_stages_are_as_the_text_says(m):
    assert simulate(schedule("1f1b", 2, m)).makespan == 3 * m + 3
    assert simulate(schedule("zb-h1", 2, m)).makespan == 3 * m + 1
    assert "takes $3m + 3$ seconds" in EXERCISE and "takes $3m + 1$" in EXERCISE


# Shards ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("micro", [1, 3])
def test_bytes_on_paper_are_the_librarys(stage, micro):
    net, p = Network((2, 3, 6)), 3  # 9 and 24 numbers: three parts of equal length
    kept, sent = shards.paper(33, p, stage, 2, micro)
    moment = 24 * 4 * (1 + (stage == 3))  # the layer that is whole for a moment
    for rank in range(p):
        assert sum(sharded.memory(net, p, rank, stage, slots=2).values()) == kept + moment
        assert sharded.sent(net, p, rank, stage, micro)[1] == pytest.approx(sent)


# The choice -----------------------------------------------------------------------------------------------------------


def test_the_exercise_costs_as_the_check_does():
    given = names_of("costs-of", Costs=choice.Costs)
    assert given["NAMES"] == choice.NAMES
    for name in choice.NAMES:
        args = name, 6.0, 0.3, (1.0, 2.0, 0.5)
        assert given["costs_of"](*args) == choice.costs_of(*args)


@pytest.mark.parametrize("seed", range(1, 4))
def test_the_clusters_want_different_choices_and_both_reasons(seed):
    winners, reasons = set(), set()
    for _, args in choice._cases(np.random.default_rng(seed)):
        times = choice._fitting(args)
        best = min(times, key=times.__getitem__)
        winners.add(best)
        fits = {name for name, _ in times}
        reasons |= {choice.REASONS[name in fits] for name in choice.NAMES if name != best[0]}
    assert len({name for name, _ in winners}) >= 3 and len({m for _, m in winners}) >= 2
    assert reasons == set(choice.REASONS)
