"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.results import dump as dump
from course_tools.bench.frame.results import rounded as rounded
