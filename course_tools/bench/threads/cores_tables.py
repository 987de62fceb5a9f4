"""What the model of many_cores.py says: a table for each net's largest batch, and a figure."""

from typing import Any

from course_lib.plots import Figure, lines
from course_tools.bench.frame import Table
from course_tools.bench.threads.many_cores import CORES, Costs, costs, speed_ups, step_seconds

HEADER = (
    "cores",
    "examples shared",
    "products shared",
    "best split",
    "T x P",
    "best split, hard case",
    "measured here",
)


def cores_parts(result: dict[str, Any]) -> list[Any]:
    """The costs in words, how far the model is off where it can be compared, its tables, its figure."""
    cases = [case for case in result["profile"] if "error" not in case]
    if not cases:
        return ["The profile was not made, so there is no model."]
    cost, shown = costs(cases), _largest(cases)
    return [_words(cost, cases), *(_table(cost, case) for case in shown), cores_figure(result)]


def cores_figure(result: dict[str, Any]) -> dict[str, Figure]:
    """{file name: figure}: the best split of the model over the cores, for each net's largest batch."""
    cases = [case for case in result["profile"] if "error" not in case]
    if not cases:
        return {}
    cost, series = costs(cases), {"ideal": [float(cores) for cores in CORES]}
    for case in _largest(cases):
        rows, name = speed_ups(cost, case), f"{case['net']}, B = {case['B']}"
        series[name] = [row["best"] for row in rows]
        series[f"{name}, hard case"] = [row["hard"] for row in rows]
    words: dict[str, Any] = {"xlabel": "cores", "ylabel": "times as fast as one core"}
    words |= {"logx": True, "logy": True, "xticks": CORES, "model": set(series)}
    title = "GridStep on more cores: a model, not a measurement"
    return {"threads-cores.png": lines(CORES, series, title=title, **words)}


def _largest(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each net the case with the largest batch."""
    found = {case["net"]: case for case in sorted(cases, key=lambda case: case["B"])}
    return [found[net] for net in sorted(found)]


def _words(cost: Costs, cases: list[dict[str, Any]]) -> str:
    """The three costs, and the model's steps over the measured ones."""
    off: dict[int, list[float]] = {}
    for case in cases:
        for step in case["steps"]:
            share = step_seconds(cost, case, step["T"], step["P"]) / step["step"]
            off.setdefault(step["T"] * step["P"], []).append(share)
    told = "; ".join(
        f"on {n} {'core' if n == 1 else 'cores'} {min(shares):.2f} to {max(shares):.2f}"
        for n, shares in sorted(off.items())
    )
    return (
        f"The costs: {1e-9 / cost.flop:.0f} GFLOP/s, {1e9 * cost.pack:.2f} ns for a number packed, "
        f"{1e6 * cost.meet:.1f} us for a thread at a barrier. The model's step over the measured one: {told}."
    )


def _table(cost: Costs, case: dict[str, Any]) -> Table:
    one, rows = case["steps"][0]["step"], []
    measured: dict[int, float] = {}
    for step in case["steps"]:
        cores = step["T"] * step["P"]
        measured[cores] = max(measured.get(cores, 0.0), one / step["step"])
    for row in speed_ups(cost, case):
        ways = [f"{row[way]:.1f}" for way in ("examples", "products", "best")]
        found = f"{measured[row['cores']]:.2f}" if row["cores"] in measured else ""
        rows.append((str(row["cores"]), *ways, row["split"], f"{row['hard']:.1f}", found))
    title = f"{case['net']}, B = {case['B']}: times as fast as one core, by the model"
    return Table(title, HEADER, rows)
