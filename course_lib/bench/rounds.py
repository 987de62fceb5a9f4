"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.rounds import interleave as interleave
