"""What a guarded run caught: an exception that a write to a read-only array has raised, while MPI held that array."""

import re

import numpy as np

from course_lib.machines.rehearsal.places import place_of_error

NAME = re.compile(r"[A-Za-z_]\w*")
WORDS = ("read-only", "readonly", "read only")


def written(world, turns):
    """{"rank", "op", "place" of the request, "at": where it was written, "lands": does MPI write there?}, or None."""
    for rank in turns.ranks:
        said = str(rank.error).lower() if rank.error is not None else ""
        if any(word in said for word in WORDS):
            hold = _held(rank, turns, world.holds[rank.index])
            if hold is not None:
                return {
                    "rank": rank.index,
                    "op": hold.request.op,
                    "place": hold.request.place,
                    "at": place_of_error(rank.error, turns.file),
                    "lands": bool(hold.lands),
                }
    return None


def _held(rank, turns, holds):
    """The Hold of an array that the line names, in one of the frames."""
    trace = rank.error.__traceback__
    at = place_of_error(rank.error, turns.file)
    named = set(NAME.findall(at["code"]))
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if frame.f_code.co_name != at["function"]:
            continue
        for name in named & set(frame.f_locals):
            value = frame.f_locals[name]
            for hold in holds if isinstance(value, np.ndarray) else ():
                views = hold.views(True) + hold.views(False)
                if any(np.may_share_memory(value, view) for view in views):
                    return hold
    return None
