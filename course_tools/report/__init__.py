"""`course report`: what a check said, its seed and the answer, as a text to send to those who wrote the check."""

from course_tools.report.command import add_arguments, command

__all__ = ["add_arguments", "command"]
