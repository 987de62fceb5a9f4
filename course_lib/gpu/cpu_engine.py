"""The CPU engine where lessons look for it; its code is in `course_lib.machines.cpu_engine`."""

from course_lib.machines.cpu_engine import (
    CompileError,
    LaunchFailed,
    Report,
    summary,
    trace,
    trace_arrays,
)

__all__ = ["CompileError", "LaunchFailed", "Report", "summary", "trace", "trace_arrays"]
