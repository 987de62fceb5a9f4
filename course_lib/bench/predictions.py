"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.threads.scheme_tables import parts as parts
