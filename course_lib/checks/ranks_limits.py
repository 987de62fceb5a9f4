"""Limits for RankCheck: functions (report, n, case) -> None or (what, cause), looked at when all else is right.

report: the rehearsal's Report; n: ranks; case: the RankCase. An author may write any function like these; `.says`
of it, if
it has one, goes into the green line. A bound may be a number, or a function (n, case) -> number, or (n, case,
rank) -> number.
"""


def at_most_messages(most, cause=None):
    """No rank sends more messages (point to point) than that."""
    raise NotImplementedError


def at_most_bytes(most, cause=None):
    """No rank sends more bytes (point to point) than that."""
    raise NotImplementedError


def at_most_total_messages(most, cause=None):
    """All ranks together send no more messages than that."""
    raise NotImplementedError


def exactly_collectives(wanted, cause=None):
    """Every rank makes exactly these calls of collectives, and no others: {"Allreduce": 1}."""
    raise NotImplementedError


def no_collectives(cause=None):
    """No rank calls a collective: the task is to write one."""
    raise NotImplementedError


def no_messages(cause=None):
    """No rank sends a message of its own: the task is to use collectives."""
    raise NotImplementedError


def same_bits_on_all_ranks(cause=None):
    """All ranks return the same bits, not only numbers that are equal but for rounding."""
    raise NotImplementedError


def at_most_seconds(most, alpha, beta, cause=None):
    """With this alpha and beta the program takes no longer, on the model's clock."""
    raise NotImplementedError
