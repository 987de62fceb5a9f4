"""`python -m course_lib book`: build the web book, without a network, and put it in its place when it is whole."""

import contextlib
import functools
import http.server
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.book import pdf
from course_tools.build.files import add_root, clone

NEEDED = {"math_core": "math-core", "myst_nb": "myst-nb"}  # module: package, where they differ
NEEDED |= {name: name for name in ("sphinx", "furo", "ziamath")}
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
    words = "where to (default: book/ in the clone)"
    parser.add_argument("--out", type=Path, metavar="DIR", help=words)
    words = "leave the solutions out, for a class"
    parser.add_argument("--without-solutions", action="store_true", help=words)
    words = "print the cheat sheets to docs/cheat-sheets.pdf too (needs Chromium or Chrome)"
    parser.add_argument("--pdf", action="store_true", help=words)
    words = "then show it at http://127.0.0.1:PORT (8000), to this machine alone, until Ctrl+C"
    parser.add_argument("--serve", nargs="?", const=8000, type=int, metavar="PORT", help=words)
    add_root(parser)


def command(args):
    """Run `book` with parsed arguments; return the exit status."""
    root = clone(args.root)
    out = (args.out or root / "book").resolve()
    refuse_missing()
    refuse_foreign(out)
    if args.pdf:
        pdf.refuse_no_browser()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".book-", dir=out.parent) as work:
        made = make(root, Path(work), not args.without_solutions)
        if made is None:
            return 1
        if args.pdf:
            pdf.print_sheets(made)
        replace(made, out)
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{pages} pages; open {out / 'index.html'}")
    if args.serve is not None:
        serve(out, args.serve)
    return 0


def serve(folder, port):
    """Show a folder to this machine until Ctrl+C. port: 0 takes a free one. Raises BadInput where it is taken."""
    files = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), files)
    except OSError as error:
        raise BadInput(
            f"port {port} cannot be used ({error.strerror}): name another one, --serve 8001"
        ) from None
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"http://127.0.0.1:{server.server_port}/  Ctrl+C ends it", flush=True)
        server.serve_forever()


def refuse_missing():
    """BadInput if a package of the extra `book` is not installed."""
    missing = [name for module, name in NEEDED.items() if not importlib.util.find_spec(module)]
    if missing:
        advice = 'pip install -e ".[book]" in the clone adds them'
        raise BadInput(f"the book needs {', '.join(missing)}: {advice}")


def refuse_foreign(out):
    """BadInput if the place of the book is taken by something that is not a book."""
    if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        advice = "name an empty or a new folder with --out"
        raise BadInput(f"{out} is there and is not a book of ours: {advice}")


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
            *old, "build the notebooks first: python -m course_lib build", sep="\n", file=sys.stderr
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
    jobs = str(min(JOBS, os.cpu_count() or 1))
    line = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "--no-color"]
    line += ["-j", jobs, *map(str, ("-d", trees, "-c", HERE, pages, made))]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path)), "PYTHONUTF8": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(line, env=env, stdout=pipe, text=True, encoding="utf-8") as process:
        show(process.stdout)
    return process.wait()


def show(lines):
    """Sphinx's own words, of its many "reading sources... [ 12%] name" only each fourth part where nobody watches."""
    told, live = None, sys.stderr.isatty()
    for row in lines:
        found = re.match(r"(reading|writing)[^\[]*\[ *(\d+)%\]", row)
        if not found:
            continue
        phase, percent = found[1], int(found[2])
        if live:
            end = "\n" if percent == 100 else ""
            print(f"\r\x1b[2K{phase} {percent} %", end=end, file=sys.stderr, flush=True)
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
