"""A block's tile of D, cut among its warps; one warp's part, cut among its lanes."""

from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, FAINT, GREEN, GREY, INK, ORANGE
from course_lib.plots.style import WIDTH, drawing_axis, styled
from course_lib.plots.tile_drawing import PALE, put_text, rectangle, span

MARGIN, BLOCK, TOP, EDGE = 10.0, 150.0, 62.0, 9.0  # points; EDGE: of the strips of A and B
Pair = tuple[int, int]


@styled
def warp_tiles(block, warp, quarter, piece, *, warp_shown=0, lane=9, title="") -> Figure:
    """The tile of a block with a rectangle for each warp, and in one warp the pieces of its lanes.

    block, warp, quarter, piece: (rows, columns) of D, each a multiple of the next. A quarter has a piece for each of 32
    lanes, numbered along its rows; a lane has one in every quarter of its warp.
    warp_shown, lane: whose parts are in full colour, with the numbers of A and B that they need for one k.

    >>> warp_tiles((128, 128), (32, 64), (16, 32), (4, 4))                               # doctest: +SKIP

    Raises BadInput for sizes that do not divide, quarters without 32 pieces, a warp or lane that is not there.
    """
    counts = [_cut(*pair) for pair in ((block, warp), (warp, quarter), (quarter, piece))]
    if counts[2][0] * counts[2][1] != 32:
        raise BadInput(f"a quarter must have 32 pieces, not {counts[2][0]} x {counts[2][1]}")
    warp_shown = check_count("warp_shown", warp_shown, 0, counts[0][0] * counts[0][1] - 1)
    lane = check_count("lane", lane, 0, 31)
    title = title or f"{block[0]} x {block[1]} of D for a block, {warp[0]} x {warp[1]} for a warp"
    scale = (WIDTH * 72 - BLOCK - 4 * MARGIN - 30) / warp[1]
    axis = drawing_axis(title, TOP + max(BLOCK * block[0] / block[1], scale * warp[0]) + 30)
    _warps(axis, block, warp, warp_shown)
    left = BLOCK + 3 * MARGIN + 24
    pieces = [(lane_, *_places(lane_, warp, quarter, piece)) for lane_ in range(32)]
    _lanes(axis, left, scale, (warp, quarter, piece), pieces, lane)
    told = _describe(counts, warp, pieces[lane], piece)
    put_text(axis, left, TOP + scale * warp[0] + 16, f"warp {warp_shown}; full colour: lane {lane}")
    header = ["lane", "first rows of its pieces", "first columns of its pieces"]
    rows = [(n, _listed(down), _listed(across)) for n, down, across in pieces]
    return Figure(axis.figure, title, f"{title}. {told}", header, rows)


def _cut(whole: Pair, part: Pair) -> Pair:
    if any(n % of for n, of in zip(whole, part, strict=True)):
        raise BadInput(f"{whole[0]} x {whole[1]} cannot be cut into {part[0]} x {part[1]}")
    return whole[0] // part[0], whole[1] // part[1]


def _places(lane: int, warp: Pair, quarter: Pair, piece: Pair) -> tuple[range, range]:
    """First rows, and first columns, of a lane's pieces in its warp's tile."""
    down, across = divmod(lane, quarter[1] // piece[1])
    return (
        range(down * piece[0], warp[0], quarter[0]),
        range(across * piece[1], warp[1], quarter[1]),
    )


def _warps(axis: Any, block: Pair, warp: Pair, shown: int) -> None:
    scale, across = BLOCK / block[1], block[1] // warp[1]
    put_text(axis, MARGIN, TOP - 16, "the block's tile, by warps")
    for n in range(block[0] // warp[0] * across):
        x, y = MARGIN + n % across * warp[1] * scale, TOP + n // across * warp[0] * scale
        colour = GREEN if n == shown else PALE[GREEN]
        look = {"edgecolor": INK, "linewidth": 0.8}
        rectangle(axis, x, y, warp[1] * scale, warp[0] * scale, colour, **look)
        put_text(axis, x + warp[1] * scale / 2, y + warp[0] * scale / 2, str(n), ha="center")


def _lanes(axis: Any, left: float, scale: float, sizes: Any, pieces: Any, lane: int) -> None:
    """The pieces with their lanes' numbers, the quarters' outlines, and the strips of A and B beside them."""
    warp, quarter, piece = sizes
    for n, down, across in pieces:
        for row, column in ((row, column) for row in down for column in across):
            x, y = left + column * scale, TOP + row * scale
            full = n == lane
            look = {"edgecolor": "white", "linewidth": 0.6}
            colour = GREEN if full else PALE[GREEN]
            rectangle(axis, x, y, piece[1] * scale, piece[0] * scale, colour, **look)
            centre = x + piece[1] * scale / 2, y + piece[0] * scale / 2
            put_text(axis, *centre, str(n), ha="center", fontsize=6.5)
    _strip(axis, left - EDGE - 4, TOP, (EDGE, scale * warp[0]), BLUE, "A")
    _strip(axis, left, TOP - EDGE - 4, (scale * warp[1], EDGE), ORANGE, "B")
    for row in pieces[lane][1]:
        place = left - EDGE - 4, TOP + row * scale
        rectangle(axis, *place, EDGE, piece[0] * scale, BLUE)
    for column in pieces[lane][2]:
        place = left + column * scale, TOP - EDGE - 4
        rectangle(axis, *place, piece[1] * scale, EDGE, ORANGE)
    for row in range(0, warp[0], quarter[0]):
        for column in range(0, warp[1], quarter[1]):
            corner = left + column * scale, TOP + row * scale
            size = quarter[1] * scale, quarter[0] * scale
            rectangle(axis, *corner, *size, "none", edgecolor=INK, linewidth=1.2)


def _strip(axis: Any, x: float, y: float, size: tuple[float, float], colour: str, name: str):
    rectangle(axis, x, y, *size, PALE[colour], edgecolor=FAINT, linewidth=0.6)
    put_text(axis, x - 11, y + min(size[1], 10) / 2, name, fontweight="bold", color=GREY)


def _listed(places: range) -> str:
    return ", ".join(map(str, places))


def _describe(counts: Any, warp: Pair, own: tuple[int, range, range], piece: Pair) -> str:
    lane, down, across = own
    rows = " and ".join(span((row, row + piece[0])) for row in down)
    columns = " and ".join(span((column, column + piece[1])) for column in across)
    sums = len(down) * len(across) * piece[0] * piece[1]
    needs = f"{len(down) * piece[0]} numbers of A and {len(across) * piece[1]} of B"
    return (
        f"Its warps stand {counts[0][0]} x {counts[0][1]}. A warp's {warp[0]} x {warp[1]} has {counts[1][0]} x "
        f"{counts[1][1]} quarters, each with a piece of {piece[0]} x {piece[1]} for every lane. Lane {lane} has rows "
        f"{rows}, columns {columns}: {sums} sums, for which each k needs {needs}."
    )
