"""Where GridStep's time goes, from the profile in the JSON: its parts, its products, and what is lost against sgemm.

A profile step holds, for one split: T, P; "step", seconds of a step with clocks in it, "plain", without; "parts", a
list of {"name", "kind", "seconds"}: seconds of a step in that part, the mean over the threads; for products also
"flops", those of all threads, and "alone", the seconds of one thread's share while the other threads rest.
"""

from collections.abc import Iterator

from course_lib.measure import step_flops
from course_tools.bench.frame import Result, Table, count, digits, median, runs
from course_tools.bench.training.catalogue import EPOCH, NETS

KINDS = ("product", "elementwise", "gather", "waiting", "rest")


def profile_tables(result: Result) -> Iterator[Table]:
    """The parts of a step by kind; then each product by itself."""
    cases = [case for case in result["profile"] if "error" not in case]
    if cases:
        yield _kinds(cases)
        yield from map(_products, cases)
    else:
        errors = ", ".join(sorted({case["error"] for case in result["profile"]}))
        yield Table("Profile", ("",), [(errors or "not made",)])


def totals(step: Result) -> dict[str, float]:
    """Seconds of a step by kind; "rest" is what the clocks around the parts did not see."""
    found = {kind: sum(p["seconds"] for p in step["parts"] if p["kind"] == kind) for kind in KINDS}
    return {**found, "rest": found["rest"] + step["step"] - sum(found.values())}


def _split(case: Result, step: Result) -> str:
    """T groups that share the examples, P threads in each that share a product."""
    return f"{case['net']}, {case['B']}, {step['T']} x {step['P']}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f}"


def _kinds(cases: list[Result]) -> Table:
    lines = []
    for case in cases:
        for step in case["steps"]:
            found, whole = totals(step), step["step"]
            shares = [f"{_ms(found[kind])} ({100 * found[kind] / whole:.0f} %)" for kind in KINDS]
            lines.append((_split(case, step), _ms(whole), _ms(step["plain"]), *shares))
    header = ("net, B, split T x P", "ms per step", "without clocks", "products", *KINDS[1:])
    title = "Where a step of GridStep goes: milliseconds of a thread's step, and their share"
    return Table(title, header, lines)


def _products(case: Result) -> Table:
    """GFLOP/s of each product, all threads together, in the step and alone."""
    steps = case["steps"]
    splits = [f"{step['T']} x {step['P']}" for step in steps]
    flops, lines = step_flops(NETS[case["net"]], case["B"]).products, []
    named = [{p["name"]: p for p in step["parts"] if p["kind"] == "product"} for step in steps]
    for name, first in named[0].items():
        parts = [products[name] for products in named]
        inside = [p["flops"] / p["seconds"] / 1e9 for p in parts]
        both = zip(parts, steps, strict=True)
        alone = [p["flops"] / (step["T"] * step["P"]) / p["alone"] / 1e9 for p, step in both]
        lines.append((name, *map(digits, (100 * first["flops"] / flops, *inside, *alone))))
    rates = [f"{rate:.0f} on {count(int(n), 'thread')}" for n, rate in case["sgemm"].items()]
    title = (
        f"{case['net']}, B = {case['B']}: GFLOP/s of each product, by all threads during the step, and of one thread's "
        f"share alone; sgemm in the same minutes: {', '.join(rates)}"
    )
    return Table(title, ("product", "% of flops", *splits, *(f"{s} alone" for s in splits)), lines)


def shortfall(result: Result) -> Table:
    """What stands between GridStep's step and its flops at sgemm's rate, part by part; its products, all else gone."""
    lines = []
    for name, (whole, lost, products) in losses(result).items():
        theirs = _pytorch(result, name)
        share = "" if theirs is None else f"{products / theirs:.2f}"
        lines.append((name, _ms(whole), *map(_ms, lost.values()), share))
    title = "From sgemm's rate to GridStep's quickest split, milliseconds a step: the other columns add up to the first"
    own = ("at sgemm's rate", "wide products", "thin products")
    header = ("net, B, split", "ms per step", *own, *KINDS[1:], "products alone / PyTorch's step")
    return Table(title, header, lines)


def losses(result: Result) -> dict[str, tuple[float, dict[str, float], float]]:
    """{net, B and quickest split: (seconds of a step, {column of `shortfall`: seconds}, those of its products)}."""
    found = {}
    for case in result["profile"]:
        if "error" not in case:
            step = min(case["steps"], key=lambda step: step["step"])
            found[_split(case, step)] = (step["step"], _lost(case, step), totals(step)["product"])
    return found


def _pytorch(result: Result, name: str) -> float | None:
    """Median seconds of PyTorch's step, for the net and the batch that the name begins with."""
    net, B = name.split(", ")[:2]
    for case in result["training"]:
        if (case["net"], str(case["B"])) == (net, B):
            epoch = median(runs(case, "torch"))
            return None if epoch is None else epoch * case["B"] / EPOCH
    return None


def _lost(case: Result, step: Result) -> dict[str, float]:
    """The same flops at sgemm's rate, and what each part takes beyond that."""
    rate = case["sgemm"][str(step["T"] * step["P"])] * 1e9
    found, last = totals(step), f"layer {len(NETS[case['net']]) - 2}"
    beyond = {"wide products": 0.0, "thin products": 0.0}
    for part in (part for part in step["parts"] if part["kind"] == "product"):
        kind = "thin products" if part["name"].startswith(last) else "wide products"
        beyond[kind] += part["seconds"] - part["flops"] / rate
    ideal = step_flops(NETS[case["net"]], case["B"]).products / rate
    return {"at sgemm's rate": ideal, **beyond, **{kind: found[kind] for kind in KINDS[1:]}}
