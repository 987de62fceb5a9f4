"""A chapter gets another number, wherever it is named."""

import subprocess

import pytest

from course_lib.errors import BadInput
from course_tools.maintenance.renumber import new_text, renumber

FILES = {
    "chapters/12-before/lecture.md": "# 12. Before\nChapter 13 puts all together, chapters 10 to 13 too.\n",
    "chapters/13-last/lecture.md": "# 13. The last\nW is 13 wide; see chapter 12.\n",
    "chapters/13-last/exercise.md": "# Exercise 13: it\nfrom course_lib.checks import ch13\nch13.check_x(x)\n",
    "chapters/ids.txt": "12-before task a\n13-last task x\n",
    "course_lib/checks/ch13/__init__.py": "from course_lib.checks.ch13.models import check_x\n",
    "tests/chapters/ch13/test_ch13_answers.py": 'from course_lib.checks import ch13 as ch13_x\nanswers("13")\n',
    "docs/install.md": "[the last](../exercises/13-last.ipynb), nvcc 13.0, chapters 05 and 13, batch13\n",
    "CHANGELOG.md": "Chapter 13 is new.\n",
}


@pytest.fixture
def clone(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "picture.bin").write_bytes(b"\xff\xfe13-last")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    return tmp_path


def test_files_move_and_sentences_follow(clone):
    changed = renumber("13-last", "14", clone)
    read = {path: (clone / path).read_text() for path in changed}
    assert read == {
        "chapters/12-before/lecture.md": "# 12. Before\nChapter 14 puts all together, chapters 10 to 14 too.\n",
        "chapters/14-last/lecture.md": "# 14. The last\nW is 13 wide; see chapter 12.\n",
        "chapters/14-last/exercise.md": "# Exercise 14: it\nfrom course_lib.checks import ch14\nch14.check_x(x)\n",
        "chapters/ids.txt": "12-before task a\n14-last task x\n",
        "course_lib/checks/ch14/__init__.py": "from course_lib.checks.ch14.models import check_x\n",
        "tests/chapters/ch14/test_ch14_answers.py": 'from course_lib.checks import ch14 as ch14_x\nanswers("14")\n',
        "docs/install.md": "[the last](../exercises/14-last.ipynb), nvcc 13.0, chapters 05 and 14, batch13\n",
    }
    assert (clone / "CHANGELOG.md").read_text() == FILES["CHANGELOG.md"]
    assert (clone / "picture.bin").read_bytes() == b"\xff\xfe13-last"
    assert not (clone / "chapters" / "13-last").exists()


@pytest.mark.parametrize(
    "name, number, says",
    [
        ("13-none", "14", "not a folder"),
        ("13-last", "12", "12-before"),
        ("13-last", "9", "two digits"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_moves(clone, name, number, says):
    with pytest.raises(BadInput, match=says):
        renumber(name, number, clone)
    assert (clone / "chapters" / "13-last").is_dir()


def test_a_section_of_a_chapter_keeps_its_number():
    assert new_text("chapter 13, section 13", "13-last", "14") == "chapter 14, section 13"
