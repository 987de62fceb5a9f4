"""Starts ranks, watches over each parallel cell, and leaves nothing behind: the machinery, not the lesson."""
