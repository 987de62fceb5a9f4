"""Slips of CUDA C: they differ, compile, are told in words that a student knows, and fit what a check has found."""

import re
import subprocess

import kernel_tasks
import pytest

from course_lib.checks.kit.slips import cuda
from course_lib.checks.kit.slips.cuda_code import BUILTIN, Code
from course_lib.checks.kit.slips.cuda_hints import HINTS
from course_lib.machines.cpu_engine.compiler import INCLUDE, compiler
from course_lib.machines.cuda_c.rewrite import rewrite

CHAPTERS = (
    "05-gpu-first-kernels",
    "06-gemm-naive",
    "07-gemm-shared-memory",
    "08-gemm-register-tiled",
    "09-gpu-backprop",
)
TASKS = [
    (chapter, name)
    for chapter in CHAPTERS
    for name, (region, _) in kernel_tasks.tasks(chapter).items()
    if region.in_string
]
every_task = pytest.mark.parametrize("chapter, task", TASKS, ids=[name for _, name in TASKS])


def solution(chapter, task):
    """The CUDA C of a task's solution."""
    region, _ = kernel_tasks.tasks(chapter)[task]
    return kernel_tasks.kernel_of(region.filled(region.text))


def planted(chapter, task, name):
    """The CUDA C of a task's planted wrong answer."""
    region, mutants = kernel_tasks.tasks(chapter)[task]
    (mutant,) = [mutant for mutant in mutants if mutant.name == name]
    return kernel_tasks.kernel_of(region.filled(mutant.apply(region.text)))


def bare(source):
    """Of a source, what is neither space nor comment nor an empty statement."""
    text = re.sub(r"\s+", "", re.sub(r"//[^\n]*", "", source))
    return re.sub(r"(?<=[;{}]);+", "", text)


@every_task
def test_slips_differ_from_the_solution_and_from_each_other(chapter, task):
    source = solution(chapter, task)
    slips = cuda.variants(source)
    texts = [bare(slip.source) for slip in slips]
    assert 15 < len(slips) <= 120
    assert len(set(texts)) == len(texts) and bare(source) not in texts
    assert slips == cuda.variants(source)


@every_task
def test_slips_compile(chapter, task, tmp_path):
    """All at once, each in a namespace of its own."""
    slips = cuda.variants(solution(chapter, task))
    parts = []
    for number, slip in enumerate(slips):
        text = rewrite(slip.source, no_extern_c=True).text
        text = text.replace('"kernel.cu"', f'"{number} {slip.name}"')
        # the rewritten text adds to the engine's namespace, which is then one in the slip's: it shows the outer one
        inner = "namespace course { using namespace ::course; }"
        parts.append(f"namespace slip_{number} {{ {inner}\n{text}\n}}")
    file = tmp_path / "slips.cpp"
    file.write_text("\n".join(parts), encoding="utf-8")
    headers = ["-include", str(INCLUDE / "cuda_subset.h"), "-idirafter", str(INCLUDE)]
    command = [*compiler(), "-std=gnu++17", "-w", "-fsyntax-only", *headers, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]


@every_task
def test_a_sentence_names_no_variable_that_the_task_has_not(chapter, task):
    source = solution(chapter, task)
    code = Code(source)
    own = {name for name, _, _ in code.locals()} - code.told
    for slip in cuda.variants(source):
        quoted = re.sub(BUILTIN, "", " ".join(re.findall(r"`([^`]*)`", slip.says)))
        assert own.isdisjoint(re.findall(r"\w+", quoted)), slip.says


@pytest.mark.parametrize(
    "chapter, task, answer, kind",
    [
        (0, "saxpy", "no-guard", "guard left out"),
        (0, "saxpy", "one-too-many", "comparison"),
        (0, "saxpy", "y-lost", "term"),
        (0, "saxpy", "a-times-y", "factor for both"),
        (0, "saxpy", "dealt-like-cards", "builtin"),
        (0, "column-layer", "sign", "sign"),
        (0, "column-layer", "m-for-ld", "leading dimension"),
        (0, "relu", "step-of-a-block", "step of loop"),
        (0, "relu", "only-the-positive", "function"),
        (0, "class-best", "one-too-many", "comparison"),
        (1, "max-plus", "last-k-missing", "end of loop"),
        (1, "max-plus", "only-the-last", "function"),
        (1, "gemm-kernel", "gaps-forgotten", "strides ignored"),
        (2, "transpose", "not-padded", "shared size"),
        (2, "transpose", "one-guard-for-both", "another guard"),
        (2, "gemm-tiled", "no-second-barrier", "no barrier"),
        (2, "gemm-tiled", "last-step-missing", "last tile"),
        (2, "gemm-tiled", "alpha-on-both", "factor for both"),
        (2, "row-sum", "barrier-in-the-if", "barrier in a branch"),
        (2, "row-sum", "last-warp-without", "barrier in the last round"),
        (3, "copy-tile", "misaligned", "number left out"),
        (4, "bias-step", "part-turned", "shared turned"),
        (4, "softmax-delta", "sum-not-exchanged", "statement left out"),
    ],
)
def test_a_planted_answer_is_among_the_slips(chapter, task, answer, kind):
    chapter = CHAPTERS[chapter]
    wrong = bare(planted(chapter, task, answer))
    found = [s for s in cuda.variants(solution(chapter, task)) if bare(s.source) == wrong]
    assert [slip.name for slip in found] == [kind]


HISTOGRAM = """
__global__ void histogram(int n, const int *label, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&count[label[i]], 1);
}
"""


@pytest.mark.parametrize(
    "wrong, kind",
    [("count[label[i]] += 1", "atomic"), ("atomicAdd(&count[i], 1)", "indirection")],
)
def test_slips_of_an_atomic_addition(wrong, kind):
    wrong = bare(HISTOGRAM.replace("atomicAdd(&count[label[i]], 1)", wrong))
    assert [s.name for s in cuda.variants(HISTOGRAM) if bare(s.source) == wrong] == [kind]


COLUMNS = """
__global__ void columns(int M, int N, const float *X, float *y)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < M; i++) sum += j < N ? X[i * N + j] : 0;
    if (j < N) y[j] = sum;
}
"""


@pytest.mark.parametrize(
    "right, wrong, kind",
    [
        ("if (j < N)", "if (j < N / blockDim.x * blockDim.x)", "whole blocks"),
        ("j < N ? X[i * N + j]", "true ? X[i * N + min(j, N - 1)]", "clamped"),
        ("i < M;", "i * N + j < M * N - 1;", "end at an address"),
        ("i < M;", "i * N + j <= (M - 1) * N;", "end at an address"),
    ],
)
def test_slips_at_an_edge(right, wrong, kind):
    wrong = bare(COLUMNS.replace(right, wrong))
    assert [s.name for s in cuda.variants(COLUMNS) if bare(s.source) == wrong] == [kind]


def test_a_guard_of_another_access_is_a_slip():
    source = solution("08-gemm-register-tiled", "two-buffers")
    wrong = bare(source.replace("k0 + y < K", "k0 + x < K"))
    assert [s.name for s in cuda.variants(source) if bare(s.source) == wrong] == [
        "guard of another"
    ]


def test_a_sum_that_keeps_the_last_alone_is_a_slip():
    source = solution("06-gemm-naive", "gemm-kernel")
    wrong = bare(source.replace("sum += A", "sum = A"))
    assert [s.name for s in cuda.variants(source) if bare(s.source) == wrong] == ["accumulation"]


def test_what_is_given_beside_the_kernel_stays_as_it_is():
    source = solution("08-gemm-register-tiled", "kernel-4x4")
    given = source[: source.index("// D = A B")]
    assert all(slip.source.startswith(given) for slip in cuda.variants(source))


SHARED = """
__global__ void scaled(int M, int N, const float *C, float *D, int c_row, int c_col)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i * c_row + j * c_col;
    if (i < M && j < N) D[at] = 2 * C[at];
}
"""


@pytest.mark.parametrize(
    "wrong, says",
    [
        ("C[i * N + j]", "`C` is indexed as if rows had `N` numbers and no gaps"),
        ("C[i * c_col + j * c_row]", "`c_row` and `c_col` are swapped, in the index of `C` alone"),
        ("C[j * c_col]", "`C` is indexed without the term with `c_row`"),
    ],
)
def test_one_of_two_indices_that_share_a_variable_is_a_slip(wrong, says):
    wrong = bare(SHARED.replace("C[at]", wrong))
    assert [s.says for s in cuda.variants(SHARED) if bare(s.source) == wrong] == [says]
    changed = SHARED.replace("if (i", "at += 0;\n    if (i")
    assert not any(s.name == "one index" for s in cuda.variants(changed))


def test_hints_name_kinds_that_there_are():
    assert {name for order in HINTS.values() for name in order} <= set(cuda.KINDS)
    assert all(len(set(order)) == len(order) for order in HINTS.values())


@every_task
@pytest.mark.parametrize("word", HINTS)
def test_hinted_slips_are_few_and_fit(chapter, task, word):
    source = solution(chapter, task)
    slips = cuda.hinted(source, {word})
    assert len(slips) <= 25 and {slip.name for slip in slips} <= set(HINTS[word])
    assert len({slip.source for slip in slips}) == len(slips)


@pytest.mark.parametrize(
    "task, answer, findings",
    [
        ("row-sum", "no-barrier-in-the-rounds", {"racecheck"}),
        ("row-sum", "row-zero", {"racecheck", "values"}),
        ("row-sum", "barrier-in-the-if", {"synccheck"}),
        ("gemm-tiled", "overrun", {"memcheck"}),
        ("gemm-tiled", "unset-times-zero", {"initcheck"}),
        ("gemm-tiled", "alpha-on-both", {"values"}),
        ("transpose", "padded-the-wrong-way", {"limit"}),
    ],
)
def test_hints_lead_to_the_cause(task, answer, findings):
    chapter = "07-gemm-shared-memory"
    wrong = bare(planted(chapter, task, answer))
    assert wrong in [bare(slip.source) for slip in cuda.hinted(solution(chapter, task), findings)]


def test_a_word_that_nobody_knows_gives_no_hint():
    assert cuda.hinted(solution("05-gpu-first-kernels", "saxpy"), {"weather"}) == []
