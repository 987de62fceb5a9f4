"""A rehearsed program call by call: who exchanged something with whom, and, in a deadlock, who waits for whom."""

import math
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.shapes import Shape, arrow, box, words
from course_lib.plots.style import count

WIDTH, HEIGHT, WIDE, HIGH = 480, 320, 116, 46  # of the picture; of a rank's box
MOST = 12  # ranks on a circle that can still be read
MOST_CALLS = 60


def step_ranks(report: Any, title: str = "") -> Stepper:
    """The ranks on a circle: a frame for each call that was completed, then one for each rank that waits for ever.

    report: of mpi.rehearse. The last frame is the report's own verdict: a circle of ranks that wait is drawn bold.

    Raises BadInput for a report of more than 12 ranks, or without any call.
    """
    ranks = len(report.results)
    if ranks > MOST:
        raise BadInput(f"{ranks} ranks are too many to be told apart: rehearse with at most {MOST}")
    events = [event for event in report.events if event["op"] != "compute"][:MOST_CALLS]
    stuck = next((error for error in report.errors if error["tool"] == "deadlock"), None)
    if not events and stuck is None:
        raise BadInput("the ranks have called nothing: there is nothing to step through")
    places = [_place(r, ranks) for r in range(ranks)]
    done = ["" for _ in places]
    frames = [Frame("Before the first call.", _boxes(places, done))]
    for event in events:
        done[event["rank"]] = event["op"]
        frames.append(_call(event, places, done))
    frames += _waits(stuck, places, done) if stuck else [_end(report, places, done)]
    return Stepper(title or f"{count(ranks, 'rank')}, call by call", frames, (WIDTH, HEIGHT))


def _place(r: int, ranks: int) -> tuple[float, float]:
    """The middle of a rank's box; rank 0 at the top, then clockwise."""
    angle = 2 * math.pi * r / ranks - math.pi / 2
    return WIDTH / 2 + 165 * math.cos(angle), HEIGHT / 2 + 120 * math.sin(angle)


def _boxes(places, doing, looks=()) -> list[Shape]:
    """A box for each rank: its number, and under it what it called last or waits in."""
    shapes = []
    for r, (x, y) in enumerate(places):
        look = looks[r] if looks else "blue"
        shapes.append(box(x - WIDE / 2, y - HIGH / 2, WIDE, HIGH, look, key=f"r{r}"))
        shapes.append(words(x, y - (3 if doing[r] else -5), f"rank {r}"))
        shapes += [words(x, y + 15, doing[r], size=12)] if doing[r] else []
    return shapes


def _between(places, r: int, to: int, look: str) -> Shape:
    """An arrow from the edge of one box to that of another."""
    (x, y), (x2, y2) = places[r], places[to]
    long = math.hypot(x2 - x, y2 - y)
    ux, uy = (x2 - x) / long, (y2 - y) / long
    reach = min(WIDE / 2 / abs(ux) if ux else 1e9, HIGH / 2 / abs(uy) if uy else 1e9) + 5
    ends = x + ux * reach, y + uy * reach, x2 - ux * reach, y2 - uy * reach
    return arrow(*ends, look, bend=0)


def _call(event, places, done) -> Frame:
    r, peer = event["rank"], event["peer"]
    peers = peer if isinstance(peer, list) else [] if peer is None else [peer]
    shapes = _boxes(places, done, ["orange bold" if n == r else "blue" for n in range(len(places))])
    whom = ", ".join(map(str, peers))
    takes = "recv" in event["op"].lower() and "send" not in event["op"].lower()
    for other in peers:
        if other != r:
            shapes.append(_between(places, *((other, r) if takes else (r, other)), "orange"))
    with_whom = f" with rank{'s' * (len(peers) > 1)} {whom}" if peers else ""
    carried = f", {count(event['bytes'], 'byte')}" if event["bytes"] else ""
    return Frame(
        f"Rank {r} is through with {event['op']}{with_whom}{carried} (line {event['line']}).",
        shapes,
    )


def _waits(stuck, places, done) -> list[Frame]:
    """One rank after the other comes to a call that will never return; then the circle that they form."""
    frames, held = [], dict[int, Any]()
    circle = set(zip(stuck["cycle"], stuck["cycle"][1:], strict=False))
    for r, state in sorted(stuck["ranks"].items()):
        held[r] = state
        whom = " or ".join(f"rank {peer}" for peer in state["peers"]) or "nobody in particular"
        says = f"Rank {r} waits in {state['op']}, line {state['line']}, for {whom}."
        frames.append(Frame(says, _held(places, done, held, set())))
    ring = ", ".join(
        f"{a} waits for {b}" for a, b in zip(stuck["cycle"], stuck["cycle"][1:], strict=False)
    )
    verdict = f"Deadlock: {ring}. Nobody can go on." if ring else "Deadlock: nobody can go on."
    return [*frames, Frame(verdict, _held(places, done, held, circle))]


def _held(places, done, held, circle) -> list[Shape]:
    looks = ["orange" if r in held else "blue" for r in range(len(places))]
    doing = [held[r]["op"] if r in held else done[r] for r in range(len(places))]
    shapes = _boxes(places, doing, looks)
    for r, state in held.items():
        for peer in state["peers"]:
            bold = " bold" * ((r, peer) in circle)
            shapes.append(_between(places, r, peer, f"orange{bold}"))
    return shapes


def _end(report, places, done) -> Frame:
    """What the report has counted; and its first error, where it has one."""
    sent = f"{count(sum(report.messages), 'message')} and {count(sum(report.bytes), 'byte')}"
    found = report.errors[0]["message"].splitlines()[0] if report.errors else "nothing was found"
    return Frame(
        f"The end: {sent} were sent; {found}.", _boxes(places, done, ["green"] * len(places))
    )
