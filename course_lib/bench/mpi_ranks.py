"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.mpi.ranks import Ranks as Ranks
