"""The frame of the benches: its command by a tiny bench, its arithmetic and verdicts, its workers and rounds."""

import json
import signal
import subprocess
import sys
import threading
from argparse import ArgumentParser
from dataclasses import dataclass

import numpy as np
import pytest
from bench_runs import ROOT, called, refused

from course_lib.errors import BadInput
from course_tools.bench import frame
from course_tools.bench.frame import (
    Series,
    Worker,
    WorkerError,
    document,
    processes,
    results,
)
from course_tools.bench.frame.document import drawn, written
from course_tools.bench.frame.rounds import why
from course_tools.bench.frame.tables import Table, markdown, plain
from course_tools.bench.frame.targets import alone, at_least, at_most, beyond, none_at_all, over

# A bench of two ways ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    rounds: int = 3
    fails: bool = False
    quick: bool = False
    python: str | None = None


def tiny(settings, progress):
    progress.parts = 1
    progress.part("two ways")
    if settings.rounds == 0:
        raise WorkerError(f"{ROOT}/x: nothing works", "died")
    rows = {"one": {"seconds": [1.0, 2.0, 3.123456789]}, "other": {"error": "not installed: x"}}
    if settings.fails:
        rows["other"] = {"error": "failed: no"}
    return {"settings": {"cores": 2}, "versions": {"x": "1"}, "cases": [{"B": 7, "ways": rows}]}


def rows_of(result):
    ways = result["cases"][0]["ways"].items()
    lines = [frame.timed_row((key,), row, lambda seconds: [str(len(seconds))]) for key, row in ways]
    return [Table("Ways", ("way", "median", "quartiles", "runs"), lines), "A sentence."]


BENCH = frame.Bench(
    name="tiny",
    about="Nothing much.",
    settings=Settings,
    quick={"rounds": 1},
    help="less",
    python=("--torch-python", "another"),
    options={"--fails": {"action": "store_true"}, "--rounds": {"type": int}},
    chosen=lambda options: (
        {"fails": options.fails} | ({} if options.rounds is None else {"rounds": options.rounds})
    ),
    measure=tiny,
    how=lambda result: f"{result['settings']['rounds']} rounds",
    notes=lambda result: [f"Load {frame.load_line(result)}"],
    sections={"ways": rows_of},
    targets=lambda result: [
        at_most("time", "here", 2, alone(result["cases"][0]["ways"]["one"]["seconds"]))
    ],
    stem=lambda result: "tiny-file",
    title=lambda result: "A machine",
)


def run(*arguments):
    parser = ArgumentParser()
    BENCH.add_arguments(parser)
    return BENCH.run(parser.parse_args([str(one) for one in arguments]))


def test_a_run_is_written_and_shown(tmp_path, capsys):
    assert run("--out", tmp_path, "--json") == 0
    said, path = capsys.readouterr(), tmp_path / "tiny-file.json"
    assert said.out.strip() == path.read_text().strip() and "part 1 of 1" in said.err
    result = json.loads(said.out)
    assert (result["schema"], result["benchmark"], result["versions"]) == (1, "tiny", {"x": "1"})
    assert result["settings"] == {"rounds": 3, "fails": False, "quick": False, "cores": 2}
    assert result["cases"][0]["ways"]["one"]["seconds"][-1] == 3.12346, "six digits are kept"
    assert result["targets"][0]["verdict"] == "too noisy to judge" and result["machine"]["logical"]
    assert run("--reuse", path, "--out", tmp_path / "again") == 0
    again = capsys.readouterr().out
    assert (tmp_path / "again/tiny-file.json").read_bytes() == path.read_bytes()
    for words in ("Ways", "1.50 to 2.56", "not installed: x", "A sentence.", "too noisy to judge"):
        assert words in again


def test_a_glance_says_so(tmp_path, capsys):
    assert run("--quick", "--out", tmp_path) == 0
    assert "1 rounds; 0 s in all (--quick: a glance, not a measurement)" in capsys.readouterr().out


def test_what_failed_is_the_exit_status(tmp_path, capsys):
    assert run("--fails", "--out", tmp_path) == 1
    assert "cases, B = 7: ways: other: failed: no" in capsys.readouterr().err
    assert run("--rounds", "0", "--out", tmp_path) == 1
    assert "our own part failed: x: nothing works" in capsys.readouterr().err


def test_a_record_is_the_clone_s_results_and_document(tmp_path, monkeypatch, capsys):
    for module in (results, document):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(BadInput, match="needs a clone"):
        run("--record")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/bench-tiny.md"
    marks = (
        f"<!-- made: {name} -->\nold\n<!-- end -->\n" for name in ("ways", "machine", "targets")
    )
    page.write_text("Words.\n" + "".join(marks))
    for wrong, words in ((["--quick"], "leave out --quick"), (["--out", "x"], "leave out --out")):
        with pytest.raises(BadInput, match=words):
            run("--record", *wrong)
    assert run("--record") == 0
    text = page.read_text()
    assert text.startswith("Words.\n") and "old" not in text and text.count("*A machine*") == 3
    assert "| one | 2.00 | 1.50 to 2.56 | 3 |" in text and "A sentence." in text
    assert (tmp_path / "benchmarks/results/tiny-file.json").is_file()
    assert run() == 0 and (tmp_path / "benchmarks/results/own/tiny-file.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["threads", "--fast"], "unrecognized arguments"),
        (["threads", "--torch-python", "/no/such/python"], "--torch-python must be a Python"),
        (["mpi", "--torch-python", "/no/such/python"], "--torch-python must be a Python"),
        (["gpu", "--peers-python", "/no/such/python"], "must be a Python"),
        (["grade", "--nbgrader-python", "/nowhere"], "must be a Python"),
        (["threads", "--docs", "--out", "somewhere"], "leave out --out"),
        (["gpu", "--record", "--out", "somewhere"], "leave out --out"),
        (["mpi", "--record", "--quick"], "leave out --quick"),
        (["grade", "--record", "--quick"], "leave out --quick"),
        (["threads", "--reuse", "/no/such/file.json"], "cannot be read"),
        (["threads", "--reuse", str(ROOT / "pyproject.toml")], "cannot be read"),
        (["gpu", "--reuse", "benchmarks/results/threads.json"], "no result of `course bench gpu`"),
        (["mpi", "--reuse", "benchmarks/results/threads.json"], "no result of `course bench mpi`"),
        ([], "required"),
        (["colours"], "invalid choice"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    refused(arguments, words, capsys)


def test_another_json_is_refused(tmp_path, capsys):
    (tmp_path / "x.json").write_text('{"benchmark": "threads", "schema": 99}')
    assert called(["threads", "--reuse", tmp_path / "x.json"]) == 2
    assert "schema 1" in capsys.readouterr().err


def test_failures_say_where():
    made = {"training": [{"net": "Net-1h", "B": 256, "ways": {"x": {"error": "failed: no"}}}]}
    assert results.failures(made) == ["training, net = Net-1h, B = 256: ways: x: failed: no"]
    made["training"][0]["ways"]["x"]["error"] = "not installed: pip install x"
    assert results.failures(made) == []


# Verdicts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.0, 1.1, 1.2, 1.3], "met"),
        ([2.0, 2.0, 2.0], "met"),  # the bound itself
        ([1.0, 1.5, 2.6, 2.7], "too noisy to judge"),
        ([1.9, 2.1, 2.3, 2.5], "NOT MET"),  # one run within the bound, both quartiles beyond it
        ([1.0, 2.2, 2.3, 2.4], "too noisy to judge"),
        ([3.0, None, 3.1], "NOT MET"),
        ([1.0], "too noisy to judge"),  # a single run has no spread, and cannot meet a target
        ([1.0, None, None], "too noisy to judge"),
        ([3.0], "NOT MET"),
        ([None], "not measured"),
        (None, "not measured"),
    ],
)
def test_a_verdict_is_the_same_at_both_quartiles(values, verdict):
    assert at_most("time", "here", 2, alone(values)).verdict == verdict
    turned = [None if value is None else -value for value in values or []]
    assert at_least("rate", "here", -2, alone(turned)).verdict == verdict


def test_the_spread_of_either_side_can_leave_a_comparison_open():
    """The issue's case: quartiles 42 % apart, and the median of the ratios on the right side of the bound."""
    even, wide = [1.0, 1.0, 1.0, 1.0], [0.5, 0.6, 1.0, 1.1]
    assert at_most("x", "", 1.2, over(even, even)).verdict == "met"
    for bound, top, bottom in ((1.0, wide, even), (1.5, even, wide)):
        target = at_most("x", "", bound, over(top, bottom))
        assert target.got <= bound and target.verdict == "too noisy to judge"
    assert at_most("x", "", 5, over(wide, even)).verdict == "met", (
        "far from the bound it is resolved"
    )
    assert at_most("x", "", 0.1, over(wide, even)).verdict == "NOT MET"


def test_the_ends_are_those_of_both_quartile_ranges():
    top, bottom = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    found = over(top, bottom)
    assert found.got == 0.4 and found.ends == (1.5 / 5.5, 2.5 / 4.5)
    assert beyond(top, bottom) == (2.0 - 5.0, (1.5 - 5.5, 2.5 - 4.5))
    assert beyond([1.0], bottom).ends is None and over([1.0], [2.0]) == (0.5, None)
    assert over(None, bottom) == (None, None) and beyond(None, bottom) == (None, None)


def test_what_is_counted_is_exact():
    assert none_at_all("lost", "", 0).met and none_at_all("lost", "", 2).met is False
    assert none_at_all("lost", "", 0).row() == ("lost", "", "none", "0", "", "met")
    assert at_most("x", "y", 2, alone([1.0, 4.0])).met is None


# Arithmetic and tables --------------------------------------------------------------------------


def test_ratios_pair_the_rounds():
    """Every round twice as slow as the one before: the medians of the ratios do not notice."""
    assert frame.ratio([1.0, 2.0, 4.0, None], [2.0, 4.0, 8.0, 3.0]) == 0.5
    assert frame.ratio(None, [1.0]) is None and frame.ratio([None], [1.0]) is None
    assert frame.quartiles([3.0, None, 1.0, 2.0]) == (2.0, 1.5, 2.5)
    assert frame.quickest(None, [3.0, 4.0], [2.0, None]) == [2.0, None] and not frame.quickest(None)


def test_a_single_run_shows_no_quartiles():
    assert frame.spread([10_865.0]) == frame.spread([10_865.0, None]) == ""
    assert frame.spread([1.0, 2.0]) == "1.25 to 1.75"


def test_digits():
    shown = [(11_219.4, "11,219"), (99.96, "100"), (99.9, "99.9"), (9.996, "10.0"), (8.214, "8.21")]
    shown += [(0.1, "0.10"), (0.01466, "0.0147"), (None, ""), (0.0, "0"), (-0.48, "-0.48")]
    for value, text in shown:
        assert frame.digits(value) == text


def test_rows_are_as_wide_as_their_header():
    table = Table("T", ("way", "s", "x"), [("a", "1", "2"), ("b", "not there, for a long reason")])
    lines = [line for line in markdown(table).splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    assert plain(table).splitlines()[2:4] == ["way  s  x", "---------"]


def test_json_is_rounded_readable_and_refuses_nan():
    value = {"a": [1.23456789, None, 2.0], "b": {"c": "ü"}, "d": [{"e": []}]}
    text = results.dump({**value, "f": (1, np.float64(2.5))})
    assert json.loads(text) == {**value, "a": [1.23457, None, 2.0], "f": [1, 2.5]}
    assert '"a": [1.23457, null, 2.0]' in text
    with pytest.raises(ValueError, match="nan"):
        results.dump({"x": float("nan")})


def test_a_device_as_a_file_name():
    assert frame.slug("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"
    assert frame.slug("CPU engine, AMD EPYC") == "cpu-engine-amd-epyc"


def test_a_document_without_its_marks_is_refused():
    with pytest.raises(BadInput, match="marked blocks"):
        written("<!-- made: machine -->\n<!-- end -->\n", {})


def test_alt_text_has_no_brackets():
    figure = type("Figure", (), {"alt": "Line [000]\nand more"})
    assert drawn({"a.png": figure}) == ["![Line (000) and more](../benchmarks/results/a.png)"]


# Workers and rounds -----------------------------------------------------------------------------


def test_a_worker_answers_and_leaves():
    before = threading.active_count()
    with Worker("course") as worker:
        assert "numba" in worker.connect() and "numba" in worker.ask("hello")
        with pytest.raises(WorkerError, match="KeyError") as caught:
            worker.ask("time", key="nobody", seed=0)
        assert caught.value.kind == "KeyError"
        assert worker.ask("hello"), "it serves on after an error"
    assert all(process.poll() is not None for process in worker.processes)
    assert threading.active_count() == before


def test_a_worker_that_dies_is_an_error_and_no_wait():
    with Worker("compile") as worker:
        worker.ask("hello")
        worker.processes[0].kill()
        worker.processes[0].wait()
        with pytest.raises(WorkerError, match="ended") as caught:
            worker.ask("hello")
        assert caught.value.kind == "died"


def test_another_python_without_pytorch():
    """The interpreter of the tests has no PyTorch: its worker says so by the kind of its error."""
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
        pytest.skip("PyTorch is installed here")
    with Worker("torch", sys.executable) as worker, pytest.raises(WorkerError) as caught:
        worker.ask("hello")
    assert caught.value.kind == "ModuleNotFoundError"


class FakeWorker:
    """Answers with the seed; fails where it is told to."""

    def __init__(self, fails=()):
        self.fails = fails

    def ask(self, do, key="", seed=None, **how):
        if (do, key) in self.fails:
            raise WorkerError(f"{do} {key}", "ArithmeticError")
        return {"note": "made"} if do == "build" else seed if do == "time" else do


def test_a_series_makes_runs_and_keeps():
    worker, series = FakeWorker([("build", "wrong"), ("time", "stops")]), Series()
    for key in ("good", "wrong", "stops"):
        series.make(key, {"threads": 1}, worker)
    series.make("renamed", {}, worker, key="other")
    series.make("absent", {}, "not installed: x")
    series.add("sgemm-1", worker, "rate")
    assert series.run(2, settle=0) == {"sgemm-1": ["rate", "rate"]}
    assert series.rows["good"] == {"threads": 1, "note": "made", "seconds": [0, 1]}
    assert series.rows["wrong"] == {"threads": 1, "error": "failed: build wrong"}
    assert series.rows["stops"]["error"] == "failed: time stops"
    assert series.rows["renamed"]["seconds"] == [0, 1]
    assert series.rows["absent"] == {"error": "not installed: x"}


def test_a_refusal_is_no_failure():
    refused = WorkerError("VGREError: Unknown error", "VGREError")
    assert why(refused) == "not possible: VGREError: Unknown error"
    assert why(WorkerError("BadInput: T > B", "BadInput")) == "not possible: T > B"
    assert why(WorkerError("ArithmeticError: x", "ArithmeticError")).startswith("failed: ")


def test_rounds_rotate_and_keep_their_places():
    called = []
    runs = {name: lambda i, name=name: called.append((i, name)) or (i, name) for name in "abc"}
    found = frame.interleave(runs, 4, seldom=["b"], settle=0)
    order = [*"abc", *"ca", *"cab", *"abc"]
    assert [name for _, name in called] == order, "b has no turn in round 1"
    assert found["b"] == [(0, "b"), None, (2, "b"), (3, "b")]
    assert found["a"] == [(i, "a") for i in range(4)]


def test_a_way_that_fails_is_left_out():
    def fails(i):
        if i == 1:
            raise WorkerError("no more", "died")
        return i

    found = frame.interleave({"good": lambda i: i, "bad": fails}, 3, settle=0)
    assert found["good"] == [0, 1, 2] and isinstance(found["bad"], WorkerError)


def test_an_interrupt_waits_until_a_process_is_known():
    known = []
    with pytest.raises(KeyboardInterrupt), processes.interrupts_wait():
        signal.raise_signal(signal.SIGINT)
        known.append("started")
    assert known == ["started"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
