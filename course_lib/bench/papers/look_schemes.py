"""What the part `leapfrogging` says: [002]'s formula beside the clock, and its claims as arithmetic."""

from typing import Any

from course_lib.bench.catalogue import LAYERS
from course_lib.bench.papers.claim import COMPUTED, MEASURED, NOT_MEASURED, Finding, part
from course_lib.bench.predictions import parts as parts_of
from course_lib.bench.summary import quartiles, ratio


def _k(case: dict[str, Any]) -> int:
    """The number of leapfrogging threads that ran."""
    return min(int(key.rpartition("-")[2]) for key in case["runs"] if key.startswith("leapfrog-"))


def _case(made: dict[str, Any]) -> dict[str, Any] | None:
    return next((case for case in made["schemes"] if case["runs"].get("parts", {}).get("f1")), None)


@part("leapfrogging")
def shares(made: dict[str, Any]) -> Finding:
    """f1, f2, f3 as shares of the step, by batch size."""
    told = []
    for case in made["schemes"]:
        if f := parts_of(case):
            whole = sum(map(sum, f.values()))
            told.append(
                f"B = {case['B']}: " + ", ".join(f"{n} {sum(v) / whole:.0%}" for n, v in f.items())
            )
    return (
        Finding(MEASURED, f"of f1 + f2 + f3 on one thread, {'; '.join(told)}") if told else _none()
    )


@part("leapfrogging")
def rest(made: dict[str, Any]) -> Finding:
    """What f1 + f2 + f3 are of the whole step on one thread."""
    told = []
    for case in made["schemes"]:
        if (f := parts_of(case)) and "whole" in case["runs"].get("serial", {}):
            share = sum(map(sum, f.values())) / quartiles(case["runs"]["serial"]["whole"])[0]
            told.append(f"{share:.0%} at B = {case['B']}")
    return (
        Finding(MEASURED, f"f1 + f2 + f3 of the whole step: {', '.join(told)}") if told else _none()
    )


@part("leapfrogging")
def constant(made: dict[str, Any]) -> Finding:
    """f3 over f, layer by layer: the least and the largest."""
    told = []
    for case in made["schemes"]:
        if f := parts_of(case):
            ratios = [
                three / (one + two + three) for one, two, three in zip(*f.values(), strict=True)
            ]
            told.append(f"{min(ratios):.0%} to {max(ratios):.0%} at B = {case['B']}")
    return (
        Finding(MEASURED, f"f3 / f of {LAYERS} equal layers: {', '.join(told)}")
        if told
        else _none()
    )


@part("leapfrogging")
def saved(made: dict[str, Any]) -> Finding:
    """The share of the step that leapfrogging saves: measured, by eq. 10, and by the exact cost."""
    told = []
    for case in made["schemes"]:
        f, runs = parts_of(case), case["runs"]
        if f and "whole" in runs.get(f"leapfrog-{_k(case)}", {}):
            k = _k(case)
            times = ratio(runs[f"leapfrog-{k}"]["whole"], runs["serial"]["whole"]) or 0.0
            f3 = sum(f["f3"]) / sum(map(sum, f.values()))
            exact = f3 * (1 - (k + -(-LAYERS // k) - 1) / LAYERS)
            told.append(
                f"B = {case['B']}, k = {k}: {1 - times:.0%} of the step (eq. 10: {(1 - 1 / k) * f3:.0%}, with "
                f"the parent's part {exact:.0%})"
            )
    return Finding(MEASURED, "; ".join(told)) if told else _none()


@part("leapfrogging")
def backward(made: dict[str, Any]) -> Finding:
    """How many times as fast the backward pass is, by leapfrogging and by deferred gradients."""
    told = []
    for case in made["schemes"]:
        runs, k = case["runs"], _k(case)
        one = runs.get("serial", {}).get("backward")
        both = [
            (name, ratio(one, runs.get(f"{name}-{k}", {}).get("backward")))
            for name in ("leapfrog", "deferred")
        ]
        if all(value for _, value in both):
            names = {"leapfrog": "leapfrogging", "deferred": "deferred gradients"}
            told.append(
                f"B = {case['B']}, k = {k}: "
                + ", ".join(f"{names[n]} {v:.2f} times" for n, v in both)
            )
    return Finding(MEASURED, "; ".join(told)) if told else _none()


def limits(result: dict[str, Any]) -> Finding:
    """What k threads save of f3, by the exact cost, for LAYERS equal layers."""
    exact = {k: 1 - (k + -(-LAYERS // k) - 1) / LAYERS for k in (2, 3, 4, 6, 12)}
    told = ", ".join(
        f"k = {k}: {value:.0%} (printed {1 - 1 / k:.0%})" for k, value in exact.items()
    )
    return Finding(COMPUTED, f"of f3, {LAYERS} layers, a core each: {told}")


def coverage(result: dict[str, Any]) -> Finding:
    """Which layers algorithm 1 covers as printed, and how many gradients a thread computes."""
    from course_lib.threads import leapfrog_schedule

    printed = leapfrog_schedule(LAYERS, 3, form="algorithm 1").coverage()
    missing = [layer for layer, times in printed.items() if times != 1]
    repaired = leapfrog_schedule(LAYERS, 3)
    grads = [
        sum(t.thread == j and t.kind == "grad" for t in repaired[repaired.fork :]) for j in range(3)
    ]
    return Finding(
        COMPUTED,
        f"{LAYERS} layers, k = 3: as printed {len(missing)} layer without a gradient, the output; "
        f"repaired none; gradients of the three children: {', '.join(map(str, grads))}",
    )


def _none() -> Finding:
    return Finding(NOT_MEASURED, "the schemes did not run")


@part("leapfrogging")
def step_seconds(made: dict[str, Any]) -> Finding:
    """Milliseconds of the whole step on one thread and by leapfrogging."""
    told = []
    for case in made["schemes"]:
        runs, k = case["runs"], _k(case)
        if "whole" in runs.get("serial", {}) and "whole" in runs.get(f"leapfrog-{k}", {}):
            one, more = (
                1e3 * quartiles(runs[key]["whole"])[0] for key in ("serial", f"leapfrog-{k}")
            )
            told.append(f"B = {case['B']}: {one:.1f} ms on one thread, {more:.1f} ms with k = {k}")
    return Finding(MEASURED, "; ".join(told)) if told else _none()
