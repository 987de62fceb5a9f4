"""The clone of the course, and text files that are written whole or not at all."""

import os
from pathlib import Path

from course_lib.errors import BadInput


def add_root(parser):
    """The argument --root, which `clone` takes."""
    parser.add_argument("--root", type=Path, help="the clone (default: where chapters/ is)")


def clone(root=None):
    """The folder that holds chapters/: the given one, this one, or the one course_lib was imported from."""
    tried = [Path(root)] if root else [Path.cwd(), Path(__file__).resolve().parents[2]]
    for folder in tried:
        if (folder / "chapters").is_dir():
            return folder.resolve()
    advice = "run this in the clone of the course, or pass --root"
    raise BadInput(f"no folder chapters/ in {tried[0]}: {advice}")


def short(path, root):
    """A path as it is told: from the clone, with slashes."""
    path = Path(path)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def write(file, text):
    """Write a text file whole or not at all, with "\\n" line ends."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        half.write_text(text, encoding="utf-8", newline="\n")
        os.replace(half, file)
    finally:
        half.unlink(missing_ok=True)
