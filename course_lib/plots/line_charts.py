"""Lines: the general chart, learning curves, activation functions."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import SHOWN_ROWS, Figure
from course_lib.plots.inputs import named, numbers
from course_lib.plots.palette import COLOURS, DASHES, GREY, INK, MARKERS
from course_lib.plots.style import (
    new_axis,
    new_figure,
    number,
    plain_axis,
    plain_log_axis,
    sentence,
    styled,
    whole_ticks,
)

Table = tuple[list[str], list[tuple]]  # header, rows
MODEL_DASHES: tuple[Any, ...] = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


@dataclass
class Series:
    """One line of a chart: x and y (n,), optionally the quartiles (low, high) and a note for its last point."""

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""
    model: bool = False
    joined: bool = True


@styled
def lines(
    x: Any,
    series: Mapping[str, Any],
    *,
    xlabel: str = "x",
    ylabel: str = "y",
    title: str = "",
    logx: bool = False,
    logy: bool = False,
    spread: Mapping[str, tuple[Any, Any]] | None = None,
    model: Collection[str] = (),
    xticks: Sequence[float] | None = None,
    alt: str | None = None,
    points: bool = False,
) -> Figure:
    """One line for each name in `series` over a common x (n,), named at its right end.

    series: {name: y (n,)}. spread: {name: (low (n,), high (n,))} draws error bars, such as quartiles.
    model: the names that were computed rather than measured; drawn grey and dashed, without markers.
    logx, logy: log axes (values must be above 0). xticks: where the x axis is labelled.
    points: markers with no line between them, where there is nothing between two values of x.

    >>> lines([1, 2, 4], {"measured": [1.0, 0.6, 0.4], "ideal": [1.0, 0.5, 0.25]}, model={"ideal"},
    ...       xlabel="threads", ylabel="seconds", title="More threads, less time")      # doctest: +SKIP

    Raises BadInput for lengths that differ, nothing to draw, NaN, or values of 0 or less on a log axis.
    """
    xs = numbers("x", x, positive=logx)
    spread, found = spread or {}, []
    for name, y in named("series", series).items():
        found.append(_line(name, xs, y, spread.get(name), name in model, logy))
        found[-1].joined = not points
    title = title or f"{sentence(ylabel)} against {xlabel}"
    axis = new_axis(title)
    draw_lines(axis, found, xlabel, ylabel, logx, logy, xticks)
    alt = alt or describe(title, found, xlabel, ylabel)
    return Figure(axis.figure, title, alt, *table_of(found, xlabel))


def _line(name: str, x: np.ndarray, y: Any, spread: Any, model: bool, logy: bool) -> Series:
    ys = numbers(name, y, positive=logy)
    if ys.shape != x.shape:
        raise BadInput(f"{name} has {len(ys)} values for {len(x)} values of x: give one for each")
    if spread is None:
        return Series(name, x, ys, model=model)
    low, high = (numbers(f"spread of {name}", s, positive=logy) for s in spread)
    if low.shape != x.shape or high.shape != x.shape or not ((low <= ys) & (ys <= high)).all():
        wanted = "(low, high), one of each for each x, with low <= value <= high"
        raise BadInput(f"spread of {name} must be {wanted}")
    return Series(name, x, ys, low, high, model=model)


@styled
def curves(history: Any, *, title: str = "", ylabel: str = "loss", logy: bool = False) -> Figure:
    """Learning curves over epochs: of one History, of a dict {name: History}, or of a dict {name: values}.

    A History has lists `loss` and `val_accuracy`, one value for each epoch, and `stopped` (None or why it ended
    early); loss and validation accuracy get a panel each. A run that ended in NaN is drawn up to its last finite
    loss, and the figure says so. Plain lists may differ in length; `ylabel` names what they hold.

    >>> curves(train(net, params, dataset, epochs=5, batch_size=64, eta=3.0))           # doctest: +SKIP

    Raises BadInput for an empty history and for NaN in plain values.
    """
    if hasattr(history, "loss"):
        history = {"": history}
    runs = named("history", history)
    if all(hasattr(run, "loss") for run in runs.values()):
        panels = [("training loss", _history_lines(runs, "loss"), logy)]
        if any(len(run.val_accuracy) for run in runs.values()):
            panels.append(("validation accuracy", _history_lines(runs, "val_accuracy"), False))
    else:
        plain = [_line(name, _epochs(y), y, None, False, logy) for name, y in runs.items()]
        panels = [(ylabel, plain, logy)]
    title = title or " and ".join(panel[0] for panel in panels).capitalize() + " after each epoch"
    return _panels(panels, title)


def _panels(panels: list[tuple[str, list[Series], bool]], title: str) -> Figure:
    # the names at the lines' ends need the width
    beneath = len(panels) > 1 and len(panels[0][1]) > 1
    figure = new_figure(title, 5.6 if beneath else 3.4)
    shape = (len(panels), 1) if beneath else (1, len(panels))
    texts: list[str] = []
    table: Table = ([], [])
    axes = figure.subplots(*shape, squeeze=False).ravel()
    for axis, (ylabel, found, logy) in zip(axes, panels, strict=True):
        draw_lines(axis, found, "epoch", ylabel, logy=logy)
        texts.append(describe("", found, "epoch", ylabel))
        table = _joined(table, table_of(found, "epoch", f"{ylabel}: " if len(panels) > 1 else ""))
    figure.align_ylabels()
    return Figure(figure, title, f"{title}. " + " ".join(texts), *table)


def _joined(left, right):
    """Two tables with the same first column, side by side; a blank where one has no such row."""
    if not left[0]:
        return right
    found = [{row[0]: row[1:] for row in table[1]} for table in (left, right)]
    blanks = [(None,) * (len(table[0]) - 1) for table in (left, right)]
    keys = sorted({*found[0], *found[1]})
    rows = [(key, *found[0].get(key, blanks[0]), *found[1].get(key, blanks[1])) for key in keys]
    return [*left[0], *right[0][1:]], rows


def _epochs(values: Any) -> np.ndarray:
    return np.arange(1, np.size(values) + 1, dtype=np.float64)


def _history_lines(runs: Mapping[str, Any], what: str) -> list[Series]:
    """A line for each run, cut before its first loss that is not finite."""
    found = []
    for name, run in runs.items():
        values = np.asarray(getattr(run, what), dtype=np.float64)
        finite = np.isfinite(values)
        end = len(values) if finite.all() else int(np.argmin(finite))
        if end == 0 and what != "loss":
            continue
        if end == 0:
            why = f"the history {name!r} has no epoch with a finite loss"
            raise BadInput(f"{why}: there is nothing to draw")
        note = "stopped" if getattr(run, "stopped", None) else ""
        name = name or what.replace("_", " ")
        found.append(Series(name, _epochs(values)[:end], values[:end], note=note))
    return found


@styled
def function(
    functions, range=(-6.0, 6.0), *, xlabel="z", ylabel="f(z)", title="", points=241
) -> Figure:
    """Activation functions (or any functions of one number) over a range.

    functions: one function, a list of them (named by their __name__), or {name: function}; each takes an array (n,).

    >>> function({"sigmoid": sigmoid, "its derivative": lambda z: sigmoid(z) * (1 - sigmoid(z))})  # doctest: +SKIP

    Raises BadInput for what cannot be called, an empty range, or a function that returns NaN or another shape.
    """
    points = check_count("points", points, low=2)
    low, high = (float(v) for v in range)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BadInput(f"range must be (low, high) with low < high, not {range!r}")
    z = np.linspace(low, high, points)
    found = [Series(name, z, _values_of(name, f, z)) for name, f in _functions(functions).items()]
    title = title or f"{', '.join(s.name for s in found)} from {number(low)} to {number(high)}"
    axis = new_axis(title, 3.4)
    axis.axhline(0, color=GREY, linewidth=0.8)
    axis.axvline(0, color=GREY, linewidth=0.8)
    draw_lines(axis, found, xlabel, ylabel, markers=False)
    header, rows = table_of(found, xlabel)
    alt = describe(title, found, xlabel, ylabel, at=0.0)
    return Figure(axis.figure, title, alt, header, rows[:: -(-points // SHOWN_ROWS)])


def _functions(functions: Any) -> dict[str, Callable[[np.ndarray], Any]]:
    if callable(functions):
        functions = [functions]
    if isinstance(functions, list | tuple):
        functions = {getattr(f, "__name__", f"function {i}"): f for i, f in enumerate(functions)}
    found = named("functions", functions)
    for name, f in found.items():
        if not callable(f):
            raise BadInput(f"{name} is a {type(f).__name__}, not a function of one array")
    return found


def _values_of(name: str, f: Callable[[np.ndarray], Any], z: np.ndarray) -> np.ndarray:
    values = numbers(f"{name}(z)", f(z))
    if values.shape != z.shape:
        got = f"{name} returned shape {values.shape} for shape {z.shape}"
        raise BadInput(f"{got}: it must work element by element")
    return values


def draw_lines(axis, found, xlabel, ylabel, logx=False, logy=False, xticks=None, markers=True):
    """Draw the lines, scale and label the axes, and name each line at its right end."""
    for i, line in enumerate(found):
        _draw_line(axis, line, i, markers)
    xs = np.concatenate([line.x for line in found])
    heights = [(line.y, line.low, line.high) for line in found]
    ys = np.concatenate([v for line in heights for v in line if v is not None])
    _scale(axis.xaxis, axis.set_xscale, xs, logx)
    _scale(axis.yaxis, axis.set_yscale, ys, logy)
    if not logx and (xs == np.round(xs)).all():
        whole_ticks(axis.xaxis)
    if xticks is not None:
        axis.set_xticks(list(xticks), [number(v) for v in xticks])
        axis.minorticks_off()
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.grid(axis="y")
    if len(found) > 1 or found[0].note:
        name_ends(axis, found)


def _scale(side, set_scale, values, log):
    if log:
        set_scale("log")
        plain_log_axis(side, values)
    else:
        plain_axis(side)


def _draw_line(axis: Any, line: Series, i: int, markers: bool) -> None:
    few = markers and len(line.x) <= 40
    look: dict[str, Any] = {"color": COLOURS[i % 7], "linestyle": DASHES[i % 7], "zorder": 3}
    # the eighth line has the first colour, another marker
    look["marker"] = MARKERS[(i + i // 7) % 7] if few else None
    if not line.joined:
        look |= {"linestyle": "none", "marker": MARKERS[i % 7]}
    elif line.model:
        look = {"color": GREY, "linestyle": MODEL_DASHES[i % 3], "linewidth": 1.4, "zorder": 2}
    axis.plot(line.x, line.y, markeredgecolor="white", markeredgewidth=0.7, **look)
    if line.low is not None and line.high is not None:
        bars = {"yerr": [line.y - line.low, line.high - line.y], "ecolor": look["color"]}
        axis.errorbar(line.x, line.y, fmt="none", elinewidth=1.2, capsize=2.5, **bars)


def name_ends(axis: Any, found: list[Series]) -> None:
    """Each line's name beside its right end, moved apart where ends lie close, with a leader in the line's colour."""
    axis.figure.draw_without_rendering()  # fixes the axes' limits and size, which the distances rest on
    to_part = axis.transAxes.inverted().transform
    ends = [to_part(axis.transData.transform((line.x[-1], line.y[-1]))) for line in found]
    gap = 15 / (axis.bbox.height * 72 / axis.figure.dpi)
    right = max(end[0] for end in ends)
    full = [i for i, end in enumerate(ends) if end[0] > right - 0.02]
    wishes = [ends[i][1] for i in full]
    heights = dict(zip(full, apart(wishes, gap, low=0.0, high=1.0), strict=True))
    for i, (line, end) in enumerate(zip(found, ends, strict=True)):
        text = f"{line.name} ({line.note})" if line.note else line.name
        if i in heights:
            colour = GREY if line.model else COLOURS[i % 7]
            leader = {"arrowstyle": "-", "linewidth": 1.2, "shrinkA": 2, "shrinkB": 5}
            # to the text's left edge, not on beneath it to its middle
            leader |= {"color": colour, "relpos": (0, 0.5)}
            _name_end(axis, text, end, (1.05, heights[i]), "axes fraction", arrowprops=leader)
        else:  # it ends early: a leader to the edge would look like more of the line
            _name_end(axis, text, end, (8, 0), "offset points")


def _name_end(axis, text, end, place, unit, **more):
    from matplotlib.patheffects import withStroke

    look = {"va": "center", "fontsize": 10, "color": INK, "annotation_clip": False, **more}
    drawn = axis.annotate(text, tuple(end), place, "axes fraction", unit, **look)
    drawn.set_path_effects([withStroke(linewidth=3, foreground="white")])


def apart(places, gap, low=-math.inf, high=math.inf):
    """Move places as little as needed so that neighbours stand at least `gap` apart, in the same order.

    They stay within low and high, if there is place. The best fit: neighbours that are too close form a block, which
    stands around the mean of where they wish to be.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[list[float]] = []  # [sum of (wish - offset in block), length]
    for i in order:
        blocks.append([places[i], 1])
        while len(blocks) > 1 and _start(blocks[-2]) + gap * blocks[-2][1] > _start(blocks[-1]):
            total, n = blocks.pop()
            blocks[-1][0] += total - n * gap * blocks[-1][1]
            blocks[-1][1] += n
    moved = [_start(block) + gap * k for block in blocks for k in range(int(block[1]))]
    n = len(moved)
    highest = [high - gap * (n - 1 - k) for k in range(n)]
    moved = [max(min(y, highest[k]), min(low + gap * k, high)) for k, y in enumerate(moved)]
    return [moved[order.index(i)] for i in range(len(places))]


def _start(block: list[float]) -> float:
    return block[0] / block[1]


def describe(title, found, xlabel, ylabel, at=None):
    """Alt text of a line chart: each line's first and last value, and its extremes where they lie between."""
    kind = "Line chart" if found[0].joined else "Points"
    parts = [f"{title}." if title else "", f"{kind} of {ylabel} over {xlabel}."]
    for line in found:
        text = _told(line, at)
        parts.append(text + (f" ({line.note})" if line.note else "") + ".")
    return " ".join(p for p in parts if p)


def _told(line: Series, at: float | None) -> str:
    """One line in words: its ends, its extremes, its value `at` a place."""
    if len(line.y) > 1 and (line.y == line.y[0]).all():
        return f"{line.name}: {number(line.y[0])} throughout"
    points = {0: "", len(line.y) - 1: ""}
    for word, i in (("lowest ", int(np.argmin(line.y))), ("highest ", int(np.argmax(line.y)))):
        if line.y[i] not in (line.y[0], line.y[-1]):
            points.setdefault(i, word)
    if at is not None and line.x[0] < at < line.x[-1]:
        points.setdefault(int(np.argmin(np.abs(line.x - at))), "")
    told = [f"{word}{number(line.y[i])} at {number(line.x[i])}" for i, word in points.items()]
    return f"{line.name}: " + ", ".join(told)


def table_of(found: list[Series], xlabel: str, prefix: str = "") -> tuple[list[str], list[tuple]]:
    """(header, rows): x, then a column for each line (and its low and high); blank where a line has no such x."""
    columns: list[tuple[str, dict[float, float]]] = []
    for line in found:
        for what, values in (("", line.y), (" low", line.low), (" high", line.high)):
            if values is not None:
                name = f"{prefix}{line.name}{what}"
                columns.append((name, dict(zip(line.x.tolist(), values.tolist(), strict=True))))
    xs = sorted({x for line in found for x in line.x.tolist()})
    shown = {x: int(x) if x == round(x) else x for x in xs}
    rows = [(shown[x], *(values.get(x) for _, values in columns)) for x in xs]
    return [xlabel, *(name for name, _ in columns)], rows
