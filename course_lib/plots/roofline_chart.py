"""What bounds a kernel: the machine's arithmetic or its memory."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.measure.rates import roofline as roof_at
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import named, numbers
from course_lib.plots.palette import COLOURS, GREY, INK, MARKERS
from course_lib.plots.style import BESIDE, new_axis, number, plain_log_axis, styled


@styled
def roofline(points, peak: float, bandwidth: float, *, title: str = "") -> Figure:
    """The roof min(peak, intensity * bandwidth) on log axes, and kernels under it.

    points: {name: (flops per byte, GFLOP/s reached)}. peak: GFLOP/s. bandwidth: GB/s.

    >>> roofline({"B = 1": (0.5, 4.1), "B = 256": (58.0, 88.0)}, peak=97.0, bandwidth=21.0)  # doctest: +SKIP

    Raises BadInput for no points and for anything that is not above 0 and finite.
    """
    names = list(named("points", points))
    for name in names:
        if np.size(points[name]) != 2:
            raise BadInput(f"{name} must be (flops per byte, GFLOP/s), not {points[name]!r}")
    xy = numbers("points", [tuple(points[name]) for name in names], ndim=2, positive=True)
    peak = float(numbers("peak", [peak], positive=True)[0])
    bandwidth = float(numbers("bandwidth", [bandwidth], positive=True)[0])
    bounds = f"Peak {number(peak)} GFLOP/s and {number(bandwidth)} GB/s"
    title = title or f"{bounds} bound what each kernel can reach"
    axis = new_axis(title, 4.2)
    _draw_roof(axis, xy, peak, bandwidth)
    _draw_points(axis, names, xy, peak, bandwidth)
    rows = [_row(name, at, peak, bandwidth) for name, at in zip(names, xy.tolist(), strict=True)]
    header = ("kernel", "flops per byte", "GFLOP/s", "roof GFLOP/s", "share of roof", "bound by")
    return Figure(axis.figure, title, _alt(title, rows, peak / bandwidth), header, rows)


def _draw_roof(axis: Any, xy: np.ndarray, peak: float, bandwidth: float) -> None:
    ridge = peak / bandwidth
    low, high = min(xy[:, 0].min(), ridge) / 4, max(xy[:, 0].max(), ridge) * 6
    corner = np.array([low, ridge, high])
    axis.plot(corner, roof_at(corner, peak, bandwidth), color=INK, linewidth=2.2, zorder=2)
    bottom = min(xy[:, 1].min(), low * bandwidth) / 2
    axis.fill_between(corner, roof_at(corner, peak, bandwidth), bottom, color="#F2F2F2", zorder=1)
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(bottom, peak * 2))
    axis.plot([ridge, ridge], [bottom, peak], color=GREY, linewidth=1, linestyle=":", zorder=2)
    near = {"fontsize": 10, **BESIDE}
    axis.annotate(f"ridge: {ridge:.3g} flops per byte", (ridge, bottom), (5, 8), color=GREY, **near)
    axis.annotate(f"peak {number(peak)} GFLOP/s", (high, peak), (-4, 5), ha="right", **near)
    plain_log_axis(axis.xaxis, (low, high))
    plain_log_axis(axis.yaxis, (bottom, peak * 2))
    axis.set_xlabel("arithmetic intensity (flops per byte)")
    axis.set_ylabel("GFLOP/s")
    _along_slope(axis, low, ridge, bandwidth)


def _along_slope(axis: Any, low: float, ridge: float, bandwidth: float) -> None:
    """The bandwidth, written along the sloping roof."""
    axis.figure.draw_without_rendering()  # fixes the axes' size, which the slope on the page rests on
    ends = axis.transData.transform([(x, x * bandwidth) for x in (low, ridge)])
    slope = float(np.degrees(np.arctan2(*(ends[1] - ends[0])[::-1])))
    x, text = (low * ridge) ** 0.5, f"memory {number(bandwidth)} GB/s"
    look = {"rotation": slope, "rotation_mode": "anchor", "ha": "center", "fontsize": 10, **BESIDE}
    axis.annotate(text, (x, x * bandwidth), (-4, 5), **look)


def _draw_points(axis, names, xy, peak, bandwidth):
    for i, (x, y) in enumerate(xy):
        look = {"color": COLOURS[i % 7], "marker": MARKERS[(i + i // 7) % 7], "markersize": 8}
        axis.plot([x], [y], linestyle="none", markeredgecolor="white", zorder=4, **look)
    half = 7 * axis.figure.dpi / 72  # what a marker covers, in pixels
    taken = [(u - half, v - half, u + half, v + half) for u, v in axis.transData.transform(xy)]
    taken += [text.get_window_extent().extents for text in axis.texts]
    roof = partial(roof_at, peak_gflops=peak, bandwidth_gbs=bandwidth)
    for i in np.lexsort((xy[:, 1], xy[:, 0])):
        taken.append(_name_point(axis, names[i], xy[i], taken, roof))


def _name_point(axis, name, at, taken, roof):
    """Write the name beside its point, in the first place where it hides nothing; return the box it fills."""
    from matplotlib.text import Text

    leader = {"arrowstyle": "-", "color": GREY, "linewidth": 0.8}
    usual = {"fontsize": 10, "zorder": 5}
    for dy, dx in product((-4, 5, -19, -34, -49, -64), (8, -8)):
        look: dict[str, Any] = {"ha": "left" if dx > 0 else "right", **usual}
        look["va"] = "top" if dy < 0 else "bottom"
        if dy < -4:
            look["arrowprops"] = leader
        text = axis.annotate(name, at, (dx, dy), **look, **BESIDE)
        text.get_window_extent()  # puts it in its place; this extent counts the leader in, the next does not
        box = Text.get_window_extent(text).extents
        if _is_free(axis, box, taken, roof):
            return box
        text.remove()
    axis.annotate(name, at, (8, -4), va="top", **usual, **BESIDE)
    return box


def _is_free(axis: Any, box: Any, taken: list[Any], roof: Callable[[float], float]) -> bool:
    """Whether a box (x0, y0, x1, y1 in pixels) lies within the axes, under the roof, and clear of the boxes taken."""
    x0, y0, x1, y1 = box
    # the corner that would stick out over the roof
    left, top = axis.transData.inverted().transform((x0, y1))
    inside = axis.bbox.x0 <= x0 and x1 <= axis.bbox.x1 and axis.bbox.y0 <= y0 and top <= roof(left)
    return inside and not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in taken)


def _row(name, at, peak, bandwidth):
    (x, y), roof = at, roof_at(at[0], peak, bandwidth)
    return (name, x, y, roof, y / roof, "memory" if x * bandwidth < peak else "arithmetic")


def _alt(title: str, rows: list[tuple], ridge: float) -> str:
    text = f"{title}. Roofline chart, the ridge at {number(ridge)} flops per byte."
    for name, x, y, _, share, bound in rows:
        text += f" {name}: {number(y)} GFLOP/s at {number(x)} flops per byte, "
        text += f"{number(100 * share)} % of its roof, bound by {bound}."
    return text
