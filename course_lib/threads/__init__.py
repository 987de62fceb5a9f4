"""Training with threads: data parallelism, parallel products and both at once; leapfrogging and what came after.

NumPy alone; Numba, SciPy and threadpoolctl are imported where they are first used.
"""

from course_lib.measure import Span, Timeline
from course_lib.threads.data_parallel import DataParallel, data_parallel_gradients
from course_lib.threads.deferred import deferred_backward
from course_lib.threads.gil import gil_state
from course_lib.threads.grid_step import GridStep
from course_lib.threads.leapfrog import leapfrog_backward
from course_lib.threads.pool import Pool, ThreadFault, fork_join
from course_lib.threads.schedule import Schedule, Task, deferred_schedule, leapfrog_schedule
from course_lib.threads.shards import shards
from course_lib.threads.simulate import leapfrog_cost, predicted_costs, simulate
from course_lib.threads.split import choose_split
