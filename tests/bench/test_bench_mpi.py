"""`course bench mpi`: one quick run, its groups of ranks, its arithmetic, and the committed report."""

import re
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
from bench_runs import bench, committed, interrupted, posix, quick_run

from course_lib.machines.ranks import launch
from course_lib.serial import Network
from course_tools.bench.frame import WorkerError
from course_tools.bench.frame.processes import START
from course_tools.bench.frame.results import failures
from course_tools.bench.mpi import predictions, ranks, tables
from course_tools.bench.mpi.bench import BENCH, QUICK
from course_tools.bench.mpi.catalogue import ALLREDUCES, CASES, RANKS, SCHEMES, SIZES
from course_tools.bench.mpi.measuring import wanted
from course_tools.bench.mpi.ranks import Ranks

# The quick run ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, its result, the file). Ranks are started and timed: half a minute."""
    return quick_run(tmp_path_factory.mktemp("bench"), "mpi")


@pytest.mark.slow
def test_every_allreduce_has_a_number_or_says_why_not(quick):
    found = quick[1]["allreduces"]
    assert [(case["p"], case["size"]) for case in found] == [(2, 8), (2, 100_000)]
    for case in found:
        assert set(case["ways"]) == set(ALLREDUCES)
        for name, row in case["ways"].items():
            if name == "gloo" and "error" in row:
                assert "not installed" in row["error"]
            else:
                assert numbers(row)


@pytest.mark.slow
def test_every_scheme_has_a_number_or_says_why_not(quick):
    (case,) = quick[1]["training"]
    wanted = {f"{scheme.key}-{p}" for scheme in SCHEMES for p in (1, 2) if p in scheme.ranks}
    both = {"data-mpi-2-quiet", "data-mpi-2-plain"}
    assert wanted | both >= set(case["ways"]) >= wanted
    for key, row in case["ways"].items():
        if key.startswith("torch") and "error" in row:
            assert row["error"].startswith("not installed: pip install")
        else:
            assert numbers(row) and row["disagreement"] <= 1e-3, "held against the serial library"
    assert failures(quick[1]) == [] and quick[1]["versions"]["mpi4py"]


@pytest.mark.slow
def test_every_pipeline_has_a_number_or_says_why_not(quick):
    (case,) = quick[1]["pipelines"]
    assert set(case["ways"]) == {f"{library}-{name}-{p}" for library, name, p in wanted((1, 2))}
    for key, row in case["ways"].items():
        if key.startswith("torch") and "error" in row:
            assert row["error"].startswith("not installed: pip install")
        else:
            assert numbers(row) and row["disagreement"] <= 1e-3, "held against the serial library"
    assert all(len(found) == QUICK["rounds"] for found in case["tasks"].values())
    assert {key.removeprefix("bubble-") for key in case["bubbles"]} == {
        key
        for key, row in case["ways"].items()
        if key.startswith("mpi") and row["schedule"] != "alone"
    }


def numbers(row):
    return len(row["seconds"]) == QUICK["rounds"] and all(s > 0 for s in row["seconds"])


@pytest.mark.slow
def test_waiting_and_messages_were_measured(quick):
    for found in quick[1]["costs"].values():
        sizes, times = list(map(int, found["messages"])), list(found["messages"].values())
        # which of them took longer, a busy machine decides
        assert sizes == sorted(sizes) and min(times) > 0
        assert all(0 <= used <= 1.2 for used in found["waiting"]) and found["beside"] > 0
    plain, heavy = (quick[1]["costs"][f"mpi-2-{way}"]["waiting"][0] for way in ("plain", "quiet"))
    words = "a rank that sleeps between two polls uses less of a core than one that does not"
    assert heavy < max(plain, 0.3), words


@pytest.mark.slow
def test_tables_again_from_the_json(quick, tmp_path):
    done = bench("mpi", "--reuse", quick[2], "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    words = ("Allreduce over 2 ranks: median time", "predicted", "recursive doubling", "Targets")
    more = ("master and workers", "Messages, and ranks that wait", "a glance, not a measurement")
    words += ("ZB-H1, PyTorch over gloo", "predicted bubble")
    assert all(one in done.stdout for one in (*words, *more))


@posix
def test_interrupted_it_stops_and_leaves_no_process(tmp_path):
    interrupted(tmp_path, "mpi", processes=3)


# Groups of ranks --------------------------------------------------------------------------------


def test_a_group_answers_fails_and_ends_in_time():
    with Ranks("mpi", 2) as group:
        assert group.connect()["mpi4py"]
        assert len(group.ask("messages", sizes=[8], repeats=3)) == 1
        with pytest.raises(WorkerError, match="AttributeError") as caught:
            group.ask("nothing_of_this_name")
        assert caught.value.kind == "AttributeError"
        again = group.ask("messages", sizes=[8], repeats=3)
        assert again, "it serves on after an error on all ranks"
        with pytest.raises(WorkerError, match=r"had not finished `waiting` after 0\.5 s"):
            group.ask("waiting", seconds=600, limit=0.5)
        with pytest.raises(WorkerError, match="ended earlier"):
            group.ask("messages", sizes=[8], repeats=3)
    assert all(process.poll() is not None for process in group.processes)


def test_shards_are_held_against_the_serial_library(tmp_path):
    rng = np.random.default_rng(4)
    labels = np.eye(5, dtype=np.float32)[rng.integers(0, 5, 60)]
    np.save(tmp_path / "x.npy", rng.random((60, 7), np.float32))
    np.save(tmp_path / "y.npy", labels)
    how = {"sizes": (7, 6, 5), "B": 16, "seconds": 0.0, "check": True}
    with Ranks("mpi", 2) as group:
        group.ask("load", folder=str(tmp_path))
        for stage in range(4):
            assert group.ask("build", key=f"sharded-{stage}", **how)["disagreement"] <= 1e-5


@posix
def test_a_rank_that_dies_is_an_error_and_no_wait():
    with Ranks("mpi", 2) as group:
        group.connect()
        below = psutil.Process(group.processes[0].pid).children(recursive=True)
        own = [process for process in below if process.cmdline()[1:2] == [str(START)]]
        shared = [Path(each.path) for each in own[0].memory_maps() if "mpich_shm" in each.path]
        assert len(own) == 2
        assert not any(path.exists() for path in shared), "nothing in /dev/shm outlives them"
        own[1].kill()
        with pytest.raises(WorkerError, match="died") as caught:
            group.ask("waiting", seconds=60)
        assert caught.value.kind == "died"


def test_ranks_that_cannot_start_say_why():
    with Ranks("torch", 1, python=sys.executable) as group:
        try:
            group.connect()
        except WorkerError as error:
            assert "No module named 'torch'" in str(error) and error.kind == "ModuleNotFoundError"
        else:
            assert group.ask("first", value=3) == 3


def test_ranks_wait_as_the_course_starts_them(monkeypatch):
    monkeypatch.setattr(launch, "machine", lambda: type("Machine", (), {"usable": 2}))
    assert [ranks.chosen(p) for p in (1, 2, 3, 4)] == ["plain", "plain", "quiet", "quiet"]


# Arithmetic -------------------------------------------------------------------------------------

ALPHA, BETA = 1e-5, 1e-9
TIMES = {
    "gather": 1e-3,
    "update": 2e-3,
    "allreduce": 3e-3,
    "1024": 40e-3,
    "512": 20e-3,
    "256": 11e-3,
}
WAYS = {"serial-1": 1.7, "overlapped-2": 1.0, "master-2": 3.0, "model-2": 1.0}
WAYS |= {"data-ring-4": 0.6, "grid-4": 0.5, "data-mpi-2-quiet": 2.0}


def way(key, seconds):
    scheme, ranks = re.sub(r"-\d.*", "", key), int(key.split("-quiet")[0][-1])
    return {"ranks": ranks, "scheme": scheme, "disagreement": 0.0, "seconds": [seconds, seconds]}


def result(ring=1.5, speed=1.7, cores=4):
    """A made-up result: messages that take ALPHA + BETA n, two rounds."""
    messages = {str(n): ALPHA + BETA * n for n in (8, 1000, 10**6)}
    cost = {"messages": messages, "waiting": [0.5], "beside": 50.0, "alone": 100.0}
    cost |= {"allreduces": {"mpi": [1e-3], "ring": [1e-3]}}
    sums = {"mpi": 1.0, "ring": ring, "doubling": 2.0, "tree": 3.0}
    rows = {name: {"seconds": [1e-3 * t] * 2} for name, t in sums.items()}
    ways = {key: way(key, s) for key, s in {**WAYS, "data-mpi-2": 1.7 / speed}.items()}
    parts = {p: {name: [2 * p * s / (p + 1)] * 2 for name, s in TIMES.items()} for p in (1, 2, 4)}
    training = {
        "net": "Net-1h",
        "sizes": [784, 1024, 10],
        "B": 1024,
        "ways": ways,
        "parts": {str(p): times for p, times in parts.items()},
        "rates": {"sgemm-1": [90.0] * 2, "sgemm-2": [170.0] * 2},
    }
    settings = {"ranks": [1, 2, 4], "cores": cores, "epoch": 50_000}
    return {
        "settings": {**settings, "waiting": dict.fromkeys("124", "plain")},
        "costs": {f"mpi-{p}-{kind}": cost for p in (2, 4) for kind in ("plain", "quiet")},
        "allreduces": [{"p": p, "size": 3_200_000, "ways": rows} for p in (2, 4)],
        "training": [training],
        "load": {"before": None, "after": None},
    }


def met(made):
    return [target.met for target in BENCH.targets(made)]


def test_targets_at_their_bounds():
    assert met(result()) == [True] * 3
    assert met(result(ring=1.51, speed=1.69)) == [False] * 3
    made = result()
    del made["training"][0]["ways"]["data-mpi-2"]
    made["allreduces"] = []
    assert [target.verdict for target in BENCH.targets(made)] == ["not measured"] * 3


def test_predicted_allreduces_are_the_formulas():
    made, n = result(), 3_200_000
    wanted = {
        (2, "ring"): 2 * (ALPHA + BETA * n / 2),
        (4, "ring"): 6 * (ALPHA + BETA * n / 4),
        (4, "doubling"): 2 * (ALPHA + BETA * n),
        (4, "tree"): 4 * (ALPHA + BETA * n),
    }
    for (p, name), seconds in wanted.items():
        assert predictions.allreduce_seconds(made, p, n, name) == pytest.approx(seconds)
    assert predictions.allreduce_seconds(made, 4, n, "gloo") is None


def test_predicted_epochs_by_hand():
    """Net-1h, 2 ranks: half the rows each; 4 n bytes of gradients and loss, there and back; gather and update."""
    n, steps = Network((784, 1024, 10)).n_params + 1, 50_000 / 1024
    data = 20e-3 + 2 * (ALPHA + BETA * 4 * n / 2) + 3e-3
    made = result()
    assert epoch(made, "data-mpi-2") == pytest.approx(steps * data, rel=1e-3)
    four = 11e-3 + 6 * (ALPHA + BETA * 4 * n / 4) + 3e-3
    assert epoch(made, "data-ring-4") == pytest.approx(steps * four, rel=1e-3)
    crowded = 2 * (11e-3 + 3e-3) + 6 * (ALPHA + BETA * 4 * n / 4)
    assert epoch(result(cores=2), "data-ring-4") == pytest.approx(steps * crowded, rel=1e-3)
    assert epoch(made, "serial-1") is None
    assert epoch(made, "model-2") < epoch(made, "data-mpi-2") < epoch(made, "master-2")


@pytest.mark.parametrize(("stage", "halves"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_predicted_shards_by_hand(stage, halves):
    """Net-1h, 4 ranks: a half of a ring allreduce sends 3 quarters of a layer; from stage 1 on a quarter is updated."""
    made, key = result(), f"sharded-{stage}-4"
    row = {"ranks": 4, "scheme": f"sharded-{stage}", "seconds": [1.0, 1.0]}
    made["training"][0]["ways"][key] = row
    layers = (785 * 1024, 1025 * 10)
    sent = halves * sum(3 * (ALPHA + BETA * 4 * n / 4) for n in layers)
    step = 11e-3 + sent + 1e-3 + 2e-3 / (4 if stage else 1)
    assert epoch(made, key) == pytest.approx(50_000 / 1024 * step, rel=1e-3)
    names = [line[0] for line in next(tables.scheme_tables(made)).rows]
    assert any(name.startswith(f"shards, stage {stage}") for name in names)


def epoch(made, key):
    return predictions.epoch_seconds(made, made["training"][0], key)


def test_tables_show_what_was_measured():
    made = result()
    (table,) = tables.scheme_tables(made)
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["data parallel, MPI's allreduce", "2"][5:7] == ("1.70", "85 %")
    shown = [row[0] for row in table.rows]
    assert not any("quiet" in name for name in shown), "the other way of waiting has its own table"
    lines = tables.waiting_table(made).rows
    course = ", as the course has it"
    ours = [line[0] for line in lines if course in line[0]]
    assert ours == [f"2, as MPICH has it{course}", f"4, as MPICH has it{course}"]
    assert lines[1][5:] == ("50 % of a core", "50 %", "2.00 s")


def test_parts_add_up_to_a_sum():
    rows = {row[1]: row[2:] for row in tables.part_table(result()).rows}
    alone = ("40.0 ms", "40.0 ms", "", "1.00 ms", "2.00 ms", "43.0 ms", "34.8 ms")
    assert rows["1"] == ("1024", *alone)
    assert rows["2"][:6] == ("512", "26.7 ms", "20.0 ms", "4.00 ms", "1.33 ms", "2.67 ms")
    assert rows["4"][-1] == "", "not measured: data parallelism by MPI's allreduce on 4 ranks"


def test_what_is_measured_is_what_was_asked_for():
    assert SIZES[0] == 8 and SIZES[-1] == 32_000_000 and 3_200_000 in SIZES and RANKS == (1, 2, 4)
    modelled = {scheme.scheme for scheme in SCHEMES}
    assert ("Net-1h", 1024) in CASES and modelled > {"data", "overlap", "master", "model"}


# The report -------------------------------------------------------------------------------------


def test_recorded_runs_are_whole_and_the_report_their_own():
    for made in committed(BENCH):
        sums = made["allreduces"]
        assert all("seconds" in case["ways"]["gloo"] for case in sums), "PyTorch was there"
        assert [case["size"] for case in sums if case["p"] == 2] == list(SIZES)
