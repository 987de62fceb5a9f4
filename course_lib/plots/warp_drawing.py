"""Which lane of a warp touches which element: the sectors that move for it, or the banks where lanes meet."""

from typing import Any

from course_lib.plots.figure import Figure
from course_lib.plots.palette import BLUE, GREY, INK, ORANGE
from course_lib.plots.style import (
    CENTRED,
    WIDTH,
    count,
    new_figure,
    number,
    sentence,
    styled,
    two_lines,
)
from course_lib.plots.warp_request import BANKS, SECTOR, WARP, Request, ranges, request_of

POINTS = 14.1  # of one lane's width on the page
LEFT = -4.6  # where the names of the rows begin, in lanes' widths
MEMORY = 3.6  # y where memory begins, under the lanes' row at 0 to 1
UNUSED = "#DDDDDD"


@styled
def warp_accesses(row, kind=None, *, itemsize: int = 4, title: str = "") -> Figure:
    """A line from each lane of a warp to what it touches, of one request.

    row: a row of a Report's `accesses`, of which the costliest request is shown; or up to 32 indices of elements, one
    for each lane, None for a lane that takes no part. itemsize: bytes of an element (with indices only).
    kind: "sector" shows the 32-byte sectors of global memory that move, with what nobody asked for hatched; "bank" the
    32 banks of shared memory, with a row for each turn (wavefront) that the banks must take. Without kind, the row's
    memory decides. Sectors and banks are counted from the start of the array.

    >>> warp_accesses([2 * lane for lane in range(32)])                                  # doctest: +SKIP

    Raises BadInput for a row without lanes, no lane that takes part, an index below 0, another kind or itemsize.
    """
    request = request_of(row, kind, itemsize)
    draw, tell = (_sectors, _tell_sectors) if request.kind == "sector" else (_banks, _tell_banks)
    short, caption, details = tell(request)
    title = title or sentence(f"{request.name}: {short}" if request.name else short)
    axis = _canvas(title, caption, MEMORY + _rows(request))
    draw(axis, request)
    header, rows = _table(request)
    alt = f"{title}. {' '.join(caption.split())} {details}"
    return Figure(axis.figure, title, alt, header, rows)


def _rows(request: Request) -> float:
    """What memory takes, in lanes' widths."""
    if request.kind == "sector":
        return 2.4 if _numbered(request, _places(list(request.sectors()))[1]) else 3.4
    return len(request.wavefronts()) * _turn(request) + 1.4


def _canvas(title: str, caption: str, height: float) -> Any:
    """An axis in a new figure with title and caption; its unit is a lane's width, and y goes down."""
    lines = caption.count("\n") + 1
    above, below = 30 + 16 * two_lines(title), 16 * lines + 4  # points
    points = above + height * POINTS + below
    figure = new_figure(title, points / 72)
    figure.set_layout_engine("none")
    figure.text(0.012, 5 / points, caption, fontsize=9.5, va="bottom", color=INK, linespacing=1.3)
    axis = figure.add_axes((0.0, below / points, 1.0, height * POINTS / points))
    axis.set(xlim=(LEFT, LEFT + WIDTH * 72 / POINTS), ylim=(height, 0))
    axis.axis("off")
    return axis


def _box(axis, x, y, width, height, text="", **look):
    from matplotlib.patches import Rectangle

    colour = look.pop("color", "white")
    rim: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.6}
    axis.add_patch(Rectangle((x, y), width, height, **rim | look))
    size = min(8, width * POINTS / max(len(text), 1) * 1.4, height * POINTS * 0.8)
    if text:
        inside = {"ha": "center", "va": "center_baseline", "fontsize": size, "color": colour}
        axis.text(x + width / 2, y + height / 2, text, **inside)


def _name(axis: Any, y: float, text: str) -> None:
    axis.text(-0.35, y, text, fontsize=9, ha="right", va="center", color=INK)


def _lanes(axis: Any, colours: dict[int, str]) -> None:
    """The row of lanes; those without colour take no part."""
    _name(axis, 0.5, "lane")
    for lane in range(WARP):
        look = {"facecolor": "white", "edgecolor": "#AAAAAA", "color": GREY}
        if lane in colours:
            look = {"facecolor": colours[lane]}
        _box(axis, lane, 0, 1, 1, str(lane), **look)


def _line(axis: Any, lane: int, x: float, y: float, colour: str) -> None:
    look = {"color": colour, "linewidth": 1, "alpha": 0.85, "solid_capstyle": "round"}
    axis.plot([lane + 0.5, x], [1.08, y - 0.08], **look)


def _places(sectors: list[int]) -> tuple[list[float], float]:
    """The left edge of each sector, and their width: with gaps where memory between them does not move."""
    gaps = [0.0] + [0.0 if b == a + 1 else 0.15 for a, b in zip(sectors, sectors[1:], strict=False)]
    width = min(8.0, WARP / (len(sectors) + sum(gaps)))
    left = (WARP - width * (len(sectors) + sum(gaps))) / 2
    return [left + width * (i + sum(gaps[: i + 1])) for i in range(len(sectors))], width


def _numbered(request: Request, width: float) -> bool:
    """Whether the number of an element fits into its cell, in a sector of that width."""
    cells = SECTOR // request.itemsize
    return width / cells * POINTS >= 4.4 * len(str((max(request.sectors()) + 1) * cells)) + 1


def _sectors(axis: Any, request: Request) -> None:
    sectors = request.sectors()
    places, width = _places(list(sectors))
    cells, colours = SECTOR // request.itemsize, dict[int, str]()
    wide, line = _numbered(request, width), 0.6 if width / cells > 0.3 else 0
    for i, (sector, x) in enumerate(zip(sectors, places, strict=True)):
        colour = (BLUE, ORANGE)[i % 2]
        colours |= dict.fromkeys(sectors[sector], colour)
        used = {offset // request.itemsize for _, offset in request.lanes}
        for cell in range(cells):
            element = sector * cells + cell
            look: dict[str, Any] = {"facecolor": UNUSED, "color": GREY, "linewidth": line}
            if element in used:
                look = {"facecolor": colour, "linewidth": line}
            text = str(element) if wide else ""
            _box(axis, x + cell * width / cells, MEMORY, width / cells, 1.2, text, **look)
        _box(axis, x, MEMORY, width, 1.2, facecolor="none", edgecolor=INK, linewidth=0.4 + line)
        for lane in sectors[sector]:
            place = (request.offsets[lane] or 0) % SECTOR // request.itemsize + 0.5
            _line(axis, lane, x + place * width / cells, MEMORY, colour)
    _lanes(axis, colours)
    _name(axis, MEMORY + 0.6, "element" if wide else "memory")
    _numbers(axis, MEMORY + 1.8, "sector", [str(sector) for sector in sectors], places, width)
    if not wide:
        firsts = [str(sector * cells) for sector in sectors]
        _numbers(axis, MEMORY + 2.75, "first element", firsts, places, width)


def _numbers(axis, y, name, texts, places, width):
    """One text under each sector, or under every second or third where they are too wide."""
    _name(axis, y, name)
    every = max(1, -int(-(4.9 * max(map(len, texts)) + 5) // (width * POINTS)))
    for text, x in list(zip(texts, places, strict=True))[::every]:
        axis.text(x + width / 2, y, text, fontsize=8, color=INK, **CENTRED)


def _tell_sectors(request: Request) -> tuple[str, str, str]:
    sectors, lanes = request.sectors(), request.lanes
    asked, moved = len({offset for _, offset in lanes}) * request.itemsize, len(sectors) * SECTOR
    short = f"{count(len(sectors), 'sector')} for {asked} bytes"
    does = "write" if request.stores else "want"
    caption = f"{count(len(lanes), 'lane')} of {count(request.itemsize, 'byte')} each {does} {asked} different bytes; "
    caption += f"{count(len(sectors), 'sector')} of 32 bytes make{'s' * (len(sectors) == 1)} {number(moved)}: "
    caption += f"{number(100 * asked / moved)} % are used."
    caption += f"\nGrey: belongs to these sectors, but no lane {does}s it." if asked < moved else ""
    return short, caption, _listed([f"sector {n}: {_lanes_of(who)}" for n, who in sectors.items()])


def _turn(request: Request) -> float:
    """The height of a wavefront's row."""
    return 1.0 if len(request.wavefronts()) <= 12 else 0.62


def _banks(axis: Any, request: Request) -> None:
    """Blue: what a bank gives in the first turn; orange: for what else the lanes must wait."""
    high, colours = _turn(request), dict[int, str]()
    _name(axis, MEMORY + 0.5, "bank")
    for bank in range(BANKS):
        _box(axis, bank, MEMORY, 1, 1, str(bank), facecolor="#E8E8E8", color=INK)
    for turn, (nth, banks) in enumerate(request.wavefronts()):
        y, colour = MEMORY + 1.1 + turn * high, ORANGE if nth else BLUE
        if high == 1.0 or turn % 4 == 3 or turn == 0:
            _name(axis, y + high / 2, f"turn {turn + 1}")
        for bank, (word, lanes) in banks.items():
            _box(axis, bank, y, 1, high, str(word), facecolor=colour)
            colours |= dict.fromkeys(lanes, colour)
    middle = max(request.itemsize / 4, 1) / 2  # of what a lane takes
    for lane, offset in request.lanes:
        _line(axis, lane, offset // 4 % BANKS + middle, MEMORY, colours[lane])
    _lanes(axis, colours)


def _tell_banks(request: Request) -> tuple[str, str, str]:
    turns, size = request.wavefronts(), min(WARP, 128 // request.itemsize)
    ways = max(nth for nth, _ in turns) + 1
    short = f"{count(len(turns), 'wavefront')}, {f'{ways}-way' if ways > 1 else 'no'} bank conflict"
    does = "takes one word, whose number is shown." if request.stores else ""
    does = does or "gives one word, whose number is shown, to all lanes that want it."
    caption = f"Each turn (wavefront) a bank {does}"
    if size < WARP:
        caption += f"\n{size} lanes of {request.itemsize} bytes are served together."
    words = [ranges([word for word, _ in banks.values()]) for _, banks in turns]
    return short, caption, _listed([f"turn {n}: words {said}" for n, said in enumerate(words, 1)])


def _lanes_of(lanes: list[int]) -> str:
    return f"lane{'s' if len(lanes) > 1 else ''} {ranges(lanes)}"


def _listed(parts: list[str]) -> str:
    return sentence("; ".join(parts if len(parts) <= 6 else [*parts[:4], "…", parts[-1]])) + "."


def _table(request: Request) -> tuple[list[str], list[tuple[Any, ...]]]:
    """A row for each lane: what it asks for, where that lies, and for banks the turns in which it comes."""
    turns = request.wavefronts() if request.kind == "bank" else []
    rows: list[tuple[Any, ...]] = []
    for lane, offset in enumerate(request.offsets):
        if offset is None:
            rows.append((lane, None, None, None, *[None] * bool(turns)))
            continue
        served = [[who for _, who in banks.values()] for _, banks in turns]
        mine = [n for n, lanes in enumerate(served, 1) if any(lane in who for who in lanes)]
        banks = range(offset // 4 % BANKS, (offset + request.itemsize - 1) // 4 % BANKS + 1)
        where = (ranges(banks), ranges(mine)) if turns else (offset // SECTOR,)
        rows.append((lane, offset // request.itemsize, offset, *where))
    return ["lane", "element", "byte offset", *(["bank", "turn"] if turns else ["sector"])], rows
