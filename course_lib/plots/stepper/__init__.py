"""Steppers: recorded runs that can be walked through, a picture and a sentence a frame.

step.py      plots.step: from a report, a timeline or a schedule to its stepper
shapes.py    boxes, lines, arrows and text
model.py     Frame and Stepper: the data, and what a notebook shows
svg.py       a frame where no script runs
page.py      the HTML of a notebook; stepper.js makes it move
"""
