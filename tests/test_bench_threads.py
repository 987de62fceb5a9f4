"""`course bench threads`: the command, its workers, its arithmetic, and the report made from the committed JSON."""

import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from course_lib import measure
from course_lib.bench import (
    catalogue,
    docs,
    dump,
    profile_tables,
    summary,
    tables,
    targets,
    threads_command,
)
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.rounds import interleave
from course_lib.errors import BadInput
from course_tools.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "benchmarks/results/threads.json"
SLOW = float(os.environ.get("COURSE_SLOW", "1"))


def bench(*arguments, **more):
    command = [sys.executable, "-m", "course_lib", "bench", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **more
    )


# The quick run -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, the folder it wrote to, seconds)."""
    folder = tmp_path_factory.mktemp("bench")
    start = time.monotonic()
    done = bench(
        "threads", "--quick", "--batches", "1,33", "--threads", 2, "--json", "--out", folder
    )
    return done, folder, time.monotonic() - start


def test_quick_run_ends_well_and_soon(quick):
    done, _, seconds = quick
    assert done.returncode == 0, done.stderr
    assert seconds < 120 * SLOW, "under a minute on two quiet cores"
    assert "part 1 of" in done.stderr, "progress is shown on standard error"


def test_json_on_standard_output_is_the_file(quick):
    done, folder, _ = quick
    result = json.loads(done.stdout)
    assert result == json.loads((folder / "threads.json").read_text(encoding="utf-8"))
    assert (result["schema"], result["benchmark"]) == (1, "threads")
    assert result["machine"]["logical"] >= 1 and result["versions"]["numpy"]


def test_every_way_has_a_number_or_says_why_not(quick):
    result = json.loads(quick[0].stdout)
    assert [case["B"] for case in result["training"]] == [1, 33]
    for case in result["training"]:
        assert set(case["ways"]) == {way.key for way in catalogue.ways(2)}
        for key, way in case["ways"].items():
            if "error" in way:
                missing = (
                    catalogue.WAY[key].library == "torch"
                    and "not installed: pip install" in way["error"]
                )
                assert missing or (case["B"] == 1 and way["error"].startswith("not possible: T")), (
                    way["error"]
                )
                assert "seconds" not in way
            else:
                assert len(way["seconds"]) == 3 and all(s is None or s > 0 for s in way["seconds"])
        assert {"sgemm-1", "sgemm-2", "sgemm-separate-2"} <= set(case["rates"])


def test_every_way_was_held_against_serial(quick):
    first = json.loads(quick[0].stdout)["training"][0]
    for key, way in first["ways"].items():
        assert "error" in way or 0 <= way["disagreement"] <= 1e-3, key


def test_schemes_and_profile_were_measured(quick):
    result = json.loads(quick[0].stdout)
    (case,) = result["schemes"]
    assert {"serial", "serial-blas", "leapfrog-2", "deferred-2", "data-2", "parts"} <= set(
        case["runs"]
    )
    assert all("error" not in run for run in case["runs"].values())
    assert len(case["runs"]["parts"]["f3"][0]) == catalogue.LAYERS
    assert all("error" not in case for case in result["profile"])


def test_profile_names_each_part_of_the_step(quick):
    for case in json.loads(quick[0].stdout)["profile"]:
        for step in case["steps"]:
            kinds = [part["kind"] for part in step["parts"]]
            assert kinds.count("product") == 3 * 2 - 1, "two layers, and no dA of the first"
            assert {"gather", "elementwise"} < set(kinds) <= set(profile_tables.KINDS)
            assert sum(profile_tables.totals(step).values()) == pytest.approx(
                step["step"], rel=1e-4
            )
            flops = measure.step_flops(catalogue.NETS[case["net"]], case["B"]).products
            assert sum(part.get("flops", 0) for part in step["parts"]) == flops


def test_figures_are_written(quick):
    names = {path.name for path in quick[1].iterdir()}
    assert names == {
        "threads.json",
        *(f"threads-net-1h-{what}.png" for what in ("time", "gflops", "speedup")),
    }


def test_result_names_no_place_of_this_machine(quick):
    for text in (quick[0].stdout, COMMITTED.read_text(encoding="utf-8")):
        for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
            assert private not in text, f"{private} stands in the JSON"
        assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", text)


def test_tables_again_from_the_json(quick, tmp_path):
    done = bench("threads", "--reuse", quick[1] / "threads.json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "Net-1h (784-1024-10), B = 33",
        "GridStep, one thread",
        "Targets",
        "leapfrogging",
        "a glance",
    ):
        assert words in done.stdout
    assert (tmp_path / "threads-net-1h-time.png").stat().st_size > 5000


@pytest.mark.skipif(os.name != "posix", reason="process groups and signals as POSIX has them")
def test_interrupted_it_stops_and_leaves_no_process(tmp_path):
    command = [
        sys.executable,
        "-m",
        "course_lib",
        "bench",
        "threads",
        "--quick",
        "--out",
        str(tmp_path),
    ]
    run = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stderr is not None
    while "part 2" not in run.stderr.readline():
        assert run.poll() is None
    os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C in a terminal: to the workers too
    assert "stopped" in run.communicate(timeout=60 * SLOW)[1]
    assert run.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["threads", "--threads", "0"], "--threads must be a whole number"),
        (["threads", "--threads", "-2"], "--threads must be a whole number"),
        (["threads", "--threads", "two"], "invalid int value"),
        (["threads", "--batches", "x"], "no list of whole numbers"),
        (["threads", "--batches", "64,"], "no list of whole numbers"),
        (["threads", "--batches", "64,64"], "each once"),
        (["threads", "--batches", "0"], "a batch of --batches must be"),
        (["threads", "--batches", "50001"], "a batch of --batches must be"),
        (["threads", "--fast"], "unrecognized arguments"),
        (["threads", "--torch-python", "/no/such/python"], "--torch-python must be a Python"),
        (["threads", "--docs", "--out", "somewhere"], "leave out --out"),
        (["threads", "--reuse", "/no/such/file.json"], "cannot be read"),
        (["threads", "--reuse", str(ROOT / "pyproject.toml")], "cannot be read"),
        ([], "required"),
        (["colours"], "invalid choice"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys):
    status = called(["bench", *arguments])
    said = capsys.readouterr()
    assert status == 2 and words in said.err and not said.out
    assert (
        len([line for line in said.err.splitlines() if "error:" in line or "course bench:" in line])
        == 1
    )


def called(arguments):
    """The exit status of the command line, in this process."""
    try:
        return main(arguments)
    except SystemExit as end:  # argparse's way out
        return end.code


def test_another_json_is_refused(tmp_path, capsys):
    (tmp_path / "x.json").write_text('{"benchmark": "threads", "schema": 99}')
    assert called(["bench", "threads", "--reuse", str(tmp_path / "x.json")]) == 2
    assert "schema 1" in capsys.readouterr().err


# Workers and rounds --------------------------------------------------------------------------------------------------


def test_a_worker_answers_and_leaves():
    before = threading.active_count()
    with Worker("course") as worker:
        assert "numba" in worker.ask("hello")
        with pytest.raises(WorkerError, match="KeyError") as caught:
            worker.ask("time", key="nobody", seed=0)
        assert caught.value.kind == "KeyError"
        assert worker.ask("hello"), "it serves on after an error"
    assert worker.process.poll() is not None
    assert threading.active_count() == before


def test_a_worker_that_dies_is_an_error_and_no_wait():
    with Worker("course") as worker:
        worker.ask("hello")
        worker.process.kill()
        worker.process.wait()
        with pytest.raises(WorkerError, match="ended") as caught:
            worker.ask("hello")
        assert caught.value.kind == "died"


def test_another_python_without_pytorch(tmp_path):
    """The interpreter of the tests has no PyTorch: its worker says so by the kind of its error."""
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
        pytest.skip("PyTorch is installed here")
    with Worker("torch", sys.executable) as worker, pytest.raises(WorkerError) as caught:
        worker.ask("hello")
    assert caught.value.kind == "ModuleNotFoundError"


def test_rounds_rotate_and_keep_their_places():
    called = []
    runs = {name: lambda i, name=name: called.append((i, name)) or (i, name) for name in "abc"}
    found = interleave(runs, 4, seldom=["b"], settle=0)
    assert [name for _, name in called] == [*"abc", *"ca", *"cab", *"abc"], (
        "b has no turn in round 1"
    )
    assert found["b"] == [(0, "b"), None, (2, "b"), (3, "b")] and found["a"] == [
        (i, "a") for i in range(4)
    ]


def test_a_way_that_fails_is_left_out():
    def fails(i):
        if i == 1:
            raise WorkerError("no more", "died")
        return i

    found = interleave({"good": lambda i: i, "bad": fails}, 3, settle=0)
    assert found["good"] == [0, 1, 2] and isinstance(found["bad"], WorkerError)


# Arithmetic ----------------------------------------------------------------------------------------------------------


def result(
    grid=(0.5, 0.5, 0.5),
    torch=(1.0, 1.0, 1.0),
    sgemm=(340.0, 340.0, 340.0),
    deferred=(1.0, 1.0, 1.0),
):
    """A made-up result: one net, one batch size, three rounds."""
    way = {"threads": 2, "note": "", "examples": 1024, "disagreement": 0.0}
    ways = {
        "loops": {**way, "threads": 1, "seconds": [8.0, 8.0, 8.0]},
        "numpy": {**way, "threads": 1, "seconds": [2.0, 2.0, 2.0]},
        "grid-1": {**way, "threads": 1, "seconds": [1.0, 1.0, 1.0]},
        "grid": {**way, "seconds": list(grid)},
        "torch": {**way, "seconds": list(torch)}
        if torch
        else {"threads": 2, "error": "not installed: pip install it"},
    }
    case = {"net": "Net-1h", "sizes": [784, 1024, 10], "B": 1024, "ways": ways}
    leapfrog = {"whole": [2.5] * 3, "backward": [1.5] * 3}
    deferred_gradients = {"whole": [2.0] * 3, "backward": list(deferred)}
    return {
        "settings": {"threads": 2, "epoch": 50_000},
        "training": [{**case, "rates": {"sgemm-1": [200.0] * 3, "sgemm-2": list(sgemm)}}],
        "schemes": [{"B": 128, "runs": {"leapfrog-2": leapfrog, "deferred-2": deferred_gradients}}],
        "profile": [],
    }


def test_targets_are_met_or_not():
    assert [t.met for t in targets.targets(result())] == [True] * 5
    slow = {
        t.what: t.met
        for t in targets.targets(result(grid=(0.95, 0.95, 0.95), deferred=(1.4, 1.4, 1.4)))
    }
    assert not any(met for what, met in slow.items() if "forward and backward" not in what)
    assert slow["Leapfrogging's time over deferred gradients', forward and backward"]


def test_targets_at_their_bounds():
    at = {t.what: t for t in targets.targets(result(grid=(0.9, 0.9, 0.9)))}
    assert at["GridStep's time over PyTorch's, equal threads"].met
    flops = measure.step_flops((784, 1024, 10), 50_000).products / 0.5 / 1e9
    share = {t.what: t for t in targets.targets(result(sgemm=(flops / 0.9,) * 3))}
    assert share["GridStep's GFLOP/s over the machine's sgemm rate"].got == pytest.approx(0.9)


def test_what_was_not_measured_is_neither_met_nor_missed():
    met = {t.what: t.met for t in targets.targets(result(torch=None))}
    assert met["GridStep's time over PyTorch's, equal threads"] is None
    assert "not installed" in tables.plain(next(tables.training_tables(result(torch=None))))


def test_ratios_pair_the_rounds():
    """Every round twice as slow as the one before: the medians of the ratios do not notice."""
    assert summary.ratio([1.0, 2.0, 4.0, None], [2.0, 4.0, 8.0, 3.0]) == 0.5
    assert summary.ratio(None, [1.0]) is None and summary.ratio([None], [1.0]) is None
    assert summary.quartiles([3.0, None, 1.0, 2.0]) == (2.0, 1.5, 2.5)


def test_rates_come_from_the_flops_of_the_products():
    row = next(row for row in summary.rows(result()) if row.key == "grid")
    assert row.gflops == pytest.approx(3_272_704 * 50_000 / 0.5 / 1e9)
    assert (row.over_loops, row.over_numpy) == (16, 4) and row.of_sgemm == pytest.approx(
        row.gflops / 340
    )


def test_markdown_rows_are_as_wide_as_their_header():
    for made in (result(), result(torch=None)):
        for table in tables.training_tables(made):
            lines = [line for line in tables.markdown(table).splitlines() if line.startswith("|")]
            assert len({line.count("|") for line in lines}) == 1


def test_written_again_it_is_the_same_text():
    """The targets come from the digits that are kept, not from those that are lost in writing."""
    result = json.loads(COMMITTED.read_text(encoding="utf-8"))
    rng = np.random.default_rng(4)
    for case in result["schemes"]:
        for run in case["runs"].values():
            for part in ("whole", "backward"):
                run[part] = [s * float(rng.uniform(1, 1.01)) for s in run.get(part, [])]
    first = threads_command._text(result)
    assert threads_command._text(json.loads(first)) == first


def test_json_is_rounded_readable_and_refuses_nan():
    value = {
        "a": [1.23456789, None, 2.0],
        "b": {"c": "ü"},
        "d": [{"e": []}],
        "f": (1, np.float64(2.5)),
    }
    text = dump.dump(value)
    assert json.loads(text) == {
        "a": [1.23457, None, 2.0],
        "b": {"c": "ü"},
        "d": [{"e": []}],
        "f": [1, 2.5],
    }
    assert '"a": [1.23457, null, 2.0]' in text
    with pytest.raises(ValueError, match="nan"):
        dump.dump({"x": float("nan")})


def test_digits():
    assert [
        tables.digits(v) for v in (11_219.4, 99.96, 99.9, 9.996, 8.214, 0.1, 0.01466, None)
    ] == [
        "11,219",
        "100",
        "99.9",
        "10.0",
        "8.21",
        "0.10",
        "0.0147",
        "",
    ]


# The report ----------------------------------------------------------------------------------------------------------


def committed():
    return json.loads(COMMITTED.read_text(encoding="utf-8"))


def test_report_is_what_the_json_says():
    text = (ROOT / "docs/bench-threads.md").read_text(encoding="utf-8")
    again = "make it again: course bench threads --docs --reuse benchmarks/results/threads.json"
    assert docs.written(text, committed()) == text, again


def test_committed_run_is_whole():
    result = committed()
    assert not result["settings"]["quick"] and result["settings"]["batches"] == [64, 256, 1024]
    assert threads_command.failures(result) == []
    assert {case["net"] for case in result["training"]} == set(catalogue.NETS)
    assert all("seconds" in way for case in result["training"] for way in case["ways"].values()), (
        "the peers were there"
    )
    assert [t._asdict() for t in targets.targets(result)] == [
        {**t, "got": pytest.approx(t["got"], rel=1e-4)} for t in result["targets"]
    ]


def test_committed_figures_are_there():
    text = (ROOT / "docs/bench-threads.md").read_text(encoding="utf-8")
    names = re.findall(r"\(\.\./benchmarks/results/([\w-]+\.png)\)", text)
    assert len(names) == 6 and all((COMMITTED.parent / name).is_file() for name in names)


def test_a_document_without_its_marks_is_refused():
    with pytest.raises(BadInput, match="marked blocks"):
        docs.written("<!-- made: machine -->\n<!-- end -->\n", result())
