"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.conditions import load as load
from course_tools.bench.threads.bench import Settings as Settings
from course_tools.bench.threads.bench import measure_schemes as measure_schemes
