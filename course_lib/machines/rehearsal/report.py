"""What a rehearsal found, as plain data that a notebook can assert on."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, repr=False)
class Report:
    """results: what each rank returned, in rank order (None where it was stopped).

    errors: dicts with tool, rank (the first one concerned), line (of the function, or None), code (that line's text),
    message (in full words), cause (a likely one, or ""), and ranks: {rank: {"op", "line", "code", "function"}}, where
    each rank concerned stood. The worst comes first. tool is one of
      exception   a rank raised; also `exception`, the object itself
      truncation  a message is longer than the buffer that takes it: MPI.Exception, which nobody caught
      mismatch    the ranks of a communicator call different collectives, or with other roots, ops, sizes, types
      deadlock    no rank can go on; also `cycle`: ranks that wait for each other, [0, 1, 0], or []
      timeout     the deadline passed; rank is the one that was computing
      type        a message is received as another dtype than it was sent
      layout      an array is received in another order of its elements (C, Fortran) than it was sent
      buffer      the buffer of an Isend changed, or that of an Irecv was written to or read, before its Wait; also
                  `touched`, where that is known: {"line", "code", "function"} of what did it
      race        what a rank returns depends on the order of arrival, by more than rounding
      early       a ready send (Rsend) before its receive
      leftover    a message that nobody received, or a request that nobody waited for
    messages, bytes: sent by each rank point to point, in rank order; collectives: a Counter of calls by name for each
    rank. All three are as CountingComm counts them.
    events: dicts with rank, op, peer (a rank, a list of ranks or None), bytes (of a Wait: of what it waits for), begin,
    end, wait (seconds of the time from begin to end in which nothing moved: the partner was not there yet), line, dest
    (of a Sendrecv, else None); times in seconds of the model's clock.
    printed: what each rank printed, in rank order. seconds: the model's clock when the last rank was done.
    orders: how many orders of arrival were tried; outcomes: how many different results they gave. An error of another
    order than the first also has `order`; results, counts and events are those of the first.
    """

    results: list
    errors: list[dict] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    collectives: list[Counter] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    orders: int = 1
    outcomes: int = 1

    @property
    def ok(self):
        """True where nothing was found: which is no proof that the program is right."""
        return not self.errors

    def __repr__(self):
        found = ", ".join(error["tool"] for error in self.errors) or "nothing was found"
        return f"<Report on {len(self.results)} ranks: {found}>"

    def __str__(self):
        tried = f" in {self.orders} orders of arrival" if self.orders > 1 else ""
        if tried and self.outcomes > 1:
            tried += "; the results are not the same in all of them"
        found = [error["message"] for error in self.errors] or [f"nothing was found{tried}"]
        return "\n".join(found)


def empty(n, errors):
    """The report of n ranks of which nothing else is known."""
    none = [None] * n
    return Report(none, errors, [0] * n, [0] * n, [Counter() for _ in none], [], [""] * n)
