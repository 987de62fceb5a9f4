"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.threads.bench import DRAWN as DRAWN
from course_tools.bench.training.figures import Style as Style
from course_tools.bench.training.figures import figures as figures
