"""A step on several threads under the same step on one: how many times as fast, frame by frame."""

from collections.abc import Mapping
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.gantt import step_schedules
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.style import count


def step_fork_join(cases: Mapping[str, tuple[Any, Any]], title: str = "") -> Stepper:
    """A frame for each case, on a time axis of its own; its sentence has the speed-up and the efficiency.

    cases: {"B = 64, T = 2": (the step on one thread, the step on T)}, each a Timeline of course_lib.threads, or
    (thread, kind, label, start, end) in seconds for each task; it starts at 0.

    Raises BadInput for no cases, a case that is no pair, or a step without tasks.
    """
    if not cases:
        raise BadInput("there are no steps to compare")
    drawn = {name: _frame(name, case) for name, case in cases.items()}
    width = max(size[0] for _, size in drawn.values())
    height = max(size[1] for _, size in drawn.values())
    frames = [frame for frame, _ in drawn.values()]
    return Stepper(title or "One thread and several", frames, (width, height))


def _frame(name: str, case: Any) -> tuple[Frame, tuple[float, float]]:
    try:
        one, many = (list(spans) for spans in case)
    except (TypeError, ValueError):
        raise BadInput(f"{name}: give a pair, the step on one thread and on several") from None
    charts = {"one thread": one, "several threads": many}
    picture = step_schedules({name: charts}, unit="s")
    before, after = (max(span[-1] for span in spans) for spans in (one, many))
    T = 1 + max(span[0] for span in many)
    gain = f"{before / after:.2f} times as fast, efficiency {before / after / T:.0%}"
    return Frame(
        f"{count(T, 'thread')}: {gain}. {picture.last.says}", picture.last.shapes, name
    ), picture.size
