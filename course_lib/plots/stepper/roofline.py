"""The roofline, batch size by batch size: where a training step may lie at most, and what holds it there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10

from course_lib.errors import BadInput
from course_lib.measure.rates import roofline as roof_at
from course_lib.plots.inputs import numbers
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words

# the corners of the picture's axes, in points, and half of a point's width
LEFT, RIGHT, TOP, BOTTOM, HALF = 66, 466, 40, 250, 7
Point = tuple[float, float]  # flops per byte, GFLOP/s


def step_roofline(
    counts: Mapping[int, Point],
    peak: float,
    bandwidth: float,
    title: str = "A step under its roof, batch size by batch size",
) -> Stepper:
    """A frame for each batch size: a point on the roof, at the flops per byte that were counted.

    counts: {B: (flops, bytes)} of a step. peak: GFLOP/s. bandwidth: GB/s. The points are bounds: nothing is run.

    Raises BadInput for no counts, and for anything that is not above 0 and finite.
    """
    if not counts:
        raise BadInput("no counts: {B: (flops, bytes)} of a step, for one batch size or more")
    rows = numbers("counts", [tuple(pair) for pair in counts.values()], ndim=2, positive=True)
    peak, bandwidth = numbers("peak and bandwidth", [peak, bandwidth], positive=True).tolist()
    at = (rows[:, 0] / rows[:, 1]).tolist()
    points = [(x, float(roof_at(x, peak, bandwidth))) for x in at]
    axes = Axes.around([*points, (peak / bandwidth, peak)])
    still, frames = [*axes.drawn(), *_roof(axes, peak, bandwidth)], []
    for n, (B, point) in enumerate(zip(counts, points, strict=True)):
        trail = [_point(axes, earlier, "grey") for earlier in points[:n]]
        look = "orange bold" if point[1] < peak else "green bold"
        shapes = [*still, *trail, _point(axes, point, look, "step")]
        frames.append(Frame(_says(B, point, peak), shapes, f"B = {B}"))
    return Stepper(title, frames, (RIGHT + 14, BOTTOM + 46))


@dataclass(frozen=True)
class Axes:
    """Logarithmic axes, by the powers of ten at their ends."""

    x0: int
    x1: int
    y0: int
    y1: int

    @classmethod
    def around(cls, points: Iterable[Point]) -> "Axes":
        """Whole decades with all the points in them."""
        ends = list[int]()
        for values in zip(*points, strict=True):
            low = floor(log10(min(values)))
            ends += [low, max(ceil(log10(max(values))), low + 1)]
        return cls(*ends)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where (flops per byte, GFLOP/s) lies in the picture."""
        across = (log10(x) - self.x0) / (self.x1 - self.x0)
        up = (log10(y) - self.y0) / (self.y1 - self.y0)
        return LEFT + across * (RIGHT - LEFT), BOTTOM - up * (BOTTOM - TOP)

    def drawn(self) -> list[Shape]:
        """Both axes with a number at each power of ten."""
        shapes = [line(LEFT, TOP, LEFT, BOTTOM), line(LEFT, BOTTOM, RIGHT, BOTTOM)]
        shapes.append(words((LEFT + RIGHT) / 2, BOTTOM + 38, "flops per byte", size=12))
        shapes.append(words(4, TOP - 16, "GFLOP/s", at="start", size=12))
        for power in range(self.x0, self.x1 + 1):
            x, _ = self.place(10.0**power, 10.0**self.y0)
            shapes.append(line(x, BOTTOM, x, BOTTOM + 5))
            shapes.append(words(x, BOTTOM + 20, f"{10.0**power:g}", size=11))
        for power in range(self.y0, self.y1 + 1):
            _, y = self.place(10.0**self.x0, 10.0**power)
            shapes.append(line(LEFT - 5, y, LEFT, y))
            shapes.append(words(LEFT - 9, y + 4, f"{10.0**power:g}", at="end", size=11))
        return shapes


def _says(B: int, point: Point, peak: float) -> str:
    intensity, bound = point
    most = f"B = {B}: {intensity:.2f} flops per byte, so at most {bound:.1f} GFLOP/s"
    if bound < peak:
        return f"{most}; memory allows {bound / peak:.0%} of the peak."
    return f"{most}; the peak is the limit."


def _roof(axes: Axes, peak: float, bandwidth: float) -> list[Shape]:
    """The slope of the memory, as far as it lies inside the axes, and the flat part of the processor."""
    low = max(10.0**axes.x0, 10.0**axes.y0 / bandwidth)
    at = (low, peak / bandwidth, 10.0**axes.x1)
    foot, ridge, end = (axes.place(x, min(peak, x * bandwidth)) for x in at)
    middle = (foot[0] + ridge[0]) / 2 + 12, (foot[1] + ridge[1]) / 2 + 16
    flat = words(end[0], end[1] - 9, f"peak {peak:.0f} GFLOP/s", at="end", size=12)
    slope = words(*middle, f"memory {bandwidth:.0f} GB/s", at="start", size=12)
    return [line(*foot, *ridge, "ink"), line(*ridge, *end, "ink"), flat, slope]


def _point(axes: Axes, point: Point, look: str, key: str = "") -> Shape:
    x, y = axes.place(*point)
    return box(x - HALF, y - HALF, 2 * HALF, 2 * HALF, look, key=key)
