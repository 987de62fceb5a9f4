"""What ran when: a Gantt chart, a row for each thread and a bar for each task, prediction under measurement."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import numbers
from course_lib.plots.palette import BLUE, COLOURS, GREEN, GREY, INK, ORANGE
from course_lib.plots.style import CENTRED, count, new_figure, number, plain_axis, styled

# Colour and hatch of a task's kind; any other kind gets one of the rest.
LOOKS = {"forward": (GREEN, "...."), "delta": (BLUE, "////"), "grad": (ORANGE, "")}
OTHER_LOOKS = [(COLOURS[3], "xxxx"), (COLOURS[4], "\\\\\\\\"), (COLOURS[5], "----"), (GREY, "++++")]
SCALES = ((1.0, "seconds"), (1e-3, "milliseconds"), (1e-6, "microseconds"))
LABEL_POINTS = 8.5
MAX_THREADS = 64


class Bar(NamedTuple):
    """A task: `start` and `end` are counted from the first start of its chart."""

    thread: int
    kind: str
    layer: Any
    start: float
    end: float


@styled
def timeline(
    measured, predicted=None, *, title="", unit="s", row="thread", label="layer"
) -> Figure:
    """A bar for each task from its start to its end, in the row of its thread, labelled with its layer.

    measured: a Timeline of course_lib.threads, or anything that yields (thread, kind, layer, start, end).
    predicted: another one, drawn below on the same scale; both begin at 0. Bars too short for it have no label.
    unit: "s" for seconds, shown as milliseconds or microseconds where that reads better; any other text is shown as
    it is: what one unit of a simulated time is.
    row, label: what the first and the third of a task are called, such as "rank" and "micro-batch" in a pipeline.

    >>> timeline([(0, "delta", 1, 0.0, 0.2), (0, "grad", 1, 0.2, 0.5), (1, "delta", 0, 0.2, 0.4)])   # doctest: +SKIP

    Raises BadInput for no tasks, a thread that is no whole number from 0 to 63, times that are not finite, or an end
    before its start.
    """
    charts = {"measured": _bars("measured", measured)}
    if predicted is not None:
        charts["predicted"] = _bars("predicted", predicted)
    scale, unit_name = scale_of(max(bar.end for bars in charts.values() for bar in bars), unit)
    title = title or "What ran when" + ", measured and predicted" * (len(charts) - 1)
    threads = 1 + max(bar.thread for bars in charts.values() for bar in bars)
    figure = new_figure(title, 0.95 + len(charts) * (0.45 + 0.46 * threads))
    axes = figure.subplots(len(charts), 1, sharex=True, squeeze=False).ravel()
    looks = _looks(charts)
    for axis, (name, bars) in zip(axes, charts.items(), strict=True):
        draw_bars(axis, bars, looks, scale, threads, name if predicted is not None else "", row)
    finish(figure, axes, charts, looks, scale, f"time ({unit_name})")
    rows = [(name, *b[:3], *(t / scale for t in b[3:])) for name in charts for b in charts[name]]
    first = 2 - len(charts)  # a single one may be simulated: it has no name
    header = ["timeline", row, "kind", label, f"start ({unit_name})", f"end ({unit_name})"]
    alt = _describe(title, charts, scale, unit_name, row, label)
    return Figure(figure, title, alt, header[first:], [row[first:] for row in rows])


def _bars(name: str, spans: Iterable[Any]) -> list[Bar]:
    """The spans, checked, in the order of their starts."""
    try:
        found = [Bar(*span) for span in spans]
    except TypeError:
        wanted = "tasks (thread, kind, layer, start, end), such as a Timeline does"
        raise BadInput(f"{name} must hold {wanted}") from None
    if not found:
        raise BadInput(f"{name} holds no task: run or simulate something first")
    threads = [check_count(f"a thread in {name}", bar.thread, 0, MAX_THREADS - 1) for bar in found]
    starts = numbers(f"the starts in {name}", [bar.start for bar in found])
    ends = numbers(f"the ends in {name}", [bar.end for bar in found])
    if not (ends >= starts).all():
        n = int((ends < starts).argmax())
        raise BadInput(f"{name} holds a task that ends before it starts: {tuple(found[n])}")
    times = np.stack([starts, ends], axis=1) - starts.min()
    checked = zip(found, threads, times.tolist(), strict=True)
    bars = [Bar(thread, str(bar.kind), bar.layer, *time) for bar, thread, time in checked]
    return sorted(bars, key=lambda bar: (bar.start, bar.thread))


def four_digits(time):
    """A time as it is said, rounded to four digits."""
    return number(float(f"{time:.4g}"))


def scale_of(longest: float, unit: str) -> tuple[float, str]:
    """How long one unit of the axis is, and its name."""
    if unit != "s":
        return 1.0, unit
    return next((found for found in SCALES if longest >= 2 * found[0]), SCALES[-1])


def _looks(charts: dict[str, list[Bar]]) -> dict[str, tuple[str, str]]:
    """Colour and hatch for each kind that occurs: the known ones first, always the same."""
    kinds = dict.fromkeys(bar.kind for bars in charts.values() for bar in bars)
    others = [kind for kind in kinds if kind not in LOOKS]
    looks = {kind: look for kind, look in LOOKS.items() if kind in kinds}
    return looks | {kind: OTHER_LOOKS[i % len(OTHER_LOOKS)] for i, kind in enumerate(others)}


def draw_bars(axis, bars, looks, scale, threads, name, row="thread"):
    for bar in bars:
        colour, hatch = looks[bar.kind]
        width, left = (bar.end - bar.start) / scale, bar.start / scale
        style = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.7, "hatch": hatch}
        axis.barh(bar.thread, width, left=left, height=0.74, **style)
    axis.set_yticks(range(threads), [f"{row} {t}" for t in range(threads)])
    axis.set_ylim(threads - 0.45, -0.55)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
    axis.set_title(name, fontsize=10.5, fontweight="normal", color=INK, pad=4)


def finish(figure, axes, charts, looks, scale, xlabel):
    """Axis, legend, and at last the labels: whether one fits is known when the layout is."""
    from matplotlib.patches import Patch

    axes[-1].set_xlabel(xlabel)
    axes[-1].set_xlim(0, None)
    plain_axis(axes[-1].xaxis)
    patches = []
    for kind, (colour, hatch) in looks.items():
        patches.append(Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=kind))
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    look = {"frameon": False, "handlelength": 2.4, "fontsize": 10, "borderpad": 0.1}
    axes[0].legend(handles=patches, ncols=len(patches), **look, **place)
    figure.draw_without_rendering()
    for axis, bars in zip(axes, charts.values(), strict=True):
        for bar in bars:
            _label(axis, bar, scale)


def _label(axis: Any, bar: Bar, scale: float) -> None:
    """The layer, in the middle of its bar, if the bar is wider than it."""
    left, right = (axis.transData.transform((x / scale, 0))[0] for x in (bar.start, bar.end))
    points = (right - left) * 72 / axis.figure.dpi
    if points >= 0.64 * LABEL_POINTS * len(str(bar.layer)) + 5:
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        look = {"fontsize": LABEL_POINTS, "bbox": box, **CENTRED}
        axis.text((bar.start + bar.end) / 2 / scale, bar.thread, str(bar.layer), **look)


def _describe(title, charts, scale, unit, row, label):
    what = f"a row for each {row}, a bar for each task, labelled with its {label}"
    parts = [f"{title}. Gantt chart: {what}."]
    for name, bars in charts.items():
        total = max(bar.end for bar in bars)
        told = []
        for thread in sorted({bar.thread for bar in bars}):
            busy = sum(bar.end - bar.start for bar in bars if bar.thread == thread)
            told.append(f"{row} {thread} busy {100 * busy / total if total else 0:.0f} %")
        tasks = f"{count(len(bars), 'task')} in {four_digits(total / scale)} {unit}"
        which = f"{name.capitalize()}: " if len(charts) > 1 else ""
        parts.append(f"{which}{tasks}: {', '.join(told)}.")
    return " ".join(parts)
