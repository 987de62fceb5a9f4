"""Slips with MPI's calls that every check of ranks knows: what was raised, and the likely cause."""


def _stopped_with(words):
    return lambda error: error["tool"] == "exception" and words in error["message"]


def _all_receive(error):
    ops = [place["op"] for place in (error["ranks"] or {}).values()]
    return error["tool"] == "deadlock" and not error["cause"] and ops and all(map(_receives, ops))


def _receives(op):
    return op.startswith(("Recv", "recv", "Wait for Irecv", "Wait for irecv"))


SLIPS = [
    (
        _all_receive,
        "each of these ranks waits for a message before it sends its own: start the receive, send, and only "
        "then Wait",
    ),
    (
        lambda error: error["tool"] == "truncation",
        "the receiving array is shorter than the message: is it as long as the longest part that can arrive?",
    ),
    (
        _stopped_with("MPI datatypes"),
        "the array for the sum has a different dtype from the summand: make it with np.empty_like(summand); "
        "np.zeros and np.empty make float64",
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
        _stopped_with("'NoneType'"),
        "Allreduce(send, receive) returns None, like every call with a capital letter: the result is in "
        "receive. Or one of your functions has no `return`",
    ),
    (
        _stopped_with(", but the ranks are 0 to "),
        "there is no such rank: does the last rank have no partner, or is its neighbour rank 0, (rank + 1) % "
        "size?",
    ),
]
