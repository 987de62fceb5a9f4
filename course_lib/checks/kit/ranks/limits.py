"""Limits for RankCheck: functions (report, n, case) -> None or (what, cause), looked at when all else is right.

report: the rehearsal's Report; n: ranks; case: the RankCase. An author may write any function like these; `.says` of
it, if it has one, goes into the green line. A bound is a number, or a function of (n, case) or (n, case, rank).
"""

import inspect

from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.trees import same
from course_lib.checks.kit.words import count

BARRIER = "a Barrier moves nothing and is not needed here: receives and sums wait by themselves"
PICKLING = ("send", "isend", "ssend", "issend", "sendrecv")


def if_pickled(cause, other=None):
    """A cause for too many bytes: `cause` where a lower-case call sent a pickle, `other` where none did."""

    def told(report, n, case):
        pickled = any(event["op"].startswith(PICKLING) for event in report.events)
        return cause if pickled else other

    return told


def at_most_messages(most, cause=None):
    """No rank sends more messages (point to point) than that."""
    return _each_rank("messages", lambda report: report.messages, most, cause)


def at_most_bytes(most, cause=None):
    """No rank sends more bytes (point to point) than that. cause: as in `at_most_seconds`."""
    return _each_rank("bytes", lambda report: report.bytes, most, cause)


def at_most_total_messages(most, cause=None):
    """All ranks together send no more messages than that."""

    @limit("messages in total")
    def check(report, n, case):
        sent, bound = sum(report.messages), _bound(most, n, case, 0)
        return (
            None
            if sent <= bound
            else (
                f"with {count(n, 'rank')} {sent:,} messages are sent in total; the task wants at most {bound:,}",
                cause,
            )
        )

    return check


def exactly_collectives(wanted, cause=None):
    """Every rank makes exactly these calls of collectives, and no others: {"Allreduce": 1}, or a bound."""

    @limit("collectives")
    def check(report, n, case):
        want = {name: times for name, times in _bound(wanted, n, case, 0).items() if times}
        for rank, calls in enumerate(report.collectives):
            if dict(calls) != want:
                said = f"rank {rank} calls {_calls(calls)}; the task wants {_calls(want)}"
                rest = {name: times for name, times in calls.items() if name.lower() != "barrier"}
                return f"with {count(n, 'rank')}, {said}", BARRIER if rest == want else cause
        return None

    return check


def no_collectives(cause=None):
    """No rank calls a collective: the task is to write one."""
    return exactly_collectives({}, cause or "the task is to build it from Send, Recv and the like")


def no_messages(cause=None):
    """No rank sends a message of its own: the task is to use collectives."""
    return at_most_messages(
        0, cause or "a single collective does the job: no Send or Recv is needed"
    )


def same_bits_on_all_ranks(cause=None):
    """All ranks return the same bits, not only numbers that are equal but for rounding."""

    @limit("the same bits on all ranks")
    def check(report, n, case):
        rank = next(
            (r for r, value in enumerate(report.results) if not same(report.results[0], value)),
            None,
        )
        return (
            None
            if rank is None
            else (
                f"with {count(n, 'rank')}, rank {rank} returns numbers close to those of rank 0, but not the "
                "same bits",
                cause
                or "the ranks round differently, as where each adds in its own order: let one rank compute each sum "
                "and pass it on",
            )
        )

    return check


def at_most_seconds(most, alpha, beta, cause=None):
    """On the model's clock, with this alpha and beta, the program takes no longer. One network a check.

    cause: a sentence, or a function (report, n, case) that gives it.
    """

    @limit("time of the model")
    def check(report, n, case):
        bound = _bound(most, n, case, 0)
        return (
            None
            if report.seconds <= bound * (1 + 1e-9)
            else (
                f"with {count(n, 'rank')} it takes {report.seconds:.4g} s on the model's clock; the task wants at most "
                f"{bound:.4g} s",
                cause(report, n, case) if callable(cause) else cause,
            )
        )

    check.network = (alpha, beta)
    return check


def _each_rank(what, counts, most, cause):
    @limit(f"{what} per rank")
    def check(report, n, case):
        for rank, sent in enumerate(counts(report)):
            bound = _bound(most, n, case, rank)
            if not sent <= bound:
                few = f"at most {bound:,.10g}" if bound else "none"
                return (
                    f"with {count(n, 'rank')}, rank {rank} sends {sent:,} {what}; the task wants {few}",
                    cause(report, n, case) if callable(cause) else cause,
                )
        return None

    return check


def _bound(bound, n, case, rank):
    """The number: as it is, or of (n, case), or of (n, case, rank)."""
    if not callable(bound):
        return bound
    return bound(n, case, rank) if len(inspect.signature(bound).parameters) > 2 else bound(n, case)


def _calls(calls):
    return (
        ", ".join(f"{name} {count(times, 'time')}" for name, times in calls.items())
        or "no collective"
    )
