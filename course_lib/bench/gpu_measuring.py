"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.measure import measure
from course_tools.bench.gpu.bench import BENCH
from course_tools.bench.gpu.bench import Settings as Settings


def measure_gpu(settings):
    return measure(BENCH, settings)
