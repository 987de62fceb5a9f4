"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.processes import WorkerError as WorkerError
from course_tools.bench.frame.workers import Worker as Worker
