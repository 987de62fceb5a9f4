"""`course bench threads`: one quick run, its arithmetic on a made-up result, and the committed report."""

import json
import re

import pytest
from bench_runs import ROOT, bench, committed, interrupted, posix, quick_run, refused

from course_lib import measure
from course_tools.bench import frame
from course_tools.bench.frame.document import report
from course_tools.bench.frame.results import recorded
from course_tools.bench.frame.tables import plain
from course_tools.bench.threads import profile_tables, schemes
from course_tools.bench.threads.bench import BENCH
from course_tools.bench.training import catalogue, tables

# The quick run ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: (what the command said, its result, the file). It trains in 13 ways: 45 s."""
    folder = tmp_path_factory.mktemp("bench")
    return quick_run(folder, "threads", "--batches", "1,33", "--threads", 2)


@pytest.mark.slow
def test_every_way_has_a_number_or_says_why_not(quick):
    """Over 20 s of processor: the quick bench that this file reads is run for it, once."""
    training = quick[1]["training"]
    assert [case["B"] for case in training] == [1, 33]
    for case in training:
        assert set(case["ways"]) == {way.key for way in catalogue.ways(2)}
        assert {"sgemm-1", "sgemm-2", "sgemm-separate-2"} <= set(case["rates"])
        for key, way in case["ways"].items():
            if "error" in way:
                assert missing(key, way) or impossible(case, way), way["error"]
                assert "seconds" not in way
            else:
                assert len(way["seconds"]) == 3 and all(s is None or s > 0 for s in way["seconds"])


def missing(key, way):
    gone = way["error"].startswith("not installed: pip install")
    return catalogue.WAY[key].library == "torch" and gone


def impossible(case, way):
    return case["B"] == 1 and way["error"].startswith("not possible: T")


@pytest.mark.slow
def test_every_way_was_held_against_serial(quick):
    for key, way in quick[1]["training"][0]["ways"].items():
        assert "error" in way or 0 <= way["disagreement"] <= 1e-3, key


@pytest.mark.slow
def test_schemes_and_profile_were_measured(quick):
    (case,) = quick[1]["schemes"]
    wanted = {"serial", "serial-blas", "leapfrog-2", "deferred-2", "data-2", "parts"}
    assert wanted <= set(case["runs"])
    assert all("error" not in run for run in case["runs"].values())
    assert len(case["runs"]["parts"]["f3"][0]) == schemes.LAYERS
    assert all("error" not in case for case in quick[1]["profile"])


@pytest.mark.slow
def test_profile_names_each_part_of_the_step(quick):
    for case in quick[1]["profile"]:
        flops = measure.step_flops(catalogue.NETS[case["net"]], case["B"]).products
        for step in case["steps"]:
            kinds = [part["kind"] for part in step["parts"]]
            assert kinds.count("product") == 3 * 2 - 1, "two layers, and no dA of the first"
            assert {"gather", "elementwise"} < set(kinds) <= set(profile_tables.KINDS)
            whole = sum(profile_tables.totals(step).values())
            assert whole == pytest.approx(step["step"], rel=1e-4)
            assert sum(part.get("flops", 0) for part in step["parts"]) == flops


@pytest.mark.slow
def test_tables_and_figures_again_from_the_json(quick, tmp_path):
    whats = ("net-1h-time", "net-1h-gflops", "net-1h-speedup", "step", "cores")
    drawn = {f"threads-{what}.png" for what in whats}
    assert {path.name for path in quick[2].parent.iterdir()} == {"threads.json", *drawn}
    done = bench("threads", "--reuse", quick[2], "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    words = ("Net-1h (784-1024-10), B = 33", "GridStep, one thread", "Targets", "leapfrogging")
    assert all(one in done.stdout for one in (*words, "a glance"))
    assert (tmp_path / "threads-net-1h-time.png").stat().st_size > 5000


@posix
def test_interrupted_it_stops_and_leaves_no_process(tmp_path):
    interrupted(tmp_path, "threads", "--quick")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--threads", "0"], "--threads must be a whole number"),
        (["--threads", "-2"], "--threads must be a whole number"),
        (["--threads", "two"], "invalid int value"),
        (["--batches", "x"], "no list of whole numbers"),
        (["--batches", "64,"], "no list of whole numbers"),
        (["--batches", "64,64"], "each once"),
        (["--batches", "0"], "a batch of --batches must be"),
        (["--batches", "50001"], "a batch of --batches must be"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys):
    refused(["threads", *arguments], words, capsys)


# Arithmetic -------------------------------------------------------------------------------------


def result(grid=0.5, torch=1.0, sgemm=340.0, deferred=1.0):
    """A made-up result: one net, one batch size, three rounds."""
    seconds = {"loops": 8.0, "numpy": 2.0, "grid-1": 1.0, "grid": grid, "torch": torch}
    ways = {}
    for key, time in seconds.items():
        threads = 1 if catalogue.WAY[key].threads == "1" else 2
        ways[key] = {"threads": threads, "note": "", "seconds": [time] * 3}
    if torch is None:
        ways["torch"] = {"threads": 2, "error": "not installed: pip install it"}
    rates = {"sgemm-1": [200.0] * 3, "sgemm-2": [sgemm] * 3}
    case = {"net": "Net-1h", "sizes": [784, 1024, 10], "B": 1024, "ways": ways, "rates": rates}
    runs = {
        "leapfrog-2": {"whole": [2.5] * 3, "backward": [1.5] * 3},
        "deferred-2": {"whole": [2.0] * 3, "backward": [deferred] * 3},
    }
    settings = {"threads": 2, "epoch": 50_000}
    schemes = [{"B": 128, "runs": runs}]
    return {"settings": settings, "training": [case], "schemes": schemes, "profile": []}


def targets(**how):
    return {target.what: target for target in BENCH.targets(result(**how))}


def test_targets_are_met_or_not():
    assert [target.met for target in targets().values()] == [True] * 5
    slow = targets(grid=0.95, deferred=1.4)
    whole = slow.pop("Leapfrogging's time over deferred gradients', forward and backward")
    assert whole.met and [target.met for target in slow.values()] == [False] * 4


def test_targets_at_their_bounds():
    assert targets(grid=0.9)["GridStep's time over PyTorch's, equal threads"].met
    flops = measure.step_flops((784, 1024, 10), 50_000).products / 0.5 / 1e9
    share = targets(sgemm=flops / 0.9)["GridStep's GFLOP/s over the machine's sgemm rate"]
    assert share.got == pytest.approx(0.9)


def test_what_was_not_measured_is_neither_met_nor_missed():
    target = targets(torch=None)["GridStep's time over PyTorch's, equal threads"]
    assert target.met is None and target.verdict == "not measured"
    assert "not installed" in plain(next(tables.training_tables(result(torch=None))))


def test_rates_come_from_the_flops_of_the_products():
    (table,) = tables.training_tables(result())
    rate = 3_272_704 * 50_000 / 0.5 / 1e9
    row = next(row for row in table.rows if row[0] == "GridStep, split chosen")
    share = frame.digits(100 * rate / 340)
    assert row[1:] == ("2", "0.50", "0.50 to 0.50", frame.digits(rate), "16.0", "4.00", share)


def test_a_single_run_shows_no_quartiles():
    made = result()
    made["training"][0]["ways"]["loops"]["seconds"] = [None, 10_865.0, None]
    (table,) = tables.training_tables(made)
    shown = {row[0]: row[2:4] for row in table.rows}
    assert shown["Numba loops"] == ("10,865", "")


# The report -------------------------------------------------------------------------------------


def test_written_again_it_is_the_same_text():
    """The targets come from the digits that are kept, not from those that are lost in writing."""
    (made,) = recorded("threads")
    for case in made["schemes"]:
        for run in case["runs"].values():
            for i, part in enumerate(("whole", "backward")):
                run[part] = [s * (1 + 1e-7 * (i + 1)) for s in run.get(part, [])]
    first = BENCH.text(made)
    assert BENCH.text(json.loads(first)) == first


def test_the_recorded_run_is_whole_and_the_report_its_own():
    (made,) = committed(BENCH)
    assert made["settings"]["batches"] == [64, 256, 1024]
    assert {case["net"] for case in made["training"]} == set(catalogue.NETS)
    ways = [way for case in made["training"] for way in case["ways"].values()]
    assert all("seconds" in way for way in ways), "the peers were there"
    assert "Where a step of GridStep goes" in report(BENCH, made)


def test_committed_figures_are_there():
    page = (ROOT / BENCH.documents[0]).read_text(encoding="utf-8")
    names = re.findall(r"\(\.\./benchmarks/results/([\w-]+\.png)\)", page)
    assert len(names) == 8
    assert all((ROOT / "benchmarks/results" / name).is_file() for name in names)
