"""What could not be decided on this machine: no fault of the answer, no points, and tried again in the next run.

Two statuses: `not-run-here` where something is not installed; `inconclusive` where the verdict rests on a clock and
this machine was too busy for it to say anything, or where the check itself is broken. Which of these it may be, the
check says by the kind of its failure (course_lib.checks.kit.kinds); nobody reads its sentences.
"""

from course_lib.checks.kit.kinds import BROKEN, CLOCK, UNAVAILABLE

STATUSES = ("inconclusive", "not-run-here")
BUSY = "this machine was too busy to tell (grade again, with fewer --workers): {}"
# What is said of a run with hidden inputs: nothing that its check said, for that may show them.
HIDDEN = {
    "inconclusive": BUSY.format("it answered too late or not at all"),
    "not-run-here": "this machine lacks something that the task needs: run `course doctor` to see what",
}
# shares of the time: less of a processor, and longer waits for one, decide nothing
HAD, WAITED = 0.3, 0.5
PATIENCE = 4.0  # times its seconds that an answer has at the most, where it waits for a processor meanwhile
WHILE = 1.0  # seconds without a processor that spoil a check's own, shorter waits


def verdict(given, starved):
    """A verdict {"status", "message"} from {"status", "kind", "message"}, or the same as undecided.

    starved(): had the rooms too little of a processor, for a while at least?
    """
    status, message = given["status"], given["message"]
    if given["kind"] == UNAVAILABLE:
        status = "not-run-here"
    elif given["kind"] == BROKEN:
        status = "inconclusive"
    elif given["kind"] == CLOCK and starved():
        status, message = "inconclusive", BUSY.format(message)
    return {"status": status, "message": message}


def late(message, starved):
    """(status, message) where no answer came in time."""
    return ("inconclusive", BUSY.format(message)) if starved() else ("timeout", message)


def counted(seconds, rooms, since):
    """Of so many seconds since then, those that count: not those in which rooms waited for a processor.

    rooms: the samples of each. What they have had of processors counts in full: many threads of one's own that fight
    for one buy no time.
    """
    pairs = [(found[0], found[-1]) for found in (_since(one, since) for one in rooms) if found]
    had = sum(last[1] - first[1] for first, last in pairs)
    waited = sum(last[2] - first[2] for first, last in pairs)
    return max(had, seconds - waited)


def starving(samples, since):
    """Had these processes less than HAD of one processor since then, though one waited for it WAITED of the time?

    samples: [(time, seconds that all their threads had, seconds that one of them waited)], the oldest first.
    """
    found = _since(samples, since)
    return bool(found) and _starves(found[0], found[-1])


def starving_a_while(samples, since):
    """The same of any WHILE seconds since then."""
    found = _since(samples, since)
    return any(
        _starves(first, last)
        for place, first in enumerate(found)
        for last in [one for one in found[place:] if one[0] >= first[0] + WHILE][:1]
    )


def _since(samples, since):
    """Those from then on, and the last one before."""
    before = sum(one[0] <= since for one in samples)
    return samples[max(before - 1, 0) :]


def _starves(first, last):
    seconds, had, waited = (b - a for a, b in zip(first, last, strict=True))
    return seconds > 0 and had < HAD * seconds and waited > WAITED * seconds
