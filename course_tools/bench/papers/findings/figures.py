"""What the part `figures` says: times, rates and ratios of training by net and batch size ([000] figures 7 to 10)."""

from course_tools.bench.frame import median, ratio, runs
from course_tools.bench.papers.claim import NotMeasured, Part
from course_tools.bench.papers.findings.wording import by_batch, listed
from course_tools.bench.training.tables import rates


def _cases(made: Part, net: str) -> list[Part]:
    cases = [case for case in made["training"] if case["net"] == net]
    if not cases:
        raise NotMeasured("this net was left out of this run")
    return cases


def _why(case: Part, key: str) -> str:
    """Why a way has no number, in its own words."""
    return case["ways"].get(key, {}).get("error", "no number")


def times(made: Part, *, net: str, key: str, head: str = "an epoch takes") -> str:
    """Median seconds an epoch of one way, by batch size."""
    cases = _cases(made, net)
    pairs = [(c["B"], median(runs(c, key))) for c in cases]
    return f"{head}: {by_batch(pairs, ' s', _why(cases[0], key))}"


def speeds(made: Part, *, net: str, several: str, single: str) -> str:
    """GFLOP/s of two ways, by batch size."""
    cases, T = _cases(made, net), made["settings"]["threads"]

    def told(key: str) -> str:
        speed = {c["B"]: rates(made, c, s) for c in cases if (s := runs(c, key))}
        pairs = [(B, median(values)) for B, values in speed.items()]
        return by_batch(pairs, "", _why(cases[0], key))

    return f"GFLOP/s on one thread: {told(single)}; on {T} threads: {told(several)}"


def faster(made: Part, *, net: str, key: str, over: str, head: str) -> str:
    """How many times as fast one way is as another, by batch size: medians of the ratios within a round."""
    cases = _cases(made, net)
    pairs = [(c["B"], ratio(runs(c, over), runs(c, key))) for c in cases]
    missing = over if runs(cases[0], key) else key
    return f"{head}: {by_batch(pairs, ' times', _why(cases[0], missing))}"


def threads(made: Part) -> str:
    """How many threads this run had."""
    return f"{made['settings']['threads']} threads"


def efficiency(made: Part) -> str:
    """Speed-up of threads over examples, net by net on average over batch sizes, and its share of the threads."""
    T = made["settings"]["threads"]
    found: dict[str, list[float]] = {}
    for case in made["training"]:
        faster = ratio(runs(case, "loops"), runs(case, "loops-threads"))
        if faster is not None:
            found.setdefault(case["net"], []).append(faster)
    told = []
    for net, times in found.items():
        mean = sum(times) / len(times)
        between = f"from {min(times):.2f} to {max(times):.2f}"
        told.append(f"{net} {mean:.2f} times ({mean / T:.0%} of {T}, {between})")
    shown = listed(told, "no loops ran on several threads")
    return f"{T} threads, on average over batch sizes: {shown}"
