"""Who may import whom, no circle, small folders, and the picture of it in CONTRIBUTING.md."""

import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.maintenance import architecture, architecture_svg, imports

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 25
AGAIN = "draw it again: python -m course_tools.maintenance.architecture --write"
ENGINE, REHEARSAL, RANKS = "machines/cpu_engine", "machines/rehearsal", "machines/ranks"
PYCUDA_NAMES, TRACE_PAGE = "machines/pycuda_names", "machines/trace_page"
CUDA_C, BOOKS = "machines/cuda_c", "machines/books"
TAUGHT = {"data", "serial", "threads", "gpu", "mpi"}
# a package of course_lib -> the others that it may import; errors.py stands below all
ARROWS: dict[str, set[str]] = {
    "data": set(),
    "serial": {"data"},
    "threads": {"serial", "data", "measure"},  # measure: BLAS is pinned while our own threads run
    "gpu": {"serial", "data", ENGINE, PYCUDA_NAMES},
    "mpi": {"serial", "data", "measure", REHEARSAL, RANKS},  # measure: what one rank's step costs
    "measure": set(),
    "plots": {"measure"},
    "progress": set(),
    ENGINE: {TRACE_PAGE, CUDA_C},
    TRACE_PAGE: set(),
    CUDA_C: set(),
    PYCUDA_NAMES: {ENGINE, CUDA_C},
    REHEARSAL: set(),
    RANKS: {"measure", BOOKS},
    BOOKS: set(),
    "checks/kit": TAUGHT | {ENGINE, CUDA_C, REHEARSAL, RANKS},
    "checks/chNN": TAUGHT | {ENGINE, REHEARSAL, RANKS, "checks/kit"},
}
HEAVY = {
    "numba", "matplotlib", "sklearn", "scipy", "threadpoolctl", "jupytext", "IPython", "mpi4py", "pycuda", "psutil",
    "ipyparallel", "cloudpickle",
}  # fmt: skip
IMPORT_ALL = """
import importlib, sys
sys.modules.update(dict.fromkeys({heavy}))
for name in {names}:
    print(name, flush=True)
    importlib.import_module(name)
"""


@functools.cache
def graph():
    return imports.graph(ROOT)


@functools.cache
def boxes():
    return architecture.packages(ROOT, graph())


def short(package):
    return package.removeprefix("course_lib/")


# Modules ---------------------------------------------------------------------------------------------------------


def test_no_circle_between_modules():
    """Imports inside functions count: what needs them to hide a circle is in the wrong place."""
    assert imports.circles(graph()) == []


def test_no_circle_between_packages():
    assert imports.circles({name: box.imports for name, box in boxes().items()}) == []


def test_every_package_of_the_library_has_its_rule():
    assert {short(name) for name in boxes() if name.startswith("course_lib/")} == set(ARROWS)


@pytest.mark.parametrize("package", ARROWS)
def test_arrows_go_downwards(package):
    for module, targets in graph().items():
        if module.startswith("course_lib") and short(architecture.box_of(module) or "") == package:
            seen = {short(architecture.box_of(target) or "") for target in targets}
            assert seen - {""} <= ARROWS[package] | {package}, f"{module} imports {sorted(targets)}"


def test_the_library_imports_no_tool():
    upwards = {
        (module, target)
        for module, targets in graph().items()
        for target in targets
        if module.startswith("course_lib") and target.startswith("course_tools")
    }
    assert upwards == set()


def test_modules_outside_of_packages_import_nothing():
    """`errors`, which all may import, and its like; the command lines alone import by name what they run."""
    outside = {name for name in graph() if not architecture.package_of(name)}
    assert {"course_lib.errors", "course_lib.checks"} <= outside
    for name in outside - {"course_lib.__main__", "course_tools.__main__"}:
        assert graph()[name] <= outside, name
    assert graph()["course_lib.__main__"] == set()


def test_no_chapter_imports_the_checks_of_another():
    for module, targets in graph().items():
        own = architecture.package_of(module) or ""
        if "checks/ch" in own:
            seen = {architecture.package_of(target) or "" for target in targets}
            assert {name for name in seen if "checks/ch" in name} <= {own}, module


def test_chapters_import_packages_of_the_library():
    """And nothing of course_tools but the papers' claims, which the capstone measures again."""
    allowed = {f"course_lib/{name}" for name in ARROWS} | {"course_tools/bench"}
    assert boxes()["chapters"].imports <= allowed


def python_files():
    tops = ("course_lib", "course_tools", "tests")
    return [path for top in tops for path in sorted((ROOT / top).rglob("*.py"))]


def test_imports_are_absolute():
    for path in python_files():
        relative = re.findall(r"^\s*from\s+\..*", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not relative, f"{path.relative_to(ROOT)}: {relative}"


def test_imports_need_numpy_alone():
    """Each package, one after the other, where an import of anything heavy fails."""
    packages = {architecture.package_of(name) for name in graph() if name.startswith("course_lib")}
    names = sorted(name.replace("/", ".") for name in packages if name)
    names += ["course_lib.errors", "course_lib.__main__"]
    command = [sys.executable, "-c", IMPORT_ALL.format(heavy=HEAVY, names=names)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split() == names, done.stdout + done.stderr


@pytest.mark.parametrize("top", ["course_lib", "course_tools", "tests"])
def test_folders_stay_small(top):
    folders = [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]
    for folder in folders:
        if folder.name != "__pycache__" and not folder.name.startswith("."):
            files = [path for path in folder.iterdir() if path.is_file() and path.name[0] != "."]
            assert len(files) <= MOST_FILES, f"{folder.relative_to(ROOT)}: {len(files)} files"


# The picture -----------------------------------------------------------------------------------------------------


def picture():
    return (ROOT / architecture.PICTURE).read_text(encoding="utf-8")


def document():
    return (ROOT / architecture.DOCUMENT).read_text(encoding="utf-8")


def rows(text):
    """{package: [says, files, lines, imports]} of the table between the markers."""
    block = text.partition(architecture.MARKERS[0])[2].partition(architecture.MARKERS[1])[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()]
    return {row[0].strip("`"): row[1:] for row in cells if row and row[0].startswith("`")}


def test_picture_shows_the_imports():
    told = set(re.findall(r"<title>(\S+) imports (\S+)</title>", picture()))
    assert told == architecture.arrows_drawn(boxes()), AGAIN
    labels = re.findall(r'class="name"[^>]*>([^<]+)<', picture())
    names = {short(name).removeprefix("course_tools/") for name in boxes()}
    assert sorted(labels) == sorted(name.removeprefix("machines/") for name in names), AGAIN
    assert f"]({architecture.PICTURE})" in document(), "CONTRIBUTING.md shows the picture"


def test_table_shows_the_imports():
    made = rows(architecture.with_table(document(), boxes()))
    told = rows(document())
    assert {name: row[3] for name, row in told.items()} == {n: row[3] for n, row in made.items()}, (
        AGAIN
    )
    for name, row in told.items():  # these may be a little old
        lines = int(row[2].replace(",", ""))
        assert abs(lines - boxes()[name].lines) <= max(200, 0.25 * boxes()[name].lines), (
            f"{name}: {AGAIN}"
        )


def small_tree(tmp_path):
    """Two packages, `serial` that imports `data` and is imported by a chapter."""
    texts = {
        "course_lib/__init__.py": "",
        "course_lib/errors.py": "",
        "course_lib/data/__init__.py": '"""Digits.\n\nMore."""\nfrom course_lib.errors import BadInput\n',
        "course_lib/serial/__init__.py": '"""Networks of\nlayers. More."""\n',
        "course_lib/serial/sgd.py": "def f():\n    from course_lib.data import load\n",
        "course_tools/bench/__init__.py": '"""Times."""\nimport course_lib.serial.sgd\n',
        "chapters/01-a/lecture.md": "# A\n\n```{code-cell} ipython3\n:name: a\n%matplotlib inline\n"
        "from course_lib import serial\n```\n\n`from course_lib import errors`\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_new_import_is_a_new_arrow(tmp_path):
    root = small_tree(tmp_path)
    found = architecture.packages(root)
    serial, data = "course_lib/serial", "course_lib/data"
    wanted = {("chapters", serial), (serial, data), ("course_tools", "course_lib")}
    assert architecture.arrows_drawn(found) == wanted
    assert found[serial].says == "Networks of layers." and found[serial].files == 2
    (root / "course_tools/book").mkdir()
    (root / "course_tools/book/__init__.py").write_text(
        '"""Pages."""\nfrom course_tools import bench\n'
    )
    more = architecture.packages(root)
    assert architecture.arrows_drawn(more) == wanted | {("course_tools/book", "course_tools/bench")}
    assert "<title>chapters imports course_lib/serial</title>" in architecture_svg.draw(
        more, wanted
    )


def test_a_circle_and_a_package_without_a_place_are_refused(tmp_path):
    root = small_tree(tmp_path)
    (root / "course_lib/data/__init__.py").write_text("import course_lib.serial\n")
    with pytest.raises(BadInput, match=r"import each other.*course_lib/data.*course_lib/serial"):
        architecture.arrows_drawn(architecture.packages(root))
    (root / "course_lib/news").mkdir()
    (root / "course_lib/news/__init__.py").write_text("")
    with pytest.raises(BadInput, match=r"no place in the picture for course_lib/news"):
        architecture_svg.draw(architecture.packages(root), set())


def test_circles_are_found():
    assert imports.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == [("b", "c"), ("d",)]
    assert imports.circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_shortcuts_are_left_out():
    arrows = {"a": {"b", "c", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}
    assert imports.without_shortcuts(arrows) == {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": set()}
