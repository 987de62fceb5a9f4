"""Launches of kernels one by one: a row for each kernel, and on one axis the bytes that each launch asks for."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words
from course_lib.plots.warp_request import SECTOR

WIDTH, LEFT, ROW, TOP = 520, 106, 26, 26
LOOKS = {"load": "blue", "store": "orange"}
MOST = 60  # launches: narrower bars cannot be told apart


class Launch(NamedTuple):
    """Of a kernel: bytes loaded and stored, each as {array: bytes}; `start`: the bytes of all launches before."""

    kernel: str
    load: dict[str, int]
    store: dict[str, int]
    start: int

    @property
    def end(self) -> int:
        """The bytes of all launches up to this one."""
        return self.start + sum(self.load.values()) + sum(self.store.values())


def step_launches(reports: Sequence[tuple[str, Any]], title: str = "") -> Stepper:
    """A frame for each launch: which kernel runs, and the bytes of global memory that it loads and stores.

    reports: (kernel, report of cpu_engine.trace) each, in the order of the launches, such as `Kernels.reports`. Bytes
    are 32 for each sector that is asked for: what caches catch is in them. The last sentence has the sum.

    Raises BadInput for no launches, more than 60, or none that touches global memory.
    """
    if not 1 <= len(reports) <= MOST:
        raise BadInput(f"{_count(reports)}: a stepper shows 1 to {MOST}")
    launches = _launches(reports)
    if not launches[-1].end:
        raise BadInput("no launch touches global memory: there is nothing to step through")
    rows = list(dict.fromkeys(launch.kernel for launch in launches))
    frames = [_frame(launches, n, rows) for n in range(len(launches))]
    frames.append(Frame(_sum(launches), _drawn(launches, len(launches), rows)))
    return Stepper(title or "What each launch moves", frames, (WIDTH, TOP + ROW * len(rows) + 34))


def _launches(reports: Sequence[tuple[str, Any]]) -> list[Launch]:
    found: list[Launch] = []
    for kernel, report in reports:
        start = found[-1].end if found else 0
        found.append(Launch(kernel, _bytes(report, "load"), _bytes(report, "store"), start))
    return found


def _bytes(report: Any, op: str) -> dict[str, int]:
    """{array: bytes of the sectors that requests of this kind ask for}."""
    moved: dict[str, int] = {}
    for row in report.accesses:
        if row["space"] == "global" and row["op"] == op:
            moved[row["array"]] = moved.get(row["array"], 0) + SECTOR * row["sectors"]
    return moved


def _frame(launches: Sequence[Launch], n: int, rows: Sequence[str]) -> Frame:
    launch = launches[n]
    loads, stores = _told(launch.load), _told(launch.store)
    says = f"Launch {n + 1} of {len(launches)}, {launch.kernel}: loads {loads}; stores {stores}."
    return Frame(f"{says} So far {launch.end:,} bytes.", _drawn(launches, n, rows))


def _told(moved: dict[str, int]) -> str:
    return ", ".join(f"{name} {size:,} bytes" for name, size in moved.items()) or "nothing"


def _sum(launches: Sequence[Launch]) -> str:
    loads, stores = (sum(sum(getattr(launch, op).values()) for launch in launches) for op in LOOKS)
    total = f"{_count(launches)} asked for {launches[-1].end:,} bytes"
    return f"The end: {total}, {loads:,} in loads and {stores:,} in stores."


def _count(launches: Sequence[Any]) -> str:
    return f"{len(launches)} launch{'es' * (len(launches) != 1)}"


def _drawn(launches: Sequence[Launch], now: int, rows: Sequence[str]) -> list[Shape]:
    """The axis, and the launches up to number `now`, which has a thick edge; at the end it is one too many."""
    scale = (WIDTH - LEFT - 10) / launches[-1].end
    shapes = _axis(launches[-1].end, rows)
    for n, launch in enumerate(launches[: now + 1]):
        y = TOP + ROW * rows.index(launch.kernel) + 2
        shapes += _bars(launch, n, y, scale, " bold" * (n == now))
    return shapes


def _axis(end: int, rows: Sequence[str]) -> list[Shape]:
    """The names of the rows, the colours, and where the bytes end."""
    right, bottom = WIDTH - 10, TOP + ROW * len(rows)
    shapes = [line(LEFT, bottom + 4, right, bottom + 4)]
    shapes.append(words(right, bottom + 22, f"{end:,} bytes", at="end", size=12))
    for n, name in enumerate(rows):
        shapes.append(words(4, TOP + ROW * n + 17, name, at="start", size=12))
    for n, (op, look) in enumerate(LOOKS.items()):
        shapes.append(box(LEFT + 90 * n, 5, 14, 12, look))
        shapes.append(words(LEFT + 90 * n + 19, 16, f"{op}s", at="start", size=12))
    return shapes


def _bars(launch: Launch, n: int, y: float, scale: float, thick: str) -> list[Shape]:
    """What a launch loads, and behind it what it stores."""
    x, bars = LEFT + scale * launch.start, list[Shape]()
    for op, look in LOOKS.items():
        wide = scale * sum(getattr(launch, op).values())
        if wide:
            bars.append(box(x, y, max(wide, 1), ROW - 6, look + thick, "", f"{op}{n}"))
        x += wide
    return bars
