"""A network as neurons and edges, as figure 3 of Kamra et al. 2016 draws it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, GREEN, GREY, INK, ORANGE
from course_lib.plots.style import WIDTH, new_axis, styled

SHOWN = 7  # places in a larger layer: four neurons, dots, two neurons
STEP, RADIUS = 0.36, 0.13  # inches from neuron to neuron, and their radius
Place = tuple[float, float]


@styled
def network(sizes: Sequence[int], *, title: str = "") -> Figure:
    """Neurons and edges of a fully connected network; a layer of more than 7 neurons is abridged with dots.

    sizes: neurons in each layer, input first, two to six layers.

    >>> network((784, 1024, 10))                             # doctest: +SKIP

    Raises BadInput for fewer than two layers, more than six, or sizes below 1.
    """
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or not 2 <= len(sizes) <= 6:
        raise BadInput(f"sizes must name two to six layers, such as (784, 1024, 10), not {sizes!r}")
    sizes = [check_count(f"sizes[{i}]", n) for i, n in enumerate(sizes)]
    n_params = sum(n_in * n_out + n_out for n_in, n_out in pairwise(sizes))
    title = title or f"A network of sizes {', '.join(map(str, sizes))}: {n_params:,} parameters"
    # from the middle to the edge of the tallest layer
    half = (min(max(sizes), SHOWN) - 1) / 2 * STEP + RADIUS
    axis = new_axis(title, 2 * half + 1.95)
    apart = min(2.6, (WIDTH - 1.2) / (len(sizes) - 1))
    layers = [_places(n, apart * i) for i, n in enumerate(sizes)]
    _draw_edges(axis, layers)
    for i, n in enumerate(sizes):
        _draw_layer(axis, layers[i], n, kind(i, len(sizes)), half)
    _name_weights(axis, sizes, apart, half)
    margin = (WIDTH - 0.3 - apart * (len(sizes) - 1)) / 2
    axis.set(xlim=(-margin, WIDTH - 0.3 - margin), ylim=(-half - 0.75, half + 0.55), aspect="equal")
    axis.set_axis_off()
    header = ("layer", "kind", "neurons", "weights into it", "biases")
    return Figure(axis.figure, title, _alt(title, sizes), header, _rows(sizes))


def kind(i: int, n_layers: int) -> str:
    return "input" if i == 0 else "output" if i == n_layers - 1 else "hidden"


def _places(n: int, x: float) -> list[Place]:
    """Where the neurons that are drawn stand, from the top; in an abridged layer the fifth place is the dots'."""
    shown = min(n, SHOWN)
    return [(x, ((shown - 1) / 2 - k) * STEP) for k in range(shown) if n <= SHOWN or k != 4]


def _draw_edges(axis: Any, layers: list[list[Place]]) -> None:
    from matplotlib.collections import LineCollection

    segments = [(a, b) for left, right in pairwise(layers) for a in left for b in right]
    axis.add_collection(LineCollection(segments, colors="#B5B5B5", linewidths=0.7, zorder=1))


def _draw_layer(axis: Any, places: list[Place], n: int, what: str, half: float) -> None:
    from matplotlib.patches import Circle

    colour = {"input": GREEN, "hidden": BLUE, "output": ORANGE}[what]
    look: dict[str, Any] = {"facecolor": "white", "edgecolor": colour, "linewidth": 2, "zorder": 3}
    for place in places:
        axis.add_patch(Circle(place, RADIUS, **look))
    x = places[0][0]
    if n > SHOWN:
        axis.scatter([x] * 3, [-STEP + d for d in (0.075, 0.0, -0.075)], s=9, color=INK, zorder=3)
    axis.text(x, half + 0.33, what, ha="center", va="baseline")
    axis.text(x, half + 0.12, f"{n:,}", ha="center", va="baseline", fontweight="bold")


def _name_weights(axis: Any, sizes: Sequence[int], apart: float, half: float) -> None:
    gap = " " if apart > 1.7 else "\n"
    for i, (n_in, n_out) in enumerate(pairwise(sizes)):
        text = f"W[{i}]{gap}({n_in}, {n_out})\nb[{i}] ({n_out},)"
        place = ((i + 0.5) * apart, -half - 0.12)
        axis.text(*place, text, ha="center", va="top", fontsize=10, color=GREY, linespacing=1.3)


def _rows(sizes: Sequence[int]) -> list[tuple]:
    before = [0, *sizes]
    return [(i, kind(i, len(sizes)), n, before[i] * n, n if i else 0) for i, n in enumerate(sizes)]


def _alt(title: str, sizes: Sequence[int]) -> str:
    layers = ", ".join(f"{kind(i, len(sizes))} layer of {n:,}" for i, n in enumerate(sizes))
    abridged = " Large layers are abridged with dots." if max(sizes) > SHOWN else ""
    return f"{title}. From left to right: {layers}. Every neuron is joined to every neuron of the next layer.{abridged}"
