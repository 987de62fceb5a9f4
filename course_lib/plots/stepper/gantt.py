"""Bars on a time axis, a row for each thread or rank: a run task by task, or several schedules behind one slider."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words
from course_lib.plots.style import count, sentence
from course_lib.plots.timeline_chart import four_digits, scale_of
from course_lib.plots.warp_request import ranges

WIDTH, LEFT, ROW, HEAD = 520, 74, 30, 26
KINDS = {"forward": "green", "delta": "blue", "grad": "orange", "compute": "green", "wait": "grey"}
OTHERS = ("pink", "amber", "blue", "orange")
MOST = 120  # tasks: more bars than that cannot be told apart


class Task(NamedTuple):
    """A bar; label: what stands in it, where it fits."""

    row: int
    kind: str
    label: Any
    start: float
    end: float


class Axis(NamedTuple):
    """Where times lie: `end` is at the right edge; scale and unit as they are said."""

    end: float
    scale: float
    unit: str

    def x(self, time: float) -> float:
        """A time's place in the picture."""
        return LEFT + (WIDTH - LEFT - 10) * time / self.end

    def said(self, time: float) -> str:
        """A time in words."""
        return f"{four_digits(time / self.scale)} {self.unit}"


def step_timeline(spans: Any, title: str = "", unit: str = "s", row: str = "thread") -> Stepper:
    """A frame for each task, at its start: what has run, what runs now, and what waits.

    spans: a Timeline of course_lib.threads, or (row, kind, label, start, end) each. unit: of the times: "s", shown as
    milliseconds or microseconds where that reads better, or what one unit of a simulated time is.

    Raises BadInput for no tasks, and for more than 120.
    """
    tasks = _tasks(spans)
    axis = _axis(max(task.end for task in tasks), unit)
    looks = _looks(tasks)
    moments = sorted({task.start for task in tasks} | {axis.end})
    frames = [_moment(tasks, moment, axis, looks, row) for moment in moments]
    rows = 1 + max(task.row for task in tasks)
    return Stepper(title or "What runs when", frames, (WIDTH, HEAD + ROW * rows + 34))


def step_schedules(
    cases: Mapping[str, Mapping[str, Any]], title: str = "", unit: str = "units of time"
) -> Stepper:
    """Schedules under each other on one scale; the slider goes from case to case.

    cases: {"k = 2": {"leapfrogging": a Timeline, "deferred": another}, ...}. What the sentence says of each is its
    makespan.

    Raises BadInput for no cases, or a case without tasks.
    """
    charts = {
        case: {name: _tasks(line) for name, line in lines.items()} for case, lines in cases.items()
    }
    if not charts or not all(charts.values()):
        raise BadInput("there are no schedules to compare")
    everything = [task for lines in charts.values() for tasks in lines.values() for task in tasks]
    axis, looks = _axis(max(task.end for task in everything), unit), _looks(everything)
    drawn = {case: _case(lines, axis, looks) for case, lines in charts.items()}
    height = max(y for _, y in drawn.values())
    frames = [
        Frame(_lengths(charts[case], axis), shapes, case) for case, (shapes, _) in drawn.items()
    ]
    return Stepper(title or "Schedules side by side", frames, (WIDTH, height + 6))


def _tasks(spans: Iterable[Any]) -> list[Task]:
    tasks = [Task(*span) for span in spans]
    if not tasks or len(tasks) > MOST:
        raise BadInput(f"{count(len(tasks), 'task')}: a stepper shows 1 to {MOST}")
    first = min(task.start for task in tasks)
    moved = [task._replace(start=task.start - first, end=task.end - first) for task in tasks]
    return sorted(moved, key=lambda task: (task.start, task.row))


def _axis(end: float, unit: str) -> Axis:
    return Axis(end or 1.0, *scale_of(end, unit))


def _looks(tasks: Iterable[Task]) -> dict[str, str]:
    kinds = dict.fromkeys(task.kind for task in tasks)
    others = [kind for kind in kinds if kind not in KINDS]
    return KINDS | {kind: OTHERS[n % len(OTHERS)] for n, kind in enumerate(others)}


def _moment(tasks, moment, axis, looks, row) -> Frame:
    """What has begun at this moment; what is over has a thin edge, what runs a thick one."""
    rows = 1 + max(task.row for task in tasks)
    shapes = _rows(rows, HEAD, row) + _scale(axis, HEAD + ROW * rows)
    shapes += _legend(dict.fromkeys(task.kind for task in tasks), looks)
    for n, task in enumerate(tasks):
        if task.start <= moment < axis.end or task.end <= moment:
            runs = task.end > moment
            until = moment if runs and task.start < moment else task.end
            shapes.append(_bar(task, until, HEAD, axis, looks[task.kind] + " bold" * runs, f"b{n}"))
    shapes.append(line(axis.x(moment), HEAD - 4, axis.x(moment), HEAD + ROW * rows + 4, "ink"))
    return Frame(_doing(tasks, moment, axis, row), shapes)


def _bar(task, until, top, axis, look, key="") -> Shape:
    x, width = axis.x(task.start), axis.x(until) - axis.x(task.start)
    texts = (
        f"{task.kind[:1]}{task.label}",
        str(task.label),
        "",
    )  # the letter says what the colour says
    label = next(text for text in texts if width >= 6.6 * len(text) + 3 or not text)
    return box(x, top + ROW * task.row + 2, max(width, 1), ROW - 6, look, label, key, 11)


def _doing(tasks, moment, axis, row) -> str:
    over = sum(task.end <= moment for task in tasks)
    if over == len(tasks):
        return f"The end, after {axis.said(axis.end)}: {count(over, 'task')} done."
    begin: dict[str, list[int]] = {}
    for task in tasks:
        if task.start == moment:
            begin.setdefault(f"{task.kind} {task.label}".strip(), []).append(task.row)
    told = [f"{_who(row, who)} {what}" for what, who in begin.items()]
    return f"At {axis.said(moment)} {', '.join(told)}; {over} of {len(tasks)} tasks are done."


def _who(row: str, who: list[int]) -> str:
    """The rows that begin the same: "ranks 0–3 begin"."""
    return f"{row}s {ranges(who)} begin" if len(who) > 1 else f"{row} {who[0]} begins"


def _case(lines, axis, looks) -> tuple[list[Shape], float]:
    """The charts of a case under each other, and where they end."""
    kinds = dict.fromkeys(task.kind for tasks in lines.values() for task in tasks)
    shapes, y = _legend(kinds, looks), 30.0
    for name, tasks in lines.items():
        rows, end = 1 + max(task.row for task in tasks), max(task.end for task in tasks)
        shapes.append(words(LEFT, y + 12, f"{name}: {axis.said(end)}", at="start"))
        shapes += _rows(rows, y + 20, "thread")
        shapes += [
            _bar(
                task,
                task.end,
                y + 20,
                axis,
                looks[task.kind],
                f"{name}.{task.kind}{task.label}.{n}",
            )
            for n, task in enumerate(tasks)
        ]
        y += 20 + ROW * rows
    return shapes + _scale(axis, y), y + 30


def _lengths(lines, axis) -> str:
    told = [f"{name} {axis.said(max(task.end for task in tasks))}" for name, tasks in lines.items()]
    return sentence(f"{', '.join(told)}.")


def _rows(rows: int, top: float, name: str) -> list[Shape]:
    return [words(4, top + ROW * n + 19, f"{name} {n}", at="start", size=12) for n in range(rows)]


def _scale(axis: Axis, y: float) -> list[Shape]:
    ends = [words(axis.x(0), y + 20, "0", at="start", size=12)]
    ends.append(words(axis.x(axis.end), y + 20, axis.said(axis.end), at="end", size=12))
    return [line(axis.x(0), y + 4, axis.x(axis.end), y + 4), *ends]


def _legend(kinds: Iterable[str], looks: Mapping[str, str]) -> list[Shape]:
    shapes, x = list[Shape](), float(LEFT)
    for kind in kinds:
        shapes.append(box(x, 5, 14, 12, looks[kind], kind[:1], size=11))
        shapes.append(words(x + 19, 16, kind, at="start", size=12))
        x += 36 + 7.2 * len(kind)
    return shapes
