"""`python -m course_lib grade` as a process: rows for all, nothing lost when it is killed, nothing graded twice."""

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.grading.commands import summary
from course_tools.grading.intake import assemble, files, handed_in
from course_tools.grading.intake.notebook import read as read_notebook
from course_tools.grading.release.manifest import Chapter, Step, load
from course_tools.grading.sandbox import sandbox
from course_tools.grading.verdict import results
from course_tools.grading.workers import jobs, pool, worker

ROOT = Path(__file__).resolve().parents[2]
WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")

NEURON = "def neuron(x, w, b):\n    return 1 / (1 + math.exp(-(float(x @ w) + b)))\n"
CHAPTER = Chapter(
    "01-tiny",
    "Tiny",
    "",
    (
        Step(
            "setup",
            "given",
            "import math\nimport numpy as np\nfrom course_lib.checks import ch01\n",
        ),
        Step(
            "neuron",
            "task",
            "def neuron(x, w, b):\n    raise NotImplementedError('write neuron')\n",
            2,
            5,
        ),
        Step(
            "neuron-check",
            "check",
            "ch01.check_neuron(neuron)",
            of="neuron",
            check="ch01.check_neuron",
            name="neuron",
        ),
        Step("show", "given", "print(neuron(np.ones(2), np.ones(2), 0.0))"),
    ),
    "source-of-01",
)
OTHER = Chapter(
    "02-tiny",
    "Other",
    "",
    (
        Step("begin", "given", "import numpy as np\nfrom course_lib.checks import ch01\n"),
        Step("softmax", "task", "def softmax(z):\n    raise NotImplementedError\n", 3, 5),
        Step(
            "softmax-check",
            "check",
            "ch01.check_softmax(softmax)",
            of="softmax",
            check="ch01.check_softmax",
            name="softmax",
        ),
    ),
    "source-of-02",
)


def released(folder, tested=True, chapters=(CHAPTER, OTHER), seed=1):
    """A release as `release` writes it."""
    rows = {one.name: vars(one) | {"steps": [vars(step) for step in one.steps]} for one in chapters}
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(
        json.dumps({"schema": 1, "tested": tested, "seed": seed, "chapters": rows})
    )
    return folder


def notebook(chapter=CHAPTER, source="", **texts):
    """A handed-in notebook, as text."""
    cells = [
        {
            "id": step.id,
            "cell_type": "code",
            "source": texts.get(step.id, step.text),
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for step in chapter.steps
    ]
    return json.dumps(
        {
            "cells": cells,
            "metadata": {"course": {"source": source}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def put(folder, **files):
    """Files of a class, {student__chapter or student: text}."""
    for name, text in files.items():
        file = Path(folder, *name.split("__")).with_suffix(".ipynb")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def line(*args):
    """The command line."""
    return [sys.executable, "-m", "course_lib", "grade", *map(str, args)]


def grade(place, *more, **options):
    """Run it on place/in; (exit status, summary)."""
    done = subprocess.run(
        line(place / "in", "--release", place / "release", "--out", place / "out", "--json", *more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )
    assert done.stdout, done.stderr[-3000:]
    return done.returncode, json.loads(done.stdout)


def digests(folder):
    return {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


@needs_sandbox
def test_a_class(tmp_path):
    """Good, wrong, blank, hostile and broken: a row each; a second run grades what has changed alone."""
    released(tmp_path / "release")
    put(
        tmp_path / "in",
        good__a=notebook(neuron=NEURON),
        good__b=notebook(OTHER),
        blank=notebook(),
        wrong=notebook(neuron="def neuron(x, w, b): return 0.5"),
        ends=notebook(neuron="import os; os._exit(0)"),
        broken="{",
        old=json.dumps({"nbformat": 3, "worksheets": []}),
        other='{"cells": [], "nbformat": 4}',
        raises=notebook(neuron="1 / 0"),
        **{'Ünï, "c" =1+1': notebook(neuron=NEURON)},
    )
    before = digests(tmp_path / "in")
    status, said = grade(tmp_path)
    rows = {(row["student"], row["chapter"]): row for row in said["rows"]}
    assert status == 1 and (said["graded"], said["kept"], said["failed"]) == (7, 0, 3)
    assert rows["good", "01-tiny"]["points"] == rows['Ünï, "c" =1+1', "01-tiny"]["points"] == 2
    assert rows["good", "02-tiny"]["statuses"] == {"softmax": "missing"}
    want = {"blank": "missing", "wrong": "wrong", "ends": "crashed", "raises": "missing"}
    for student, expected in want.items():
        assert rows[student, "01-tiny"]["statuses"] == {"neuron": expected}, student
        assert not [text for text in rows[student, "01-tiny"]["problems"] if "show" in text], (
            "a demo is no problem"
        )
    for student in ("broken", "old", "other"):
        assert rows[student, ""]["problems"] and rows[student, ""]["points"] == 0
    assert (
        "ZeroDivisionError"
        in results.load(results.file_of(tmp_path / "out", "raises"))[0].tasks[0].message
    )
    assert digests(tmp_path / "in") == before and not (tmp_path / "out" / ".grading").exists()
    put(tmp_path / "in", wrong=notebook(neuron=NEURON), broken=notebook(neuron=NEURON))
    status, said = grade(tmp_path)
    assert (status, said["graded"], said["kept"], said["failed"]) == (1, 2, 6, 2)
    assert not [row for row in said["rows"] if row["student"] == "broken" and not row["chapter"]], (
        "it can be read now"
    )


@needs_sandbox
def test_killed_and_run_again(tmp_path):
    """kill -9 in the middle: each file is whole, its workers end, the next run grades the rest alone."""
    released(tmp_path / "release")
    slow = notebook(neuron="import time; time.sleep(0.4)\n" + NEURON)
    put(tmp_path / "in", **{f"student{n:02d}": slow for n in range(12)})
    args = line(
        tmp_path / "in",
        "--release",
        tmp_path / "release",
        "--out",
        tmp_path / "out",
        "--workers",
        1,
    )
    first = subprocess.Popen(args, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = wait_for(lambda: [*(tmp_path / "out").glob("student*.json")], 2)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    kept = {file: file.read_bytes() for file in done}
    status, said = grade(tmp_path)
    assert status == 0 and said["graded"] + said["kept"] == 12 and said["kept"] >= 2
    assert {row["points"] for row in said["rows"]} == {2} and len(said["rows"]) == 12
    assert all(file.read_bytes() == text for file, text in kept.items())


def children(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@needs_sandbox
@pytest.mark.parametrize("victim", ["worker", "prefork"])
def test_a_worker_that_is_killed(tmp_path, victim):
    released(tmp_path / "release")
    slow = notebook(neuron="import time; time.sleep(0.4)\n" + NEURON)
    put(tmp_path / "in", **{f"student{n}": slow for n in range(6)})
    args = line(
        tmp_path / "in",
        "--release",
        tmp_path / "release",
        "--out",
        tmp_path / "out",
        "--workers",
        1,
    )
    run = subprocess.Popen(args, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: [*(tmp_path / "out").glob("student*.json")], 1)
    (prefork,) = children(run.pid)
    worker = max(children(prefork))  # the fork server was there before it
    os.kill(worker if victim == "worker" else prefork, signal.SIGKILL)
    text, _ = run.communicate(timeout=200)
    assert run.returncode == 0 and text.count("2/2") == 6, text
    assert "6 graded, 0 unchanged, 0 could not be graded" in text


def wait_for(what, count, seconds=120.0):
    end = time.monotonic() + seconds
    while len(found := what()) < count:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


@needs_sandbox
def test_on_engines(tmp_path):
    """Two engines give the same gradebook and pages, byte for byte, and the same results but for their seconds.

    A class of 24, so that each engine takes several times.
    (By hand: a class of 1,000 without engines, 60 of it on two.)
    """
    released(tmp_path / "release")
    wrong = notebook(neuron="def neuron(x, w, b):\n    return 0.5\n")
    put(tmp_path / "in", a=notebook(neuron=NEURON), b=notebook(), c=wrong, d="no notebook")
    put(tmp_path / "in", **{f"e{n:02d}": notebook(neuron=NEURON + f"# {n}\n") for n in range(20)})
    status, said = grade(tmp_path, "--engines", "2", "--seed", "7")
    assert status == 1 and [row["points"] for row in said["rows"]] == [2, 0, 0, 0, *[2] * 20]
    there = made(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    grade(tmp_path, "--seed", "7")
    assert made(tmp_path / "out") == there and {"gradebook.csv", "c.json"} <= set(there)


def made(out):
    """{file: bytes} of all that was made, but for the seconds that it took."""
    files = {str(one.relative_to(out)): one for one in out.rglob("*") if one.is_file()}
    return {
        name: re.sub(rb'"seconds": [0-9.]+', b"", file.read_bytes())
        for name, file in files.items()
        if not name.startswith(".")
    }


@needs_sandbox
def test_folders_named_from_where_the_user_is(tmp_path):
    released(tmp_path / "release")
    put(tmp_path / "in", a=notebook(neuron=NEURON))
    done = subprocess.run(
        line("in", "--release", "release", "--out", "out", "--json"),
        cwd=tmp_path,
        timeout=300,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [row["points"] for row in json.loads(done.stdout)["rows"]] == [2]


def test_a_call_that_is_wrong(tmp_path):
    released(tmp_path / "release", tested=False)
    put(tmp_path / "in", a=notebook())
    calls = [
        ("nowhere", "--untested"),
        (tmp_path / "in",),
        (tmp_path / "in", "--untested", "--workers", "0"),
        (tmp_path / "in", "--untested", "--timeout", "0"),
    ]
    if os.getuid() == 0:
        calls.append((tmp_path / "in", "--untested", "--isolation", "none"))
    for call in calls:
        done = subprocess.run(
            line(*call, "--release", tmp_path / "release", "--out", tmp_path / "out"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert (
            done.returncode == 2
            and done.stderr.startswith("course grade: ")
            and "Traceback" not in done.stderr
        )
    assert not (tmp_path / "out").exists()


def test_each_submission_has_its_own_release(tmp_path):
    from course_tools.grading.commands.grade import Run

    old = load(released(tmp_path / "old", chapters=(CHAPTER,)))
    new = load(released(tmp_path / "new", chapters=(OTHER,)))
    run = Run.__new__(Run)
    run.releases = {one.id: one for one in (old, new)}
    for source, own in (
        ("source-of-01", old),
        ("source-of-02", new),
        ("", new),
        ([], new),
        ({"a": 1}, new),
    ):
        assert run._release_of(files.File("x", notebook(source=source).encode())) is own
    for data in (b"", b"[" * 100_000, b"7", b"{}", None, b'{"metadata": 5}'):
        assert run._release_of(files.File("x", data)) is new


def work_in(tmp_path, students=3):
    given = load(released(tmp_path / "release"))
    work = jobs.Work(tmp_path / "work", {given.id: given}, tmp_path / "out", "sandbox", 9.0)
    work.write()
    read = read_notebook(files.File("x", notebook(neuron=NEURON).encode()))
    for n in range(students):
        job = jobs.Job("0.ipynb", f"s{n}", "", "01-tiny", "x.ipynb", "digest", given.id)
        jobs.add(work, n, [(job, assemble.assemble(read, CHAPTER))])
    return jobs.load(tmp_path / "work")


def test_jobs_are_taken_once(tmp_path):
    work = work_in(tmp_path)
    taken = jobs.take(work, "w0", 1) + jobs.take(work, "w1", 1) + jobs.take(work, "w0", 9)
    assert [unit.name for unit in taken] == ["00000.w0", "00001.w1", "00002.w0"] and not jobs.take(
        work, "w1", 1
    )
    (job,) = jobs.of(work, taken[0])
    made = job.assembled(json.loads((taken[0] / "0.ipynb").read_text()))
    assert made.texts == {"neuron": NEURON} and not made.missing and made.chapter == CHAPTER
    jobs.end(work, taken[0])
    assert work.done() == 1 and not taken[0].exists()


def test_who_was_taken_beside_a_hostile_one_is_tried_alone(tmp_path):
    """Three students were taken together, and the worker ended: then each is taken by itself, after all others."""
    work = work_in(tmp_path, 3)
    first = [unit for _ in range(3) for unit in jobs.take(work, "w0", 1)]
    assert len(first) == 3
    jobs.put_back(work, "w0", "it ended (-11)")
    (work.folder / "todo" / "00009").mkdir()
    taken = [[unit.name for unit in jobs.take(work, f"w{n}", 8)] for n in range(1, 6)]
    assert taken == [["00009.w1"], *([f"0000{n}.again.w{n + 2}"] for n in range(3)), []]


def test_what_ends_two_workers_gets_a_row_that_says_so(tmp_path):
    work = work_in(tmp_path, 1)
    for n in (0, 1):
        assert len(jobs.take(work, f"w{n}", 1)) == 1
        jobs.put_back(work, f"w{n}", "it ended (-9): Killed")
    assert work.done() == 1 and not jobs.take(work, "w2", 1)
    rows = summary.rows_of(tmp_path / "out", ["s0", "nobody"])
    (one,) = rows[0][1]
    assert (
        one.points == 0
        and one.out_of == 2
        and one.tasks[0].status == "not-run-here"
        and not one.digest
    )
    assert results.NOT_GRADED in one.problems[0] and summary.failed(rows) == 2
    assert "not-run-here" in summary.table(rows) and "no result" in summary.table(rows)


def test_one_run_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "WAIT", 0.2)
    with pool.OutputFolder(tmp_path / "out") as place:
        assert place.folder.stat().st_mode & 0o077 == 0
        with pytest.raises(BadInput, match="another"):
            pool.OutputFolder(tmp_path / "out").__enter__()
    with pool.OutputFolder(tmp_path / "out"):
        pass


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(summary.time, "monotonic", lambda: now[0])
    shown, plain, quiet = Terminal(), io.StringIO(), Terminal()
    bars = (
        summary.ProgressLine(stream=shown),
        summary.ProgressLine(stream=plain),
        summary.ProgressLine(quiet=True, stream=quiet),
    )
    for done in range(5):
        now[0] += 20.0
        for bar in bars:
            bar.show(done, 4)
    for bar in bars:
        bar.clear()
    assert "[######..................] 1/4 graded, about 2 min left" in shown.getvalue()
    assert (
        "4/4 graded" in shown.getvalue()
        and shown.getvalue().endswith("\r\x1b[2K")
        and not quiet.getvalue()
    )
    assert plain.getvalue().splitlines() == ["2/4 graded, about 60 s left", "4/4 graded"]
    assert [summary.clock(s) for s in (7, 400, 8000)] == ["7 s", "7 min", "2 h 13 min"]


def test_nothing_that_is_handed_in_stops_it(tmp_path, monkeypatch):
    """Neither names that are no text, nor an error of the grader's own over one file."""
    from course_tools.grading.commands import grade

    names = {
        results.file_of(tmp_path, name).name
        for name in ("a\udcff", "a\udcfe", "..", "a/b", "A" * 300, "con")
    }
    assert len(names) == 6 and all(
        name.isascii() and "/" not in name and len(name) < 80 for name in names
    )
    given = load(released(tmp_path / "release"))
    monkeypatch.setattr(assemble, "assemble", lambda *_: {}["x"])
    assert grade._assembled(files.File("x", notebook().encode()), given) == [
        "it cannot be read (KeyError)"
    ]
    assert "JSON" in grade._assembled(files.File("x", b"{"), given)[0]


def test_names_cannot_move_the_cursor():
    assert summary.plain("a\x1b[2Kb\n") == "a?[2Kb?"


class NoForkServer:
    """A fork_server that has ended."""

    isolation = "sandbox"

    def fork(self, *_, **__):
        raise RuntimeError("the process that student processes are forked from has ended")


def test_an_error_of_the_grader_is_no_verdict(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # as `worker.start` does
    work = work_in(tmp_path, 2)
    with pytest.raises(RuntimeError, match="forked from has ended"):
        worker._grade(
            work, NoForkServer(), "w0", jobs.take(work, "w0", 1) + jobs.take(work, "w0", 1)
        )
    assert work.done() == 0 and not (tmp_path / "out").exists()
    jobs.put_back(work, "w0", "x")
    assert len(os.listdir(work.folder / "todo")) == 2


def test_the_worker_imports_no_grammar():
    """nbformat's schemas would build one for two seconds."""
    text = """import sys
from course_tools.grading.workers import worker
from course_tools.grading.workers import nbval_plugin
assert not {"lark", "numba", "matplotlib"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True, timeout=100)


def test_a_class_is_not_held_in_memory(tmp_path):
    """Folders and zips are read file by file, when each is needed."""
    put(tmp_path / "in", a__x=notebook(), b__x=notebook(neuron=NEURON))
    with zipfile.ZipFile(tmp_path / "in" / "c.zip", "w") as packed:
        packed.writestr("x.ipynb", notebook(OTHER))
        packed.writestr("../y.ipynb", "{}")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        for file in sorted((tmp_path / "in").rglob("*.ipynb")):
            packed.write(file, file.relative_to(tmp_path / "in"))
    for place, count in ((tmp_path / "in", 3), (tmp_path / "all.zip", 2)):
        found = handed_in.collect(place)
        assert [one.student for one in found] == ["a", "b", "c"][:count]
        assert not [file for one in found for file in one.files if isinstance(file.content, bytes)]
        texts = [notebook(), notebook(neuron=NEURON), notebook(OTHER)]
        assert [one.files[0].data.decode() for one in found] == texts[:count]
    assert {file.problem[:13] for file in handed_in.collect(tmp_path / "in")[2].files} == {
        "",
        "its name leav",
    }


@pytest.mark.parametrize("name", ["grade", "release", "check"])
def test_where_nothing_can_be_forked(name, tmp_path, monkeypatch, capsys):
    """Windows: a message, no traceback."""
    monkeypatch.delattr(os, "fork")
    released(tmp_path / "release")
    args = {
        "grade": ["x", "--release", str(tmp_path / "release"), "--out", "y"],
        "check": [str(tmp_path)],
        "release": ["--out", str(tmp_path / "z")],
    }
    assert main([name, *args[name]]) == 2 and "fork" in capsys.readouterr().err
