"""One frame of a stepper as SVG, for where no script runs: paper, GitHub, a notebook that is not trusted yet."""

from collections.abc import Sequence
from html import escape

from course_lib.plots.stepper.shapes import LOOKS, SIZE, Shape

FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
HEAD = 7  # points: the length of an arrow's head


def svg_of(shapes: Sequence[Shape], size: tuple[float, float], alt: str) -> str:
    """The frame on white ground, a text. alt: what is to be seen."""
    width, height = size
    parts = [DRAW[shape["s"]](shape, *LOOKS[shape["c"].removesuffix(" bold")]) for shape in shapes]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="{FONT}" font-size="{SIZE}"><title>{escape(alt)}</title>'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def _box(shape: Shape, fill: str, edge: str) -> str:
    x, y, w, h = (shape[name] for name in "xywh")
    rect = f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="3" fill="{fill}" {_edge(shape, edge)}/>'
    middle = {**shape, "x": x + w / 2, "y": y + h / 2 + 0.36 * shape.get("z", SIZE)}
    return rect + (_words(middle, fill, LOOKS["ink"][1]) if "t" in shape else "")


def _words(shape: Shape, fill: str, edge: str) -> str:
    size = f' font-size="{shape["z"]}"' if "z" in shape else ""
    place = f'x="{shape["x"]:g}" y="{shape["y"]:g}" text-anchor="{shape.get("a", "middle")}"'
    return f'<text {place} fill="{edge}"{size}>{escape(shape.get("t", ""))}</text>'


def _line(shape: Shape, fill: str, edge: str) -> str:
    x, y, x2, y2 = (shape[name] for name in ("x", "y", "x2", "y2"))
    return f'<path d="M{x} {y} L{x2} {y2}" fill="none" {_edge(shape, edge)}/>'


def _arrow(shape: Shape, fill: str, edge: str) -> str:
    """A quadratic curve, whose head points along its end: the same formula as in stepper.js."""
    x, y, x2, y2 = (shape[name] for name in ("x", "y", "x2", "y2"))
    mx, my = (x + x2) / 2, (y + y2) / 2 + 2 * shape.get("b", 0)
    dx, dy = x2 - mx, y2 - my
    length = (dx * dx + dy * dy) ** 0.5 or 1
    ux, uy = HEAD * dx / length, HEAD * dy / length
    left = f"{x2 - ux - uy / 2:.1f} {y2 - uy + ux / 2:.1f}"
    right = f"{x2 - ux + uy / 2:.1f} {y2 - uy - ux / 2:.1f}"
    way = f"M{x} {y} Q{mx:g} {my:g} {x2} {y2} M{left} L{x2} {y2} L{right}"
    return f'<path d="{way}" fill="none" {_edge(shape, edge)}/>'


def _edge(shape: Shape, edge: str) -> str:
    return f'stroke="{edge}" stroke-width="{2.5 if shape["c"].endswith(" bold") else 1.2}"'


DRAW = {"box": _box, "words": _words, "line": _line, "arrow": _arrow}
