"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.mpi.predictions import epoch_seconds as epoch_seconds
