"""Slips with MPI's calls that every check of ranks knows: what was raised, and the likely cause."""


def _stopped_with(words):
    return lambda error: error["tool"] == "exception" and words in error["message"]


SLIPS = [
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
