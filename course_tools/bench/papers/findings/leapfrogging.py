"""What the part `leapfrogging` says: [002]'s formula beside the clock."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from course_tools.bench.frame import ratio
from course_tools.bench.papers.arithmetic import exact_saving
from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings.wording import listed, median
from course_tools.bench.threads.scheme_tables import parts as parts_of
from course_tools.bench.threads.schemes import LAYERS

MISSING = "the schemes did not run"


class Case(NamedTuple):
    """One batch size. k: threads that leapfrog. f: f1, f2, f3, each in seconds by layer; None: not timed."""

    B: int
    k: int
    f: dict[str, list[float]] | None
    runs: dict[str, Any]

    def seconds(self, scheme: str, what: str = "whole") -> list[float] | None:
        """The runs of a scheme ("serial", "leapfrog", "deferred"): of its "whole" step, or its "backward" pass."""
        key = scheme if scheme == "serial" else f"{scheme}-{self.k}"
        return self.runs.get(key, {}).get(what)


def _cases(made: Part) -> Iterator[Case]:
    for case in made["schemes"]:
        names = [key.rpartition("-") for key in case["runs"]]
        k = min((int(k) for name, _, k in names if name == "leapfrog"), default=0)
        yield Case(case["B"], k, parts_of(case), case["runs"])


def _by_layer(made: Part) -> Iterator[tuple[Case, dict[str, list[float]], float]]:
    """(case, f, f1 + f2 + f3 of all layers) where they were timed."""
    for case in _cases(made):
        if case.f:
            yield case, case.f, sum(map(sum, case.f.values()))


def shares(made: Part) -> str:
    """f1, f2, f3 as shares of their sum, by batch size."""
    told = []
    for case, f, total in _by_layer(made):
        each = ", ".join(f"{name} {sum(values) / total:.0%}" for name, values in f.items())
        told.append(f"B = {case.B}: {each}")
    return f"of f1 + f2 + f3 on one thread, {listed(told, MISSING)}"


def rest(made: Part) -> str:
    """What f1 + f2 + f3 are of the whole step on one thread."""
    told = [
        f"{total / median(whole):.0%} at B = {case.B}"
        for case, _, total in _by_layer(made)
        if (whole := case.seconds("serial"))
    ]
    return f"f1 + f2 + f3 of the whole step: {listed(told, MISSING)}"


def constant(made: Part) -> str:
    """f3 over f, layer by layer: the least and the largest."""
    told = []
    for case, f, _ in _by_layer(made):
        ratios = [layer[2] / sum(layer) for layer in zip(*f.values(), strict=True)]
        told.append(f"{min(ratios):.0%} to {max(ratios):.0%} at B = {case.B}")
    return f"f3 / f of {LAYERS} equal layers: {listed(told, MISSING)}"


def saved(made: Part) -> str:
    """The share of the step that leapfrogging saves: measured, by eq. 10, and by the exact cost."""
    told = []
    for case, f, total in _by_layer(made):
        k, left = case.k, ratio(case.seconds("leapfrog"), case.seconds("serial"))
        if left is not None:
            f3 = sum(f["f3"]) / total
            told.append(
                f"B = {case.B}, k = {k}: {1 - left:.0%} of the step (eq. 10: {(1 - 1 / k) * f3:.0%}, "
                f"with the parent's part {f3 * exact_saving(k):.0%})"
            )
    return listed(told, MISSING)


def backward(made: Part) -> str:
    """How many times as fast the backward pass is, by leapfrogging and by deferred gradients."""
    told = []
    for case in _cases(made):
        one = case.seconds("serial", "backward")
        leapfrog, deferred = (
            ratio(one, case.seconds(scheme, "backward")) for scheme in ("leapfrog", "deferred")
        )
        if leapfrog and deferred:
            told.append(
                f"B = {case.B}, k = {case.k}: leapfrogging {leapfrog:.2f} times, "
                f"deferred gradients {deferred:.2f} times"
            )
    return listed(told, MISSING)


def step_seconds(made: Part) -> str:
    """Milliseconds of the whole step on one thread and by leapfrogging."""
    told = []
    for case in _cases(made):
        one, more = case.seconds("serial"), case.seconds("leapfrog")
        if one and more:
            ms = [1e3 * median(runs) for runs in (one, more)]
            told.append(
                f"B = {case.B}: {ms[0]:.1f} ms on one thread, {ms[1]:.1f} ms with k = {case.k}"
            )
    return listed(told, MISSING)
