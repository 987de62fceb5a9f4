"""Steppers: recorded runs that can be walked through, a picture and a sentence a frame.

step.py      plots.step: from a report, a timeline or a schedule to its stepper
arrays.py    step_arrays: the array of every rank; ranks.py: step_ranks, a rehearsal call by call
backprop.py  step_backprop: forward and backward through a small network, with its numbers
roofline.py  step_roofline: a step under its roof, batch size by batch size
gantt.py     step_timeline, step_schedules; fork_join.py: step_fork_join, one thread and several
orders.py    step_orders; requests.py: step_requests; walk.py: step_walk
launches.py  step_launches: the kernels of a step, with their bytes
overlap.py   step_overlap: gradients that travel while others are computed
cuts.py      step_cuts: a layer cut over ranks, along one index after the other
shared.py    step_shared: a shared array, act by act
shapes.py    boxes, lines, arrows and text
model.py     Frame and Stepper: the data, and what a notebook shows
svg.py       a frame where no script runs
page.py      the HTML of a notebook; stepper.js makes it move
"""
