"""Chapter 07: what its checks rest on, and the mistakes that only the engine can see.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import numpy as np
import pytest
from engine_runs import needs_compiler
from kernel_tasks import assert_the_engine_alone_sees_three, assert_the_solution_passes, tasks

from course_lib.checks import ch07
from course_lib.checks.ch07 import banks as ch07_banks
from course_lib.checks.ch07 import hazards as ch07_hazards
from course_lib.checks.ch07 import traffic as ch07_traffic
from course_lib.gpu import gemm_cost

CHAPTER = "07-gemm-shared-memory"
KERNELS = {
    "differences": ch07.check_differences,
    "smooth": ch07.check_smooth,
    "transpose": ch07.check_transpose,
    "gemm-tiled": ch07.check_gemm_tiled,
    "row-sum": ch07.check_row_sum,
}
pytestmark = needs_compiler


@pytest.mark.parametrize("task", KERNELS)
def test_three_or_more_wrong_answers_compute_right_numbers(task):
    """Over 20 s of processor: each wrong answer is a kernel of its own to compile."""
    assert_the_engine_alone_sees_three(CHAPTER, task, KERNELS[task])


@pytest.mark.parametrize("task", KERNELS)
def test_the_solution_passes_with_other_seeds(task, capsys):
    assert_the_solution_passes(CHAPTER, task, KERNELS[task], capsys)


# What the checks rest on ------------------------------------------------------------------------------------------


def ways_by_hand(rows, columns, width):
    """The rule of the chapter: different words in the fullest bank."""
    words = rows * width + columns
    return max(len({int(w) for w in words if w % 32 == bank}) for bank in range(32))


def test_no_draw_of_patterns_lets_a_planted_answer_to_ways_pass():
    """Submissions are graded with patterns of their own. By the rule, which the engine is held against below."""
    region, mutants = tasks(CHAPTER)["ways"]
    functions = {}
    for mutant in mutants:
        room = {"np": np}
        exec(region.filled(mutant.apply(region.text)), room)
        functions[mutant.name] = room["ways"]
    passed = [
        (name, seed)
        for seed in range(200)
        for name, ways in functions.items()
        if all(
            ways(*p) == ways_by_hand(*p)
            for _, *p in ch07_banks.patterns(np.random.default_rng(seed))
        )
    ]
    assert len(functions) >= 5 and passed == []


@pytest.mark.parametrize("seed", range(6))
def test_the_engine_counts_each_pattern_of_a_warp_as_the_rule_says(seed):
    for label, *pattern in ch07_banks.patterns(np.random.default_rng(seed)):
        words = ch07_banks.word(*pattern)
        assert len(words) == 32 and words.min() >= 0 and words.max() < ch07_banks.WORDS, label
        assert pattern[1].max() < pattern[2], label
        assert ch07_banks.counted(words) == ways_by_hand(*pattern), label


def test_each_barrier_of_mirror_by_hand():
    """A: left is read after the chunk was written. B: s[t] is overwritten after left was read. C: s[63 - t] is read
    after 2 * left was written. D: the next chunk is written after s[63 - t] was read. E: nothing follows but y[t]."""
    assert [ch07_hazards.hazard_of(b) for b in "ABCDE"] == ["RAW", "WAR", "RAW", "WAR", "none"]
    for barrier in "ABCD":
        assert {e["tool"] for e in ch07_hazards.without(barrier).errors} == {"racecheck"}


@pytest.mark.parametrize(
    ("M", "N", "K", "T"), [(64, 32, 96, 32), (48, 16, 32, 16), (8, 40, 24, 8), (64, 96, 32, 32)]
)
def test_the_traffic_of_a_tile_by_hand(M, N, K, T):
    """A is loaded by each of the N / T blocks across, B by each of the M / T down; 32 numbers are a request of 4
    sectors, for T >= 8 makes rows of whole sectors; so 2 M N K flops over 4 * (2 M N K / T) bytes: T / 4."""
    loaded = M * K * N // T + K * N * M // T
    assert ch07_traffic.counted(M, N, K, T) == (loaded // 32, loaded // 8, T / 4, T * T, 8 * T * T)
    if T == 32:
        cost = gemm_cost("shared", M, N, K)
        assert cost["sectors"]["A"] + cost["sectors"]["B"] == loaded // 8
