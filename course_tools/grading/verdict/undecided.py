"""What could not be decided on this machine: no fault of the answer, no points, and tried again in the next run.

Two statuses: `not-run-here` where something is not installed; `inconclusive` where the verdict rests on a clock and
this machine was too busy for it to say anything, or where the check itself is broken.
"""

import re

STATUSES = ("inconclusive", "not-run-here")
LACKS = re.compile(
    r"needs a C\+\+ compiler|No module named '(?:mpi4py|numba|matplotlib|ipyparallel)'|"
    r"no folder can be written for compiled kernels"
)
BROKEN = re.compile(r"the check of \S+ is broken.*and that is not your fault", re.DOTALL)
CLOCK = re.compile(r"\b(?:within|stopped after) [\d.]+ s\b")
BUSY = "this machine was too busy to tell (grade again, with fewer --workers): {}"
HAD, WAITED = (
    0.1,
    0.5,
)  # shares of the time: less of a processor, and longer waits for one, decide nothing


def verdict(given, starved):
    """A verdict {"status", "message"}, or the same as undecided. starved(): had the rooms too little of a processor?"""
    status, message = given["status"], given["message"]
    if status in ("wrong", "error"):
        if LACKS.search(message):
            status = "not-run-here"
        elif BROKEN.search(message):
            status = "inconclusive"
        elif CLOCK.search(message) and starved():
            status, message = "inconclusive", BUSY.format(message)
    return {"status": status, "message": message}


def late(message, starved):
    """(status, message) where no answer came in time."""
    return ("inconclusive", BUSY.format(message)) if starved() else ("timeout", message)


def starving(samples, since):
    """Had these processes less than HAD of one processor since then, though they waited for one WAITED of the time?

    samples: [(time, seconds that all their threads had, seconds that they waited)], the oldest first.
    """
    before = [one for one in samples if one[0] <= since]
    first, last = (
        (before or samples or [(0, 0, 0)])[-1 if before else 0],
        (samples or [(0, 0, 0)])[-1],
    )
    seconds, had, waited = (b - a for a, b in zip(first, last, strict=True))
    return seconds > 0 and had < HAD * seconds and waited > WAITED * seconds
