"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.workers import start as start
