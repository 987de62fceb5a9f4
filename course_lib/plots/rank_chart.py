"""What ranks do when: a row for each rank; computing, sending, receiving, collectives and waiting told apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import numbers
from course_lib.plots.palette import BLUE, COLOURS, FAINT, GREEN, ORANGE
from course_lib.plots.style import new_axis, styled
from course_lib.plots.timeline_chart import Bar, draw_bars, finish, four_digits, scale_of

LOOKS = {
    "compute": (GREEN, ""),
    "send": (BLUE, "////"),
    "receive": (COLOURS[5], "\\\\\\\\"),
    "collective": (ORANGE, "xxxx"),
    "wait": (FAINT, ""),
}
SENDS = ("send", "ssend", "bsend", "rsend", "sendrecv", "isend", "issend", "sendrecv_replace")
RECEIVES = ("recv", "irecv", "mrecv")
WAITS = ("wait", "waitall", "waitany", "waitsome", "probe", "mprobe", "barrier")
MAX_RANKS = 64
COLUMNS = ("rank", "op", "peer", "bytes", "begin", "end", "wait")  # of an event, in the table


@styled
def rank_timeline(events: Any, *, title: str = "", unit: str = "s", labels: bool = True) -> Figure:
    """A bar for each thing that a rank does, from its begin to its end, in the row of its rank.

    events: the report of mpi.rehearse, its events, or other dicts with rank, op ("compute", or the name of the call),
    begin and end; if they are there, peer (a rank, a list of them, or None), bytes, and wait: how long, from the begin
    on, the rank waited for the other side. A Wait or Barrier is waiting altogether; a Sendrecv counts as sending.
    unit: of begin and end: "s", shown as milliseconds or microseconds where that reads better, or any other text.
    labels: the other rank of a message, →1 or ←1, and the name of a collective, where the bar is wide enough.

    >>> rank_timeline(mpi.rehearse(f, 4, alpha=1e-6, beta=1e-9), title="f on 4 ranks (model)")      # doctest: +SKIP

    Raises BadInput for no events, a rank that is no whole number from 0 to 63, or times that cannot be.
    """
    found = _events(getattr(events, "events", events))
    longest = max(event["end"] for event in found)  # nobody sees a bar of a millionth of it
    bars = [bar for e in found for bar in _bars(e) if bar.end - bar.start > 1e-6 * longest]
    ranks = 1 + max(event["rank"] for event in found)
    scale, unit_name = scale_of(longest, unit)
    title = title or "What each rank does when"
    axis = new_axis(title, 1.4 + 0.46 * ranks)
    looks = {kind: look for kind, look in LOOKS.items() if kind in {bar.kind for bar in bars}}
    draw_bars(axis, bars, looks, scale, ranks, "", "rank")
    shown = {"": [bar for bar in bars if labels and bar.layer]}
    finish(axis.figure, [axis], shown, looks, scale, f"time ({unit_name})")
    alt = _describe(title, bars, ranks, longest, f"{four_digits(longest / scale)} {unit_name}")
    times = [f"{what} ({unit_name})" for what in ("begin", "end", "of it waiting")]
    rows = [[e[c] / scale if c in COLUMNS[4:] else e[c] for c in COLUMNS] for e in found]
    return Figure(axis.figure, title, alt, ["rank", "call", "peer", "bytes", *times], rows)


def _events(events: Iterable[Any]) -> list[dict[str, Any]]:
    """The events, checked and complete, in the order of their begins, the first of which is 0."""
    try:
        found = [{"peer": None, "bytes": 0, "wait": 0.0, **event} for event in events]
        found = [{**event, "peer": _said(event["peer"]), "op": str(event["op"])} for event in found]
        times = {name: [event[name] for event in found] for name in ("begin", "end")}
    except (TypeError, KeyError):
        wanted = "dicts with rank, op, begin and end, as mpi.rehearse(...).events has"
        raise BadInput(f"events must be {wanted}") from None
    begins, ends = (numbers(f"the {name} of events", times[name]) for name in times)
    if not (ends >= begins).all():
        raise BadInput(f"an event ends before it begins: {found[int((ends < begins).argmax())]}")
    first = begins.min()
    for event, begin, end in zip(found, begins, ends, strict=True):
        event["rank"] = check_count("a rank", event["rank"], 0, MAX_RANKS - 1)
        event.update(begin=float(begin - first), end=float(end - first), wait=float(event["wait"]))
    return sorted(found, key=lambda event: (event["begin"], event["rank"]))


def _said(peer: Any) -> str:
    """A rank, several, or none, as text."""
    if isinstance(peer, list | tuple):
        return ", ".join(map(str, peer))
    return "" if peer is None else str(peer)


def _bars(event: Mapping[str, Any]) -> list[Bar]:
    """What is drawn of an event: the time in which it waits, and the time in which something moves or is computed."""
    kind, label = _kind(event)
    rank, begin, end = event["rank"], event["begin"], event["end"]
    moved = end if kind == "wait" else min(max(begin + event["wait"], begin), end)
    bars = [Bar(rank, "wait", "", begin, moved), Bar(rank, kind, label, moved, end)]
    return [bar for bar in bars if bar.end > bar.start]


def _kind(event: Mapping[str, Any]) -> tuple[str, str]:
    """(kind, label) of an event, by the name of its call."""
    name = event["op"].lower()
    if name == "compute":
        return "compute", ""
    if name in WAITS:
        return "wait", ""
    if name in RECEIVES:
        return "receive", f"←{event['peer']}"
    if name in SENDS:
        return "send", "⇄" if name.startswith("sendrecv") else f"→{event['peer']}"
    return "collective", event["op"]


def _describe(title: str, bars: list[Bar], ranks: int, longest: float, time: str) -> str:
    """How long it takes, and the share of each kind in the time of each rank."""
    parts = [f"{title}. Gantt chart of {time}: a row for each rank."]
    for rank in range(ranks):
        shares = dict.fromkeys(LOOKS, 0.0)
        for bar in bars:
            if bar.thread == rank:
                shares[bar.kind] += bar.end - bar.start
        told = [f"{kind} {100 * t / longest:.0f} %" for kind, t in shares.items() if t > 0]
        parts.append(f"Rank {rank}: {', '.join(told) or 'nothing'}.")
    return " ".join(parts)
