"""Slips: a task's own solution with one small mistake in it, and the sentence that names the mistake."""
