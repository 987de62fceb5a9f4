"""What the part `leapfrogging` says: [002]'s formula beside the clock."""

from course_tools.bench.frame import median, ratio
from course_tools.bench.papers.arithmetic import exact_saving
from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings.wording import each_case
from course_tools.bench.threads.schemes import LAYERS
from course_tools.bench.threads.tables import parts as parts_of

BY_LAYER = ("f1", "f2", "f3", "least", "most", "rest", "eq10", "exact")


def schemes(made: Part, *, each: str, whole: str = "{told}") -> str:
    """The words `each` for each batch size, with the numbers below."""
    cases = [_steps(case) | _by_layer(case) for case in made["schemes"]]
    return whole.format(told=each_case(each, cases, "the schemes did not run"), layers=LAYERS)


def _threads(case: Part) -> int | None:
    """k, of the fewest threads that leapfrog."""
    names = [key.rpartition("-") for key in case["runs"]]
    return min((int(k) for name, _, k in names if name == "leapfrog"), default=None)


def _steps(case: Part) -> Part:
    """ms of a step, and the share saved; how many times as fast the backward pass is by each scheme."""
    k = _threads(case)
    keys = ("serial", f"leapfrog-{k}", f"deferred-{k}")
    serial, leapfrog, deferred = (case["runs"].get(key, {}) for key in keys)
    one, more = (median(found.get("whole")) for found in (serial, leapfrog))
    left, backward = ratio(leapfrog.get("whole"), serial.get("whole")), serial.get("backward")
    return {
        "B": case["B"],
        "k": k,
        "one": one and 1e3 * one,
        "more": more and 1e3 * more,
        "saved": None if left is None else 1 - left,
        "leapfrog": ratio(backward, leapfrog.get("backward")),
        "deferred": ratio(backward, deferred.get("backward")),
    }


def _by_layer(case: Part) -> Part:
    """Shares of f1 + f2 + f3; f3 / f of a layer, least and most; that sum of a whole step; f3's saving by k."""
    f, k = parts_of(case), _threads(case)
    if f is None:
        return dict.fromkeys(BY_LAYER)
    total, step = sum(map(sum, f.values())), median(case["runs"].get("serial", {}).get("whole"))
    share = {name: sum(times) / total for name, times in f.items()}
    ratios = [layer[2] / sum(layer) for layer in zip(*f.values(), strict=True)]
    saving = (share["f3"] * (1 - 1 / k), share["f3"] * exact_saving(k)) if k else (None, None)
    found = (*share.values(), min(ratios), max(ratios), step and total / step, *saving)
    return dict(zip(BY_LAYER, found, strict=True))
