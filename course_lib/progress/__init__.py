"""How far a student has come: what the checks said and what was predicted, kept on the student's own machine."""

from course_lib.progress.summary import Page, show

__all__ = ["Page", "show"]
