"""How findings are put into words."""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from course_tools.bench.frame import digits
from course_tools.bench.papers.claim import NotMeasured


def listed(told: Iterable[str], missing: str = "nothing was found") -> str:
    """All that was found: documents begin a new line after a semicolon. Raises NotMeasured(missing) if nothing was."""
    text = "; ".join(told)
    if not text:
        raise NotMeasured(missing)
    return text


def each_case(each: str, cases: Iterable[Mapping[str, Any]], missing: str) -> str:
    """`each` with the numbers of each case, listed. A case is left out where a number that `each` names is None.

    Raises NotMeasured(missing) if none is left.
    """
    named = [name for _, name, _, _ in Formatter().parse(each) if name]
    whole = (case for case in cases if all(case[name] is not None for name in named))
    return listed((each.format_map(case) for case in whole), missing)


def by_batch(pairs: Iterable[tuple[int, float | None]], unit: str, missing: str) -> str:
    """The values of the smallest and the largest batch, and those between that are higher or lower than both.

    pairs: (batch size, value), by batch size; None: this one did not run. Raises NotMeasured(missing) if none did.
    """
    found = [(value, B) for B, value in pairs if value is not None]
    if not found:
        raise NotMeasured(missing)
    ends = dict.fromkeys([found[0], found[-1]], "")
    peaks = {max(found): "highest ", min(found): "lowest "}
    shown = ends | {pair: word for pair, word in peaks.items() if pair not in ends}
    return ", ".join(f"{word}{digits(v)}{unit} at B = {B:,}" for (v, B), word in shown.items())


def layers(sizes: Iterable[int]) -> str:
    """A network by its layers: 784-1024-10."""
    return "-".join(map(str, sizes))
