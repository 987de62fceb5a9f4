"""The check of the simulator against real ranks: what it does with measurements, without measuring any."""

import pytest

from course_lib import mpi
from course_lib.mpi.pipeline import Costs, schedule
from course_lib.mpi.pipeline import simulate as on_paper
from course_tools.maintenance import simulator_check as check

COSTS = Costs([1.0, 1.5], [1.1, 1.6], [0.9, 1.2], 0.0)


class Ranks:
    """In place of a cluster of 2: steps that take `slower` times what the model says, messages that take nothing."""

    def __init__(self, slower=1.0):
        self.slower = slower

    def run(self, fn, *arguments):
        if fn is check.message_times:
            return [[0.0 + 1e-12] * len(check.SIZES)] * 2
        return [self.steps(rank, arguments[1]) for rank in range(2)]

    def steps(self, rank, count):
        found = {}
        for name in check.NAMES:
            plan = schedule(name, 2, check.M)
            tasks = {task[1:]: COSTS.of(task) for task in plan.of(rank)}
            seconds = self.slower * on_paper(plan, COSTS).makespan
            found[name] = [(seconds, tasks)] * count
        return found


@pytest.mark.parametrize("slower", [1.0, 1.25])
def test_ranks_that_do_what_the_model_says_are_not_off(slower):
    rows = list(check.rows_of(Ranks(slower), 2, 0.01, 3))
    assert [row.schedule for row in rows] == list(check.NAMES)
    for row in rows:
        assert row.off == pytest.approx(slower - 1, abs=1e-6)
        assert row.replay_off == pytest.approx(slower - 1, abs=1e-6)
        assert len(row.measured) == 3 and str(row).startswith(f"2  sleep    {row.schedule}")


def test_a_replay_knows_what_a_busy_machine_did_to_a_task_and_the_mean_does_not():
    """One task of the second step takes 10 units longer, and so does the step."""
    plan = schedule("gpipe", 2, check.M)
    ranks = [{"gpipe": []}, {"gpipe": []}]
    for late in (0.0, 10.0, 0.0, 10.0):
        for rank in range(2):
            tasks = {task[1:]: COSTS.of(task) for task in plan.of(rank)}
            if rank == 1:
                tasks["backward", 1, 0] += late
            ranks[rank]["gpipe"].append((on_paper(plan, COSTS).makespan + late, tasks))
    costs = check.mean_costs([{"gpipe": rank["gpipe"][::2]} for rank in ranks])
    assert costs["backward", 1] == pytest.approx(2.8)
    took = {**ranks[0]["gpipe"][1][1], **ranks[1]["gpipe"][1][1]}
    replayed = check.predicted("gpipe", 2, (0.0, 0.0), lambda task: took[task[1:]])
    assert replayed == pytest.approx(ranks[0]["gpipe"][1][0])


@pytest.mark.parametrize("p", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_sleepers_do_every_task_and_none_waits_for_ever(p):
    report = mpi.rehearse(check.take_steps, p, 1e-5, 1)
    assert report.ok, str(report)
    for rank, found in enumerate(report.results):
        for name in check.NAMES:
            ((_, tasks),) = found[name]
            assert set(tasks) == {task[1:] for task in schedule(name, p, check.M).of(rank)}
