"""CUDA C on the CPU: compiles it with the host's C++ compiler, runs it, and tells what is wrong with it."""

from .compiler import CompileError
from .device_arrays import summary, trace_arrays
from .process import LaunchFailed
from .report import Report
from .tracing import trace

__all__ = ["CompileError", "LaunchFailed", "Report", "summary", "trace", "trace_arrays"]
