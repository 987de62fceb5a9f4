"""A tile of D = A B, and the tiles of A and B that one block reads for it, step by step through K."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, FAINT, GREEN, GREY, INK, ORANGE
from course_lib.plots.style import WIDTH, count, drawing_axis, number, styled, two_lines

PALE = {BLUE: "#D3E6F2", ORANGE: "#F9DFD0", GREEN: "#CFEBE2"}
PAST = {BLUE: "#8FC1E0", ORANGE: "#EDB08B"}
MARGIN, GAP, HEAD = 10.0, 9.0, 20.0  # points: around, between matrices, for the name of a step
# steps; points: of A and B's height together; from line to line
MOST_STEPS, TALL, LINE = 4, 175.0, 16.0

Pair = tuple[int, int]


@dataclass(frozen=True)
class Tiling:
    """Sizes of the matrices, of a block's tile and of a thread's; which block and which thread are shown."""

    size: tuple[int, int, int]
    tile: tuple[int, int, int]
    thread: tuple[int, int]
    block: tuple[int, int]
    marked: tuple[int, int]

    @property
    def owner(self) -> str:
        """Whose the tile is: where it is one element, a thread needs no block to help."""
        return "block" if self.tile[0] * self.tile[1] > 1 else "thread"

    def part(self, axis: int, step: int = 0) -> tuple[int, int]:
        """First and one past the last row (axis 0), column (1), or k in a step (2) of the block shown."""
        first = (*self.block, step)[axis] * self.tile[axis]
        return first, min(first + self.tile[axis], self.size[axis])

    def extent(self, axis: int, step: int = 0) -> int:
        first, end = self.part(axis, step)
        return end - first

    def mine(self, axis: int) -> tuple[int, int]:
        """First and one past the last row or column of the marked thread, in its block's tile."""
        first = self.marked[axis] * self.thread[axis]
        return first, min(first + self.thread[axis], self.extent(axis))


@styled
def gemm_tiles(
    M, N, K, BM, BN, BK, steps=None, TM=1, TN=1, *, block=None, thread=None, title=""
) -> Figure:
    """D = A B by tiles: one block's tile of D, the tiles of A and B that it reads in some steps, and one thread's part.

    M, N, K: A is (M, K), B (K, N), D (M, N). BM, BN, BK: a block owns BM x BN elements of D and reads BM x BK of A and
    BK x BN of B in each step. TM, TN: the elements of D of one thread. The naive kernel: BM = BN = BK = 1.
    steps: which steps through K to draw, up to four; without it the first, the second and the last.
    block, thread: (down, across), which tile of D, and which thread in it; without them, ones that are easily seen.

    >>> gemm_tiles(128, 128, 128, 32, 32, 32)                                            # doctest: +SKIP

    Raises BadInput for sizes below 1, a thread's tile larger than the block's, or a step, block or thread not there.
    """
    names = {"M": M, "N": N, "K": K, "BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}
    M, N, K, BM, BN, BK, TM, TN = (check_count(name, value) for name, value in names.items())
    if TM > BM or TN > BN:
        limit = f"larger than its block's, {BM} x {BN}"
        raise BadInput(f"a thread's tile, {TM} x {TN}, must not be {limit}")
    tiles, last = (up(M, BM), up(N, BN)), up(K, BK) - 1
    block = _place("block", block, tiles, ((tiles[0] - 1) // 2, (tiles[1] - 1) // 2))
    shape = Tiling((M, N, K), (BM, BN, BK), (TM, TN), block, (0, 0))
    threads = up(shape.extent(0), TM), up(shape.extent(1), TN)
    marked = _place("thread", thread, threads, ((threads[0] - 1) // 3, (threads[1] - 1) // 3))
    shape = Tiling(shape.size, shape.tile, shape.thread, block, marked)
    drawn = _steps(steps, last)
    tiled = f"by tiles of {BM} x {BN}, {BK} of K at a time"
    title = title or f"D = A B{f' {tiled}' if BM * BN > 1 else ', one thread for each element'}"
    figure = _draw(shape, drawn, title)
    return Figure(figure, title, f"{title}. {_describe(shape, drawn)}", *_table(shape, drawn))


def up(n: int, size: int) -> int:
    """How many pieces of that size cover n."""
    return -(-n // size)


def _place(name, place, bounds, otherwise):
    if place is None:
        return otherwise
    if not isinstance(place, tuple | list) or len(place) != 2:
        raise BadInput(f"{name} must be a pair (down, across), not {place!r}")
    down = check_count(f"{name}: down", place[0], 0, bounds[0] - 1)
    return down, check_count(f"{name}: across", place[1], 0, bounds[1] - 1)


def _steps(steps: Sequence[int] | None, last: int) -> list[int]:
    if steps is None:
        return sorted({0, min(1, last), last})
    if isinstance(steps, str) or not hasattr(steps, "__len__") or not 1 <= len(steps) <= MOST_STEPS:
        wanted = f"a list of one to {MOST_STEPS} steps through K, the first of which is 0"
        raise BadInput(f"steps must be {wanted}")
    return [check_count("a step", step, 0, last) for step in steps]


def _draw(shape: Tiling, steps: list[int], title: str) -> Any:
    """The matrices in each step, in a row; below them the tiles of one step, larger, and what they tell."""
    (M, N, K) = shape.size
    (BM, BN, BK) = (shape.extent(0), shape.extent(1), min(shape.tile[2], shape.size[2]))
    wide = (WIDTH * 72 - 2 * MARGIN) / len(steps)
    scale = min((wide - GAP - 24) / (K + N), TALL / (K + M))
    larger = min(TALL / (BM + BK), 190 / (BN + BK), 14.0)
    zoomed = shape.owner == "block"
    top = 28 + 15 * two_lines(title)
    below = top + HEAD + scale * (K + M) + GAP + 12
    zoom = HEAD + larger * (BK + BM) + GAP if zoomed else 0
    axis = drawing_axis(title, below + max(zoom, HEAD + LINE * len(_facts(shape)) - 6) + 6)
    for i, step in enumerate(steps):
        _matrices(axis, MARGIN + i * wide, top, shape, step, scale)
    if zoomed:
        _zoom(axis, MARGIN, below, shape, larger)
    _explain(axis, MARGIN + zoomed * (larger * (BN + BK) + GAP + 30), below + HEAD, shape)
    return axis.figure


def rectangle(axis, x, y, width, height, colour, **look):
    """Never too thin to be seen."""
    from matplotlib.patches import Rectangle

    wide, high = max(width, 2.4), max(height, 2.4)
    corner = x - (wide - width) / 2, y - (high - height) / 2
    usual: dict[str, Any] = {"facecolor": colour, "linewidth": 0}
    axis.add_patch(Rectangle(corner, wide, high, **usual | look))


def put_text(axis: Any, x: float, y: float, text: str, **look: Any) -> None:
    axis.text(x, y, text, **{"fontsize": 9, "color": INK, "va": "center", "ha": "left"} | look)


def _frames(axis: Any, x: float, y: float, sizes: tuple[float, float, float]) -> None:
    """A at the left of D, B above it; sizes: M, N, K in points. The names stand where nothing else does."""
    M, N, K = sizes
    left, top = x + K + GAP, y + K + GAP
    for corner, size in (((x, top), (K, M)), ((left, y), (N, K)), ((left, top), (N, M))):
        rectangle(axis, *corner, *size, "none", edgecolor=GREY, linewidth=0.8)
    put_text(axis, x, top - 2, "A", fontweight="bold", va="bottom")
    put_text(axis, left + N + 4, y + K / 2, "B", fontweight="bold")
    put_text(axis, left + N + 4, top + M / 2, "D", fontweight="bold")


def _matrices(axis: Any, x: float, y: float, shape: Tiling, step: int, scale: float) -> None:
    """A to the left of D, B above it: a row of A and a column of B meet in their element of D."""
    (M, N, K), (rows, columns, ks) = shape.size, (shape.part(0), shape.part(1), shape.part(2, step))
    put_text(axis, x, y + 6, f"step {step}: k = {span(ks)}", fontsize=9.5)
    left, top = x + K * scale + GAP, y + HEAD + K * scale + GAP
    if scale > 4:  # few enough elements to show each
        for corner, size in (((x, top), (M, K)), ((left, y + HEAD), (K, N)), ((left, top), (M, N))):
            _grid(axis, *corner, size, (1, 1), scale, "white", FAINT)
    high, wide = ((end - first) * scale for first, end in (rows, columns))
    a, b = top + rows[0] * scale, left + columns[0] * scale
    for colour, until in ((PALE, K), (PAST, ks[0])):
        if until:
            rectangle(axis, x, a, until * scale, high, colour[BLUE])
            rectangle(axis, b, y + HEAD, wide, until * scale, colour[ORANGE])
    deep = (ks[1] - ks[0]) * scale
    rectangle(axis, x + ks[0] * scale, a, deep, high, BLUE)
    rectangle(axis, b, y + HEAD + ks[0] * scale, wide, deep, ORANGE)
    rectangle(axis, b, a, wide, high, GREEN)
    _frames(axis, x, y + HEAD, (M * scale, N * scale, K * scale))


def _zoom(axis: Any, x: float, y: float, shape: Tiling, scale: float) -> None:
    """The block's three tiles, a line between the threads' parts; what the marked thread uses in full colour."""
    BM, BN, BK = shape.extent(0), shape.extent(1), min(shape.tile[2], shape.size[2])
    put_text(axis, x, y + 6, "the tiles of one step", fontsize=9.5)
    left, top = x + BK * scale + GAP, y + HEAD + BK * scale + GAP
    rows, columns = shape.mine(0), shape.mine(1)
    down, across = ((end - first) * scale for first, end in (rows, columns))
    a, b, TM, TN = top + rows[0] * scale, left + columns[0] * scale, *shape.thread
    _grid(axis, x, top, (BM, BK), (TM, 1), scale, PALE[BLUE])
    _grid(axis, left, y + HEAD, (BK, BN), (1, TN), scale, PALE[ORANGE])
    _grid(axis, left, top, (BM, BN), (TM, TN), scale, PALE[GREEN])
    rectangle(axis, x, a, BK * scale, down, BLUE)
    rectangle(axis, b, y + HEAD, across, BK * scale, ORANGE)
    rectangle(axis, b, a, across, down, GREEN)
    _frames(axis, x, y + HEAD, (BM * scale, BN * scale, BK * scale))


def _grid(axis, x, y, size, cell, scale, ground, line="white"):
    """A tile of that size, (rows, columns), with lines between cells where they are wide enough."""
    rectangle(axis, x, y, size[1] * scale, size[0] * scale, ground)
    look = {"colors": line, "linewidth": 0.5}
    rows, columns = (range(0, n, step) for n, step in zip(size, cell, strict=True))
    if cell[0] * scale > 2.2:
        axis.hlines([y + i * scale for i in rows], x, x + size[1] * scale, **look)
    if cell[1] * scale > 2.2:
        axis.vlines([x + i * scale for i in columns], y, y + size[0] * scale, **look)


def _explain(axis: Any, x: float, y: float, shape: Tiling) -> None:
    for i, (colour, line) in enumerate(_facts(shape)):
        if colour:
            rectangle(axis, x, y + LINE * i - 4.5, 9, 9, colour)
        put_text(axis, x + 15, y + LINE * i, line, fontsize=9.5)


def span(part: tuple[int, int]) -> str:
    """First and last of a half-open range."""
    return f"{part[0]}–{part[1] - 1}" if part[1] > part[0] + 1 else f"{part[0]}"


def _facts(shape: Tiling) -> list[tuple[str, str]]:
    """What the picture shows, as short lines with the colour of what they speak of."""
    (M, N, K), BK, (TM, TN) = shape.size, min(shape.tile[2], shape.size[2]), shape.thread
    BM, BN, blocks = shape.extent(0), shape.extent(1), up(M, shape.tile[0]) * up(N, shape.tile[1])
    read, products, steps = BM * BK + BK * BN, BM * BN * BK, count(up(K, BK), "step")
    facts = [
        (GREEN, f"D: {BM} x {BN} of {M} x {N}, for one {shape.owner} of {number(blocks)}"),
        (BLUE, f"A: {BM} x {BK} of {M} x {K} in each step: {count(BM * BK, 'number')}"),
        (ORANGE, f"B: {BK} x {BN} of {K} x {N} in each step: {count(BK * BN, 'number')}"),
        ("", f"{steps} through K; in each, {count(products, 'multiply-add')} for"),
        ("", f"{number(read)} numbers: {number(products / read)} for each"),
    ]
    if BM * BN > 1:
        threads = up(shape.tile[0], TM) * up(shape.tile[1], TN)
        facts += [
            ("", f"Full colour: one thread of {number(threads)}, with {TM} x {TN} of D;"),
            ("", f"in each step it uses {TM} x {BK} of A and {BK} x {TN} of B"),
        ]
    return facts


def _describe(shape: Tiling, steps: list[int]) -> str:
    """One block's tile, what it reads in each step that is drawn, and the facts."""
    many = "s" if shape.owner == "block" else ""
    text = f"The {shape.owner} shown owns row{many} {span(shape.part(0))} and column{many} {span(shape.part(1))} of D. "
    for step in steps:
        text += f"In step {step} it reads k = {span(shape.part(2, step))} of A's row{many} and B's column{many}. "
    lines = [line + ("" if line.endswith((" for", ";")) else ".") for _, line in _facts(shape)]
    return text + " ".join(lines)


def _table(shape: Tiling, steps: list[int]) -> tuple[list[str], list[tuple[Any, ...]]]:
    rows, columns = shape.part(0), shape.part(1)
    BM, BN, table = shape.extent(0), shape.extent(1), list[tuple[Any, ...]]()
    for step in steps:
        k = shape.extent(2, step)
        where = (span(rows), span(columns), span(shape.part(2, step)))
        table.append((step, *where, BM * k, k * BN, BM * BN * k))
    where_is = ["step", "rows of A and D", "columns of B and D", "k"]
    return [*where_is, "numbers of A", "numbers of B", "multiply-adds"], table
