"""How findings are put into words."""

from collections.abc import Iterable, Sequence

from course_lib.bench.summary import quartiles
from course_lib.bench.tables import digits
from course_tools.bench.papers.claim import NotMeasured


def median(runs: Sequence[float | None]) -> float:
    """The median of the runs there are."""
    return quartiles(runs)[0]


def listed(told: Iterable[str], missing: str, separator: str = ", ") -> str:
    """All that was found, in one text. Raises NotMeasured(missing) if it is nothing."""
    text = separator.join(told)
    if not text:
        raise NotMeasured(missing)
    return text


def by_batch(pairs: Iterable[tuple[int, float | None]], unit: str, missing: str) -> str:
    """Values by batch size; None: this one did not run. Raises NotMeasured(missing) if none did."""
    told = (f"{digits(value)}{unit} at B = {B:,}" for B, value in pairs if value is not None)
    return listed(told, missing)


def layers(sizes: Iterable[int]) -> str:
    """A network by its layers: 784-1024-10."""
    return "-".join(map(str, sizes))
