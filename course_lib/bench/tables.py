"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.frame.tables import Table as Table
from course_tools.bench.frame.tables import digits as digits
from course_tools.bench.frame.tables import markdown as markdown
from course_tools.bench.training.tables import training_tables as training_tables
