"""plots.step: the stepper of a record, by what it is a record of."""

from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.gantt import step_timeline
from course_lib.plots.stepper.launches import step_launches
from course_lib.plots.stepper.model import Stepper
from course_lib.plots.stepper.ranks import step_ranks
from course_lib.plots.stepper.requests import step_requests

KNOWN = (
    "a report of mpi.rehearse, one of cpu_engine.trace, the reports of Kernels, or a Timeline of "
    "threads.simulate"
)


def step(record: Any, title: str = "", unit: str = "s") -> Stepper:
    """Walk through a record of your own: a rehearsal, a traced kernel, or a timeline of tasks.

    record: of `mpi.rehearse`: its calls one by one, and a deadlock as it forms; with a clock (alpha, beta or
    compute) on a time axis. Of `gpu.cpu_engine.trace`: the costliest request of each line, with its sectors or
    banks. The `reports` of `gpu.mlp.Kernels`: its launches, with the bytes of each. A Timeline, or what yields
    (row, kind, label, start, end): its tasks in the order of their starts.
    unit: of a timeline's times.

    >>> plots.step(mpi.rehearse(f, 4))                                                          # doctest: +SKIP

    Raises BadInput for anything else, and for a record of which nothing can be shown.
    """
    if hasattr(record, "accesses"):
        return step_requests(_lines(record), title)
    if hasattr(record, "events"):
        timed = not record.errors and max((e["end"] for e in record.events), default=0) > 0
        return (
            step_timeline(_spans(record), title, "s", "rank")
            if timed
            else step_ranks(record, title)
        )
    try:
        spans = [tuple(span) for span in record]
    except TypeError:
        spans = []
    if spans and all(len(span) == 2 and hasattr(span[1], "accesses") for span in spans):
        return step_launches(spans, title)
    if not spans or any(len(span) != 5 for span in spans):
        raise BadInput(f"this is no record that can be stepped through: give {KNOWN}")
    return step_timeline(spans, title, unit)


def _spans(report: Any) -> list[tuple[int, str, str, float, float]]:
    """A rank's calls as tasks."""
    return [
        (event["rank"], event["op"], "", event["begin"], event["end"])
        for event in report.events
        if event["end"] > event["begin"]
    ]


def _lines(report: Any) -> dict[str, Any]:
    """{what a line does: its row}; constant memory has neither sectors nor banks."""
    return {
        f"line {row['line']}, {row['op']} {row['array']}": row
        for row in report.accesses
        if row["space"] != "constant"
    }
