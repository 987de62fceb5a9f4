"""An array on every rank, step by step: which part travels where, and which parts are finished."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, arrow, box, words
from course_lib.plots.style import count

# width of a rank's column; between columns; above; left of the first
CELL, GAP, TOP, LEFT = 64, 36, 44, 66
ROW = 34


def step_arrays(report: Any, title: str = "The array of every rank, step by step") -> Stepper:
    """A column for each rank with the parts of its array; each frame shows what one step has sent and changed.

    report: of mpi.rehearse, or its results: for each rank a list of states, a state before the first step and one after
    each. A state is a dict with array (the numbers of this rank) and, after a step, to (the rank it sent to) and sent
    (the places in the array that it sent). A part is finished when it holds the sum over all ranks at the start.

    Raises BadInput for ranks that did not take equally many steps, or arrays of unequal lengths.
    """
    ranks = _checked(getattr(report, "results", report))
    total = np.sum([states[0]["array"] for states in ranks], axis=0).tolist()
    steps = list(zip(*ranks, strict=True))
    frames = [_frame(n, steps, total) for n in range(len(steps))]
    width = LEFT + len(ranks) * (CELL + GAP)
    return Stepper(title, frames, (width, TOP + ROW * len(total) + 8))


def _checked(results: Any) -> list[list[dict[str, Any]]]:
    wanted = "for each rank a list of dicts with array, to and sent"
    try:
        ranks = [
            [{**state, "array": np.asarray(state["array"]).tolist()} for state in states]
            for states in results
        ]
    except (TypeError, KeyError):
        raise BadInput(f"the record must hold {wanted}") from None
    lengths = {len(states) for states in ranks}
    parts = {len(state["array"]) for states in ranks for state in states}
    if len(lengths) != 1 or len(parts) != 1 or not min(lengths | parts):
        raise BadInput(
            f"the ranks took {sorted(lengths)} steps with {sorted(parts)} parts: {wanted}"
        )
    return ranks


def _frame(n: int, steps: Sequence[Any], total: list[Any]) -> Frame:
    """What is there after step n."""
    before, now = steps[max(n - 1, 0)], steps[n]
    shapes = [words(LEFT + (CELL + GAP) * r + CELL / 2, 24, f"rank {r}") for r in range(len(now))]
    shapes += [
        words(4, _row(part) + 22, f"part {part}", at="start", size=11) for part in range(len(total))
    ]
    done = 0
    for r, state in enumerate(now):
        for part, value in enumerate(state["array"]):
            finished, changed = value == total[part], value != before[r]["array"][part]
            done += finished
            look = ("green" if finished else "orange" if changed else "blue") + " bold" * changed
            shapes.append(box(_left(r), _row(part), CELL, ROW - 4, look, value, f"{r}.{part}"))
    sent = [(r, state["to"], part) for r, state in enumerate(now) if n for part in state["sent"]]
    for r, to, part in sent:
        shapes += _way(r, to, _row(part) + ROW / 2 - 2, len(now))
    return Frame(_says(n, len(steps) - 1, sent, done, len(now) * len(total)), shapes)


def _left(r: int) -> float:
    return LEFT + (CELL + GAP) * r


def _row(part: int) -> float:
    return TOP + ROW * part - 8


def _way(r: int, to: int, y: float, p: int) -> list[Shape]:
    """The arrow of a part; from the last rank to the first it leaves on the right and comes in on the left."""
    if to == r + 1:
        return [arrow(_left(r) + CELL + 2, y, _left(to) - 3, y, "orange")]
    if to == 0 and r == p - 1:
        out = arrow(_left(r) + CELL + 2, y, _left(r) + CELL + GAP - 12, y, "orange")
        return [out, arrow(LEFT - 20, y, LEFT - 2, y, "orange")]
    start, end = (CELL, -3) if to > r else (0, CELL + 3)
    return [arrow(_left(r) + start, y, _left(to) + end, y, "orange", bend=9 if to > r else -9)]


def _says(n: int, steps: int, sent: Sequence[Any], done: int, cells: int) -> str:
    if not n:
        return (
            f"Before the first step every rank has its own array; {done} of {cells} parts are sums."
        )
    each = len(sent) / len({r for r, _, _ in sent}) if sent else 0
    parts = count(int(each), "part") if each == int(each) else f"{each:g} parts"
    return (
        f"Step {n} of {steps}: each rank sends {parts}; {done} of {cells} parts are the whole sum."
    )
