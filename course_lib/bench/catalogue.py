"""Until bench/papers moves: see course_tools/bench."""

from course_tools.bench.threads.schemes import LAYERS as LAYERS
from course_tools.bench.training.catalogue import EPOCH as EPOCH
from course_tools.bench.training.catalogue import ETA as ETA
from course_tools.bench.training.catalogue import NETS as NETS
from course_tools.bench.training.catalogue import WAY as WAY
