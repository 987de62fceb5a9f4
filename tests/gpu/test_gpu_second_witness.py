"""A second witness: what GPGPU-Sim counted for the GEMM ladder beside what the engine counts.

gpgpusim.json has the recorded numbers, their provenance, and what they are good for.
"""

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from chapter_sources import read
from engine_runs import needs_compiler

from course_lib.gpu import trace_gemm
from course_lib.gpu.data_sheets import DATA_SHEETS
from course_lib.gpu.gemm import RUNGS, Rung

RECORDED = json.loads(Path(__file__).with_name("gpgpusim.json").read_text(encoding="utf-8"))
RUNS = RECORDED["runs"]
SMALL = [run for run in RUNS if np.prod(run["size"]) <= 256 * 256 * 64]
LATER = {"register_8x8", "vector_8x8", "buffered_8x8", "async"}  # rungs younger than the recording


WARPTILE = Path(__file__).with_name("gemm_warptile_recorded.cu").read_text(encoding="utf-8")


@pytest.fixture
def recorded(monkeypatch):
    """gemm_warptile as it was when the simulator ran it: in steps of 8."""
    now = Rung.source
    source = property(lambda rung: WARPTILE if rung.name == "warptile" else now.fget(rung))
    monkeypatch.setattr(Rung, "source", source)


def ragged_warptile(run):
    return run["kernel"] == "warptile" and run["size"] == [70, 45, 33]


def counted(kernel, M, N, K):
    """What the engine counts, under the names of the fixture."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
    report = trace_gemm(A, B, kernel=kernel)[1]
    return {
        "load_sectors": report.total("sectors", space="global", op="load"),
        "store_sectors": report.total("sectors", space="global", op="store"),
        "requests": report.total("requests", space="global"),
        "shared_requests": report.total("requests", space="shared"),
        "wavefronts": report.total("wavefronts", space="shared"),
    }


@needs_compiler
@pytest.mark.parametrize(
    "run", SMALL, ids=lambda run: "-".join([run["kernel"], *map(str, run["size"])])
)
def test_the_engine_counts_what_the_simulator_counted(recorded, run):
    wanted, found = dict(run["counts"]), counted(run["kernel"], *run["size"])
    if run["kernel"] == "warptile" and run["float4_conflicts"] == "of its first word":
        assert found["wavefronts"] > wanted.pop(
            "wavefronts"
        )  # a float4 takes more than its first word
    if ragged_warptile(run):  # which is a GPU's count is undecided
        for name in ("load_sectors", "store_sectors", "requests"):
            assert 0.9 < found[name] / wanted.pop(name) < 1, name
    assert {name: found[name] for name in wanted} == wanted


@needs_compiler
def test_the_warptile_of_today_moves_as_much_where_nothing_is_ragged():
    for run in SMALL:
        if run["kernel"] == "warptile" and not ragged_warptile(run):
            found = counted("warptile", *run["size"])
            compared = set(found)
            if "first" in run["float4_conflicts"]:
                compared.remove("wavefronts")
            assert {name: found[name] for name in compared} == {
                name: run["counts"][name] for name in compared
            }


def test_the_older_rungs_are_witnessed_and_ragged_ones_too():
    assert {run["kernel"] for run in SMALL} == set(RUNGS) - LATER and set(RUNGS) >= LATER
    ragged = {run["kernel"] for run in SMALL if run["size"] == [70, 45, 33]}
    assert ragged == set(RUNGS) - LATER


def shares():
    """{kernel: (least, most)}: of the peak of 2 SMs of a V100, in simulated cycles; large products alone."""
    found = defaultdict(list)
    for run in RUNS:
        if run["SMs"] == 2 and np.prod(run["size"]) >= 256 * 256 * 64:
            flops_a_cycle = 2 * DATA_SHEETS["V100"].cores * run["SMs"]
            found[run["kernel"]].append(2 * np.prod(run["size"]) / run["cycles"] / flops_a_cycle)
    return {name: (min(each), max(each)) for name, each in found.items()}


def test_chapter_08_says_what_was_simulated():
    text = "\n".join(cell.source for cell in read("08-gemm-register-tiled", "lecture").cells)
    heading, row = (
        next(line for line in text.splitlines() if line.startswith(begin))
        for begin in ("| | naive |", "| simulated")
    )
    names = [name.strip() for name in heading.strip("|").split("|")][1:]
    told = [re.findall(r"\d+", cell) for cell in row.strip("|").split("|")[1:]]
    for name, numbers in zip(names, told, strict=True):
        low, high = shares()[name]
        assert [int(n) for n in numbers] == sorted({round(100 * low), round(100 * high)}), name


def test_chapter_07_says_what_padding_saved_in_the_simulated_updates():
    cycles = RECORDED["updates"]["cycles"]
    pairs = zip(cycles["unpadded"], cycles["padded"], strict=True)
    low, high = sorted(f"{without / padded:.1f}" for without, padded in pairs)
    text = "\n".join(cell.source for cell in read("07-gemm-shared-memory", "lecture").cells)
    assert f"{low} to {high} times as many cycles for the two updates" in text
