"""The sources of the chapters, each parsed once for all the tests of a process, and not before a test needs it."""

import functools
from pathlib import Path

from course_tools.build import source

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.name for path in (ROOT / "chapters").glob("[0-9][0-9]-*"))


@functools.cache
def read(chapter, kind):
    """The `Source` of a chapter such as "05-gpu-first-kernels"; kind: "lecture" or "exercise"."""
    return source.read(ROOT / "chapters" / chapter / f"{kind}.md")


def lectures():
    return [read(chapter, "lecture") for chapter in CHAPTERS]


def exercises():
    return [read(chapter, "exercise") for chapter in CHAPTERS]
