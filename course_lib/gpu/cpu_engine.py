"""The CPU engine where lessons look for it; its code is in `course_lib.machines.cpu_engine`."""

from course_lib.machines.cpu_engine import (
    Comparison,
    CompileError,
    LaunchFailed,
    Report,
    compare,
    summary,
    trace,
    trace_arrays,
)

__all__ = [
    "Comparison",
    "CompileError",
    "LaunchFailed",
    "Report",
    "compare",
    "summary",
    "trace",
    "trace_arrays",
]
