"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.training.desk import differences as differences
