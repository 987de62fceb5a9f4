"""Thin names for `course_tools.bench.papers`, until it stands on the frame."""
