"""Which of several files of one chapter from one student counts: the newest."""

import re

STAMP = re.compile(  # 2026-11-22 10.15, 2026-11-22T10:15:30, 20261122_1015
    r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)"
    r"(?:[T _.-]{1,3}([0-2]\d)[-_:.h]?([0-5]\d)(?:[-_:.m]?([0-5]\d))?)?(?!\d)"
)


def last(found):
    """(the same, the newest last; by what). found: [(File, ...)].

    By the number that the LMS gave the attempt; else by the times in their names, where each has one; else by the
    files' own times; else by their names.
    """
    files = [one[0] for one in found]
    for key, why in (
        (_attempt, "the number of the attempt"),
        (_stamp, "the time in its name"),
        (_sent, "the time of the file"),
    ):
        keys = [key(file) for file in files]
        if None not in keys and len(set(keys)) > 1:
            return [
                one for _, one in sorted(zip(keys, found, strict=True), key=lambda pair: pair[0])
            ], why
    return sorted(found, key=lambda one: one[0].name), "its name"


def _attempt(file):
    return file.attempt


def _stamp(file):
    stamp = STAMP.search(file.name)
    return stamp and tuple(int(part or 0) for part in stamp.groups())


def _sent(file):
    return file.sent or None
