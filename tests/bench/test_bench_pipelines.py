"""The pipelines of `course bench mpi`: made, checked and asked with stand-ins; predictions and tables by hand."""

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.mpi.pipeline import Costs, simulate
from course_lib.serial import Network
from course_tools.bench.frame import Progress, WorkerError
from course_tools.bench.mpi import our_pipeline, predictions, ranks, tables
from course_tools.bench.mpi.catalogue import MICRO, PIPELINE_NETS, SCHEDULES, plan
from course_tools.bench.mpi.desk_ranks import RankDesk
from course_tools.bench.mpi.measuring import pipelines, wanted
from course_tools.bench.mpi.ranks import Ranks
from course_tools.bench.mpi.shared_cores import simulate_shared

SIZES, B = (20, 16, 15, 14, 13, 12, 11, 10, 9, 6), 64
NET = Network(SIZES, "tanh", "cross_entropy")


def examples(folder=None):
    rng = np.random.default_rng(2)
    X, Y = rng.random((300, 20), np.float32), np.eye(6, dtype=np.float32)[rng.integers(0, 6, 300)]
    if folder:
        np.save(folder / "x.npy", X)
        np.save(folder / "y.npy", Y)
    return X, Y


# Our ranks --------------------------------------------------------------------------------------


class OneRank(RankDesk):
    """A desk without MPI: one rank, which sends nothing."""

    comm = SimpleNamespace(size=1, rank=0, allgather=lambda mine: [mine])

    def load(self, folder=None):
        self.X, self.Y = examples()

    def make(self, key, net, B, threads):
        return our_pipeline.trainer(self, key, net, B)


HOW = {"sizes": SIZES, "B": B, "seconds": 0.0, "check": True, "activation": "tanh"}


@pytest.mark.parametrize("name", ["alone", *SCHEDULES])
def test_a_schedule_is_held_against_the_serial_library(name, monkeypatch):
    how = HOW | {"key": name, "loss": "cross_entropy"}
    desk = OneRank()
    made = desk.build(**how)
    assert made["disagreement"] <= 1e-5 and made["examples"] >= B
    monkeypatch.setattr(our_pipeline, "ETA", 0.11)
    with pytest.raises(ArithmeticError, match="not the serial library's step"):
        desk.build(**how)


def test_runs_are_whole_steps_and_told_by_the_step(monkeypatch):
    desk = OneRank()
    steps = desk.make("gpipe", NET, B, 1)
    seen = []
    monkeypatch.setattr(steps, "step", lambda rows: seen.append(list(rows)))
    steps.epoch(np.arange(2 * B))
    steps.epoch(np.arange(10))  # what wakes caches before a run
    assert [len(rows) for rows in seen] == [B] * 3
    assert seen[1] == list(range(B, 2 * B)) and set(seen[2]) == set(range(10))
    assert steps.scaled(np.arange(4 * B), lambda order: 8.0) == 2.0


def test_each_layers_tasks_are_told():
    desk = OneRank()
    found = our_pipeline.tasks(desk, NET, B) | our_pipeline.around(desk, NET, B)
    layers = ["", *(f" {n}" for n in range(2, 10))]
    kinds = [f"{kind}{layer}" for kind in ("forward", "delta", "grad") for layer in layers]
    assert set(found) == {*kinds, "gather", "update"} and min(found.values()) >= 0
    assert our_pipeline.layer_by_layer(9).check()


def test_two_ranks_train_wait_and_tell(tmp_path):
    examples(tmp_path)
    with Ranks("mpi", 2) as group:
        group.ask("load", folder=str(tmp_path))
        for name in SCHEDULES:
            how = HOW | {"key": f"pipeline-{name}", "loss": "cross_entropy"}
            assert group.ask("build", **how)["disagreement"] <= 1e-5
            assert 0 <= group.ask("bubble", key=f"pipeline-{name}") < 1
            assert group.ask("time", key=f"pipeline-{name}", seed=0) > 0


# PyTorch's, with a stand-in ---------------------------------------------------------------------


@pytest.fixture
def piped(monkeypatch):
    """torch_pipeline.piped beside a PyTorch that has stages and two of the schedules, and remembers."""

    def made(kind):
        return lambda *arguments: (kind, *arguments)

    torch, dist = ModuleType("torch"), ModuleType("torch.distributed")
    pipelining = ModuleType("torch.distributed.pipelining")
    torch.__version__, torch.device = "2.4", lambda name: name
    torch.nn = SimpleNamespace(functional=SimpleNamespace(cross_entropy="cross entropy"))
    torch.distributed, dist.pipelining = dist, pipelining
    for name in ("PipelineStage", "ScheduleGPipe", "ScheduleInterleaved1F1B"):
        setattr(pipelining, name, made(name))
    for module in (torch, dist, pipelining):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("course_tools.bench.mpi.torch_pipeline", "course_tools.bench.training.pytorch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield import_module("course_tools.bench.mpi.torch_pipeline").piped
    for name in ("course_tools.bench.mpi.torch_pipeline", "course_tools.bench.training.pytorch"):
        sys.modules.pop(name, None)


def test_pytorchs_schedules_get_our_stages(piped):
    one = ("PipelineStage", "model", 1, 2, "cpu")
    assert piped("gpipe", {1: "model"}, 2) == ("ScheduleGPipe", one, MICRO, "cross entropy")
    stages = piped("interleaved", {1: "a", 3: "b"}, 4)[1]
    assert [stage[1:4] for stage in stages] == [("a", 1, 4), ("b", 3, 4)]
    with pytest.raises(BadInput, match=r"2\.4 has no ScheduleInterleavedZeroBubble"):
        piped("zb-h1", {0: "model"}, 2)


# The run, with stand-ins ------------------------------------------------------------------------


class Answers:
    """A group of ranks that answers; what is asked for first is kept."""

    def __init__(self):
        self.asked = []

    def ask(self, do, **how):
        self.asked.append((do, how.get("key")))
        if how.get("key") == "pipeline-1f1b":
            raise WorkerError("ArithmeticError: differs", "ArithmeticError")
        found = {"build": {"disagreement": 1e-6}, "bubble": 0.25, "tasks": {"forward": 1.0}}
        return found.get(do, 0.5)


def test_what_is_run_and_what_is_said_of_the_rest(monkeypatch):
    monkeypatch.setattr(ranks, "waiting", lambda p: False)
    absent, ours = "not installed: pip install torch", Answers()
    groups = {f"mpi-{p}-plain": ours for p in (1, 2)} | {f"torch-{p}": absent for p in (1, 2)}
    chosen = (("12 layers of 48", 64),)
    settings = SimpleNamespace(pipelines=chosen, ranks=(1, 2), seconds=0.1, rounds=2)
    (case,) = pipelines(groups, settings, Progress("test", 2))
    keys = [f"{library}-{name}-{p}" for library, name, p in wanted((1, 2))]
    assert list(case["ways"]) == keys and len(keys) == 3 + 2 * len(SCHEDULES)
    assert case["ways"]["torch-zb-h1-2"]["error"] == absent
    assert case["ways"]["mpi-zb-h1-2"]["seconds"] == [0.5, 0.5]
    assert case["ways"]["mpi-1f1b-2"]["error"] == "failed: ArithmeticError: differs"
    assert case["bubbles"]["bubble-mpi-gpipe-2"] == [0.25, 0.25]
    assert "bubble-mpi-1f1b-2" not in case["bubbles"], "nobody waits in what was not made"
    assert case["tasks"] == {"forward": [1.0, 1.0]} and ("tasks", None) in ours.asked
    assert (case["sizes"], case["micro"]) == (list(PIPELINE_NETS["12 layers of 48"]), MICRO)


# Predictions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("p", [1, 2, 4])
def test_with_a_core_for_each_rank_it_is_the_courses_simulator(name, p):
    schedule, rng = plan(name, p), np.random.default_rng(p)
    costs = Costs(*rng.random((3, schedule.S)), rng.random(schedule.S - 1))
    wanted = sorted(simulate(schedule, costs))
    found = sorted(simulate_shared(schedule, costs, cores=p))
    assert [span[:3] for span in found] == [span[:3] for span in wanted]
    assert np.allclose([span[3:] for span in found], [span[3:] for span in wanted])


def test_ranks_that_share_cores_take_turns():
    gpipe, work = plan("gpipe", 4), 4 * MICRO * 3
    assert simulate_shared(gpipe, Costs(), 1).makespan == pytest.approx(work)
    # up and down, 1, 2, 3 ranks at work: with two cores three of them take 1.5 times as long, four 2 times
    forward = 1 + 1 + 1.5 + 5 * 2 + 1.5 + 1 + 1
    assert simulate_shared(gpipe, Costs(), 2).makespan == pytest.approx(3 * forward)
    assert simulate_shared(gpipe, Costs(), 4).makespan == pytest.approx(3 * (MICRO + 3))


ALPHA, BETA = 1e-4, 1e-8


def made(measured=1.0, tasks=True, cores=4):
    """A made-up result: the wide net; a forward, delta and grad take 1, 2 and 3 ms in each layer."""
    sizes = PIPELINE_NETS["12 layers of 256"]
    layers = ["", *(f" {n}" for n in range(2, 13))]
    costs = {"forward": 1e-3, "delta": 2e-3, "grad": 3e-3}
    found = {f"{kind}{layer}": [s, s] for kind, s in costs.items() for layer in layers}
    found |= {"gather": [0.5e-3] * 2, "update": [4e-3] * 2}
    ways = {}
    for library, name, p in wanted((1, 2)):
        row = {"ranks": p, "library": library, "schedule": name, "disagreement": 1e-6}
        seconds = {"mpi": measured, "torch": 2 * measured}[library]
        ways[f"{library}-{name}-{p}"] = row | {"seconds": [seconds, seconds]}
    bubbles = {f"bubble-mpi-{name}-2": [0.25, 0.25] for name in SCHEDULES}
    case = {"net": "12 layers of 256", "sizes": list(sizes), "B": 1024, "micro": MICRO}
    case |= {"ways": ways, "bubbles": bubbles, "tasks": found if tasks else {}}
    messages = {str(n): ALPHA + BETA * n for n in (8, 1000, 10**6)}
    return {
        "settings": {"ranks": [1, 2], "cores": cores, "waiting": dict.fromkeys("12", "plain")},
        "costs": {"mpi-2-plain": {"messages": messages}},
        "pipelines": [case],
        "training": [],
        "allreduces": [],
    }


def test_predicted_steps_by_hand():
    """The layers are cut 5 and 7: (200,704 + 4 times 65,536) weights beside 6 times 65,536 + 2,560."""
    result = made()
    (case,) = result["pipelines"]
    costs = predictions.stage_costs(result, case, "gpipe", 2)
    assert costs.forward == pytest.approx([5e-3, 7e-3]) and costs.grad == pytest.approx(
        [15e-3, 21e-3]
    )
    assert costs.message == pytest.approx([ALPHA + BETA * 128 * 256 * 4], rel=1e-6)
    one = 12 * 6e-3 * MICRO + 0.5e-3 + 4e-3
    assert predictions.step_seconds(result, case, "gpipe", 1) == pytest.approx(one)
    first, all_of_them = (784 + 1 + 4 * 257) * 256, 785 * 256 + 10 * 257 * 256 + 257 * 10
    two = MICRO * 7 * 6e-3 + 5 * 6e-3 + 2 * costs.message[0]
    two += 0.5e-3 + 4e-3 * max(first, all_of_them - first) / all_of_them
    assert predictions.step_seconds(result, case, "gpipe", 2) == pytest.approx(two)
    assert predictions.step_seconds(made(tasks=False), case | {"tasks": {}}, "gpipe", 2) is None


# Tables and targets -----------------------------------------------------------------------------


def test_tables_show_ours_beside_pytorchs():
    result = made()
    (table,) = tables.pipeline_tables(result)
    rows = {(row[0], row[1]): row for row in table.rows}
    ours, theirs = rows["ZB-H1", "2"], rows["ZB-H1, PyTorch over gloo", "2"]
    assert (ours[2], ours[5], ours[6], ours[7], ours[9]) == (
        "1,000",
        "1.00",
        "2.00",
        "25 %",
        "1.0e-06",
    )
    assert ours[4] and ours[8].endswith(" %")
    assert (theirs[4], theirs[5], theirs[6:9]) == ("", "0.50", ("", "", ""))
    assert rows["serial, the whole batch", "1"][4] == ""


def test_what_is_missing_is_said_in_words():
    result = made(tasks=False)
    ways = result["pipelines"][0]["ways"]
    ways["torch-gpipe-2"] = {"ranks": 2, "library": "torch", "schedule": "gpipe", "error": "why"}
    (table,) = tables.pipeline_tables(result)
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["GPipe, PyTorch over gloo", "2"] == ("GPipe, PyTorch over gloo", "2", "why")
    assert rows["GPipe", "2"][4] == rows["GPipe", "2"][6] == rows["GPipe", "2"][8] == ""
    assert list(tables.pipeline_tables({})) == ["This run has no pipelines."]
    assert list(tables.pipeline_targets({})) == []
    assert [target.verdict for target in tables.pipeline_targets(result)] == ["not measured"]


def test_the_target_is_the_farthest_schedules():
    result = made()
    (case,) = result["pipelines"]
    for name in SCHEDULES:
        step = predictions.step_seconds(result, case, name, 2)
        case["ways"][f"mpi-{name}-2"]["seconds"] = [step, step]
    (target,) = tables.pipeline_targets(result)
    assert target.met and target.got == pytest.approx(0)
    step = predictions.step_seconds(result, case, "1f1b", 2)
    case["ways"]["mpi-1f1b-2"]["seconds"] = [0.8 * step, 0.8 * step]
    (target,) = tables.pipeline_targets(result)
    assert target.met is False and target.got == pytest.approx(0.2) and "1F1B" in target.where
