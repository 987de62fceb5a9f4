"""Training with MPI: ranks in a notebook that never hang, collectives, data and model parallelism, their costs.

NumPy alone; mpi4py, ipyparallel and IPython are imported where they are first used.
"""

from course_lib.mpi.errors import RankError as RankError
from course_lib.mpi.ranks import Cluster as Cluster
from course_lib.mpi.ranks import cluster as cluster
from course_lib.mpi.ranks import current as current
