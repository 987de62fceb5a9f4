"""Grading that can be trusted: the student's code runs in a room of its own, the checks elsewhere.

`wire` and `peer`: function calls between the two, as data. `sandbox`: the room.
"""
