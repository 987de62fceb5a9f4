"""`course trace FILE.cu`: one launch of your own kernel under the CPU engine's tracer, from the command line.

Exit status: 0 nothing was found, 1 a check speaks, 2 the call is wrong.
"""

from course_tools.trace.command import add_arguments, command

__all__ = ["add_arguments", "command"]
