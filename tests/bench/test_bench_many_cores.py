"""The model of GridStep on many cores: its costs are found again, its rules hold, and where it is off is said."""

import pytest

from course_lib.threads.grid_calls import calls
from course_tools.bench.frame.results import recorded
from course_tools.bench.threads import cores_tables, many_cores
from course_tools.bench.threads.bench import BENCH
from course_tools.bench.training.catalogue import NETS

COST = many_cores.Costs(flop=5e-12, pack=4e-10, meet=3e-6)


def made_up(net="Net-2h", B=256):
    """A profile in which every wide product takes what COST says."""
    steps = []
    for T, P in ((1, 1), (2, 1), (1, 2)):
        parts = [
            {
                "name": name,
                "kind": "product",
                "seconds": 1e-3,
                "alone": 2 * m * n * k * COST.flop + k * n * COST.pack,
            }
            for name, (m, n, k) in many_cores.wide_products(NETS[net], B, T, P)
        ]
        meets = many_cores._barriers(NETS[net], 1, 1)
        parts.append({"name": "waiting", "kind": "waiting", "seconds": meets * COST.meet})
        steps.append({"T": T, "P": P, "step": 0.016, "plain": 0.016, "parts": parts})
    return {"net": net, "B": B, "steps": steps}


def test_the_costs_of_a_made_up_profile_are_found_again():
    assert many_cores.costs([made_up(), made_up("Net-1h", 64)]) == pytest.approx(COST)


def test_examples_shared_pack_all_of_W_and_products_shared_a_part():
    sizes, B = NETS["Net-1h"], 512
    for T, P, packed in ((1, 1, 1.0), (8, 1, 1.0), (1, 8, 1 / 8)):
        m, n, k = dict(many_cores.wide_products(sizes, B, T, P))["layer 0, forward"]
        assert k * n == packed * sizes[0] * sizes[1]
        assert m * n * k == pytest.approx(B * sizes[0] * sizes[1] / (T * P))


def test_barriers_are_those_of_the_step():
    """Counted in a step's own calls: each `wait` of a thread releases one."""
    from course_lib.serial import Network
    from course_lib.threads import GridStep

    net = Network((12, 7, 5, 3))
    for T, P in ((1, 1), (2, 1), (1, 2), (2, 2)):
        with GridStep(net, net.init_params(0), 8, 0.1, T, P) as grid:
            waits = [f.__self__ for _, f, _ in calls(grid, 0, 8)[1] if f.__name__ == "wait"]
            everyone = sum(barrier is grid.everyone for barrier in waits)
            expected = everyone * T * P + (len(waits) - everyone) * P
        assert many_cores._barriers(net.sizes, T, P) == expected


def test_a_hard_case_is_never_faster_and_a_best_split_never_slower():
    for row in many_cores.speed_ups(COST, made_up()):
        assert row["hard"] <= row["best"]
        assert row["best"] >= max(row["examples"], row["products"]) * (1 - 1e-12)
        assert 0 < row["best"] <= row["cores"]


def test_the_recorded_profile_bears_the_model_on_one_core():
    """Of the recorded results: the model's step on one core lies within a tenth of the measured one."""
    for result in recorded("threads"):
        cost = many_cores.costs(result["profile"])
        for case in result["profile"]:
            ratio = many_cores.step_seconds(cost, case, 1, 1) / case["steps"][0]["step"]
            assert 0.9 < ratio < 1.1


def test_without_a_profile_the_report_says_so():
    failed = {"profile": [{"net": "Net-1h", "B": 64, "error": "failed: gone"}], "training": []}
    assert cores_tables.cores_parts(failed) == ["The profile was not made, so there is no model."]
    assert cores_tables.cores_figure(failed) == {} and BENCH.sections["cores"] is not None
