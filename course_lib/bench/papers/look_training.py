"""What the part `figures` says: times, rates and ratios of training by net and batch size ([000] figures 7 to 10)."""

from typing import Any

from course_lib.bench.papers.claim import MEASURED, NOT_MEASURED, Finding, part
from course_lib.bench.summary import quartiles, rates, ratio, runs
from course_lib.bench.tables import digits

Case = dict[str, Any]


def _cases(made: dict[str, Any], net: str) -> list[Case]:
    return [case for case in made["training"] if case["net"] == net]


def _by_batch(pairs: list[tuple[int, float | None]], unit: str) -> str:
    told = [f"{digits(value)}{unit} at B = {B:,}" for B, value in pairs if value is not None]
    return ", ".join(told)


def _found(
    pairs: list[tuple[int, float | None]], unit: str, head: str, case: Case | None, key: str
) -> Finding:
    """The values by batch size; the way's own words where there is none."""
    if not any(value is not None for _, value in pairs):
        why = (
            case["ways"].get(key, {}).get("error", "no number")
            if case
            else "this net was left out of this run"
        )
        return Finding(NOT_MEASURED, why)
    return Finding(MEASURED, f"{head}: {_by_batch(pairs, unit)}")


@part("figures")
def times(made: dict[str, Any], *, net: str, key: str, head: str = "an epoch takes") -> Finding:
    """Median seconds an epoch of one way, by batch size."""
    cases = _cases(made, net)
    pairs = [(c["B"], quartiles(s)[0] if (s := runs(c, key)) else None) for c in cases]
    return _found(pairs, " s", head, cases[0] if cases else None, key)


@part("figures")
def speeds(made: dict[str, Any], *, net: str, several: str, single: str) -> Finding:
    """GFLOP/s of two ways, by batch size."""
    cases = _cases(made, net)
    told = []
    for key, name in ((single, "one thread"), (several, f"{made['settings']['threads']} threads")):
        pairs = [
            (c["B"], quartiles(rates(made, c, s))[0] if (s := runs(c, key)) else None)
            for c in cases
        ]
        told.append(_found(pairs, "", name, cases[0] if cases else None, key))
    if any(finding.status == NOT_MEASURED for finding in told):
        return next(finding for finding in told if finding.status == NOT_MEASURED)
    return Finding(MEASURED, f"GFLOP/s on {told[0].text}; on {told[1].text}")


@part("figures")
def faster(made: dict[str, Any], *, net: str, key: str, over: str, head: str) -> Finding:
    """How many times as fast one way is as another, by batch size: medians of the ratios within a round."""
    cases = _cases(made, net)
    pairs = [(c["B"], ratio(runs(c, over), runs(c, key))) for c in cases]
    missing = next((k for k in (key, over) if cases and not runs(cases[0], k)), key)
    return _found(pairs, " times", head, cases[0] if cases else None, missing)


@part("figures")
def threads(made: dict[str, Any]) -> Finding:
    """How many threads this run had."""
    return Finding(MEASURED, f"{made['settings']['threads']} threads")


@part("figures")
def efficiency(made: dict[str, Any]) -> Finding:
    """Speed-up of threads over examples on average over nets and batch sizes, and its share of the threads."""
    found = [ratio(runs(c, "loops"), runs(c, "loops-threads")) for c in made["training"]]
    known = [value for value in found if value is not None]
    if not known:
        return Finding(NOT_MEASURED, "no loops ran on several threads")
    T, mean = made["settings"]["threads"], sum(known) / len(known)
    return Finding(
        MEASURED,
        f"{mean:.2f} times on {T} threads on average over nets and batch sizes ({mean / T:.0%} of "
        f"{T}; {min(known):.2f} to {max(known):.2f})",
    )
