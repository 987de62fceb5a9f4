"""A computation graph: values flow to the right, gradients back to the left."""

from collections.abc import Iterable, Mapping
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.graph_layout import Edge, branch, columns_of, layout
from course_lib.plots.inputs import named, numbers
from course_lib.plots.palette import BLUE, GREY, INK, ORANGE
from course_lib.plots.style import WIDTH, new_axis, number, styled

HEIGHT = 0.42  # of a box, in inches; the value above and the gradient below need half as much again
STEP = 1.06  # inches from box to box in a column


@styled
def computation_graph(nodes: Mapping[str, Any] | list, edges, *, title: str = "") -> Figure:
    """Boxes joined by arrows, inputs at the left: the value of each above it, the gradient of the output below it.

    nodes: {name: value}, {name: (value, grad)} or {name: (value, grad, operation)}; grad None where it is not known
    yet, operation None for an input; a list of names: no numbers. edges: (from, to) pairs. After Karpathy's micrograd.

    >>> computation_graph({"w": (0.5, 2.0), "x": (2.0, 0.5), "z": (1.0, 1.0, "w x")},
    ...                   [("w", "z"), ("x", "z")])          # doctest: +SKIP

    Raises BadInput for edges to unknown nodes, a circle, NaN, or more than 40 nodes.
    """
    bare = isinstance(nodes, list)
    given = named("nodes", dict.fromkeys(nodes) if bare else nodes)
    found = {name: _node(name, node) if not bare else (None,) * 3 for name, node in given.items()}
    pairs = _edges(edges, found)
    numbered = "A computation graph: values forward, gradients backward"
    title = title or ("What waits for what" if bare else numbered)
    inputs = {name: ", ".join(a for a, b in pairs if b == name) for name in found}
    rows = [(name, op, inputs[name], value, grad) for name, (value, grad, op) in found.items()]
    figure, alt = _draw(title, found, pairs, branch if bare else layout), _alt(title, rows)
    if bare:
        return Figure(figure, title, alt, ("task", "waits for"), list(inputs.items()))
    return Figure(figure, title, alt, ("node", "operation", "inputs", "value", "gradient"), rows)


def _node(name: str, node: Any) -> tuple[float, float | None, str | None]:
    parts = tuple(node) if isinstance(node, tuple | list) else (node,)
    if not 1 <= len(parts) <= 3 or parts[0] is None:
        wanted = "value, (value, grad) or (value, grad, operation)"
        raise BadInput(f"node {name!r} must be {wanted}, not {node!r}")
    value, grad, op = (*parts, None, None)[:3]
    value, *rest = numbers(f"node {name!r}", [v for v in (value, grad) if v is not None]).tolist()
    return value, rest[0] if rest else None, None if op is None else str(op)


def _edges(edges: Iterable[Edge], nodes: Mapping[str, Any]) -> list[Edge]:
    found = [tuple(edge) for edge in edges]
    if len(nodes) > 40:
        raise BadInput(f"a graph of {len(nodes)} nodes cannot be read: draw 40 or fewer")
    for edge in found:
        if len(edge) != 2 or edge[0] not in nodes or edge[1] not in nodes:
            raise BadInput(f"edge {edge!r} must be (from, to), both among {', '.join(nodes)}")
    return [(a, b) for a, b in found]


def _draw(title: str, found: Mapping[str, Any], pairs: list[Edge], place: Any = layout) -> Any:
    columns = columns_of(list(found), pairs)
    places, routes, rows_high = place(list(found), pairs, columns)
    texts = {name: name if op is None else f"{name} = {op}" for name, (_, _, op) in found.items()}
    width = max(0.75, 0.28 + 0.09 * max(map(len, texts.values())))  # of a box, in inches
    n_columns = max(columns.values()) + 1
    across = max(width + 0.35, min(1.9, (WIDTH - 0.4 - width) / max(1, n_columns - 1)))
    inches = {name: (x * across, y * STEP) for name, (x, y) in places.items()}
    stops = {edge: [(x * across, y * STEP) for x, y in route] for edge, route in routes.items()}
    wide = max(WIDTH - 0.3, (n_columns - 1) * across + width + 0.1)
    axis = new_axis(title, rows_high * STEP + 0.85, width=wide + 0.3)
    for edge in pairs:
        _draw_edge(axis, inches[edge[0]], inches[edge[1]], stops[edge], width)
    for name, (value, grad, op) in found.items():
        _draw_box(axis, inches[name], texts[name], width, op is None)
        _draw_numbers(axis, inches[name], value, grad)
    middle = (n_columns - 1) * across / 2
    _frame(axis, inches, (middle - wide / 2, middle + wide / 2), found.values())
    return axis.figure


def _frame(axis: Any, places: Mapping[str, Any], sides: tuple[float, float], numbered: Any) -> None:
    """The limits of the drawing, and what the numbers over and under the boxes are."""
    heights = [y for _, y in places.values()]
    axis.set(xlim=sides, ylim=(min(heights) - 0.75, max(heights) + 0.5), aspect="equal")
    axis.set_axis_off()
    x, y = sides[0], min(heights) - 0.7
    if any(value is not None for value, _, _ in numbered):
        axis.text(x, y, "above, blue: value", color=BLUE, fontsize=10)
    if any(grad is not None for _, grad, _ in numbered):
        look = {"color": ORANGE, "style": "italic", "fontsize": 10}
        axis.text(x + 1.5, y, "below, orange and slanted: gradient", **look)


def _draw_box(axis, place, text, width, is_input):
    from matplotlib.patches import FancyBboxPatch

    corner = (place[0] - width / 2 + 0.08, place[1] - HEIGHT / 2 + 0.08)
    box = FancyBboxPatch(corner, width - 0.16, HEIGHT - 0.16, boxstyle="round,pad=0.08", zorder=3)
    box.set(facecolor="white" if is_input else "#E8F1F8", edgecolor=INK, linewidth=1.3)
    axis.add_patch(box)
    axis.text(*place, text, ha="center", va="center", fontsize=10.5, zorder=4)


def _draw_numbers(axis: Any, place: tuple[float, float], value: Any, grad: float | None) -> None:
    from matplotlib.patheffects import withStroke

    x, y = place
    behind = [withStroke(linewidth=2.5, foreground="white")]  # where an arrow passes behind it
    look: dict[str, Any] = {"ha": "center", "fontsize": 10, "zorder": 5, "path_effects": behind}
    if value is not None:
        axis.text(x, y + HEIGHT / 2 + 0.05, number(value), va="bottom", color=BLUE, **look)
    if grad is not None:
        look |= {"va": "top", "color": ORANGE, "style": "italic"}
        axis.text(x, y - HEIGHT / 2 - 0.06, number(grad), **look)


def _draw_edge(axis, start, end, between, width):
    """An arrow from the right side of a box to the left side of another, through the gaps between others."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    stops = [(start[0] + width / 2, start[1])]
    for x, y in between:
        stops += [(x - width / 2, y), (x + width / 2, y)]
    stops.append((end[0] - width / 2, end[1]))
    arrow = FancyArrowPatch(path=Path(stops), arrowstyle="-|>", mutation_scale=11)
    arrow.set(color=GREY, linewidth=1.3, joinstyle="round", zorder=2)
    axis.add_patch(arrow)


def _alt(title: str, rows: list[tuple]) -> str:
    told = []
    for name, op, inputs, value, grad in rows:
        made = (f" = {op}" if op else "") + (f" (from {inputs})" if inputs else "")
        graded = "" if grad is None else f", gradient {number(grad)}"
        valued = "" if value is None else f": value {number(value)}"
        told.append(f"{name}{made}{valued}{graded}")
    return f"{title}. Computation graph. {'; '.join(told)}."
