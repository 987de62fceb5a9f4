"""`python -m course_tools.maintenance.architecture [--write]`: the picture of the packages, drawn from the imports.

A box is a package with its files and lines; an arrow says that it imports the other one. Left out are arrows that a
longer way makes superfluous, and modules outside of any package: `errors`, which all may import, and the command line,
which imports by name what it runs. What course_tools imports of course_lib is one arrow. `--write` brings
docs/architecture.svg and the table between the markers in CONTRIBUTING.md up to date;
tests/project/test_architecture.py holds both equal to the imports.
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.maintenance import imports
from course_tools.maintenance.architecture_svg import draw

ROOT = Path(__file__).resolve().parents[2]
PICTURE = "docs/architecture.svg"
DOCUMENT = "CONTRIBUTING.md"
MARKERS = "<!-- architecture -->", "<!-- /architecture -->"
CHAPTERS, CHECKS = "chapters", "course_lib/checks/chNN"
NESTED = "course_lib/checks", "course_lib/machines"  # packages whose sub-packages are boxes
COUNTED = {".py", ".cu", ".cpp", ".h", ".md"}  # files whose lines count
SAYS = {CHAPTERS: "The source of every notebook.", CHECKS: "The checks of one chapter each."}


@dataclass
class Package:
    """A box: its name is its folder; what it says of itself; files and lines of code; the boxes that it imports."""

    name: str
    says: str
    files: int
    lines: int
    imports: set[str]


def package_of(module, root=ROOT):
    """The folder of the package that a module belongs to, or None for those outside of any: errors, command lines."""
    parts = module.split(".")
    folder = "/".join(parts[:2])
    if folder in NESTED:
        folder = "/".join(parts[:3])
    outside = len(parts) < 2 or folder in NESTED or not (Path(root) / folder).is_dir()
    return None if outside else folder


def box_of(module, root=ROOT):
    """As `package_of`, but the checks of all chapters are one box."""
    return re.sub(r"checks/ch\d\d$", "checks/chNN", package_of(module, root) or "") or None


def packages(root=ROOT, graph=None):
    """{name: Package} of the picture: course_lib's and course_tools' packages and the chapters. graph: of `imports`."""
    root = Path(root)
    modules = imports.modules(root)
    arrows: dict = defaultdict(set)
    for module, targets in (graph or imports.graph(root)).items():
        arrows[box_of(module, root)] |= {box_of(target, root) for target in targets}
    for path in (root / CHAPTERS).glob("*/*.md"):
        seen = imports.chapter_imports(path, modules)
        arrows[CHAPTERS] |= {box_of(module, root) for module in seen}
    folders = defaultdict(set)
    folders[CHAPTERS] = {path.parent for path in (root / CHAPTERS).glob("*/lecture.md")}
    for module in modules:
        if package_of(module, root):
            folders[box_of(module, root)].add(root / package_of(module, root))
    return {
        name: _package(name, folders[name], arrows[name] - {name, None}) for name in sorted(folders)
    }


def _package(name, folders, targets):
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in COUNTED]
    if name != CHAPTERS:
        files = [path for path in files if path.suffix != ".md"]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    return Package(name, SAYS.get(name) or _says(*folders), len(files), lines, targets)


def _says(folder):
    """The first sentence of a package's docstring."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()))[0]


def arrows_drawn(found):
    """{(from, to)}: the arrows of the picture. All that course_tools imports of course_lib is one arrow."""
    inside, drawn = {}, set()
    for name, box in found.items():
        across = {target for target in box.imports if _is_tool(name) and not _is_tool(target)}
        inside[name] = box.imports - across
        drawn |= {("course_tools", "course_lib") for _ in across}
    circles = imports.circles(inside)
    if circles:
        raise BadInput(f"packages that import each other cannot be drawn: {circles}")
    kept = imports.without_shortcuts(inside)
    return drawn | {(name, target) for name, targets in kept.items() for target in targets}


def _is_tool(name):
    return name.startswith("course_tools")


def table(found):
    """The picture in words: a Markdown table, a row for each package, with all its imports."""
    rows = ["| package | in its own words | files | lines | imports |", "|---|---|---:|---:|---|"]
    for name, box in found.items():
        targets = ", ".join(sorted(re.sub(r"^course_\w+/", "", each) for each in box.imports))
        rows.append(
            f"| `{name}` | {box.says} | {box.files} | {round(box.lines, -2):,} | {targets or '-'} |"
        )
    return "\n".join(rows)


def with_table(text, found):
    """The text of the document with the table between its markers."""
    start, end = (text.find(marker) for marker in MARKERS)
    if not 0 <= start < end:
        raise BadInput(
            f"{DOCUMENT} must hold the lines {MARKERS[0]} and {MARKERS[1]}, in this order"
        )
    return f"{text[: start + len(MARKERS[0])]}\n\n{table(found)}\n\n{text[end:]}"


def main(argv=None):
    """Print the table, or write picture and table; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m course_tools.maintenance.architecture", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--write", action="store_true", help=f"write {PICTURE} and {DOCUMENT}")
    arguments = parser.parse_args(argv)
    found = packages()
    if not arguments.write:
        print(table(found))
        return 0
    try:
        document = ROOT / DOCUMENT
        text = with_table(document.read_text(encoding="utf-8"), found)
        (ROOT / PICTURE).write_text(
            draw(found, arrows_drawn(found)), encoding="utf-8", newline="\n"
        )
        document.write_text(text, encoding="utf-8", newline="\n")
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
