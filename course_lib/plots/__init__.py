"""Every figure of the course. Each function returns a `Figure`: a picture with alt text and its data as a table.

figure.py            Figure: picture, alt text, table
style.py             palette, fonts, number formats
inputs.py            what is refused
line_charts.py       lines, curves, function
batch_charts.py      time_against_batch, gflops_against_batch
bar_chart.py         bars
exponent_chart.py    exponents
image_grids.py       digits, weights
confusion_matrix.py  confusion
roofline_chart.py    roofline
network_drawing.py   network
timeline_chart.py    timeline
rank_chart.py        rank_timeline
warp_drawing.py      warp_accesses; warp_request.py says what a warp's request costs
tile_drawing.py      gemm_tiles
warp_tile_drawing.py warp_tiles
memory_drawing.py    memory_levels
box_drawing.py       triples_box
graph_drawing.py     computation_graph; graph_layout.py says where its boxes stand
stepper/             step and its like: recorded runs that one can walk through
"""

from course_lib.plots.bar_chart import bars
from course_lib.plots.batch_charts import gflops_against_batch, time_against_batch
from course_lib.plots.box_drawing import triples_box
from course_lib.plots.confusion_matrix import confusion
from course_lib.plots.exponent_chart import exponents
from course_lib.plots.figure import Figure
from course_lib.plots.graph_drawing import computation_graph
from course_lib.plots.image_grids import digits, weights
from course_lib.plots.line_charts import curves, function, lines
from course_lib.plots.memory_drawing import memory_levels
from course_lib.plots.network_drawing import network
from course_lib.plots.rank_chart import rank_timeline
from course_lib.plots.roofline_chart import roofline
from course_lib.plots.stepper.arrays import step_arrays
from course_lib.plots.stepper.backprop import step_backprop
from course_lib.plots.stepper.cuts import step_cuts
from course_lib.plots.stepper.fork_join import step_fork_join
from course_lib.plots.stepper.gantt import step_schedules, step_timeline
from course_lib.plots.stepper.launches import step_launches
from course_lib.plots.stepper.model import Frame, Stepper
from course_lib.plots.stepper.orders import step_orders
from course_lib.plots.stepper.overlap import step_overlap
from course_lib.plots.stepper.ranks import step_ranks
from course_lib.plots.stepper.requests import step_requests
from course_lib.plots.stepper.roofline import step_roofline
from course_lib.plots.stepper.shared import step_shared
from course_lib.plots.stepper.step import step
from course_lib.plots.stepper.walk import step_walk
from course_lib.plots.tile_drawing import gemm_tiles
from course_lib.plots.timeline_chart import timeline
from course_lib.plots.warp_drawing import warp_accesses
from course_lib.plots.warp_tile_drawing import warp_tiles

ALL = (
    digits, weights, confusion, curves, lines, bars, function, time_against_batch,
    gflops_against_batch, roofline, timeline, rank_timeline, network, computation_graph,
    warp_accesses, gemm_tiles, warp_tiles, memory_levels, triples_box, exponents,
)  # fmt: skip

STEPPERS = (
    step,
    step_arrays,
    step_backprop,
    step_fork_join,
    step_launches,
    step_cuts,
    step_orders,
    step_overlap,
    step_ranks,
    step_requests,
    step_roofline,
    step_schedules,
    step_shared,
    step_timeline,
    step_walk,
)

__all__ = ["ALL", "Figure", "Frame", "Stepper", *(draw.__name__ for draw in ALL + STEPPERS)]
