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
ROOMS = ("serial", "threads", "gpu", "mpi")
# Machinery inside of a room, counted apart with a limit of its own: (at least, at most) lines of code
MACHINERY = {
    "gpu/cpu_engine": (500, 2000),
    "mpi/launcher": (200, 630),
    "mpi/profiles": (0, 200),
    "mpi/rehearsal": (500, 1150),
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
    tool("mypy", "--no-error-summary")


def room_of(path):
    return path.relative_to(LIBRARY).parts[0].removesuffix(".py")


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


def test_teaching_rooms_stay_small():
    machines = [LIBRARY / name for name in MACHINERY]
    files = [path for path in LIBRARY.rglob("*.py") if room_of(path) in ROOMS]
    taught = [
        path for path in files if not any(path.is_relative_to(machine) for machine in machines)
    ]
    lines = {
        str(path.relative_to(ROOT)): lines_of_code(path.read_text(encoding="utf-8"))
        for path in taught
    }
    assert sum(lines.values()) <= 2800, lines
    assert sum(1 for line in (ROOT / "start.py").open()) <= 250


@pytest.mark.parametrize("machine", MACHINERY)
def test_machinery_stays_small(machine):
    least, most = MACHINERY[machine]
    assert least <= sum(map(engine_lines, (LIBRARY / machine).rglob("*"))) <= most
