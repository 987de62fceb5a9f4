"""CUDA C on the CPU: compiles it with the host's C++ compiler, runs it, and tells what is wrong with it."""

from course_lib.machines.cpu_engine.compare import Comparison, compare
from course_lib.machines.cpu_engine.compiler import CompileError
from course_lib.machines.cpu_engine.device_arrays import summary, trace_arrays
from course_lib.machines.cpu_engine.process import LaunchFailed
from course_lib.machines.cpu_engine.report import Report
from course_lib.machines.cpu_engine.tracing import trace

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
