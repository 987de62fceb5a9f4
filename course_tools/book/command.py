"""`python -m course_lib book`: build the web book, without a network, and put it in its place when it is whole."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build.command import clone

NEEDED = {
    "sphinx": "sphinx",
    "myst_nb": "myst-nb",
    "furo": "furo",
    "math_core": "math-core",
    "ziamath": "ziamath",
}
MARK = ".course-book"  # a folder that holds this file is a book, and may be replaced by the next
FONT = "fonts/STIXTwoMath-Regular.ttf"
JOBS = 4
HERE = Path(__file__).parent


def add_arguments(parser):
    """The arguments of `book`."""
    parser.description = (
        "Build the web book from the built notebooks, docs/ and the docstrings of course_lib. No network is used, and "
        "a warning is an error. Open index.html of the folder that it writes in a browser."
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="where to (default: book/ in the clone)",
    )
    parser.add_argument(
        "--without-solutions", action="store_true", help="leave the solutions out, for a class"
    )
    parser.add_argument(
        "--root", type=Path, default=None, help="the clone (default: where chapters/ is)"
    )


def command(args):
    """Run `book` with parsed arguments; return the exit status."""
    root = clone(args.root)
    out = (args.out or root / "book").resolve()
    refuse_missing()
    refuse_foreign(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".book-", dir=out.parent) as work:
        made = make(root, Path(work), not args.without_solutions)
        if made is None:
            return 1
        replace(made, out)
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{pages} pages; open {out / 'index.html'}")
    return 0


def refuse_missing():
    """BadInput if a package of the extra `book` is not installed."""
    missing = [
        package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None
    ]
    if missing:
        raise BadInput(
            f'the book needs {", ".join(missing)}: pip install -e ".[book]" in the clone adds them'
        )


def refuse_foreign(out):
    """BadInput if the place of the book is taken by something that is not a book."""
    if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(
            f"{out} is there and is not a book of ours: name an empty or a new folder with --out"
        )


def make(root, work, solutions):
    """Stage and build; the folder with the finished book, or None where something was wrong, which was said."""
    from course_tools.book import stage  # not before the call is known to be right

    pages, made = work / "pages", work / "made"
    pages.mkdir()
    print("collecting the pages ...", file=sys.stderr)
    read, books = stage.contents(root, solutions)
    old = stage.stale(root, books)
    if old:
        print(
            "\n".join([*old, "build the notebooks first: python -m course_lib build"]),
            file=sys.stderr,
        )
        return None
    stage.stage(root, pages, read, books)
    if run_sphinx(pages, made, work / "trees"):
        return None
    shutil.rmtree(made / "_sources", ignore_errors=True)  # an empty folder
    copy_font(made)
    (made / MARK).touch()
    return made


def run_sphinx(pages, made, trees):
    """Sphinx in a process of its own, its progress on one line; return its exit status."""
    line = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "--no-color"]
    line += [
        "-j",
        str(min(JOBS, os.cpu_count() or 1)),
        "-d",
        str(trees),
        "-c",
        str(HERE),
        str(pages),
        str(made),
    ]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path)), "PYTHONUTF8": "1"}
    with subprocess.Popen(
        line, env=env, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        show(process.stdout)
    return process.wait()


def show(lines):
    """Sphinx's own words, of its many "reading sources... [ 12%] name" only each fourth part where nobody watches."""
    told = None
    for row in lines:
        found = re.match(r"(reading|writing)[^\[]*\[ *(\d+)%\]", row)
        if not found:
            continue
        phase, percent = found[1], int(found[2])
        if sys.stderr.isatty():
            print(
                f"\r\x1b[2K{phase} {percent} %",
                end="\n" if percent == 100 else "",
                file=sys.stderr,
                flush=True,
            )
        elif (phase, percent // 25) != told:
            print(f"{phase} {percent} %", file=sys.stderr, flush=True)
        told = phase, percent // 25


def copy_font(made):
    """The font for mathematics (SIL Open Font License), which the package ziamath brings."""
    found = importlib.util.find_spec("ziamath")
    assert found and found.submodule_search_locations
    shutil.copy(Path(found.submodule_search_locations[0]) / FONT, made / "_static" / "math.ttf")


def replace(made, out):
    """Put the finished book where an older one may be."""
    if out.exists():
        shutil.rmtree(out)
    shutil.move(made, out)
