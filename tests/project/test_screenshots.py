"""Every screenshot of the README and of docs/ can be taken again by a command: course_tools.maintenance.screenshots."""

import re

from course_tools.maintenance.screenshots import PICTURES, ROOT, number

DRAWN = "benchmarks/results/"  # diagrams, written by `course bench`


def shown():
    """The PNG files that the README and the documents show, but for diagrams."""
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+\.png)\)", path.read_text(encoding="utf-8")):
            name = (path.parent / link).resolve().relative_to(ROOT).as_posix()
            if not name.startswith(DRAWN):
                yield name


def test_each_screenshot_has_its_command():
    assert set(shown()) == set(PICTURES)
    for picture, (notebook, cell_id) in PICTURES.items():
        assert (ROOT / picture).is_file() and number(notebook, cell_id) > 0
