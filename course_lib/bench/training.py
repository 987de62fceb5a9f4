"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.training.measure import Case as Case
from course_tools.bench.training.measure import Effort as Effort
from course_tools.bench.training.measure import train as train
