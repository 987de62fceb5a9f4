"""What a result says of its own run."""

from course_tools.bench.frame.document import machine_line
from course_tools.bench.papers.claim import Result


def machine(result: Result) -> str:
    """What this result was measured on."""
    return machine_line(result)
