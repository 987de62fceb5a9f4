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
        "the receiving array is shorter than the message: is it as long as the longest part that may come?",
    ),
    (
        _stopped_with("MPI datatypes"),
        "the array that takes the sum has another dtype than the summand: make it with "
        "np.empty_like(summand); np.zeros and np.empty make float64",
    ),
    (
        _stopped_with("'recvbuf'"),
        "Allreduce(send, receive) writes the sum into its second argument; allreduce, in "
        "lower case, takes one and returns the sum",
    ),
    (
        _stopped_with("expecting buffer"),
        "a capital letter wants an array to receive into, of the right length and "
        "dtype (recvbuf=...), and returns nothing; or a number was given where an array belongs",
    ),
    (
        _stopped_with("'NoneType'"),
        "Allreduce(send, receive) returns None, as do all calls in capital letters: what "
        "came is in receive; or a function of yours lacks its `return`",
    ),
    (
        _stopped_with(", and the ranks are 0 to "),
        "there is no such rank: has the last one no partner, or is rank 0 its "
        "neighbour, (rank + 1) % size?",
    ),
]
