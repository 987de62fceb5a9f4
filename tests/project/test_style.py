"""Ruff over the code and the notebooks' code, mypy over the library, and the size of the teaching packages."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "course_lib"
ROOMS = ("data", "serial", "threads", "gpu", "mpi", "measure", "plots")  # what a learner reads
# of all rooms together, every line counted: Python and CUDA C; 360 of them are half precision on tensor cores,
# 160 gemm_async and what gemm_warptile has more since its aligned tiles have a loop of their own,
# 420 the bounds of a kernel on four GPUs, and figures of their memories and of a warp's tile
# 290 choose a kernel for each of a network's products and cut long sums into slices
MOST_LINES = 13_450
MOST_LINES_OF_A_FUNCTION = 25  # without its head and docstring
# what runs code is counted apart, lines of code alone: (at least, at most)
MACHINES = {
    # 80 lines of it let the fragments of tensor cores (wmma) meet, and name their misuse;
    # 60 do so for asynchronous copies, which are told when they are read on their way
    "machines/cpu_engine": (500, 2700),
    "machines/pycuda_names": (50, 300),
    "machines/trace_page": (50, 200),
    "machines/cuda_c": (300, 1100),  # 120 lines of it are include/mma.h, fragments of tensor cores
    "machines/rehearsal": (
        500,
        3420,
    ),  # 20 lines of it know a poisoned number that came into a result
    "machines/ranks": (200, 1290),  # 10 lines of it replace a client that missed an engine
    "machines/books": (200, 640),
    "plots/stepper": (
        200,
        1400,
    ),  # what makes pictures move: machinery, read by nobody beside the text
}


def tool(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}{done.stderr}"


def test_ruff():
    """Also lints the code of notebooks/ and solutions/: ruff reads .ipynb."""
    tool("ruff", "check", "--no-cache", "--output-format=concise", ".")


def test_ruff_reads_the_notebooks():
    built = sorted(
        path for room in ("notebooks", "solutions") for path in (ROOT / room).glob("*.ipynb")
    )
    show = [sys.executable, "-m", "ruff", "check", "--show-files", "."]
    seen = set(subprocess.run(show, cwd=ROOT, capture_output=True, text=True).stdout.splitlines())
    assert built and not [path for path in built if str(path) not in seen]


def test_types():
    """Over 20 s of processor: mypy reads all of the code."""
    tool("mypy", "--no-error-summary")


def lines_of_code(text):
    """Lines that hold code: what docstrings must say of shapes, errors and sources does not count against a room."""
    nodes = ast.walk(ast.parse(text))
    parts = [
        node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    strings = [node.body[0] for node in parts if ast.get_docstring(node) is not None]
    said = {line for node in strings for line in range(node.lineno, node.end_lineno + 1)}
    empty = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    tokens = [
        t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in empty
    ]
    return len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - said)


def engine_lines(path):
    text = path.read_text(encoding="utf-8") if path.suffix in (".py", ".cpp", ".h") else ""
    if path.suffix == ".py":
        return lines_of_code(text)
    return sum(
        1 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")
    )


def test_lines_of_code_are_counted():
    text = '"""Said\nin two lines."""\n\nx = 1  # why\n# no code\ndef f():\n    """Said."""\n    return (1,\n2)\n'
    assert lines_of_code(text) == 4


def files_of(folder):
    """The Python and CUDA C of a room, without what is counted as a machine of its own."""
    apart = [LIBRARY / name for name in MACHINES if name != folder]
    paths = [
        path for path in sorted((LIBRARY / folder).rglob("*")) if path.suffix in (".py", ".cu")
    ]
    return [path for path in paths if not any(one in path.parents for one in apart)]


def test_teaching_rooms_stay_small():
    lines = {
        room: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files_of(room))
        for room in ROOMS
    }
    assert min(lines.values()) > 0 and sum(lines.values()) <= MOST_LINES, lines
    assert sum(1 for line in (ROOT / "start.py").open()) <= 250


@pytest.mark.parametrize("machine", MACHINES)
def test_machines_stay_small(machine):
    least, most = MACHINES[machine]
    assert least <= sum(map(engine_lines, (LIBRARY / machine).rglob("*"))) <= most


@pytest.mark.parametrize("folder", [*ROOMS, *MACHINES])
def test_functions_stay_short(folder):
    for path in files_of(folder):
        for node in (
            ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.suffix == ".py" else ()
        ):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
                length = node.end_lineno - body[0].lineno + 1
                assert length <= MOST_LINES_OF_A_FUNCTION, f"{path.relative_to(ROOT)}: {node.name}"
