"""A model of GridStep on more cores than were measured: what a step costs, and what happens to each cost.

A product of (m, k) by (k, n) takes a thread 2 m n k seconds of `flop` and k n of `pack`: OpenBLAS copies the
right-hand matrix into blocks of its own (Goto and van de Geijn 2008); its copy of the left-hand one is left out.
Threads that share the examples (T = p) cut m, so each packs all of W, and that part does not shrink; threads that
share the products (P = p) cut n. A barrier releases its threads one after another: `meet` for each. The hard case adds
two assumptions: W lies in another socket's memory (NUMA), and the cache lines where two threads' columns meet go back
and forth (false sharing).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from course_tools.bench.threads.profile_tables import totals
from course_tools.bench.training.catalogue import NETS

CORES = (1, 2, 4, 8, 16, 32, 64)
REMOTE = 2  # assumed: times as long to pack a number that lies in another socket's memory
LINE = 1e-7  # assumed: seconds until a core has a cache line that another has just written
Shape = tuple[float, float, float]  # (m, n, k)


class Costs(NamedTuple):
    """Seconds: of a floating-point operation, of a number packed, of a thread at a barrier, of a shared line."""

    flop: float
    pack: float
    meet: float
    line: float = 0.0


def costs(cases: list[dict[str, Any]]) -> Costs:
    """Least squares of the relative errors of all wide products, each alone on its thread; meet: a median."""
    rows = [row for case in cases for step in case["steps"] for row in _alone(case, step)]
    work, seconds = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    flop, pack = np.linalg.lstsq(work / seconds[:, None], np.ones(len(rows)), rcond=None)[0]
    meet = [
        totals(case["steps"][0])["waiting"] / _barriers(NETS[case["net"]], 1, 1) for case in cases
    ]
    return Costs(float(flop), float(pack), float(np.median(meet)))


def _alone(
    case: dict[str, Any], step: dict[str, Any]
) -> Iterator[tuple[tuple[float, float], float]]:
    """(operations, numbers packed) of a thread's share of each wide product, and its seconds."""
    known = {p["name"]: p["alone"] for p in step["parts"] if p["kind"] == "product"}
    for name, shape in wide_products(NETS[case["net"]], case["B"], step["T"], step["P"]):
        yield _work(*shape), known[name]


def _work(m: float, n: float, k: float) -> tuple[float, float]:
    return 2 * m * n * k, k * n


def wide_products(sizes, B: float, T: int, P: int) -> Iterator[tuple[str, Shape]]:
    """(name, shape of a thread's share) of all products but the last layer's, as grid_calls.py cuts them."""
    for l, (inward, outward) in enumerate(zip(sizes[:-1], sizes[1:-1], strict=False)):
        yield f"layer {l}, forward", (B / T, outward / P, inward)
        if l > 0:
            yield f"layer {l}, backward", (B / T, inward / P, outward)
        yield f"layer {l}, update", (inward / (T * P), outward, B)


def _barriers(sizes, T: int, P: int) -> int:
    """Threads that a step's barriers release: two of everyone; of a group after gathering and between products."""
    return 2 * T * P + (2 * (len(sizes) - 2) + 1) * P


def step_seconds(cost: Costs, case: dict[str, Any], T: int, P: int) -> float:
    """The model's step: wide products by their two costs; all else, measured on one thread, shared evenly."""
    sizes, one = NETS[case["net"]], case["steps"][0]
    shares = dict(wide_products(sizes, case["B"], T, P))
    wide = sum(float(np.dot(_work(*shape), cost[:2])) for shape in shares.values())
    found = totals(one)
    thin = found["product"] - sum(
        p["seconds"] for p in one["parts"] if p["kind"] == "product" and p["name"] in shares
    )
    rest = thin + found["elementwise"] + found["gather"]
    together = (
        _barriers(sizes, T, P) * cost.meet + _shared_lines(sizes, case["B"] / T, P) * cost.line
    )
    return wide + rest / (T * P) + together


def _shared_lines(sizes, rows: float, P: int) -> float:
    """Lines that a thread writes and a neighbour too: one a row at each end of its columns, in each wide product."""
    hidden = len(sizes) - 2
    return 2 * rows * (2 * hidden - 1) * (P > 1)


def _best(cost: Costs, case: dict[str, Any], cores: int) -> tuple[float, str]:
    """The quickest T x P of so many cores."""
    splits = [(T, cores // T) for T in range(1, cores + 1) if cores % T == 0 and case["B"] >= T]
    return min((step_seconds(cost, case, T, P), f"{T} x {P}") for T, P in splits)


def speed_ups(cost: Costs, case: dict[str, Any]) -> list[dict[str, Any]]:
    """For each number of cores: how many times as fast as one by the model, in each way, and the best split."""
    one, hard = step_seconds(cost, case, 1, 1), cost._replace(pack=REMOTE * cost.pack, line=LINE)
    rows = []
    for cores in CORES:
        quickest, split = _best(cost, case, cores)
        row = {"cores": cores, "split": split, "best": one / quickest}
        row["examples"] = one / step_seconds(cost, case, min(cores, case["B"]), 1)
        row["products"] = one / step_seconds(cost, case, 1, cores)
        row["hard"] = one / _best(hard, case, cores)[0]
        rows.append(row)
    return rows
