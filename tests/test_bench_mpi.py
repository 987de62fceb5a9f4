"""`course bench mpi`: the command, its groups of ranks, its arithmetic, and the committed report."""

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from course_lib.bench import (
    docs,
    mpi_command,
    mpi_docs,
    mpi_measuring,
    mpi_predictions,
    mpi_tables,
    mpi_targets,
)
from course_lib.bench.mpi_catalogue import ALLREDUCES, CASES, RANKS, SCHEMES, SIZES
from course_lib.bench.mpi_ranks import Ranks
from course_lib.bench.processes import WorkerError
from course_lib.machines.ranks import launch
from course_lib.serial import Network
from course_tools.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
SLOW = float(os.environ.get("COURSE_SLOW", "1"))


def bench(*arguments, **more):
    command = [sys.executable, "-m", "course_lib", "bench", "mpi", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **more
    )


def alive(mark):
    """Processes that were started, at any depth, with this mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.environ().get("COURSE_TEST_MARK") == mark
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def gone(mark, seconds=10):
    """Are they all gone within that time?"""
    end = time.monotonic() + seconds * SLOW
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.1)
    return not alive(mark)


# The quick run -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, its result, the folder it wrote to)."""
    folder, mark = tmp_path_factory.mktemp("bench"), uuid.uuid4().hex
    done = bench(
        "--quick",
        "--json",
        "--out",
        folder,
        timeout=120 * SLOW,
        env=os.environ | {"COURSE_TEST_MARK": mark},
    )
    assert done.returncode == 0, done.stderr
    assert gone(mark), "no rank outlives the command"
    return done, json.loads(done.stdout), folder


def test_json_on_standard_output_is_the_file(quick):
    done, result, folder = quick
    (path,) = folder.glob("*.json")
    assert result == json.loads(
        path.read_text(encoding="utf-8")
    ) and path.name == mpi_command.file_name(result)
    assert (result["schema"], result["benchmark"]) == (1, "mpi") and result["versions"]["mpi4py"]
    assert "part 1 of" in done.stderr, "progress is shown on standard error"


def test_every_way_has_a_number_or_says_why_not(quick):
    result = quick[1]
    assert [(case["p"], case["size"]) for case in result["allreduces"]] == [(2, 8), (2, 100_000)]
    for case in result["allreduces"]:
        assert set(case["ways"]) == set(ALLREDUCES)
        for name, row in case["ways"].items():
            assert (
                _numbers(row)
                if name != "gloo" or "error" not in row
                else "not installed" in row["error"]
            )
    (case,) = result["training"]
    wanted = {f"{scheme.key}-{p}" for scheme in SCHEMES for p in (1, 2) if p in scheme.ranks}
    assert wanted | {"data-mpi-2-quiet", "data-mpi-2-plain"} >= set(case["ways"]) >= wanted
    for key, row in case["ways"].items():
        if key.startswith("torch") and "error" in row:
            assert row["error"].startswith("not installed: pip install")
        else:
            assert _numbers(row) and row["disagreement"] <= 1e-3, "held against the serial library"
    assert mpi_measuring.failures(result) == []


def _numbers(row):
    return len(row["seconds"]) == mpi_measuring.QUICK["rounds"] and all(
        s > 0 for s in row["seconds"]
    )


def test_waiting_and_messages_were_measured(quick):
    for found in quick[1]["costs"].values():
        times = list(found["messages"].values())
        assert min(times) > 0 and times[-1] > times[0], "a megabyte takes longer than eight bytes"
        assert all(0 <= used <= 1.2 for used in found["waiting"]) and found["beside"] > 0
    plain, heavy = (quick[1]["costs"][f"mpi-2-{way}"]["waiting"][0] for way in ("plain", "quiet"))
    assert heavy < max(plain, 0.3), (
        "a rank that sleeps between two polls uses less of a core than one that does not"
    )


def test_result_names_no_place_of_this_machine(quick):
    for text in (quick[0].stdout, *(path.read_text(encoding="utf-8") for path in COMMITTED)):
        for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
            assert private not in text, f"{private} stands in the JSON"
        assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", text)


def test_tables_again_from_the_json(quick, tmp_path):
    (path,) = quick[2].glob("*.json")
    done = bench("--reuse", path, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "Allreduce over 2 ranks: median time",
        "predicted",
        "recursive doubling",
        "master and workers",
        "Messages, and ranks that wait",
        "Targets",
        "a glance, not a measurement",
    ):
        assert words in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_interrupted_it_stops_and_leaves_no_process(tmp_path):
    command, mark = (
        [sys.executable, "-m", "course_lib", "bench", "mpi", "--out", str(tmp_path)],
        uuid.uuid4().hex,
    )
    run = subprocess.Popen(
        command,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COURSE_TEST_MARK": mark},
    )
    assert run.stderr is not None
    while "part 1" not in run.stderr.readline():
        assert run.poll() is None
    while len(alive(mark)) < 4:
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    assert "stopped" in run.communicate(timeout=60 * SLOW)[1]
    assert run.returncode == 130 and gone(mark)


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--record", "--out", "somewhere"], "leave out --out"),
        (["--record", "--quick"], "leave out --quick"),
        (["--reuse", "/no/such/file.json"], "cannot be read"),
        (
            ["--reuse", str(ROOT / "benchmarks/results/threads.json")],
            "no result of `course bench mpi`",
        ),
        (["--torch-python", "/no/such/python"], "must be a Python"),
        (["--fast"], "unrecognized arguments"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys):
    try:
        status = main(["bench", "mpi", *arguments])
    except SystemExit as end:  # argparse's way out
        status = end.code
    said = capsys.readouterr()
    assert status == 2 and words in said.err and not said.out


# Groups of ranks -----------------------------------------------------------------------------------------------------


def test_a_group_answers_fails_and_ends_in_time():
    with Ranks("mpi", 2) as ranks:
        assert ranks.connect()["mpi4py"]
        assert len(ranks.ask("messages", sizes=[8], repeats=3)) == 1
        with pytest.raises(WorkerError, match="AttributeError") as caught:
            ranks.ask("nothing_of_this_name")
        assert caught.value.kind == "AttributeError"
        assert ranks.ask("messages", sizes=[8], repeats=3), (
            "it serves on after an error on all ranks"
        )
        start = time.monotonic()
        with pytest.raises(WorkerError, match=r"had not finished `waiting` after 0\.5 s"):
            ranks.ask("waiting", seconds=60, limit=0.5)
        assert time.monotonic() - start < 10 * SLOW
        with pytest.raises(WorkerError, match="ended earlier"):
            ranks.ask("messages", sizes=[8], repeats=3)
    assert all(process.poll() is not None for process in ranks.processes)


@pytest.mark.skipif(os.name != "posix", reason="a rank is found among the children of mpiexec")
def test_a_rank_that_dies_is_an_error_and_no_wait():
    with Ranks("mpi", 2) as ranks:
        ranks.connect()
        below = psutil.Process(ranks.processes[0].pid).children(recursive=True)
        own = [p for p in below if p.cmdline()[1:3] == ["-m", "course_lib.bench.mpi_worker"]]
        shared = [Path(each.path) for each in own[0].memory_maps() if "mpich_shm" in each.path]
        assert len(own) == 2 and not any(path.exists() for path in shared), (
            "nothing in /dev/shm outlives them"
        )
        own[1].kill()
        with pytest.raises(WorkerError, match="died") as caught:
            ranks.ask("waiting", seconds=60)
        assert caught.value.kind == "died"


def test_ranks_that_cannot_start_say_why():
    with Ranks("torch", 1, python=sys.executable) as ranks:
        try:
            ranks.connect()
        except WorkerError as error:
            assert "No module named 'torch'" in str(error)
        else:
            assert ranks.ask("first", value=3) == 3


def test_ranks_wait_as_the_course_starts_them(monkeypatch):
    monkeypatch.setattr(launch, "machine", lambda: type("Machine", (), {"usable": 2}))
    assert [mpi_measuring.chosen(p) for p in (1, 2, 3, 4)] == ["plain", "plain", "quiet", "quiet"]


# Arithmetic ----------------------------------------------------------------------------------------------------------

ALPHA, BETA = 1e-5, 1e-9


def result(ring=1.5, speed=1.7, cores=4):
    """A made-up result: messages that take ALPHA + BETA n, two rounds."""
    messages = {str(n): ALPHA + BETA * n for n in (8, 1000, 10**6)}
    cost = {
        "messages": messages,
        "waiting": [0.5],
        "beside": 50.0,
        "alone": 100.0,
        "allreduces": {"mpi": [1e-3], "ring": [1e-3]},
    }
    rows = {"mpi": 1.0, "ring": ring, "doubling": 2.0, "tree": 3.0}
    sums = [
        {
            "p": p,
            "size": 3_200_000,
            "ways": {name: {"seconds": [1e-3 * t] * 2} for name, t in rows.items()},
        }
        for p in (2, 4)
    ]
    ways = {
        "serial-1": 1.7,
        "data-mpi-2": 1.7 / speed,
        "overlapped-2": 1.0,
        "master-2": 3.0,
        "model-2": 1.0,
        "data-ring-4": 0.6,
        "grid-4": 0.5,
        "data-mpi-2-quiet": 2.0,
    }
    rows = {
        key: {
            "ranks": int(key.split("-quiet")[0][-1]),
            "scheme": re.sub(r"-\d.*", "", key),
            "disagreement": 0.0,
            "seconds": [s, s],
        }
        for key, s in ways.items()
    }
    times = {
        "gather": 1e-3,
        "update": 2e-3,
        "1024": 40e-3,
        "512": 20e-3,
        "256": 11e-3,
        "allreduce": 3e-3,
    }
    parts = {
        str(p): {name: [2 * p * s / (p + 1)] * 2 for name, s in times.items()} for p in (1, 2, 4)
    }
    training = {
        "net": "Net-1h",
        "sizes": [784, 1024, 10],
        "B": 1024,
        "ways": rows,
        "parts": parts,
        "rates": {"sgemm-1": [90.0] * 2, "sgemm-2": [170.0] * 2},
    }
    settings = {
        "ranks": [1, 2, 4],
        "cores": cores,
        "epoch": 50_000,
        "waiting": dict.fromkeys("124", "plain"),
    }
    return {
        "settings": settings,
        "costs": {f"mpi-{p}-{way}": cost for p in (2, 4) for way in ("plain", "quiet")},
        "allreduces": sums,
        "training": [training],
        "load": {"before": None, "after": None},
    }


def test_targets_at_their_bounds():
    assert [t.met for t in mpi_targets.targets(result())] == [True] * 3
    assert [t.met for t in mpi_targets.targets(result(ring=1.51, speed=1.69))] == [False] * 3
    made = result()
    del made["training"][0]["ways"]["data-mpi-2"]
    made["allreduces"] = []
    assert [t.met for t in mpi_targets.targets(made)] == [None] * 3


def test_predicted_allreduces_are_the_formulas():
    made, n = result(), 3_200_000
    for p, name, wanted in (
        (2, "ring", 2 * (ALPHA + BETA * n / 2)),
        (4, "ring", 6 * (ALPHA + BETA * n / 4)),
        (4, "doubling", 2 * (ALPHA + BETA * n)),
        (4, "tree", 4 * (ALPHA + BETA * n)),
    ):
        assert mpi_predictions.allreduce_seconds(made, p, n, name) == pytest.approx(wanted)
    assert mpi_predictions.allreduce_seconds(made, 4, n, "gloo") is None


def test_predicted_epochs_by_hand():
    """Net-1h, 2 ranks: half the rows each; 4 n bytes of gradients and loss, there and back; gather and update."""
    n, steps = Network((784, 1024, 10)).n_params + 1, 50_000 / 1024
    data = 20e-3 + 2 * (ALPHA + BETA * 4 * n / 2) + 3e-3
    made = result()
    assert _epoch(made, "data-mpi-2") == pytest.approx(steps * data, rel=1e-3)
    four = 11e-3 + 6 * (ALPHA + BETA * 4 * n / 4) + 3e-3
    assert _epoch(made, "data-ring-4") == pytest.approx(steps * four, rel=1e-3)
    crowded = 2 * (11e-3 + 3e-3) + 6 * (ALPHA + BETA * 4 * n / 4)
    assert _epoch(result(cores=2), "data-ring-4") == pytest.approx(steps * crowded, rel=1e-3)
    assert _epoch(made, "serial-1") is None
    assert _epoch(made, "model-2") < _epoch(made, "data-mpi-2") < _epoch(made, "master-2")


def _epoch(made, key):
    return mpi_predictions.epoch_seconds(made, made["training"][0], key)


def test_tables_show_what_was_measured():
    made = result()
    (table,) = mpi_tables.scheme_tables(made)
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["data parallel, MPI's allreduce", "2"][5:7] == ("1.70", "85 %")
    assert not any("quiet" in row[0] for row in table.rows), (
        "the other way of waiting stands in a table of its own"
    )
    lines = mpi_tables.settings_table(made).rows
    assert [line[0] for line in lines if "as the course has it" in line[0]] == [
        "2, as MPICH has it, as the course has it",
        "4, as MPICH has it, as the course has it",
    ]
    assert lines[1][5:] == ("50 % of a core", "50 %", "2.00 s")


def test_parts_add_up_to_a_sum():
    rows = {row[1]: row for row in mpi_tables.part_table(result()).rows}
    assert rows["1"][2:] == (
        "1024",
        "40.0 ms",
        "40.0 ms",
        "",
        "1.00 ms",
        "2.00 ms",
        "43.0 ms",
        "34.8 ms",
    )
    assert rows["2"][2:8] == ("512", "26.7 ms", "20.0 ms", "4.00 ms", "1.33 ms", "2.67 ms")
    assert rows["4"][-1] == "", "not measured: data parallelism by MPI's allreduce on 4 ranks"


def test_what_is_measured_is_what_was_asked_for():
    assert SIZES[0] == 8 and SIZES[-1] == 32_000_000 and 3_200_000 in SIZES and RANKS == (1, 2, 4)
    assert ("Net-1h", 1024) in CASES and {s.scheme for s in SCHEMES} > {
        "data",
        "overlap",
        "master",
        "model",
    }


# The report ----------------------------------------------------------------------------------------------------------

COMMITTED = [
    ROOT / "benchmarks/results" / mpi_command.file_name(one) for one in mpi_command.recorded()
]


def test_report_is_what_the_results_say():
    text = (ROOT / "docs/bench-mpi.md").read_text(encoding="utf-8")
    again = "make it again: course bench mpi --record --reuse benchmarks/results/mpi-<machine>.json"
    assert docs.written(text, {}, mpi_docs.blocks(mpi_command.recorded())) == text, again


def test_committed_runs_are_whole():
    assert COMMITTED
    for path in COMMITTED:
        made = json.loads(path.read_text(encoding="utf-8"))
        assert not made["settings"]["quick"] and mpi_measuring.failures(made) == []
        assert mpi_command.text(made) == path.read_text(encoding="utf-8"), (
            "written again it is the same text"
        )
        assert all("seconds" in case["ways"]["gloo"] for case in made["allreduces"]), (
            "PyTorch was there"
        )
        assert [case["size"] for case in made["allreduces"] if case["p"] == 2] == list(SIZES)
