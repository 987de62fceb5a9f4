"""What stands around a chapter: the chapters of the clone in their order, their titles and their sections."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from course_tools.build.papers import named

FOLDERS = {"lecture": "notebooks", "exercise": "exercises", "solution": "solutions"}
FENCED = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Neighbour:
    """One chapter. name: its folder; title: the lecture's; sections: {"5": "5. Ragged edges"}; deeper: "5", folded."""

    name: str
    title: str
    sections: dict
    deeper: frozenset = frozenset()
    has_exercise: bool = True

    @property
    def number(self):
        """Its two digits."""
        return self.name[:2]

    def page(self, kind, by="lecture", section=None):
        """The address of its lecture or exercise from a notebook of the kind `by`."""
        folder = "" if FOLDERS[by] == FOLDERS[kind] else f"../{FOLDERS[kind]}/"
        place = f"#{anchor(self.sections[section])}" if section else ""
        return f"{folder}{self.name}.ipynb{place}"


def chapters(folder):
    """{"07": Neighbour} of the folder chapters/, in order."""
    paths = sorted(path for path in Path(folder).glob("[0-9][0-9]-*") if path.is_dir())
    return {path.name[:2]: _read(path) for path in paths if (path / "lecture.md").is_file()}


def _read(path):
    text = (path / "lecture.md").read_text(encoding="utf-8")
    return _neighbour(path.name, text, (path / "exercise.md").is_file())


@lru_cache(64)  # every chapter's neighbours are all chapters
def _neighbour(name, text, exercise):
    text = named(text)
    head = re.search(r"^  title: *(.*)$", text, re.MULTILINE)
    title = head[1].strip().strip("\"'") if head else name
    headings = re.findall(r"^## +((\d+)\. .*?) *$", FENCED.sub("", text), re.MULTILINE)
    deep = re.findall(r'^\+\+\+ \{.*"deeper": true.*\}\s*## +(\d+)\. ', text, re.MULTILINE)
    sections = {number: words for words, number in headings}
    return Neighbour(name, title, sections, frozenset(deep), exercise)


def anchor(heading):
    """The fragment that JupyterLab gives a heading: its text with hyphens for spaces."""
    plain = re.sub(r"[`*]", "", heading)
    return quote(plain.replace(" ", "-"), safe="-.,:;!~*'/?@&=+$")


def slug(fragment):
    """The same heading's anchor in the book, from JupyterLab's fragment."""
    return re.sub(r"[^\w\- ]", "", unquote(fragment).lower())
