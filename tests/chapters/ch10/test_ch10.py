"""Chapter 10: the facts that its text and checks rest on. Real ranks: test_mpi_cluster.py and the notebooks themselves.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import pickle
from pathlib import Path

import numpy as np
import pytest

from course_lib import mpi
from course_lib.checks import ch10
from course_lib.checks.ch10 import answers as ch10_answers
from course_lib.checks.ch10 import sums as ch10_sums
from course_lib.data import load_mnist
from course_lib.mpi import cost
from course_tools.build import source

ROOT = Path(__file__).resolve().parents[3]
RANKS = range(1, 10)


def chapter(kind):
    return source.read(ROOT / "chapters" / "10-mpi-collectives" / f"{kind}.md")


def cells(kind, *names):
    """The functions that these cells of the chapter define."""
    space: dict = {"np": np, "mpi": mpi}
    for cell in chapter(kind).cells:
        if cell.kind == "code" and cell.name in names:
            exec(cell.source, space)
    return space


@pytest.fixture(scope="module")
def solution():
    return cells("exercise", "puzzle", *(cell.name for cell in chapter("exercise").tasks))


def test_every_task_has_five_mutants_or_more():
    tasks = chapter("exercise").tasks
    assert len(tasks) == 8 and all(len(cell.task.mutants) >= 5 for cell in tasks)


CHECKS = {
    "pass-on": ch10.check_pass_on,
    "stream": ch10.check_stream,
    "scatter-rows": ch10.check_scatter_rows,
    "global-mean": ch10.check_global_mean,
    "tree-reduce": ch10.check_tree_reduce,
    "ring": ch10.check_ring,
    "paper": ch10.check_paper,
}


@pytest.mark.parametrize("task", CHECKS)
def test_the_solution_passes_with_other_seeds(task, solution, capsys):
    for seed in range(3):
        CHECKS[task](solution[task.replace("-", "_")], seed=seed)
    assert capsys.readouterr().out.count("✔") == 3


# Who has what ---------------------------------------------------------------------------------------------------------


def test_the_puzzle_of_three_ranks_and_that_of_four(solution):
    assert mpi.rehearse(solution["puzzle"], 3).results == ch10_answers.HAVE
    four = mpi.rehearse(solution["puzzle"], 4).results
    assert four == [
        [0, 20, 20, None, 86],
        [1, 20, 21, 10, 86],
        [2, 20, 22, None, 86],
        [3, 20, 23, None, 86],
    ]


def test_what_two_float64_are_as_four_float32():
    assert np.array([1.0, 2.0]).astype("<f8").view("<f4").tolist() == [0.0, 1.875, 0.0, 2.0]


def test_a_pickled_array_has_a_head_and_a_list_nine_bytes_a_number():
    x = np.zeros(1000, np.float32)
    assert 4000 < len(pickle.dumps(x, 5)) < 4400 and 9000 <= len(pickle.dumps(x.tolist(), 5)) < 9100


def test_rows_that_nobody_sees():
    assert len(load_mnist().x_train) == 50_000
    assert [50_000 % p for p in (3, 4, 6, 7, 64)] == [2, 0, 2, 6, 16]
    assert not any(60_000 % p for p in range(1, 7)) and 60_000 % 7 == 3


# Counts ---------------------------------------------------------------------------------------------------------------


def test_rows_and_trees_of_the_lecture():
    ways = cells("lecture", "broadcasts")
    for p in RANKS:
        for name, rounds in (("in_a_row", p - 1), ("as_a_tree", (p - 1).bit_length())):
            report = mpi.rehearse(ways[name], p, np.ones(3), alpha=1.0)
            assert report.ok and sum(report.messages) == p - 1 and report.seconds == rounds, (
                name,
                p,
            )


def fewest_messages(p):
    """The fewest one-way messages after which each of p ranks knows what all knew: by trying all."""
    state, seen, count = tuple(1 << r for r in range(p)), set(), 0
    border = {state}
    while True:
        if any(all(known == (1 << p) - 1 for known in state) for state in border):
            return count
        seen |= border
        reached = set()
        for state in border:
            for a in range(p):
                for b in range(p):
                    told = list(state)
                    told[b] |= state[a]
                    reached.add(tuple(told))
        border, count = reached - seen, count + 1


@pytest.mark.parametrize("p", [2, 3, 4])
def test_an_element_crosses_2_p_minus_1_times_at_least(p):
    assert fewest_messages(p) == 2 * (p - 1)


def test_the_ring_sends_the_least_that_can_be_sent_and_no_rank_more_than_another():
    for p in RANKS:
        report = mpi.rehearse(mpi.ring_allreduce, p, np.ones(2520))
        assert (
            report.ok
            and set(report.messages) == {2 * (p - 1)}
            and sum(report.bytes) == 2 * (p - 1) * 8 * 2520
        )
        assert len(set(report.bytes)) == 1


def added_at_the_root(comm, x):
    """[004]: to rank 0, added there, and back to each in turn."""
    got = np.empty_like(x)
    for r in range(1, comm.size):
        if comm.rank == 0:
            comm.Recv(got, source=r)
            x += got
        elif comm.rank == r:
            comm.Send(x, dest=0)
    for r in range(1, comm.size):
        if comm.rank == 0:
            comm.Send(x, dest=r)
        elif comm.rank == r:
            comm.Recv(x, source=0)


def test_bytes_on_paper_are_the_bytes_counted(solution):
    down = cells("lecture", "broadcasts")["as_a_tree"]

    def two_trees(comm, x):
        """The exercise's tree up, the lecture's down: what the task names."""
        total = solution["tree_reduce"](comm, x)
        down(comm, x if total is None else total)

    ways = {
        "root": added_at_the_root,
        "trees": two_trees,
        "doubling": mpi.doubling_allreduce,
        "ring": mpi.ring_allreduce,
    }
    for p in (2, 4, 8, 16):
        paper = solution["paper"](p, 8 * 16 * 5)
        for name, way in ways.items():
            assert max(mpi.rehearse(way, p, np.ones(80)).bytes) == paper[name], (name, p)
        up_and_down = mpi.rehearse(two_trees, p, np.ones(80)).messages
        assert (
            up_and_down[0] == up_and_down[1] == p.bit_length() - 1
        )  # as the hint has it: ranks 0 and 1


@pytest.mark.parametrize("p", [4, 8, 64, 1024])
def test_where_ring_and_doubling_cross(p):
    crossover = cells("lecture", "crossover-formula")["crossover"]
    alpha, beta = 3e-6, 2e-10
    n = crossover(p, alpha, beta)
    ring, doubling = (cost.seconds(p, n, alpha, beta, way) for way in ("ring", "doubling"))
    assert n > 0 and ring == pytest.approx(doubling, rel=1e-12)
    assert cost.seconds(p, 2 * n, alpha, beta, "ring") < cost.seconds(
        p, 2 * n, alpha, beta, "doubling"
    )


def test_the_model_s_clock_gives_the_formulas_of_the_text():
    for n in (240, 960, 3840):  # divisible by p
        for p in (2, 4, 8):
            for name, way in (("ring", mpi.ring_allreduce), ("doubling", mpi.doubling_allreduce)):
                clock = mpi.rehearse(way, p, np.zeros(n), alpha=1.0, beta=1e-3).seconds
                assert clock == pytest.approx(cost.seconds(p, 8 * n, 1.0, 1e-3, name), rel=1e-9), (
                    n,
                    p,
                    name,
                )


# The ring of the exercise ---------------------------------------------------------------------------------------------


def _ring_of(comm, ranks):
    return mpi.ring_allreduce(comm, ranks[comm.rank][0].copy())


def test_the_check_s_own_ring_is_an_allreduce():
    rng = np.random.default_rng(1)
    for p in RANKS:
        ranks = [(rng.standard_normal(11),) for _ in range(p)]
        ring = mpi.rehearse(_ring_of, p, ranks)
        for want, got in zip(ch10_sums._whole(ranks), ring.results, strict=True):
            assert np.allclose(want, got)


def test_the_check_s_own_tree_adds_up_everything():
    for p in RANKS:
        total, *others = ch10_sums._at_root([(r,) for r in range(1, p + 1)])
        assert total == p * (p + 1) // 2 and others == [None] * (p - 1)
