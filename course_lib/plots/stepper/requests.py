"""Requests of a warp behind a slider: its 32 lanes, and the sectors or banks that they want."""

from collections.abc import Mapping
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, box, line, words
from course_lib.plots.style import count
from course_lib.plots.warp_request import BANKS, SECTOR, WARP, Request, request_of

WIDTH, HEIGHT, LEFT, CELL = 520, 190, 4, 16
LANES_Y, PLACES_Y = 30, 124
TINTS = ("blue", "orange", "green", "pink", "amber")


def step_requests(rows: Mapping[str, Any], title: str = "") -> Stepper:
    """A frame for each request: which lane wants something of which sector (global) or bank (shared memory).

    rows: {name: row of a traced report's accesses}: of strides, of patterns, or of the lines of one kernel. What the
    sentence says, sectors or turns of a request, is counted by the same rules as the engine's `sectors` and
    `wavefronts`, and of a row with one request it is the same number.

    Raises BadInput for no rows, or a row that is none of a report's.
    """
    if not rows:
        raise BadInput("no accesses: there is nothing to step through")
    frames = [_frame(name, request_of(row, None, 4)) for name, row in rows.items()]
    return Stepper(title or "What a warp asks for", frames, (WIDTH, HEIGHT))


def _frame(name: str, request: Request) -> Frame:
    drawn, says = _sectors(request) if request.kind == "sector" else _banks(request)
    return Frame(f"{name}: {says}", [*_head(), *drawn], name)


def _head() -> list[Shape]:
    return [words(LEFT, LANES_Y - 10, "the warp's lanes, 0 to 31", at="start", size=12)]


def _lane(lane: int, look: str) -> Shape:
    return box(LEFT + CELL * lane, LANES_Y, CELL - 2, 24, look, key=f"lane{lane}")


def _sectors(request: Request) -> tuple[list[Shape], str]:
    """The sectors that move, each with its number of lanes; lane and sector share a colour."""
    found = request.sectors()
    shapes = [
        words(
            LEFT, 178, "sectors of 32 bytes, with the lanes that each serves", at="start", size=12
        )
    ]
    looks = {
        lane: TINTS[n % len(TINTS)] for n, lanes in enumerate(found.values()) for lane in lanes
    }
    shapes += [_lane(lane, looks.get(lane, "plain")) for lane in range(WARP)]
    wide = min(112, (WIDTH - 2 * LEFT) / len(found))
    for n, lanes in enumerate(found.values()):
        x, look = LEFT + wide * n, TINTS[n % len(TINTS)]
        text = str(len(lanes)) if wide >= 12 else ""
        shapes.append(box(x, PLACES_Y, wide - 2, 36, look, text, f"place{n}", 11))
        shapes += _links(lanes, x + wide / 2 - 1, look)
    used = len({offset for _, offset in request.lanes}) * request.itemsize
    moved = SECTOR * len(found)
    return shapes, f"{count(len(found), 'sector')}, {moved} bytes moved for {used} different ones."


def _banks(request: Request) -> tuple[list[Shape], str]:
    """The 32 banks, each with the number of words that the lanes want of it: so many turns it takes."""
    turns = request.wavefronts()
    asked = [sum(bank in gives for _, gives in turns) for bank in range(BANKS)]
    most = max(asked)
    shapes = [words(LEFT, 178, "banks 0 to 31, with the words wanted of each", at="start", size=12)]
    for lane in range(WARP):
        offset = request.offsets[lane]
        look = "plain" if offset is None else _heat(asked[offset // 4 % BANKS])
        shapes.append(_lane(lane, look))
        if offset is not None:
            shapes += _links([lane], LEFT + CELL * (offset // 4 % BANKS) + CELL / 2 - 1, look)
    for bank, wanted in enumerate(asked):
        x, look = LEFT + CELL * bank, _heat(wanted)
        shapes.append(box(x, PLACES_Y, CELL - 2, 36, look, str(wanted or ""), f"place{bank}", 11))
    ways = f"the busiest bank is asked for {count(most, 'word')}"
    return shapes, f"{ways}, so the request takes {count(len(turns), 'turn')}."


def _heat(words_wanted: int) -> str:
    """One word is no conflict; more are."""
    return "plain" if not words_wanted else "green" if words_wanted == 1 else "orange"


def _links(lanes: list[int], x: float, look: str) -> list[Shape]:
    return [line(LEFT + CELL * lane + 7, LANES_Y + 26, x, PLACES_Y - 2, look) for lane in lanes]
