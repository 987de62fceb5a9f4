"""`course bench papers`: the list of claims, its arithmetic, the command, and the committed report."""

import copy
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.bench import docs, papers
from course_lib.bench.papers import (
    command,
    look_gpu,
    look_learning,
    look_ranks,
    look_schemes,
    look_training,
    papers_docs,
    tables,
)
from course_lib.bench.papers.claim import COMPUTED, COUNTED, MEASURED, NOT_MEASURED, STATUSES
from course_lib.bench.papers.settings import PARTS
from course_tools.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
SLOW = float(os.environ.get("COURSE_SLOW", "1"))
COMMITTED = sorted((ROOT / "benchmarks/results").glob("papers-*.json"))
MACHINE = {
    "cpu": "A processor",
    "logical": 2,
    "physical": 2,
    "usable": 2,
    "memory": 2**34,
    "blas": "openblas",
    "blas_version": "1",
    "blas_threads": 2,
    "blas_architecture": "x",
    "os": "Linux",
    "python": "3.11",
    "numpy": "2",
}
EMPTY = {"schema": 1, "benchmark": "papers", "machine": MACHINE, "parts": {}}


def bench(*arguments, **more):
    run = [sys.executable, "-m", "course_lib", "bench", "papers", *map(str, arguments)]
    return subprocess.run(run, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **more)


# The list ------------------------------------------------------------------------------------------------------------


def test_claims_are_told_apart_and_say_something():
    claims = papers.claims()
    assert len({claim.id for claim in claims}) == len(claims) >= 110
    assert list(dict.fromkeys(claim.text for claim in claims)) == list(papers.TEXTS), "text by text"
    for claim in claims:
        assert claim.id.startswith(claim.text[1:4]) and claim.where and claim.says, claim.id


def test_all_figures_of_the_paper_are_in_the_list():
    told = " ".join(claim.where for claim in papers.claims() if claim.text == "[000]")
    assert all(re.search(rf"figure {n}\b", told) for n in (7, 8, 9, 10))


def test_nothing_measured_means_nothing_filled_in():
    for row in papers.rows(EMPTY):
        assert row.status in (COMPUTED, NOT_MEASURED) or row.id == "000-machine"
        assert bool(row.found) == (row.status != NOT_MEASURED)
        assert row.why or row.status != NOT_MEASURED, "a reason"


def test_without_a_gpu_its_rows_give_the_reason():
    result = copy.deepcopy(EMPTY)
    result["parts"]["gpu"] = {"error": "not measured: no GPU (none at all)"}
    rows = {row.id: row for row in papers.rows(result)}
    for name in (
        "000-gpu-1h",
        "000-gpu-2h",
        "001-twenty",
        "003-naive-gpu",
        "003-16x4-gpu",
        "004-gpu-slower",
    ):
        assert rows[name].status == NOT_MEASURED and not rows[name].found
        assert rows[name].why.startswith("no GPU (none at all).")


def test_a_result_without_matplotlib_or_numba_can_be_read():
    block = "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'numba', 'mpi4py', 'scipy', 'psutil')))"
    read = "from course_lib.bench import papers; print([len(papers.rows(r)) for r in papers.recorded()], papers.ERRATA)"
    subprocess.run(
        [sys.executable, "-c", f"{block}; {read}"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )


# Arithmetic ----------------------------------------------------------------------------------------------------------


def figures_part():
    """Net-1h at two batch sizes: loops 4 s, threads 2 s and 1 s, no PyTorch."""

    def case(B, threads):
        seconds = {
            "loops": [4.0, 4.0],
            "loops-threads": [threads] * 2,
            "numpy": [0.5] * 2,
            "numpy-blas": [0.25] * 2,
        }
        ways = {key: {"threads": 1, "note": "", "seconds": s} for key, s in seconds.items()}
        ways |= {key: {"threads": 1, "error": "not installed: pip"} for key in ("torch", "torch-1")}
        return {
            "net": "Net-1h",
            "sizes": [784, 1024, 10],
            "B": B,
            "ways": ways,
            "rates": {"sgemm-2": [100.0]},
        }

    settings = {"threads": 2, "nets": ["Net-1h"], "batches": [64, 256], "epoch": 50_000}
    return {"settings": settings, "training": [case(64, 2.0), case(256, 1.0)]}


def with_part(name, made):
    return EMPTY | {"parts": {name: made}}


def test_training_by_hand():
    result = with_part("figures", figures_part())
    assert look_training.times(result, net="Net-1h", key="loops-threads").text == (
        "an epoch takes: 2.00 s at B = 64, 1.00 s at B = 256"
    )
    assert look_training.efficiency(result).text.startswith("3.00 times on 2 threads on average")
    assert "(150% of 2; 2.00 to 4.00)" in look_training.efficiency(result).text
    rate = 3_272_704 * 50_000 / 1e9 / 4
    assert look_training.speeds(
        result, net="Net-1h", several="loops-threads", single="loops"
    ).text.startswith(f"GFLOP/s on one thread: {rate:.1f} at B = 64")
    ten = look_training.faster(result, net="Net-1h", key="numpy", over="loops", head="x")
    assert ten.text == "x: 8.00 times at B = 64, 8.00 times at B = 256"


def test_a_way_that_is_not_installed_is_not_measured():
    result = with_part("figures", figures_part())
    for finding in (
        look_training.times(result, net="Net-1h", key="torch"),
        look_training.faster(result, net="Net-1h", key="numpy", over="torch-1", head="x"),
        look_training.speeds(result, net="Net-1h", several="torch", single="loops"),
    ):
        assert finding == (NOT_MEASURED, "not installed: pip")
    assert look_training.times(result, net="Net-2h", key="loops").status == NOT_MEASURED


def test_leapfrogging_by_hand():
    f = {"f1": [[1.0] * 12], "f2": [[1.0] * 12], "f3": [[1.0] * 12]}
    runs = {
        "serial": {"whole": [36.0], "backward": [24.0]},
        "leapfrog-2": {"whole": [31.0], "backward": [19.0]},
        "deferred-2": {"whole": [24.5], "backward": [12.5]},
        "parts": f,
    }
    result = with_part(
        "leapfrogging", {"settings": {"threads": 2}, "schemes": [{"B": 1, "runs": runs}]}
    )
    told = look_schemes.saved(result).text
    assert told == "B = 1, k = 2: 14% of the step (eq. 10: 17%, with the parent's part 14%)", (
        "36 - 31 of 36 units"
    )
    assert (
        look_schemes.backward(result).text
        == "B = 1, k = 2: leapfrogging 1.26 times, deferred gradients 1.92 times"
    )
    assert look_schemes.shares(result).text.endswith("B = 1: f1 33%, f2 33%, f3 33%")
    assert look_schemes.rest(result).text.endswith("of the whole step: 100% at B = 1")
    assert look_schemes.constant(result).text == "f3 / f of 12 equal layers: 33% to 33% at B = 1"
    broken = with_part(
        "leapfrogging", {"settings": {"threads": 2}, "schemes": [{"B": 1, "runs": {}}]}
    )
    assert look_schemes.shares(broken).status == NOT_MEASURED


def test_ranks_by_hand():
    ways = {
        "serial-1": {"seconds": [4.0]},
        "data-mpi-2": {"seconds": [2.0]},
        "model-2": {"seconds": [1.0]},
    }
    case = {
        "net": "Net-1h",
        "sizes": [784, 1024, 10],
        "B": 1000,
        "ways": ways,
        "parts": {"2": {"allreduce": [0.01]}},
    }
    made = {"settings": {"cores": 2, "epoch": 50_000}, "training": [case]}
    result = with_part("ranks", made)
    assert (
        look_ranks.speedups(result, scheme="data-mpi").text
        == "2.00 times on 2 ranks, B = 1,000 (2 cores)"
    )
    assert "25% of a step on 2 ranks" in look_ranks.overhead(result).text, (
        "0.01 s of 2 s / 50 steps"
    )
    assert (
        "3,256 kB and 2.00 s by data, 40 kB and 1.00 s by model"
        in look_ranks.model_or_data(result).text
    )
    assert "up to 81,408" in look_ranks.cut_sizes(result).text


def test_a_gpu_by_hand():
    ways = {"numpy": {"seconds": [4.0]}, "mlp-paper": {"seconds": [0.2]}}
    case = {"net": "Net-1h", "B": 64, "ways": ways}
    rungs = {"naive": {"seconds": [2e-3]}, "shared": {"seconds": [1e-3]}}
    made = {
        "device": "A GPU",
        "gpu": {"products": [{"shape": [1000, 1000, 1000], "ways": rungs}]},
        "training": {"training": [case]},
    }
    result = with_part("gpu", made)
    assert look_gpu.faster(result, net="Net-1h").text == "A GPU: 20.0 times at B = 64"
    assert look_gpu.times(result, net="Net-1h", key="mlp-paper").text == "A GPU: 0.20 s at B = 64"
    assert look_gpu.products(result, rung="shared", over="naive").text == (
        "A GPU: 2.00 TFLOP/s at 1000 x 1000 x 1000, 2.00 times naive's"
    )
    assert look_gpu.products(result, rung="register_16x4").status == NOT_MEASURED
    assert tables.machine_name(result) == "A GPU"


def test_a_detector_is_shown_beside_the_majority():
    measures = {"accuracy": 0.9, "balanced_accuracy": 0.5, "recall": 1.0, "precision": None}
    test = {"net": measures, "majority": measures, "average_precision": 0.8}
    case = {
        "net": "Net-1h",
        "distinct": False,
        "sizes": [41, 1024, 1],
        "tests": {"same file": test},
    }
    result = with_part("kddcup", {"cases": [case]})
    told = look_learning.detector(result, net="Net-1h", distinct=False).text
    assert "balanced accuracy 50.00%" in told and "precision undefined" in told
    assert "majority's answer: 90.00%" in told
    assert look_learning.detector(result, net="Net-2h", distinct=False).status == NOT_MEASURED


# The command ---------------------------------------------------------------------------------------------------------

QUICK = ("gpu", "counts", "kddcup", "fashion")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A quick run of the parts that take seconds: (what the command said, its result, the folder it wrote to)."""
    folder = tmp_path_factory.mktemp("bench")
    done = bench(
        "--quick", "--parts", ",".join(QUICK), "--json", "--out", folder, timeout=300 * SLOW
    )
    assert done.returncode == 0, done.stderr
    return done, json.loads(done.stdout), folder


def test_json_on_standard_output_is_the_file(quick):
    done, result, folder = quick
    (path,) = folder.glob("*.json")
    assert result == json.loads(path.read_text(encoding="utf-8")) and path.name.startswith(
        "papers-"
    )
    assert (result["schema"], result["benchmark"], tuple(result["parts"])) == (1, "papers", QUICK)
    assert "part 1 of" in done.stderr, "progress is shown on standard error"


def test_quick_parts_give_findings(quick):
    rows = {row.id: row for row in papers.rows(quick[1])}
    for name in (
        "003-naive",
        "003-shared",
        "003-16x4",
        "003-cutlass",
        "000-conflicts-batch",
        "000-coalesced-rest",
    ):
        assert rows[name].status == COUNTED and rows[name].found
    for name in ("000-kdd-1h", "000-kdd-distinct", "004-parameters", "004-cpu"):
        assert rows[name].status == MEASURED, rows[name]
    assert rows["003-nodes"].why.startswith("the part `ranks` was left out")


def test_the_engine_counts_what_the_cost_model_says(quick):
    from course_lib.gpu import gemm_cost

    made = quick[1]["parts"]["counts"]
    for rung in ("naive", "shared", "register_16x4", "warptile"):
        said, found = gemm_cost(rung, *[made["side"]] * 3), made["products"][rung]
        assert (
            found["sectors"] == sum(said["sectors"].values())
            and found["wavefronts"] == said["wavefronts"]
        )


def test_kdd_rows_add_up(quick):
    for case in quick[1]["parts"]["kddcup"]["cases"]:
        for test in case["tests"].values():
            for counts in (test["net"], test["majority"]):
                assert sum(counts[name] for name in ("tp", "fp", "fn", "tn")) == test["records"]
            assert (
                test["majority"]["balanced_accuracy"] == 0.5 and 0 < test["average_precision"] <= 1
            )


def test_parts_are_added_to_a_result(quick, tmp_path):
    (path,) = quick[2].glob("*.json")
    done = bench(
        "--quick", "--parts", "counts", "--reuse", path, "--out", tmp_path, timeout=300 * SLOW
    )
    assert done.returncode == 0, done.stderr
    (other,) = tmp_path.glob("*.json")
    made, known = (json.loads(p.read_text(encoding="utf-8"))["parts"] for p in (other, path))
    assert list(made) == list(known) and made["kddcup"] == known["kddcup"]
    assert [row["id"] for row in json.loads(other.read_text("utf-8"))["rows"]] == [
        c.id for c in papers.claims()
    ]
    assert made["counts"]["products"] == known["counts"]["products"], (
        "counts do not depend on the day"
    )
    for words in (
        "[003] Darve",
        "003-shared (section 4.1, algorithm 2)",
        "counted: 128^3",
        "not measured",
    ):
        assert words in done.stdout


def test_a_result_of_another_machine_takes_no_parts(tmp_path):
    other = tmp_path / "papers-other.json"
    other.write_text(json.dumps(EMPTY), encoding="utf-8")
    done = bench("--parts", "counts", "--reuse", other, "--out", tmp_path)
    assert done.returncode == 2 and "a result of this machine" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--record", "--out", "somewhere"], "leave out --out"),
        (["--record", "--quick"], "leave out --quick"),
        (["--reuse", "/no/such/file.json"], "cannot be read"),
        (
            ["--reuse", str(ROOT / "benchmarks/results/threads.json")],
            "no result of `course bench papers`",
        ),
        (["--torch-python", "/no/such/python"], "must be a Python"),
        (["--parts", "counts,nothing"], "there is no part 'nothing'"),
        (["--threads", "0"], "--threads"),
        (["--fast"], "unrecognized arguments"),
    ],
)
def test_bad_input_gets_one_error(arguments, words, capsys):
    try:
        status = main(["bench", "papers", *arguments])
    except SystemExit as end:  # argparse's way out
        status = end.code
    said = capsys.readouterr()
    assert status == 2 and words in said.err and not said.out


def test_failures_are_found_wherever_they_stand():
    failed = {"training": [{"ways": {"x": {"error": "failed: y"}}}]}
    parts = {"gpu": {"error": "not measured: no GPU"}, "figures": failed}
    assert command.failures({"parts": parts}) == ["figures/training[0]/ways/x: failed: y"]


# The committed report ------------------------------------------------------------------------------------------------


def test_something_is_recorded():
    assert COMMITTED and len(papers.recorded()) == len(COMMITTED)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_recorded_runs_are_whole(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    assert tuple(result["parts"]) == PARTS and not any(
        part["quick"] for part in result["parts"].values()
    )
    assert (
        command.failures(result) == []
        and path.name == f"papers-{_slug(tables.machine_name(result))}.json"
    )
    rows = papers.rows(result)
    assert result["rows"] == [row._asdict() for row in rows], (
        "course bench papers --reuse FILE --record"
    )
    left_out = [row.id for row in rows if row.status == NOT_MEASURED and "left out" in row.why]
    assert left_out == [] and {row.status for row in rows} <= set(STATUSES)
    if "error" in result["parts"]["gpu"]:
        without = {row.id for row in rows if row.status == NOT_MEASURED}
        assert without == GPU_ROWS | {"004-gpu", "001-both-ways"}, (
            "only what needs a GPU, or is measured elsewhere"
        )


GPU_ROWS = {
    "000-gpu-1h",
    "000-gpu-2h",
    "000-speedup-gpu",
    "001-twenty",
    "001-theano-gpu",
    "003-naive-gpu",
    "003-shared-gpu",
    "003-16x4-gpu",
    "003-cutlass-gpu",
    "004-gpu-slower",
}


def _slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def test_document_is_made_from_the_results():
    path = ROOT / command.DOCUMENT
    text = path.read_text(encoding="utf-8")
    assert docs.written(text, {}, papers_docs.blocks(papers.recorded())) == text, (
        "course bench papers --record"
    )


def test_figures_of_the_document_are_there():
    for result in papers.recorded():
        for name in tables.drawn(result):
            assert (ROOT / "benchmarks/results" / name).is_file()


def test_results_name_no_place_of_this_machine(quick):
    for text in (quick[0].stdout, *(path.read_text(encoding="utf-8") for path in COMMITTED)):
        for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
            assert private not in text, f"{private} stands in the JSON"
        assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", text)
