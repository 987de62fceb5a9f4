"""Chapter 15: what its checks rest on, held against the library, and its answers with many draws.

That each planted wrong answer gets its message is tested in test_ch15_planted.py.
"""

import re

import chapter_sources
import numpy as np
import pytest
from kernel_tasks import tasks

from course_lib.checks import ch15 as checks
from course_lib.checks.ch15 import backward, ridge, rounding, scales
from course_lib.checks.kit.core import CheckFailed
from course_lib.checks.kit.kernels import batch
from course_lib.checks.kit.known.planted import task_named
from course_lib.serial.formats import FORMATS, rounded

CHAPTER = "15-half-precision"
IN_NUMPY = [name for name in tasks(CHAPTER) if name not in ("weight-gradient", "repaired-wmma")]


def check_of(task):
    """(check, task of the kit) of a task by its id."""
    known = task_named("ch15", task)
    return getattr(checks, known.check), known


def test_all_checks_are_tried_in_the_exercise():
    read = chapter_sources.read(CHAPTER, "exercise")
    texts = "\n".join(cell.source for cell in read.cells if cell.checks)
    assert set(re.findall(r"ch15\.(check_\w+)\(", texts)) == set(checks.__all__)


# Draws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", IN_NUMPY)
def test_the_solution_passes_with_every_draw(task, capsys):
    check, known = check_of(task)
    value = known.value_of(known.solution)
    for seed in range(60):
        check(value, seed=seed)


@pytest.mark.parametrize("task", IN_NUMPY)
def test_no_draw_lets_a_planted_answer_pass(task, monkeypatch):
    """The causes are left out here: the verdict alone is looked at."""
    check, known = check_of(task)
    region, mutants = tasks(CHAPTER)[task]
    values = {m.name: known.value_of(region.filled(m.apply(region.text))) for m in mutants}
    monkeypatch.setenv("COURSE_CAUSES", "0")
    for name, value in values.items():
        for seed in range(100, 106):
            with pytest.raises(CheckFailed):
                check(value, seed=seed)
                pytest.fail(f"{name} passes with seed {seed}")


@pytest.mark.parametrize("task", ["weight-gradient", "repaired-wmma"])
def test_the_solution_of_a_kernel_passes_with_other_seeds(task, capsys):
    check, known = check_of(task)
    for seed in range(1, 4):
        check(known.value_of(known.solution), seed=seed)


def test_known_mistakes_with_the_same_header_are_compiled_at_once():
    source = "#include <mma.h>\n__global__ void k(float *x) { x[0] = %d; }"
    text = batch._in_spaces([source % 1, source % 2], [0, 1])
    assert text.count("#include") == 1 and text.index("#include") < text.index("namespace s0")
    assert "namespace s1" in text and not batch.ALONE.search(source)


def test_what_does_not_compile_is_left_out_alone():
    kernel = "__global__ void k(float *x)\n{\n    x[0] = %s;\n}"
    texts = [kernel % value for value in ("1", "nothing", "2", "'")]
    said = "kernel.cu:3:1: note: here\nkernel.cu:10:12: error: 'nothing' was not declared"
    text = batch._in_spaces(texts, range(4))
    assert text.splitlines()[9].strip() == "x[0] = nothing;"
    assert batch._rests(text, [0, 1, 2, 3], said) == [[0, 2, 3]]
    assert batch._rests(text, [0, 1, 2, 3], "stopped") == [[0, 1], [2, 3]]


# What the checks rest on ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_bits_of_bfloat16_are_the_librarys_numbers(seed):
    for case in rounding._cases(np.random.default_rng(seed)):
        (bits,) = case.args
        x = bits.view(np.float32)
        number = ~np.isnan(x)
        upper = rounding._bfloat16_bits(bits).astype(np.uint32) << np.uint32(16)
        assert np.isnan(upper.view(np.float32)[~number]).all()
        wanted = rounded(x[number], "bfloat16")
        assert np.array_equal(
            upper.view(np.float32)[number].view(np.uint32), wanted.view(np.uint32)
        )


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_scale_overflows_nothing_and_twice_as_much_does(seed):
    form = FORMATS["float16"]
    assert form.largest == scales.LARGEST
    for case in scales._largest_cases(np.random.default_rng(seed)):
        (g,) = case.args
        g = g.astype(np.float64)
        scale, lost = scales._largest_scale(g)
        assert scale * abs(g).max() <= form.largest < 2 * scale * abs(g).max()
        assert lost == (rounded(scale * g, "float16") == 0)[g != 0].mean()


@pytest.mark.parametrize("seed", range(4))
def test_gradients_of_a_network_that_is_sure_need_the_scale(seed):
    """Without it the smallest of them vanish in float16; with it all of dZ2 has its full number of digits."""
    for case in backward._cases(np.random.default_rng(seed))[1:3]:
        X, _, P, Y, _, _, scale = case.args
        dZ2 = abs(P.astype(np.float64) - Y)[Y == 0] / len(X)
        smallest = FORMATS["float16"].smallest
        assert (dZ2 < smallest).any()
        assert (dZ2 * scale >= FORMATS["float16"].smallest_normal).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_cases_of_the_ridge_have_every_bound(seed):
    cases = ridge._cases(np.random.default_rng(seed))
    found = [ridge._ridge(*case.args)[0] for case in cases]
    assert set(found) == {"tensor", "l2", "dram"}
    M, N, _, T, _ = zip(*(case.args for case in cases), strict=True)
    assert all(m % t == n % t == 0 for m, n, t in zip(M, N, T, strict=True))
