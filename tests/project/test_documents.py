"""README, CONTRIBUTING and docs: links lead somewhere, the map of chapters is true, the commands exist."""

import re
from pathlib import Path

import pytest

from course_tools.build import source
from course_tools.doctor.chapters import CHAPTERS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MAPS = [
    path
    for top in ("benchmarks", "chapters", "course_lib", "course_tools")
    for path in sorted((ROOT / top).rglob("README.md"))
]  # a README of a folder
FOLDERS = r"tests|course_lib|course_tools|chapters|docs|benchmarks|\.\w+"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+://|#|mailto:", target):
            assert (path.parent / target.partition("#")[0]).exists(), (
                f"{path.name} links to {target}"
            )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_pictures_have_alt_text(path):
    for alt in re.findall(r"!\[([^\]]*)\]", path.read_text(encoding="utf-8")):
        assert len(alt) > 20, f"{path.name}: a picture without words for those who cannot see it"


def test_map_of_chapters_is_true():
    found = re.findall(r"^\| (\d\d) \| \[([a-z0-9-]+)\]\((\S+)\) \|", README, re.MULTILINE)
    rows = [(number, name) for number, name, _ in found]
    assert rows == [(number, name) for number, name, _ in CHAPTERS]
    here = sorted(path.parent.name for path in ROOT.glob("chapters/*/lecture.md"))
    assert [f"{number}-{name}" for number, name in rows] == here
    assert [link for *_, link in found] == [f"notebooks/{chapter}.ipynb" for chapter in here]


def test_hours_of_the_chapters():
    paths = [path for path in source.find(ROOT) if path.stem == "exercise"]
    hours = sum(source.read(path).minutes for path in paths) / 60
    told = int(re.search(r"all exercises take (\d+) hours", README)[1])
    assert len(paths) == 16 and abs(hours - told) <= 0.5, hours
    assert "A lecture's core\npath takes an hour" in README  # tests/build/test_prose.py holds it


def test_two_commands_stand_in_the_readme():
    assert re.findall(r"^    (python3 start\.py \w+)$", README, re.MULTILINE) == [
        "python3 start.py lab",
        "python3 start.py test",
    ]
    words = re.sub(
        r"```.*?```", "", README, flags=re.DOTALL
    ).split()  # without what the course prints
    assert len(words) < 1100, "the README is short"


@pytest.mark.parametrize("path", DOCUMENTS + MAPS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_named_exist(path):
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", path.read_text(encoding="utf-8"))
    for name in named:
        assert "NN" in name or (ROOT / name).exists(), f"{path.name} names {name}"


def test_licence_texts_are_there():
    for name in ("BSD-3-Clause", "CC-BY-4.0", "CC-BY-SA-3.0", "MIT"):
        assert len((ROOT / "LICENSES" / f"{name}.txt").read_text(encoding="utf-8")) > 1000
        assert f"LICENSES/{name}.txt" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_command_line_of_the_readme():
    from course_tools.__main__ import COMMANDS

    named = {
        name
        for path in DOCUMENTS
        for name in re.findall(r"(?:`|bin/)course (\w+)", path.read_text("utf-8"))
    }
    assert {"build", "doctor"} <= named <= set(COMMANDS)


def test_the_readme_and_contributing_say_alike_how_long_the_tests_take():
    readme = re.search(
        r"about (\d+) minutes on two cores; (\d+) with `--all`", DOCUMENTS[0].read_text()
    )
    here = re.search(
        r"about (\d+) minutes on two cores\n.*--all +# (\d+) minutes", DOCUMENTS[1].read_text()
    )
    assert readme.groups() == here.groups()
