"""Memory that MPI holds, read or written too early: found by runs that differ in the poison alone.

The first run has NaN there, a second numbers below zero, a third numbers above (in the first place of each array; of
whole numbers the third has 0). Held arrays are read-only in the second: what then raises, has written. Where a rank
returns, prints, sends or computes something else than in the first run, it has read. A program that differs by itself
(times, random numbers) is run once more each way, and what does not repeat counts for nothing.
"""

from itertools import zip_longest

from course_lib.machines.rehearsal.memory.pending import ABOVE, BELOW
from course_lib.machines.rehearsal.places import in_words, place
from course_lib.machines.rehearsal.verdict import error

LONG = 1.0  # seconds of computing after which a program is not run again
OWNER = "a buffer belongs to MPI until the end of the Wait: wait first, then "
TEXT = "rank {rank} {did} the buffer of its {op} before it was waited for"


def worth_it(first):
    """Is there anything to find by running it again?"""
    tools = {e["tool"] for e in first.report.errors}
    return bool(first.lent) and tools <= {"buffer"} and first.computed < LONG


def look(stage, how, first, reads=True):
    """Findings that the first run could not make. stage: has play_again(how), an Outcome or None.

    reads: look for early reads too, which needs runs that find memory alike.
    """
    second = stage.play_again(how.but(way=BELOW, guard=True))
    if second is not None and second.written:
        return [_wrote(second.written)]
    third = stage.play_again(how.but(way=ABOVE))
    if second is None or _failed(second):
        second = stage.play_again(how.but(way=BELOW))
    found = _written(first, second) or _written(first, third)
    if found or not reads:
        return found
    play = stage.play_again
    return _reading(play, how, first, second, BELOW) or _reading(play, how, first, third, ABOVE)


def _written(first, other):
    known = {_key(e) for e in first.report.errors}
    errors = [] if other is None else other.report.errors
    return [e for e in errors if e["tool"] == "buffer" and _key(e) not in known]


def merged(errors, found):
    """The errors with these findings: one that is known already gets the line that did it."""
    errors = list(errors)
    for new in found:
        same = next((e for e in errors if _key(e) == _key(new)), None)
        if same is None:
            errors.append(new)
        elif "touched" in new and "touched" not in same:
            same["message"] += f"\n    {new['row']}"
            same["touched"] = new["touched"]
    return errors


def _key(found):
    return found["tool"], found["rank"], found["line"]


def _failed(outcome):
    return any(e["tool"] not in ("buffer", "leftover") for e in outcome.report.errors)


def _wrote(found):
    did, then = ("wrote to", "write") if found["lands"] else ("changed", "write to it")
    return _finding(found["rank"], found["op"], found["place"], did, then, found["at"])


def _finding(rank, op, request, did, then, at):
    """at: the place that touched it, or None."""
    text = TEXT.format(rank=rank, op=op, did=did)
    rows = [in_words(request)] + ([f"{did.split()[0]} in {in_words(at)}"] if at else [])
    message = "\n    ".join([f"buffer: {text}", *rows])
    made = error("buffer", message, OWNER + then, rank, {rank: {"op": op, **request}})
    return made | ({"touched": at, "row": rows[-1]} if at else {})


def _reading(play, how, first, other, way):
    """The finding of what has read the poison, in a list that is empty where nothing has."""
    if other is None or not _differ(first, other):
        return []
    again = play(how), play(how.but(way=way))
    if None in again:
        return []
    runs = (first, again[0]), (other, again[1])
    for rank in range(len(first.trails)):
        step = _first_step(*[[run.trails[rank] for run in pair] for pair in runs])
        if step is not None:
            op, request = step.request
            return [_finding(rank, op, request, "read", "read", _line(step))]
    lent = next((one for one in first.lent if one[3]), None)
    if lent and _stable(first.marks, other.marks, again[0].marks, again[1].marks):
        rank, op, request, _ = lent
        return [_finding(rank, op, request, "read", "read", None)]
    return []


def _differ(first, second):
    same = first.marks == second.marks
    return not same or any(map(_unlike, first.trails, second.trails))


def _unlike(steps, others):
    def told(trail):
        return [(step.line, step.values) for step in trail]

    return told(steps) != told(others)


def _stable(one, other, one_again, other_again):
    """Does anything differ, and only by the poison?"""
    return any(
        one[key] != other[key] and one[key] == one_again[key] and other[key] == other_again[key]
        for key in one
        if None not in (one[key], other[key])
    )


def _first_step(ones, others):
    """The first step that differs by the poison. ones, others: two trails each."""
    for steps in zip_longest(*ones, *others):
        a, a_again, b, b_again = steps
        if None in (a, b):
            return None
        if a_again is None or b_again is None or a.line != a_again.line or b.line != b_again.line:
            return None
        if a.line != b.line or _values_differ(a, a_again, b, b_again):
            return a
    return None


def _values_differ(a, a_again, b, b_again):
    for name in a.values.keys() & b.values.keys():
        x, y = a.values[name], b.values[name]
        if x != y and a_again.values.get(name) == x and b_again.values.get(name) == y:
            return True
    return False


def _line(step):
    """The place of the line that was done before the step."""
    return place([(step.file, step.before, step.function)], step.file)
