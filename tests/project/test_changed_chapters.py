"""What a push changes decides which wrong answers and which machinery `start.py test` tries."""

import re
import subprocess
from pathlib import Path

import changed_chapters
import pytest

PLANTED, OTHER = "tests/chapters/ch03/test_ch03_planted.py", "tests/chapters/ch03/test_ch03.py"
RANKS, CODE = "tests/machines/ranks/test_mpi_cluster.py", "tests/gpu/test_gpu_machine_code.py"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A clone of a project of three files, as a maintainer has it."""
    home, clone = tmp_path / "home", tmp_path / "clone"
    for name in ("chapters/03-x/lecture.md", "chapters/04-x/lecture.md", "course_lib/data/a.py"):
        file = home / name
        file.parent.mkdir(parents=True)
        file.write_text("as it was")
    run = {"check": True, "capture_output": True}
    me = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", "-b", "main", home], **run)
    subprocess.run(["git", "-C", home, "add", "."], **run)
    subprocess.run(["git", "-C", home, *me, "commit", "-qm", "begin"], **run)
    subprocess.run(["git", "clone", "-q", home, clone], **run)
    monkeypatch.setattr(changed_chapters, "ROOT", clone)
    changed_chapters._changed_files.cache_clear()
    yield clone
    changed_chapters._changed_files.cache_clear()


def test_nothing_is_changed_in_a_fresh_clone(tree):
    assert changed_chapters.left_for_all(PLANTED) and not changed_chapters.left_for_all(OTHER)
    assert changed_chapters.left_for_all(RANKS) and changed_chapters.left_for_all(CODE)


@pytest.mark.parametrize(
    ("file", "tried"),
    [
        ("chapters/03-x/lecture.md", True),
        ("chapters/04-x/lecture.md", False),
        ("course_lib/data/a.py", True),
        ("course_lib/checks/ch03/new.py", True),
        ("course_lib/checks/ch04/new.py", False),
        ("tests/answers/03-x/new.toml", True),
        ("docs/new.md", False),
    ],
)
def test_a_changed_file_brings_its_chapter(tree, file, tried):
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text("changed")
    assert changed_chapters.left_for_all(PLANTED) is not tried


@pytest.mark.parametrize(
    ("file", "tried"),
    [
        ("course_lib/machines/ranks/new.py", (True, False)),
        ("tests/machines/ranks/test_new.py", (True, False)),
        ("course_lib/machines/books/new.py", (True, False)),
        ("course_lib/gpu/kernels/new.cu", (False, True)),
        ("course_lib/machines/cuda_c/new.py", (False, True)),
        ("tests/support/new.py", (True, True)),
        ("requirements.txt", (True, True)),
        ("course_lib/plots/new.py", (False, False)),
        ("chapters/03-x/lecture.md", (False, False)),
    ],
)
def test_a_changed_file_brings_the_machinery_that_rests_on_it(tree, file, tried):
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text("changed")
    assert tuple(not changed_chapters.left_for_all(one) for one in (RANKS, CODE)) == tried


def test_the_machinery_is_where_the_table_says():
    root = Path(__file__).parents[2]
    for begin, paths in changed_chapters.RESTS_ON.items():
        assert (root / begin).exists()
        files = [str(file.relative_to(root)) for file in root.glob("course_lib/*/**/*.py")]
        assert any(re.match(paths, file) for file in files)


def test_without_git_all_are_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(changed_chapters, "ROOT", tmp_path)
    changed_chapters._changed_files.cache_clear()
    assert not any(changed_chapters.left_for_all(file) for file in (PLANTED, RANKS, CODE))
    changed_chapters._changed_files.cache_clear()
