"""An overlapped reduction: gradients that travel while backpropagation goes on, those that wait, what is hidden."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from course_lib.errors import BadInput
from course_lib.plots.stepper.gantt import HEAD, LEFT, ROW, WIDTH, Axis
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words
from course_lib.plots.style import count
from course_lib.plots.timeline_chart import scale_of

CHIP, QUEUE = 40, HEAD + 2 * ROW + 34  # width of a gradient that waits; where they stand
MOST = 40  # gradients


class Sent(NamedTuple):
    """A layer's gradient: computed from `begin` to `ready`, on the link from `leaves` to `there`."""

    layer: Any
    begin: float
    ready: float
    leaves: float
    there: float


def step_overlap(spans: Iterable[Any], in_turn: float, title: str = "", unit: str = "s") -> Stepper:
    """A frame for each moment at which a gradient is ready, leaves or is there: what computes, travels and waits.

    spans: (row, kind, layer, start, end) each; of every layer one on row 0, its computing, and one on row 1, its
    message. in_turn: how long the same takes where nothing overlaps; the last frame compares. unit: of the times.

    Raises BadInput for spans of another form, and for more than 40 layers.
    """
    sent = _sent(spans)
    end = max(one.there for one in sent)
    axis = Axis(end, *scale_of(end, unit))
    moments = sorted({time for one in sent for time in one[1:]} - {end})
    frames = [Frame(_says(sent, now, axis), _shapes(sent, now, axis)) for now in moments]
    last = Frame(_end(sent, in_turn, axis), _shapes(sent, end, axis))
    return Stepper(title or "Sending while computing", [*frames, last], (WIDTH, QUEUE + ROW))


def _sent(spans: Iterable[Any]) -> list[Sent]:
    """The gradients in the order in which they leave."""
    rows: dict[int, dict[Any, tuple[float, float]]] = {0: {}, 1: {}}
    try:
        for row, _, layer, start, end in spans:
            rows[row][layer] = (float(start), float(end))
    except (TypeError, ValueError, KeyError):
        raise BadInput("a span is (row, kind, layer, start, end), its row 0 or 1") from None
    computed, carried = rows[0], rows[1]
    if not 1 <= len(computed) <= MOST or computed.keys() != carried.keys():
        raise BadInput(f"1 to {MOST} layers, each with one span on row 0 and one on row 1")
    found = [Sent(layer, *computed[layer], *carried[layer]) for layer in computed]
    return sorted(found, key=lambda one: one.leaves)


def _shapes(sent: Sequence[Sent], now: float, axis: Axis) -> list[Shape]:
    """What has begun, thick-edged while it runs; the time; under the axis, what waits."""
    bottom = HEAD + 2 * ROW
    names = (("computing", HEAD), ("link", HEAD + ROW), ("waiting", QUEUE))
    shapes = [words(4, y + 19, name, at="start", size=12) for name, y in names]
    shapes.append(words(LEFT, 16, "in each box: the layer", at="start", size=12))
    shapes.append(line(axis.x(0), bottom + 4, axis.x(axis.end), bottom + 4))
    shapes.append(words(axis.x(0), bottom + 20, "0", at="start", size=12))
    shapes.append(words(axis.x(axis.end), bottom + 20, axis.said(axis.end), at="end", size=12))
    for one in sent:
        shapes += _bar(one.layer, 0, one.begin, one.ready, now, axis)
        shapes += _bar(one.layer, 1, one.leaves, one.there, now, axis)
    for place, one in enumerate(_waiting(sent, now)):
        x = LEFT + (CHIP + 6) * place
        shapes.append(box(x, QUEUE + 2, CHIP, ROW - 6, "grey", str(one.layer), f"w{one.layer}", 11))
    return [*shapes, line(axis.x(now), HEAD - 4, axis.x(now), bottom + 4, "ink")]


def _bar(layer: Any, row: int, start: float, end: float, now: float, axis: Axis) -> list[Shape]:
    """The bar of what has begun; drawn whole, as the model knows when it will end."""
    if start > now or (start == now == axis.end):
        return []
    look = ("green", "orange")[row] + " bold" * (now < end)
    x, width = axis.x(start), axis.x(end) - axis.x(start)
    label = str(layer) if width >= 6.6 * len(str(layer)) + 3 else ""
    y = HEAD + ROW * row + 2
    return [box(x, y, max(width, 1), ROW - 6, look, label, f"{row}.{layer}", 11)]


def _waiting(sent: Sequence[Sent], now: float) -> list[Sent]:
    return [one for one in sent if one.ready <= now < one.leaves]


def _says(sent: Sequence[Sent], now: float, axis: Axis) -> str:
    computes = [f"the rank computes layer {s.layer}" for s in sent if s.begin <= now < s.ready]
    carries = [f"the link carries layer {s.layer}" for s in sent if s.leaves <= now < s.there]
    over = sum(one.there <= now for one in sent)
    told = [
        *(computes or ["the rank has nothing left to compute"]),
        *(carries or ["the link is idle"]),
    ]
    waits = ", ".join(str(one.layer) for one in _waiting(sent, now))
    queue = f", waiting: {waits}" if waits else ""
    return f"At {axis.said(now)} {' and '.join(told)}{queue}; {over} of {len(sent)} are summed."


def _end(sent: Sequence[Sent], in_turn: float, axis: Axis) -> str:
    done = f"The end, after {axis.said(axis.end)}: {count(len(sent), 'gradient')} summed."
    hidden = in_turn - axis.end
    return (
        f"{done} In turn it takes {axis.said(in_turn)}; overlap hides {axis.said(hidden)} of "
        f"that, {hidden / in_turn:.0%}."
    )
