"""Every order in which threads can take their acts: one frame each, and at the end which of them are right."""

from collections.abc import Sequence
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, words
from course_lib.plots.style import number

LEFT, ACT, ROW, TOP, OUTCOME = 76, 88, 44, 16, 86  # width of an act and of the outcome
LOOKS = ("blue", "amber", "pink", "grey")
MOST = 24  # orders whose outcomes fit under each other


def step_orders(
    runs: Sequence[Any], right: float, title: str = "Every order of the acts"
) -> Stepper:
    """A frame for each run: its acts from left to right, in the row of their thread, and what is left at the end.

    runs: for each order the acts as they were run, (thread, what it did, the number that it saw or left); the number
    of the last act is the outcome. right: what the outcome should be. The last frame has all outcomes.

    Raises BadInput for no runs, more than 24, or acts of another form.
    """
    try:
        told = [[(int(t), str(what), float(value)) for t, what, value in run] for run in runs]
    except (TypeError, ValueError):
        raise BadInput("a run is a list of acts: (thread, what it did, the number)") from None
    if not 1 <= len(told) <= MOST or not all(told):
        raise BadInput(f"{len(told)} runs: a stepper shows 1 to {MOST}, each with an act")
    frames = [_order(n, acts, right) for n, acts in enumerate(told, 1)]
    longest, rows = max(map(len, told)), 1 + max(t for acts in told for t, _, _ in acts)
    size = (LEFT + ACT * longest + OUTCOME + 8, max(TOP + ROW * rows, 24 * len(told)) + 16)
    return Stepper(title, [*frames, _all(told, right)], size)


def _order(n: int, acts: Sequence[tuple[int, str, float]], right: float) -> Frame:
    shapes = [
        words(4, TOP + ROW * t + 25, f"thread {t}", at="start", size=12)
        for t in sorted({t for t, _, _ in acts})
    ]
    for place, (t, what, value) in enumerate(acts):
        text = f"{what} {number(value)}"
        spot = LEFT + ACT * place, TOP + ROW * t
        shapes.append(box(*spot, ACT - 6, ROW - 8, LOOKS[t % len(LOOKS)], text, f"{t}.{what}", 12))
    shapes.append(_outcome(LEFT + ACT * len(acts), TOP, ROW - 8, acts[-1][2], right))
    done = ", ".join(f"{t} {what} {number(value)}" for t, what, value in acts)
    verdict = "right" if acts[-1][2] == right else f"wrong, it should be {number(right)}"
    return Frame(f"Order {n}: {done}. The total is {number(acts[-1][2])}: {verdict}.", shapes)


def _outcome(x: float, y: float, high: float, value: float, right: float) -> Shape:
    look, mark = ("green", "✓") if value == right else ("orange bold", "✗")
    return box(x, y, OUTCOME, high, look, f"total {number(value)} {mark}", size=12)


def _all(told: Sequence[Any], right: float) -> Frame:
    """A line for each order: its acts by their first letter and thread, and its outcome."""
    shapes = list[Shape]()
    for n, acts in enumerate(told):
        y = 8 + 24 * n
        shapes.append(words(4, y + 15, f"order {n + 1}", at="start", size=12))
        for place, (t, what, _) in enumerate(acts):
            spot = LEFT + ACT * place, y
            shapes.append(box(*spot, ACT - 6, 20, LOOKS[t % len(LOOKS)], f"{t} {what}", size=11))
        shapes.append(_outcome(LEFT + ACT * len(acts), y, 20, acts[-1][2], right))
    good = sum(acts[-1][2] == right for acts in told)
    return Frame(f"{good} of {len(told)} orders are right; the others have lost an update.", shapes)
