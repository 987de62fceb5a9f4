"""What plain nbval lets pass, wait or scatter, each shown to be red, quick or together under the course's plugin.

The notebooks are run twice, in processes of their own: by nbval alone, and with course_tools.notebooks.nbval_strict.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_output
from sample_chapter import notebook

from course_tools.notebooks import nbval_strict

ROOT = Path(__file__).parents[2]
LIMIT = "4"  # seconds for a cell
STRICT = ("-p", "course_tools.notebooks.nbval_strict")
SWALLOWS = """
    import time
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""
STUBBORN = """
    import time
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
"""
SILENT = """
    get_ipython()._showtraceback = lambda *args, **kwargs: None
    raise ValueError("nobody sees this")
"""
LEAVES = """
    import subprocess, sys
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
"""
HELLO = [new_output("stream", name="stdout", text="hello\n")]
PICTURE = [
    new_output("display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "a picture"})
]
WORDS = "from IPython.display import display\ndisplay({'text/plain': 'a picture'}, raw=True)"
AROUND = [
    new_output("stream", name="stdout", text="one\n"),
    new_output("display_data", data={"text/plain": "two"}),
]
TURNED = (
    "from IPython.display import display\ndisplay({'text/plain': 'two'}, raw=True)\nprint('one')"
)
STDERR = [new_output("stream", name="stderr", text="building\n")]

GOOD = [
    "import os, tempfile, pathlib\nprint('hello')",
    {"source": "x = 1", "id": "make-x"},
    {
        "source": "print(f'{x:.1f} in 3.2 ms, seed 42')",
        "id": "use-x",
        "outputs": [new_output("stream", name="stdout", text="1.0 in 71 s, seed 7\n")],
    },
    {"source": "import sys\nprint('building', file=sys.stderr)", "outputs": STDERR},
    {
        "source": "1 / 0",
        "tags": ["raises-exception"],
        "outputs": [
            new_output(
                "error",
                ename="ZeroDivisionError",
                evalue="division by zero",
                traceback=["elsewhere"],
            )
        ],
    },
    {
        "source": "import time; print(time.time_ns())",
        "tags": ["nbval-ignore-output"],
        "outputs": [new_output("stream", name="stdout", text="1\n")],
    },
    "_ = pathlib.Path('pids.txt').open('a').write(f'{os.getpid()}\\n')",
]
GOOD[0] = {"source": GOOD[0], "outputs": HELLO}
SANITIZE = f"--nbval-sanitize-with={ROOT / 'tests' / 'sanitize.cfg'}"

# Holes of one cell, all in the notebook "cells": the cell, what nbval makes of it, what our message says. Ours is red.
CELLS = {
    "unrun": ({"source": "print('anything')", "count": None}, "passed", ["no execution count"]),
    "skipped": ({"source": "1 / 0", "tags": ["nbval-skip"]}, "skipped", ["marked to be skipped"]),
    "no-picture": ({"source": WORDS, "outputs": PICTURE}, "passed", ["-[image/png]"]),
    "other-order": (
        {"source": TURNED, "outputs": AROUND},
        "passed",
        ["[stdout]", "[display_data]", "-two", "+two"],
    ),
    "did-not-raise": (
        {"source": "x = 1", "tags": ["raises-exception"]},
        "passed",
        ["raised nothing"],
    ),
    "vanished": (
        {"source": "x = 1", "outputs": PICTURE, "tags": ["nbval-ignore-output"]},
        "passed",
        ["may vary but not vanish: stored is [image/png, text/plain]; this run gave nothing"],
    ),
    "other-text": (
        {"source": "print('hullo')", "outputs": HELLO},
        "failed",
        ["-hello", "+hullo", "stored in the notebook", "    print('hullo')"],
    ),
    "silent": (
        {"source": SILENT},
        "passed",
        ["it raised"],
    ),  # the last: it takes away the kernel's error messages
}

# Holes that take a notebook of their own: its cells, what nbval makes of them, what the course makes of them.
HOLES = {
    "swallows": ([SWALLOWS, "1 + 1"], ["passed", "xfailed"], ["failed", "failed", "failed"]),
    "dies": (
        ["import os; os._exit(1)", "pass"],
        ["failed", "xfailed"],
        ["failed", "failed", "failed"],
    ),
    "leaves": ([LEAVES], ["passed"], ["passed", "failed"]),
    "no-code": ([], [], ["failed"]),
}

BOTH = {
    **{name: cells for name, (cells, _, _) in HOLES.items()},
    "cells": [{**cell, "id": name} for name, (cell, _, _) in CELLS.items()],
    "good": GOOD,
}
OURS = {
    **BOTH,
    "stubborn": [STUBBORN, "1;"],
    "hangs": ["import time\ndef here():\n    time.sleep(60)\nhere()"],
    "crashes": ["import os, signal; os.kill(os.getpid(), signal.SIGABRT)"],
}


class Run:
    """A pytest process in a folder of notebooks; `finish` waits for it."""

    def __init__(self, folder, *options, ini=""):
        self.name = "strict" if STRICT[1] in options else "plain"
        self.folder, self.report, self.log = (
            folder,
            folder / f"{self.name}.xml",
            folder / f"{self.name}.txt",
        )
        config = folder / f"{self.name}.ini"
        config.write_text(f"[pytest]\n{ini}")
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-c",
            str(config),
            "--rootdir",
            str(folder),
            "--color=no",
            "-p",
            "no:cacheprovider",
            "--nbval",
            "--nbval-current-env",
            f"--junitxml={self.report}",
        ]
        command += [*options, str(folder)]
        with self.log.open("w") as log:  # a file: an orphaned kernel would hold a pipe open
            self.process = subprocess.Popen(
                command, env=env, cwd=folder, stdout=log, stderr=subprocess.STDOUT
            )

    def finish(self):
        """Keep the text and, by notebook, the outcomes, the seconds and the messages of its cells in order."""
        self.process.wait(timeout=240)
        self.text = self.log.read_text()
        self.outcomes, self.seconds, self.messages = {}, {}, {}
        for case in ET.parse(self.report).getroot().iter("testcase"):
            name = Path(case.get("classname").split("::")[0].replace(".ipynb", "")).name.rsplit(
                ".", 1
            )[-1]
            self.outcomes.setdefault(name, []).append(_outcome(case))
            self.seconds.setdefault(name, []).append(float(case.get("time")))
            self.messages.setdefault(name, []).append("".join(child.text or "" for child in case))
        return self


def _outcome(case):
    kinds = {child.tag: child.get("type", "") for child in case}
    if "skipped" in kinds:
        return "xfailed" if "xfail" in kinds["skipped"] else "skipped"
    return "failed" if {"failure", "error"} & set(kinds) else "passed"


@pytest.fixture(scope="module")
def plain_and_strict(tmp_path_factory):
    """Every notebook in two processes at once: nbval alone and the course's plugin."""
    runs = []
    for options in ((), STRICT):
        folder = tmp_path_factory.mktemp("holes")
        for name, cells in (OURS if options else BOTH).items():
            notebook(folder / f"{name}.ipynb", *cells)
        ini = "notebook_seconds =\n    . 20\n" if options else ""
        runs.append(Run(folder, *options, SANITIZE, "--nbval-cell-timeout", LIMIT, ini=ini))
    return [run.finish() for run in runs]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("hole", HOLES)
def test_the_hole_is_there_and_closed(plain_and_strict, hole):
    """The first test of `plain_and_strict` takes the time of two pytests with a kernel for each notebook."""
    plain, strict = plain_and_strict
    _, of_nbval, ours = HOLES[hole]
    assert plain.outcomes.get(hole, []) == of_nbval, plain.text
    assert strict.outcomes[hole] == ours, strict.text


@pytest.mark.parametrize("hole", CELLS)
def test_the_hole_of_one_cell_is_there_and_closed(plain_and_strict, hole):
    plain, strict = plain_and_strict
    at = list(CELLS).index(hole)
    _, of_nbval, says = CELLS[hole]
    assert plain.outcomes["cells"][at] == of_nbval, plain.text
    assert strict.outcomes["cells"][at] == "failed", strict.text
    for words in [*says, f"cells.ipynb, cell {hole}:"]:
        assert words in strict.messages["cells"][at]


@pytest.mark.parametrize(
    "name, says",
    [
        ("swallows", ["did not end within 4 s", "not run: the kernel was lost in cell cell-1"]),
        ("stubborn", ["did not heed the interrupt", "not run: the kernel was lost in cell cell-1"]),
        ("hangs", ["it was interrupted here", "time.sleep(60)"]),
        ("dies", ["the kernel died in this cell", "not run: the kernel was lost in cell cell-1"]),
        ("crashes", ["the kernel died in this cell"]),
        ("leaves", ["its kernel has ended, but not what it started", "time.sleep(20)"]),
        ("no-code", ["no code cell"]),
    ],
)
def test_the_message_says_what_and_where(plain_and_strict, name, says):
    message = "\n".join(plain_and_strict[1].messages[name])
    for words in [*says, f"{name}.ipynb"]:
        assert words in message


def test_a_dead_kernel_is_noticed_before_the_limit(plain_and_strict):
    """Plain nbval waits out its limit."""
    plain, strict = plain_and_strict
    assert plain.seconds["dies"][0] >= float(LIMIT), "nbval waits out its limit"
    assert (
        "the kernel died" in strict.messages["dies"][0]
        and "did not end" not in strict.messages["dies"][0]
    )
    assert all("not run: the kernel was lost" in said for said in strict.messages["dies"][1:])


def test_a_good_notebook_passes(plain_and_strict):
    for run in plain_and_strict:
        assert set(run.outcomes["good"]) == {"passed"}, run.messages["good"]


def test_all_processes_end_red(plain_and_strict):
    assert [run.process.returncode for run in plain_and_strict] == [1, 1]


def test_a_cell_alone_gets_the_cells_above_it(tmp_path):
    for name in ("plain", "strict"):
        (tmp_path / name).mkdir()
        notebook(tmp_path / name / "good.ipynb", *GOOD)
    plain = Run(tmp_path / "plain", SANITIZE, "-k", "Cell and 2")
    strict = Run(tmp_path / "strict", *STRICT, SANITIZE, "-k", "use-x")
    assert plain.finish().outcomes == {"good": ["failed"]}, "nbval runs that cell alone"
    assert strict.finish().outcomes == {"good": ["passed"]}, strict.text


def test_xdist_keeps_a_notebook_in_one_kernel(tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    notebook(tmp_path / "good.ipynb", *GOOD)
    run = Run(tmp_path, *STRICT, SANITIZE, "-n", "2").finish()
    assert run.outcomes == {"good": ["passed"] * 8}, run.text
    assert len((tmp_path / "pids.txt").read_text().split()) == 1


@pytest.mark.parametrize(
    "dist, becomes",
    [
        ("load", "loadfile"),
        ("worksteal", "loadfile"),
        ("loadgroup", "loadfile"),
        ("loadscope", "loadscope"),
        ("each", "each"),
        ("no", "no"),
    ],
)
def test_no_way_of_scattering_is_left(dist, becomes):
    option = SimpleNamespace(nbval_lax=False, nbval_sanitize_with=None, dist=dist)
    config = SimpleNamespace(option=option, rootpath=ROOT, stash=pytest.Stash())
    nbval_strict.pytest_configure(config)
    assert option.dist == becomes
    assert bool(nbval_strict.pytest_report_header(config)) == (dist != becomes)


def test_a_slow_notebook_a_broken_file_and_a_good_one(tmp_path):
    busy = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end:\n    pass"
    notebook(tmp_path / "slow.ipynb", busy)
    notebook(tmp_path / "waits.ipynb", "import time; time.sleep(1)")
    (tmp_path / "broken.ipynb").write_text("{not json")
    run = Run(
        tmp_path, *STRICT, "--continue-on-collection-errors", ini="notebook_seconds =\n    . 0.5\n"
    ).finish()
    assert run.outcomes["slow"] == ["passed", "failed"]
    assert run.outcomes["waits"] == ["passed", "passed"], "as it may for other programs"
    assert "0 s are allowed. The slowest: cell-1" in run.messages["slow"][1]
    assert "is not a notebook" in run.text and run.process.returncode == 1


def test_lax_comparison_is_refused(tmp_path):
    command = [sys.executable, "-m", "pytest", *STRICT, "--nbval-lax", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, text=True, env=env, capture_output=True)
    assert (
        done.returncode == 4 and "--nbval-lax compares next to nothing" in done.stdout + done.stderr
    )
