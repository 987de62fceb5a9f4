"""What a frame of a stepper is made of: boxes, lines, arrows and text, as plain dicts that become JSON.

Places are in points of the picture, y down. look: a colour by its name in `LOOKS` ("blue"), or with " bold" after it
for a thicker edge. Shapes with the same key in two frames are one thing that moves from place to place.
"""

from typing import Any

from course_lib.errors import check_choice

# name -> (fill, edge) on white; stepper.js has the same names and their colours on a dark page
LOOKS = {
    "blue": ("#d6e9f5", "#0072b2"),
    "orange": ("#fbe3d3", "#b34700"),
    "green": ("#d3efe5", "#00785a"),
    "pink": ("#f5e0ec", "#a8467f"),
    "amber": ("#fbeccb", "#8a6000"),
    "grey": ("#eeeeee", "#6b6b6b"),
    "plain": ("none", "#8a8a8a"),
    "ink": ("none", "#1f1f1f"),
}
SIZE = 14  # of text, in points
Shape = dict[str, Any]


def box(
    x: float,
    y: float,
    w: float,
    h: float,
    look: str,
    text: str = "",
    key: str = "",
    size: int = SIZE,
) -> Shape:
    """A rectangle by its upper left corner, with a text in its middle."""
    shape = {"s": "box", "x": _short(x), "y": _short(y), "w": _short(w), "h": _short(h)}
    return _with(shape, look, text, key, size)


def words(
    x: float, y: float, text: str, look: str = "ink", at: str = "middle", size: int = SIZE
) -> Shape:
    """A text on the line y: its start, middle or end at x."""
    shape = {"s": "words", "x": _short(x), "y": _short(y)}
    check_choice("at", at, ("start", "middle", "end"))
    return _with(shape | ({} if at == "middle" else {"a": at}), look, text, "", size)


def line(x1: float, y1: float, x2: float, y2: float, look: str = "plain") -> Shape:
    """A straight line."""
    ends = dict(zip(("x", "y", "x2", "y2"), map(_short, (x1, y1, x2, y2)), strict=True))
    return _with({"s": "line"} | ends, look)


def arrow(x1: float, y1: float, x2: float, y2: float, look: str, bend: float = 0) -> Shape:
    """An arrow to (x2, y2), bent down by so many points in its middle (up where negative)."""
    ends = dict(zip(("x", "y", "x2", "y2"), map(_short, (x1, y1, x2, y2)), strict=True))
    return _with({"s": "arrow"} | ends | ({"b": _short(bend)} if bend else {}), look)


def _with(shape: Shape, look: str, text: str = "", key: str = "", size: int = SIZE) -> Shape:
    """The shape with what differs from the usual: little data for many frames."""
    check_choice("a look", look.removesuffix(" bold"), tuple(LOOKS))
    shape["c"] = look
    more = {"t": str(text), "k": str(key)} | ({"z": size} if size != SIZE else {})
    return shape | {name: value for name, value in more.items() if value}


def _short(value: float) -> float:
    """A tenth of a point is enough; whole numbers without a point."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded == int(rounded) else rounded
