"""`course bench checks`: the corpus of answers is well formed, and what is said of them is counted as it should be."""

from pathlib import Path

import pytest

from course_lib.checks.kit.known.planted import task_named
from course_lib.errors import BadInput
from course_tools.bench.checks import bench
from course_tools.bench.checks.answers import Answer, read
from course_tools.bench.checks.trying import Outcome, tried

ROOT = Path(__file__).resolve().parents[2]
ENTRY = '[[answer]]\nname = "a"\nverdict = "wrong"\nbecause = "b"\nsource = "x = 1"\n'


def answer(source, verdict="wrong", told="", task="affine"):
    return Answer("00-start-here", task, "one", verdict, "because", source, "", told)


def test_corpus_is_about_tasks_that_are_there():
    answers = read(ROOT)
    for one in answers:
        assert task_named(f"ch{one.chapter[:2]}", one.task), (one.chapter, one.task)
        compile(one.source, one.name, "exec")
    chapters = {one.chapter for one in answers}
    assert len(chapters) == 16
    for chapter in chapters - {"00-start-here"}:
        some = [one.verdict for one in answers if one.chapter == chapter]
        assert some.count("wrong") >= 60 and some.count("right") >= 15, chapter


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (ENTRY.replace('"wrong"', '"odd"'), "verdict 'odd'"),
        (ENTRY + 'first = "odd"\n', "first 'odd'"),
        (ENTRY + 'more = "x"\n', "more"),
        (ENTRY + ENTRY, "two answers are named a"),
    ],
)
def test_entry_that_is_not_well_formed_is_named(tmp_path, entry, words):
    folder = tmp_path / "tests" / "answers" / "00-start-here"
    folder.mkdir(parents=True)
    (folder / "affine.toml").write_text(entry)
    with pytest.raises(BadInput, match=words):
        read(tmp_path)


def test_folder_without_a_corpus_is_told(tmp_path):
    with pytest.raises(BadInput, match="in the clone of the course"):
        read(tmp_path)


def test_answers_are_tried_in_a_process_of_their_own():
    assert tried(answer("def affine(X, W, b):\n    return X @ W + b"), 1).state == "passed"
    wrong = tried(answer("def affine(X, W, b):\n    return X @ W"), 1)
    assert wrong.state == "failed" and "bias" in wrong.cause
    assert tried(answer("def affine(X, W, b) return"), 1).cause == "the cell itself stops"
    gone = "import os\ndef affine(X, W, b):\n    os._exit(3)"
    assert tried(answer(gone), 1).state == "broken"


def test_an_answer_that_imports_mpi_leaves_no_shared_memory(tmp_path):
    source = f"""import os
def affine(X, W, b):
    from mpi4py import MPI
    maps = open("/proc/self/maps").read() if os.path.exists("/proc/self/maps") else ""
    with open({str(tmp_path / "maps")!r}, "a") as file:
        file.write(f"{{MPI.COMM_WORLD.size}}\\n{{maps}}")
    return X @ W + b
"""
    assert tried(answer(source), 1).state == "passed"
    used = (tmp_path / "maps").read_text()
    assert used.startswith("1\n")
    files = {row.split()[-1] for row in used.splitlines() if "mpich_shm" in row}
    assert not any(Path(file).exists() for file in files)


@pytest.mark.parametrize(
    ("verdict", "told", "outcome", "kind"),
    [
        ("wrong", "", Outcome("failed", "m", "c"), "cause"),
        ("wrong", "", Outcome("failed", "m"), "none"),
        ("wrong", "the BIAS is", Outcome("failed", "the bias\n is missing", "c"), "cause"),
        ("wrong", "the sign", Outcome("failed", "the bias is missing", "c"), "other"),
        ("wrong", "", Outcome("passed"), "accepted"),
        ("wrong", "", Outcome("broken", "m"), "broken"),
        ("right", "", Outcome("passed"), "right"),
        ("right", "", Outcome("failed", "m", "c"), "refused"),
    ],
)
def test_kinds(verdict, told, outcome, kind):
    assert bench.kind(answer("", verdict, told), outcome) == kind


def test_table_counts_by_chapter():
    rows = [
        (answer(""), Outcome("passed"), "accepted"),
        (answer("", "right"), Outcome("passed"), "right"),
    ]
    head, chapter, together = bench.table(rows).splitlines()
    assert chapter.split()[:6] == ["00", "1", "0", "0", "0", "1"]
    assert together.split()[0] == "all" and "accepted" in head
