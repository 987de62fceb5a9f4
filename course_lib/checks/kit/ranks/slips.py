"""Slips with MPI's calls that every check of ranks knows: what was raised, and the likely cause."""

import re


def _stopped_with(words):
    return lambda error: error["tool"] == "exception" and words in error["message"]


def _all_receive(error):
    ops = [place["op"] for place in (error["ranks"] or {}).values()]
    return error["tool"] == "deadlock" and not error["cause"] and ops and all(map(_receives, ops))


def _receives(op):
    return op.startswith(("Recv", "recv", "Wait for Irecv", "Wait for irecv"))


PICKLED = re.compile(r"has \d+ uint8, .* room for \d+ (?!uint8)")


def _pickled(error):
    """A message of bytes for an array of numbers: `send` pickles, `Recv` does not unpack."""
    return error["tool"] == "truncation" and PICKLED.search(error["message"])


def left_out(error):
    """Ranks wait in a collective, for others that have returned without it."""
    ops = [place["op"] for place in (error["ranks"] or {}).values()]
    gone = error["tool"] == "deadlock" and "finished and will not come" in error["message"]
    return gone and not any("end" in op or "ecv" in op or "robe" in op for op in ops)


def left_out_of_sum(error):
    """The same where it is a sum that they wait in."""
    return left_out(error) and all("educe" in place["op"] for place in error["ranks"].values())


SIZES = re.compile(r"has (\d+) (\w+), .* room for (\d+) (\w+)")


def _of_other_dtypes(error):
    """As many numbers as there is room for, or fewer: they are too long because their dtype is another."""
    found = SIZES.search(error["message"]) if error["tool"] == "truncation" else None
    if not found:
        return False
    sent, kind, room, mine = found.groups()
    return kind != mine and int(sent) <= int(room)


SLIPS = [
    (
        _pickled,
        "a lower-case call sends a pickle, which has its own header, and a call with a capital letter receives "
        "the bytes as they are: use the capital letter on both sides (Isend, Send, Sendrecv)",
    ),
    (
        lambda error: error["tool"] == "mismatch" and "another type" in error["message"],
        "the ranks pass arrays of different dtypes: the bytes are not converted on the way. np.empty and "
        "np.zeros make float64, np.array of whole numbers int64: give all of them the same dtype",
    ),
    (
        _stopped_with("not contiguous"),
        "a slice with gaps, such as x[::2] or a column, cannot be sent or received into: take consecutive "
        "numbers, or a copy (np.ascontiguousarray)",
    ),
    (
        _all_receive,
        "each of these ranks waits for a message, and none of them sends: if the send stands further down, start the "
        "receive, send, and only then Wait",
    ),
    (
        _of_other_dtypes,
        "the message has a different dtype from the array that receives it: the bytes are not converted on the way. "
        "Give both the same dtype",
    ),
    (
        lambda error: error["tool"] == "truncation",
        "the receiving array is shorter than the message: is it as long as the longest part that can arrive?",
    ),
    (
        _stopped_with("MPI datatypes"),
        "the array for the sum has a different dtype from the summand: make it with np.empty_like(summand); "
        "np.zeros and np.empty make float64. Or MPI.IN_PLACE stands second: it takes the first place, that of the "
        "array to send",
    ),
    (
        _stopped_with("'recvbuf'"),
        "Allreduce(send, receive) writes the sum into its second argument; allreduce, in lower case, takes "
        "one argument and returns the sum",
    ),
    (
        _stopped_with("expecting buffer"),
        "a call with a capital letter needs an array to receive into, of the right length and dtype "
        "(recvbuf=...), and returns nothing; or you passed a number instead of an array",
    ),
    (
        _stopped_with("NoneType"),
        "Allreduce(send, receive) returns None, like every call with a capital letter: the result is in "
        "receive. Or one of your functions has no `return`, or None was given: to this rank as an argument, by bcast "
        "from a root that has nothing, by reduce or gather to all but the root. Or a variable holds what it began with",
    ),
    (
        _stopped_with(", but the ranks are 0 to "),
        "there is no such rank: does the last rank have no partner, or is its neighbour rank 0, (rank + 1) % "
        "size?",
    ),
]
