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

from course_lib.errors import BadInput
from course_lib.gpu.mlp.kernels import SPECIFICATIONS
from course_lib.measure import step_flops
from course_tools.__main__ import main
from course_tools.bench import papers
from course_tools.bench.frame import document, slug
from course_tools.bench.frame.results import failures
from course_tools.bench.papers import arithmetic, data_files, tables
from course_tools.bench.papers import bench as bench_of_papers
from course_tools.bench.papers.claim import NOT_MEASURED, STATUSES, NotMeasured
from course_tools.bench.papers.findings import figures, gpu, kddcup
from course_tools.bench.papers.findings.wording import by_batch, each_case
from course_tools.bench.papers.settings import FASHION_ITERATIONS, FASHION_SIZES, PARTS
from course_tools.bench.threads.schemes import LAYERS
from course_tools.bench.training.catalogue import NETS

ROOT = Path(__file__).resolve().parents[2]
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
        assert row.status in ("computed", NOT_MEASURED) or row.id == "000-machine"
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
    read = "from course_tools.bench import papers as p; print([len(p.rows(r)) for r in p.recorded()], p.ERRATA)"
    subprocess.run(
        [sys.executable, "-c", f"{block}; {read}"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )


# The data files ------------------------------------------------------------------------------------------------------

HEAD = 'text = "[000]"\ntitle = "A text"\n'
CLAIM = '[[claim]]\nid = "000-a"\nwhere = "section 1"\nsays = "ten"\nstatus = "computed"\n'


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_claim_takes_over_what_it_is_like(tmp_path):
    first = CLAIM.replace("computed", "measured") + 'find = "figures.times"\nwhy = "because"\n'
    first += 'with = { net = "Net-1h", key = "loops" }\n'
    second = '[[claim]]\nid = "000-b"\nwhere = "section 2"\nsays = "two"\nlike = "000-a"\n'
    second += 'with = { key = "numpy" }\n'
    written(tmp_path, "a.toml", HEAD + first + second)
    one, two = data_files.read_claims(tmp_path)
    assert (two.id, two.where, two.says) == ("000-b", "section 2", "two")
    assert (two.status, two.why) == (one.status, one.why) == ("measured", "because")
    result = EMPTY | {"parts": {"figures": figures_part()}}
    assert one.find(result) == "an epoch takes: 4.00 s at B = 64, 4.00 s at B = 256"
    assert two.find(result) == "an epoch takes: 0.50 s at B = 64, 0.50 s at B = 256"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text = [000]", "a.toml cannot be read as TOML"),
        ('text = "[000]"\n', "a.toml: the field `title` is missing"),
        (HEAD, "a.toml: the entries must be tables, each headed [[claim]]"),
        (HEAD + "claim = [1]", "a.toml: the entries must be tables"),
        (HEAD + "[[claims]]\n" + CLAIM, "a.toml: there is no field `claims`"),
        (
            HEAD + '[[claim]]\nwhere = "x"',
            "a.toml, claim 1 (without id): the field `id` is missing",
        ),
        (HEAD + CLAIM, "a.toml, claim 1 (000-a): there must be `find` or `found`"),
        (HEAD + CLAIM + 'found = "x"\nfind = "digits.mnist"', "and not both"),
        (
            HEAD + CLAIM + 'found = "{nothing:.1f}"',
            "the number 'nothing' in `found` does not exist",
        ),
        (HEAD + CLAIM + 'found = "{net1h[nothing]}"', "'nothing' in `found` does not exist"),
        (HEAD + CLAIM + 'found = "{images:d}"', "in `found` does not exist"),
        (HEAD + CLAIM + "found = 3", "`found` must be a text that says something, not 3"),
        (HEAD + CLAIM + 'found = " "', "`found` must be a text that says something"),
        (HEAD + CLAIM + 'wy = "x"', "claim 1 (000-a): there is no field `wy`; there are id, where"),
        (HEAD + CLAIM.replace("computed", "guessed"), "`status` must be one of measured, counted"),
        (HEAD + CLAIM.replace("000-a", "001-a") + 'found = "x"', "begins with 000-"),
        (HEAD + (CLAIM + 'found = "x"\n') * 2, "claim 2 (000-a): an entry above has the same id"),
        (HEAD + CLAIM + 'like = "000-b"', "`like` names no claim above: 000-b"),
        (
            HEAD + CLAIM + 'find = "digits.mnist"\nwith = "x"',
            "must hold the function's options",
        ),
        (
            HEAD + CLAIM + 'find = "digits.nothing"',
            "(000-a): findings/ has no function digits.nothing",
        ),
        (HEAD + CLAIM + 'find = "os.getcwd"', "findings/ has no function os.getcwd"),
        (HEAD + CLAIM + 'find = "figures.median"', "findings/ has no function figures.median"),
        (HEAD + CLAIM + 'find = "figures.times"', "takes ['net', 'key', 'head'], not []"),
        (HEAD + CLAIM + 'find = "run.machine"\nwith.net = "Net-1h"', "takes [], not ['net']"),
    ],
)
def test_a_bad_file_of_claims_is_named_with_the_entry(tmp_path, text, words):
    written(tmp_path, "a.toml", text)
    with pytest.raises(BadInput) as error:
        data_files.read_claims(tmp_path)
    assert words in str(error.value) and str(error.value).startswith("a.toml")


ERRATUM = '[[kamra]]\nname = "a"\nwhere = "eq. 1"\nsays = "1"\nright = "2"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kamra", "errata.toml cannot be read as TOML"),
        ("[[kamrad]]", "errata.toml: [[kamrad]] is no text; there are kamra, goyal"),
        (ERRATUM + ERRATUM, "errata.toml, kamra 2 (a): an entry above has the same name"),
        (ERRATUM + 'test = "x"', "errata.toml, kamra 1 (a): there is no field `test`"),
        ('[[singh]]\nname = "b"', "errata.toml, singh 1 (b): the field `where` is missing"),
    ],
)
def test_a_bad_file_of_errata_is_named_with_the_entry(tmp_path, text, words):
    with pytest.raises(BadInput) as error:
        data_files.read_errata(written(tmp_path, "errata.toml", text))
    assert words in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"errata\.toml cannot be read"):
        data_files.read_errata(tmp_path / "errata.toml")


def entries_of_all_claims():
    folder = data_files.HERE / "claims"
    return [entry for path in folder.glob("*.toml") for entry in data_files.read(path)["claim"]]


def test_every_finding_is_used():
    """A function of findings/ that no claim names would never be seen to be wrong."""
    used = {entry["find"] for entry in entries_of_all_claims() if "find" in entry}
    for path in (data_files.HERE / "findings").glob("*.py"):
        if path.stem in (*PARTS, "run"):
            functions = re.findall(r"^def ([a-z]\w+)", path.read_text(encoding="utf-8"), re.M)
            assert {f"{path.stem}.{name}" for name in functions} <= used, path


def test_every_number_is_used():
    texts = " ".join(entry.get("found", "") for entry in entries_of_all_claims())
    assert set(re.findall(r"\{(\w+)", texts)) == arithmetic.numbers().keys()


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


def test_training_by_hand():
    made = figures_part()
    assert figures.times(made, net="Net-1h", key="loops-threads") == (
        "an epoch takes: 2.00 s at B = 64, 1.00 s at B = 256"
    )
    told = figures.efficiency(made)
    assert told == (
        "2 threads, on average over batch sizes: Net-1h 3.00 times (150% of 2, from 2.00 to 4.00)"
    )
    rate = 3_272_704 * 50_000 / 1e9 / 4
    told = figures.speeds(made, net="Net-1h", several="loops-threads", single="loops")
    assert told.startswith(f"GFLOP/s on one thread: {rate:.1f} at B = 64")
    ten = figures.faster(made, net="Net-1h", key="numpy", over="loops", head="x")
    assert ten == "x: 8.00 times at B = 64, 8.00 times at B = 256"


@pytest.mark.parametrize(
    ("find", "options"),
    [
        (figures.times, {"key": "torch"}),
        (figures.faster, {"key": "numpy", "over": "torch-1", "head": "x"}),
        (figures.speeds, {"several": "torch", "single": "loops"}),
    ],
)
def test_a_way_that_is_not_installed_is_not_measured(find, options):
    with pytest.raises(NotMeasured, match=r"^not installed: pip$"):
        find(figures_part(), net="Net-1h", **options)
    with pytest.raises(NotMeasured, match="this net was left out"):
        find(figures_part(), net="Net-2h", **options)


def test_averages_do_not_mix_networks():
    made = figures_part()
    other = copy.deepcopy(made["training"][0]) | {"net": "Net-2h"}
    other["ways"]["loops-threads"]["seconds"] = [8.0, 8.0]
    made["training"].append(other)
    told = figures.efficiency(made).split("; ")
    assert told[0].endswith("Net-1h 3.00 times (150% of 2, from 2.00 to 4.00)")
    assert told[1] == "Net-2h 0.50 times (25% of 2, from 0.50 to 0.50)"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([3, 2, 1], "3.00 at B = 1, 1.00 at B = 3"),
        ([1, None, 2, None], "1.00 at B = 1, 2.00 at B = 3"),
        ([2], "2.00 at B = 1"),
        ([1, 3, 2], "1.00 at B = 1, 2.00 at B = 3, highest 3.00 at B = 2"),
        ([2, 1, 4, 3], "2.00 at B = 1, 3.00 at B = 4, highest 4.00 at B = 3, lowest 1.00 at B = 2"),
    ],
)
def test_a_series_shows_its_ends_and_what_is_beyond_them(values, told):
    assert by_batch(list(enumerate(values, 1)), "", "nothing") == told
    with pytest.raises(NotMeasured, match="nothing"):
        by_batch([(1, None)], "", "nothing")


def test_words_are_said_of_the_cases_that_have_their_numbers():
    cases = [{"B": 1, "s": 2.0, "x": None}, {"B": 2, "s": None, "x": 1}]
    assert each_case("{s:.1f} s at B = {B}", cases, "nothing") == "2.0 s at B = 1"
    assert each_case("B = {B}", cases, "nothing") == "B = 1; B = 2"
    with pytest.raises(NotMeasured, match="nothing"):
        each_case("{s} {x}", cases, "nothing")
    with pytest.raises(KeyError, match="t"):
        each_case("{t}", cases, "a number that nobody makes is a mistake")


def said(name, **parts):
    """What is found for a claim in a result of these parts."""
    (claim,) = [claim for claim in papers.claims() if claim.id == name]
    return claim.find({"parts": parts})


def test_leapfrogging_by_hand():
    f = {"f1": [[1.0] * 12], "f2": [[1.0] * 12], "f3": [[1.0] * 12]}
    runs = {
        "serial": {"whole": [36.0], "backward": [24.0]},
        "leapfrog-2": {"whole": [31.0], "backward": [19.0]},
        "deferred-2": {"whole": [24.5], "backward": [12.5]},
        "parts": f,
    }
    made = {"settings": {"threads": 2}, "schemes": [{"B": 1, "runs": runs}]}
    assert said("002-saving", leapfrogging=made) == (
        "B = 1, k = 2: 14% of the step (eq. 10: 17%, with the parent's part 14%)"
    ), "36 - 31 of 36 units"
    assert said("002-backward", leapfrogging=made) == (
        "B = 1, k = 2: leapfrogging 1.26 times, deferred gradients 1.92 times"
    )
    assert said("002-cost", leapfrogging=made) == (
        "B = 1: 36000.0 ms on one thread, 31000.0 ms with k = 2"
    )
    assert said("002-dominant", leapfrogging=made).endswith("B = 1: f1 33%, f2 33%, f3 33%")
    assert said("002-rest", leapfrogging=made).endswith("of the whole step: 100% at B = 1")
    assert (
        said("002-constant", leapfrogging=made) == "f3 / f of 12 equal layers: 33% to 33% at B = 1"
    )
    broken = {"settings": {"threads": 2}, "schemes": [{"B": 1, "runs": {}}]}
    for name in ("saving", "backward", "cost", "dominant", "rest", "constant"):
        with pytest.raises(NotMeasured, match="the schemes did not run"):
            said(f"002-{name}", leapfrogging=broken)


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
    assert said("003-nodes", ranks=made) == "2.00 times on 2 ranks, B = 1,000 (2 cores)"
    assert "25% of a step on 2 ranks" in said("003-delta-w", ranks=made), "0.01 s of 2 s / 50 steps"
    told = said("003-model", ranks=made)
    assert "3,256 kB and 2.00 s by data, 40 kB and 1.00 s by model" in told


def test_a_gpu_by_hand():
    ways = {"numpy": {"seconds": [4.0]}, "mlp-paper": {"seconds": [0.2]}}
    case = {"net": "Net-1h", "B": 64, "ways": ways}
    rungs = {"naive": {"seconds": [2e-3]}, "shared": {"seconds": [1e-3]}}
    made = {
        "device": "A GPU",
        "gpu": {"products": [{"shape": [1000, 1000, 1000], "ways": rungs}]},
        "training": {"training": [case]},
    }
    assert gpu.faster(made, net="Net-1h") == "A GPU: 20.0 times at B = 64"
    assert gpu.times(made, net="Net-1h", key="mlp-paper") == "A GPU: 0.20 s at B = 64"
    assert gpu.products(made, rung="shared", over="naive") == (
        "A GPU: 2.00 TFLOP/s at 1000 x 1000 x 1000, 2.00 times naive's"
    )
    with pytest.raises(NotMeasured):
        gpu.products(made, rung="register_16x4")
    assert papers.machine_name(EMPTY | {"parts": {"gpu": made}}) == "A GPU"


def test_a_detector_is_shown_beside_the_majority():
    measures = {"accuracy": 0.9, "balanced_accuracy": 0.5, "recall": 1.0, "precision": None}
    test = {"net": measures, "majority": measures, "average_precision": 0.8}
    case = {
        "net": "Net-1h",
        "distinct": False,
        "sizes": [41, 1024, 1],
        "tests": {"same file": test},
    }
    told = kddcup.detector({"cases": [case]}, net="Net-1h", distinct=False)
    assert "balanced accuracy 50.00%" in told and "precision undefined" in told
    assert "majority's answer: 90.00%" in told
    with pytest.raises(NotMeasured):
        kddcup.detector({"cases": [case]}, net="Net-2h", distinct=False)


def test_arithmetic_by_hand():
    found = {claim.id: claim for claim in papers.claims() if claim.status == "computed"}
    assert "up to 81,408" in found["003-cut"].find({}), "10 B numbers against 814,090"
    flops = sum(step_flops((784, 1024, 10), 64).forward)
    assert f"{flops // 2:,} triples" in found["003-triples"].find({}), "two flops each"
    assert found["003-grades"].find({}) == "20 + 80 = 100 %"
    assert 15 + 5 == 20 and 32 + 3 + 20 + 20 + 5 == 80
    assert found["002-smallest-k"].find({}).startswith("eps = 1/10: 11, where the formula says 10")


def test_what_the_claims_take_for_granted():
    """Sizes that stand in the words of the claims, and not as numbers of arithmetic.py."""
    assert NETS == {"Net-1h": (784, 1024, 10), "Net-2h": (784, 1024, 1024, 10)} and LAYERS == 12
    assert (FASHION_SIZES, FASHION_ITERATIONS) == ((784, 128, 128, 10), 60)
    five = {"forward", "output_delta", "transposed", "hadamard", "update"}
    assert five < SPECIFICATIONS.keys(), "a kernel for each of [000]'s five steps"


# The command ---------------------------------------------------------------------------------------------------------

QUICK, LEARNED = ("gpu", "counts"), ("kddcup", "fashion")


def measured(folder, parts):
    """A quick run of some parts: (what the command said, its result, the folder it wrote to)."""
    run = ("--quick", "--parts", ",".join(parts), "--json", "--out", folder)
    done = bench(*run, timeout=300 * SLOW)
    assert done.returncode == 0, done.stderr
    return done, json.loads(done.stdout), folder


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The parts that take seconds."""
    return measured(tmp_path_factory.mktemp("quick"), QUICK)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The parts that train on samples, in 8 s and more: the tests that use it are marked slow."""
    return measured(tmp_path_factory.mktemp("learned"), LEARNED)


def test_json_on_standard_output_is_the_file(quick):
    done, result, folder = quick
    (path,) = folder.glob("*.json")
    assert path.name.startswith("papers-")
    assert result == json.loads(path.read_text(encoding="utf-8"))
    assert (result["schema"], result["benchmark"], tuple(result["parts"])) == (1, "papers", QUICK)
    assert "part 1 of" in done.stderr, "progress is shown on standard error"


def test_what_is_counted_gives_findings(quick):
    rows = {row.id: row for row in papers.rows(quick[1])}
    for name in (
        "003-naive",
        "003-shared",
        "003-16x4",
        "003-cutlass",
        "000-conflicts-batch",
        "000-coalesced-rest",
    ):
        assert rows[name].status == "counted" and rows[name].found
    assert rows["003-nodes"].why.startswith("the part `ranks` was left out")


@pytest.mark.slow
def test_what_is_learned_gives_findings(learned):
    rows = {row.id: row for row in papers.rows(learned[1])}
    for name in ("000-kdd-1h", "000-kdd-distinct", "004-parameters", "004-cpu"):
        assert rows[name].status == "measured", rows[name]


def test_the_engine_counts_what_the_cost_model_says(quick):
    from course_lib.gpu import gemm_cost

    made = quick[1]["parts"]["counts"]
    for rung in ("naive", "shared", "register_16x4", "warptile"):
        said, found = gemm_cost(rung, *[made["side"]] * 3), made["products"][rung]
        assert found["sectors"] == sum(said["sectors"].values())
        assert found["wavefronts"] == said["wavefronts"]


@pytest.mark.slow
def test_kdd_rows_add_up(learned):
    for case in learned[1]["parts"]["kddcup"]["cases"]:
        for test in case["tests"].values():
            for counts in (test["net"], test["majority"]):
                assert sum(counts[name] for name in ("tp", "fp", "fn", "tn")) == test["records"]
            assert test["majority"]["balanced_accuracy"] == 0.5
            assert 0 < test["average_precision"] <= 1


def test_parts_are_added_to_a_result(quick, tmp_path):
    (path,) = quick[2].glob("*.json")
    run = ("--quick", "--parts", "counts", "--reuse", path, "--out", tmp_path)
    done = bench(*run, timeout=300 * SLOW)
    assert done.returncode == 0, done.stderr
    (other,) = tmp_path.glob("*.json")
    made, known = (json.loads(p.read_text(encoding="utf-8")) for p in (other, path))
    assert [row["id"] for row in made["rows"]] == [claim.id for claim in papers.claims()]
    made, known = made["parts"], known["parts"]
    assert list(made) == list(known) and made["gpu"] == known["gpu"], "not measured again"
    assert made["counts"]["products"] == known["counts"]["products"], (
        "counts do not depend on the day"
    )
    for words in (
        "Darve 2019: Darve",
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
    assert failures({"parts": parts}) == ["parts: figures: training: ways: x: failed: y"]


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
        failures(result) == [] and path.name == f"papers-{slug(papers.machine_name(result))}.json"
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


def test_document_is_made_from_the_results():
    path = ROOT / bench_of_papers.DOCUMENT
    text = path.read_text(encoding="utf-8")
    assert document.written(text, tables.papers_blocks(papers.recorded())) == text, (
        "course bench papers --record"
    )


def test_figures_of_the_document_are_there():
    """The names are those of the figures drawn: the document is made anew by the test above."""
    text = (ROOT / bench_of_papers.DOCUMENT).read_text(encoding="utf-8")
    names = re.findall(r"\]\(\.\./(benchmarks/results/[\w.-]+\.png)\)", text)
    assert len(names) >= 6 and all((ROOT / name).is_file() for name in names)


def test_no_line_of_a_cell_is_a_row_of_numbers():
    """A series of numbers belongs into a table: a line of a cell has 8 at most, sizes and batches counted."""
    for result in papers.recorded():
        for row in papers.rows(result):
            for line in row.found.split("; "):
                assert len(re.findall(r"(?<![\w.-])\d[\d,.]*", line)) <= 8, (row.id, line)


def test_ids_of_claims_lead_to_their_rows():
    text = (ROOT / bench_of_papers.DOCUMENT).read_text(encoding="utf-8")
    assert set(re.findall(r'href="#([^"]+)"', text)) == set(re.findall(r'a id="([^"]+)"', text))
    plain = re.sub(r"<a [^>]*>", "", text)
    assert not [claim.id for claim in papers.claims() if claim.id in plain], "an id without a link"


def test_results_name_no_place_of_this_machine(quick):
    for text in (quick[0].stdout, *(path.read_text(encoding="utf-8") for path in COMMITTED)):
        no_place_of_this_machine(text)


@pytest.mark.slow
def test_what_was_learned_names_no_place_of_this_machine(learned):
    no_place_of_this_machine(learned[0].stdout)


def no_place_of_this_machine(text):
    for private in (str(ROOT), f"{Path.home()}/", sys.executable, platform.node()):
        assert private not in text, f"{private} stands in the JSON"
    assert not re.search(r"[\"( ]/(home|root|tmp|work|usr|opt)\b", text)
