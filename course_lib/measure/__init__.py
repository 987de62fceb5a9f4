"""Measuring: times with their spread, counts of flops and bytes, this machine and its two roofs.

timing.py        time_it, Timing: one function, warmed up and repeated
timeline.py      Timeline, Span: which task ran when, and in which thread
comparison.py    compare, Comparison: several functions, their runs interleaved
this_machine.py  machine, Machine: what the numbers were measured on
blas.py          blas_threads, blas_library: which BLAS NumPy calls, with how many threads
counts.py        step_flops, step_bytes, gflops: what a training step costs on paper
rates.py         sgemm_rate, copy_rate, roofline: what this machine can do at most
skew.py          binary_counts, majority_counts, precision_recall: how good an answer is where one class is rare
"""

from course_lib.measure.blas import blas_library, blas_threads
from course_lib.measure.comparison import Comparison, compare
from course_lib.measure.counts import StepCount, gflops, step_bytes, step_flops
from course_lib.measure.rates import Rate, copy_rate, roofline, sgemm_rate
from course_lib.measure.skew import (
    BinaryCounts,
    PrecisionRecall,
    binary_counts,
    majority_counts,
    precision_recall,
)
from course_lib.measure.this_machine import Machine, machine
from course_lib.measure.timeline import Span, Timeline
from course_lib.measure.timing import Timing, format_seconds, time_it
