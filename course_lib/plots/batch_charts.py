"""Time and GFLOP/s against the batch size, as figures 7 to 10 of Kamra et al. 2016 draw them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import named, numbers
from course_lib.plots.line_charts import lines


def time_against_batch(
    batch_sizes, variants, *, ylabel="seconds for one epoch", title=""
) -> Figure:
    """Seconds against batch size on log axes, one line for each variant (figures 7 and 9 of Kamra 2016).

    variants: {name: seconds (n,)} or {name: n Timings of course_lib.measure}, which get their quartiles as bars.

    >>> time_against_batch([1, 16, 256], {"loops": [610.0, 609.0, 612.0], "BLAS": [48.0, 9.1, 3.2]})  # doctest: +SKIP

    Raises BadInput for lengths that differ, or times and batch sizes of 0 or less.
    """
    middle, spread = _medians(named("variants", variants))
    title = title or "Time against batch size"
    return _over_batches(batch_sizes, middle, spread=spread, ylabel=ylabel, title=title)


def gflops_against_batch(batch_sizes, variants, *, peak=None, title="") -> Figure:
    """GFLOP/s against batch size on log axes, one line for each variant (figures 8 and 10 of Kamra 2016).

    peak: this machine's measured GFLOP/s (course_lib.measure.sgemm_rate), drawn as a dashed line.

    >>> gflops_against_batch([1, 16, 256], {"loops": [0.3, 0.3, 0.3], "BLAS": [3.4, 18.0, 51.0]})  # doctest: +SKIP

    Raises BadInput for lengths that differ, or rates and batch sizes of 0 or less.
    """
    series = named("variants", variants)
    model = []
    if peak is not None:
        top = numbers("peak", [peak], positive=True)[0]
        series["peak measured here"] = np.full(len(batch_sizes), top)
        model = ["peak measured here"]
    title = title or "Rate against batch size"
    return _over_batches(batch_sizes, series, model=model, ylabel="GFLOP/s", title=title)


def _over_batches(batch_sizes, series, **how):
    axes: dict[str, Any] = {"xlabel": "batch size B (examples)", "logx": True, "logy": True}
    return lines(batch_sizes, series, xticks=_ticks(batch_sizes), **axes, **how)


def _medians(variants: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    """Seconds as they are; of Timings the medians, and their quartiles as the spread."""
    middle, spread = {}, {}
    for name, values in variants.items():
        if not np.iterable(values):
            raise BadInput(f"{name} must have one time for each batch size, not {values!r}")
        timed = [hasattr(v, "median") and hasattr(v, "q25") for v in values]
        if any(timed) and not all(timed):
            raise BadInput(f"{name} mixes Timings with plain seconds: give one kind")
        middle[name] = [v.median for v in values] if any(timed) else values
        if any(timed):
            spread[name] = ([v.q25 for v in values], [v.q75 for v in values])
    return middle, spread


def _ticks(batch_sizes: Sequence[int]) -> list[float]:
    """The batch sizes themselves, thinned out to twelve or fewer, the last one kept."""
    sizes = sorted(set(numbers("batch_sizes", batch_sizes, positive=True).tolist()))
    step = -(-len(sizes) // 12)
    return sizes[::-1][::step][::-1]
