"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.conditions import machine_line as machine_line
