"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.numbers import quartiles as quartiles
from course_tools.bench.frame.numbers import ratio as ratio
from course_tools.bench.frame.numbers import runs as runs
from course_tools.bench.training.tables import noise as noise
from course_tools.bench.training.tables import rates as rates
