"""Training with threads: data parallelism, parallel products and both at once; leapfrogging and what came after.

NumPy alone; Numba, SciPy and threadpoolctl are imported where they are first used.
"""

from course_lib.measure import Span as Span
from course_lib.measure import Timeline as Timeline
from course_lib.threads.data_parallel import DataParallel as DataParallel
from course_lib.threads.data_parallel import data_parallel_gradients as data_parallel_gradients
from course_lib.threads.deferred import deferred_backward as deferred_backward
from course_lib.threads.gil import gil_state as gil_state
from course_lib.threads.grid_step import GridStep as GridStep
from course_lib.threads.leapfrog import leapfrog_backward as leapfrog_backward
from course_lib.threads.pool import Pool as Pool
from course_lib.threads.pool import ThreadFault as ThreadFault
from course_lib.threads.pool import fork_join as fork_join
from course_lib.threads.schedule import Schedule as Schedule
from course_lib.threads.schedule import Task as Task
from course_lib.threads.schedule import deferred_schedule as deferred_schedule
from course_lib.threads.schedule import leapfrog_schedule as leapfrog_schedule
from course_lib.threads.shards import shards as shards
from course_lib.threads.simulate import leapfrog_cost as leapfrog_cost
from course_lib.threads.simulate import predicted_costs as predicted_costs
from course_lib.threads.simulate import simulate as simulate
from course_lib.threads.split import choose_split as choose_split
