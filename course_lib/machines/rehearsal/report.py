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
      buffer      the buffer of an Isend changed, or that of an Irecv was written to, before its Wait
      leftover    a message that nobody received, or a request that nobody waited for
    messages, bytes: sent by each rank point to point, in rank order; collectives: a Counter of calls by name for each
    rank. All three are as CountingComm counts them.
    events: dicts with rank, op, peer (a rank, a list of ranks or None), bytes (of a Wait: of what it waits for), begin,
    end, wait (seconds of the time from begin to end in which nothing moved: the partner was not there yet), line; times
    in seconds of the model's clock.
    printed: what each rank printed, in rank order. seconds: the model's clock when the last rank was done.
    """

    results: list
    errors: list[dict] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    collectives: list[Counter] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self):
        """True where nothing was found: which is no proof that the program is right."""
        return not self.errors

    def __repr__(self):
        found = ", ".join(error["tool"] for error in self.errors) or "nothing was found"
        return f"<Report on {len(self.results)} ranks: {found}>"

    def __str__(self):
        found = [error["message"] for error in self.errors] or ["nothing was found"]
        return "\n".join(found)
