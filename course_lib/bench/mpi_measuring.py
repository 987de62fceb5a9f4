"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.measure import measure
from course_tools.bench.mpi.bench import BENCH
from course_tools.bench.mpi.bench import SETTLE as SETTLE
from course_tools.bench.mpi.bench import Settings as Settings


def measure_mpi(settings):
    return measure(BENCH, settings)
