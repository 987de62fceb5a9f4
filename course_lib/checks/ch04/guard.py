"""What the checks of chapter 04's threads share: tokens for deltas, a guarded call, a fault that must be heard of."""

import threading

from course_lib.checks.ch04.patience import stop
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import Unmet, require_in_time
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.threads import guarded, lost_in, require_none_lost, started_since
from course_lib.checks.kit.waits import CAUSES, FULL, QUEUE

FAULT = "cannot be computed"  # in the words of each fault that a check makes
_LIMITED = (
    "the queue is full: one with a maxsize makes put wait until somebody takes a delta out, and then the chain "
    "stands still. Give the queue no maxsize"
)


_UNCAUGHT = "an exception ends only its own thread: catch it there, keep it, and raise it "
_CAUGHT = "it was caught, or a pool's future keeps it, and nothing raised it again: keep it, and raise it "


class Delta:
    """Stands for the delta of a layer: it can be handed on and looked at, and nothing else."""

    def __init__(self, layer):
        self.layer = layer

    def __repr__(self):
        return f"delta of layer {self.layer}"


def hang(fn, args, cause=""):
    """`guarded`, with this cause where the call waits at a queue for ever; its threads are stopped if they spin."""
    before = set(threading.enumerate())
    try:
        return guarded(fn, *args)
    except Unmet as unmet:
        stop(started_since(before))
        rows = dict(unmet.rows)
        if FULL in rows.get("where", ""):
            rows["cause"] = _LIMITED
        elif cause and CAUSES[QUEUE] in rows["cause"]:
            rows["cause"] = cause
        raise Unmet(unmet.what, list(rows.items()), unmet.kind) from None


def require_no_strange_fault(run):
    """No exception but ours may have ended a thread and reached nobody."""
    require_none_lost([fault for fault in run.faults if not isinstance(fault, ArithmeticError)])


def require_no_error(run):
    """Nor may one end the call."""
    require_no_strange_fault(run)
    if run.error is not None:
        raise run.error


def require_heard(run, what, last):
    """The caller must have heard of our fault, in whatever exception. what: it is; last: what comes before raising."""
    require(
        run.error is not None,
        f"{what} was lost: the function returned as if nothing had failed",
        cause=(_UNCAUGHT if run.faults else _CAUGHT) + last + lost_in(run.fn),
    )
    require(
        FAULT in _all_told(run.error),
        f"{what} became {short_error(run.error)}",
        cause="raise the exception that you kept, or `raise ... from` it: it tells what went wrong",
    )


def require_none_waits(run, cause):
    """No thread of the student's may be left when the exception has come."""
    left = len(run.left)
    what = f"{left} of your threads still waited when the exception came"
    require_in_time(not left, what, cause=cause)


def _all_told(error):
    """The text of an error and of the one it was raised from."""
    told = f"{error} {error.__cause__} {'' if error.__suppress_context__ else error.__context__}"
    return told + " ".join(
        str(one) for one in getattr(error, "exceptions", ())
    )  # those of an ExceptionGroup
