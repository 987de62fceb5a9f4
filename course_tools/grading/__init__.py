"""Grading that can be trusted: the student's code runs in a sandbox of its own, the checks elsewhere (README.md)."""
