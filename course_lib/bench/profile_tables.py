"""Where GridStep's time goes, from the profile in the JSON: its parts, its products, and what is lost against sgemm.

A profile step holds, for one split: T, P; "step", seconds of a step with clocks in it, "plain", without; "parts", a
list of {"name", "kind", "seconds"}: seconds of a step in that part, the mean over the threads; for products also
"flops", those of all threads, and "alone", the seconds of one thread's share while the other threads rest.
"""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.catalogue import NETS
from course_lib.bench.tables import Table, digits, markdown
from course_lib.measure import step_flops

KINDS = ("product", "elementwise", "gather", "waiting", "rest")


def profile_tables(result: dict[str, Any]) -> Iterator[Table]:
    """The parts of a step by kind; then each product by itself."""
    cases = [case for case in result["profile"] if "error" not in case]
    if cases:
        yield _kinds(cases)
        yield from (_products(case) for case in cases)
    else:
        errors = ", ".join(sorted({case["error"] for case in result["profile"]}))
        yield Table("Profile", ("",), [(errors or "not made",)])


def totals(step: dict[str, Any]) -> dict[str, float]:
    """Seconds of a step by kind; "rest" is what the clocks around the parts did not see."""
    found = {kind: sum(p["seconds"] for p in step["parts"] if p["kind"] == kind) for kind in KINDS}
    return {**found, "rest": found["rest"] + step["step"] - sum(found.values())}


def split_text(step: dict[str, Any]) -> str:
    """ "2 x 1": groups that share the examples, threads in each that share a product."""
    return f"{step['T']} x {step['P']}"


def _kinds(cases: list[dict[str, Any]]) -> Table:
    header = ("net, B, split T x P", "ms a step", "without clocks", "products", *KINDS[1:])
    lines = []
    for case in cases:
        for step in case["steps"]:
            found = totals(step)
            shares = (
                f"{1e3 * found[kind]:.3f} ({100 * found[kind] / step['step']:.0f} %)"
                for kind in KINDS
            )
            name = f"{case['net']}, {case['B']}, {split_text(step)}"
            lines.append((name, f"{1e3 * step['step']:.3f}", f"{1e3 * step['plain']:.3f}", *shares))
    return Table(
        "Where a step of GridStep goes: milliseconds of a thread's step, and their share",
        header,
        lines,
    )


def _products(case: dict[str, Any]) -> Table:
    """GFLOP/s of each product, all threads together, in the step and alone."""
    steps = case["steps"]
    header = (
        "product",
        "% of flops",
        *(f"{split_text(s)}" for s in steps),
        *(f"{split_text(s)} alone" for s in steps),
    )
    flops = step_flops(NETS[case["net"]], case["B"]).products
    lines = []
    for name in [p["name"] for p in steps[0]["parts"] if p["kind"] == "product"]:
        parts = [
            next(p for p in step["parts"] if (p["name"], p["kind"]) == (name, "product"))
            for step in steps
        ]
        inside = [digits(p["flops"] / p["seconds"] / 1e9) for p in parts]
        alone = [
            digits(p["flops"] / (s["T"] * s["P"]) / p["alone"] / 1e9)
            for p, s in zip(parts, steps, strict=True)
        ]
        lines.append((name, digits(100 * parts[0]["flops"] / flops), *inside, *alone))
    told = ", ".join(
        f"{rate:.0f} on {n} thread{'s' if n != '1' else ''}" for n, rate in case["sgemm"].items()
    )
    title = (
        f"{case['net']}, B = {case['B']}: GFLOP/s of each product, by all threads during the step, and of one thread's "
        f"share alone; sgemm in the same minutes: {told}"
    )
    return Table(title, header, lines)


def shortfall(result: dict[str, Any]) -> str:
    """A table: what stands between GridStep's step and its flops at sgemm's rate, part by part."""
    header = (
        "net, B, split",
        "ms a step",
        "at sgemm's rate",
        "wide products",
        "thin products",
        *KINDS[1:],
    )
    lines = [_lost(case) for case in result["profile"] if "error" not in case]
    title = "From sgemm's rate to GridStep's quickest split, milliseconds a step: the other columns add up to the first"
    return markdown(Table(title, header, lines))


def _lost(case: dict[str, Any]) -> tuple[str, ...]:
    """The quickest split: its step, the same flops at sgemm's rate, and what each part takes beyond that."""
    step = min(case["steps"], key=lambda s: s["step"])
    rate = case["sgemm"][str(step["T"] * step["P"])] * 1e9
    found, last = totals(step), f"layer {len(NETS[case['net']]) - 2}"
    beyond = {True: 0.0, False: 0.0}
    for part in step["parts"]:
        if part["kind"] == "product":
            beyond[part["name"].startswith(last)] += part["seconds"] - part["flops"] / rate
    ideal = step_flops(NETS[case["net"]], case["B"]).products / rate
    numbers = (
        step["step"],
        ideal,
        beyond[False],
        beyond[True],
        *(found[kind] for kind in KINDS[1:]),
    )
    return (f"{case['net']}, {case['B']}, {split_text(step)}", *(f"{1e3 * v:.3f}" for v in numbers))
