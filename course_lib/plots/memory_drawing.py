"""A GPU's memories: a multiprocessor and what lies in it, L2 and device memory outside, with sizes and waits."""

from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, COLOURS, FAINT, GREEN, GREY, INK, ORANGE
from course_lib.plots.style import WIDTH, drawing_axis, number, styled
from course_lib.plots.tile_drawing import PALE, put_text, rectangle

LEVELS = "registers", "shared memory", "L1", "L2", "device memory"
PARTS = 4  # schedulers of an SM, each with its own registers
TOP, ROW, GAP = 48.0, 38.0, 12.0  # points: above the first level, a level's height, between levels
BAR, THICK = 70.0, 5.0  # where a wait's bar begins, right of its number; how thick it is
DRAWN = 218.0  # how wide the drawing is; the numbers begin right of it
SIZES = ("bytes", 1), ("KiB", 1024), ("MiB", 1024**2), ("GiB", 1024**3)


@styled
def memory_levels(chips, *, title: str = "") -> Figure:
    """The memories of GPUs: for each its size, and the cycles that a thread waits for a number from there.

    chips: {name: {level: (bytes, cycles)}}, up to three, each with all of LEVELS; cycles may be None: not measured.
    Bytes of registers, shared memory and L1 are those of one SM, of L2 and device memory those of the GPU.

    >>> memory_levels({"V100": {"registers": (2**18, 4), ...}})                          # doctest: +SKIP

    Raises BadInput for a level that is missing or unknown, more than three chips, or none.
    """
    _check(chips)
    title = title or "Where a number can be, and how long a thread waits for it"
    axis = drawing_axis(title, TOP + len(LEVELS) * (ROW + GAP) + 4)
    _multiprocessor(axis)
    for level, colour in (("L2", COLOURS[3]), ("device memory", GREY)):
        _box(axis, 10, _top(level), DRAWN - 10, ROW, level, colour)
    _numbers(axis, chips)
    rows = [(name, level, *found[level]) for name, found in chips.items() for level in LEVELS]
    header = ["GPU", "memory", "bytes", "cycles"]
    return Figure(axis.figure, title, f"{title}. {_describe(chips)}", header, rows)


def _check(chips):
    if not 1 <= len(chips) <= 3:
        raise BadInput(f"memory_levels shows one to three chips, not {len(chips)}")
    for name, found in chips.items():
        if set(found) != set(LEVELS):
            raise BadInput(f"{name}: its levels must be {', '.join(LEVELS)}")


def _top(level: str) -> float:
    return TOP + LEVELS.index(level) * (ROW + GAP)


def _box(axis: Any, x: float, y: float, wide: float, high: float, text: str, colour: str) -> None:
    rectangle(axis, x, y, wide, high, PALE.get(colour, FAINT), edgecolor=colour, linewidth=1)
    put_text(axis, x + wide / 2, y + high / 2, text, ha="center", fontsize=9.5)


def _multiprocessor(axis: Any) -> None:
    """Four schedulers with their registers; shared memory and L1, which share one place, under all of them."""
    for behind in (6, 3, 0):  # there are many of them
        look = {"edgecolor": GREY if behind else INK, "linewidth": 0.8}
        corner = 10 + behind, TOP - 16 - behind
        rectangle(axis, *corner, DRAWN - 10, 3 * (ROW + GAP) + 10, "white", **look)
    put_text(axis, 14, TOP - 8, "one multiprocessor (SM)", fontsize=8, color=GREY)
    wide = (DRAWN - 24 - 6 * (PARTS - 1)) / PARTS
    for part in range(PARTS):
        text = "scheduler,\nFMA units,\nregisters"
        x = 17 + part * (wide + 6)
        rectangle(axis, x, _top("registers"), wide, ROW, PALE[BLUE], edgecolor=BLUE, linewidth=1)
        put_text(axis, x + wide / 2, _top("registers") + ROW / 2, text, ha="center", fontsize=7.5)
    for level, colour in (("shared memory", ORANGE), ("L1", GREEN)):
        text = level if level != "L1" else "L1: of one piece with shared memory"
        _box(axis, 17, _top(level), DRAWN - 24, ROW, text, colour)


def _numbers(axis: Any, chips: Any) -> None:
    """A column for each chip: the size, and under it the wait."""
    wide = (WIDTH * 72 - DRAWN - 24) / len(chips)
    longest = max(cycles or 0 for found in chips.values() for _, cycles in found.values())
    for column, (name, found) in enumerate(chips.items()):
        x = DRAWN + 18 + column * wide
        put_text(axis, x, TOP - 11, name, fontweight="bold", fontsize=9.5)
        for level in LEVELS:
            size, cycles = found[level]
            y = _top(level) + ROW / 2
            put_text(axis, x, y - 7, _size(size), fontsize=9.5)
            put_text(axis, x, y + 8, _wait(cycles), fontsize=9.5)
            if cycles:
                length = (wide - BAR - 12) * cycles / longest
                rectangle(axis, x + BAR, y + 8 - THICK / 2, length, THICK, BLUE)


def _size(size: int) -> str:
    """2**18 -> "256 KiB"."""
    name, unit = next(pair for pair in reversed(SIZES) if size >= pair[1])
    return f"{number(size / unit)} {name}"


def _wait(cycles: float | None) -> str:
    return "wait not measured" if cycles is None else f"{number(cycles)} cycles"


def _describe(chips: Any) -> str:
    text = "A multiprocessor has four schedulers, each with FMA units and registers; under all of them lie shared "
    text += "memory and L1. L2 and device memory lie outside, for all multiprocessors. "
    for name, found in chips.items():
        told = (f"{level} {_size(found[level][0])}, {_wait(found[level][1])}" for level in LEVELS)
        text += f"{name}: {'; '.join(told)}. "
    return text.strip()
