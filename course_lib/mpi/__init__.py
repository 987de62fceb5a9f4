"""Training with MPI: ranks in a notebook that never hang, collectives, data and model parallelism, their costs.

NumPy alone; mpi4py, ipyparallel and IPython are imported where they are first used.
"""

from course_lib.mpi.collectives import doubling_allreduce as doubling_allreduce
from course_lib.mpi.collectives import mpi_allreduce as mpi_allreduce
from course_lib.mpi.collectives import ring_allreduce as ring_allreduce
from course_lib.mpi.collectives import tree_allreduce as tree_allreduce
from course_lib.mpi.counting import CountingComm as CountingComm
from course_lib.mpi.data_parallel import DataParallel as DataParallel
from course_lib.mpi.data_parallel import Overlapped as Overlapped
from course_lib.mpi.data_parallel import master_worker_step as master_worker_step
from course_lib.mpi.errors import RankError as RankError
from course_lib.mpi.grid import Grid as Grid
from course_lib.mpi.launcher.ranks import Cluster as Cluster
from course_lib.mpi.launcher.ranks import cluster as cluster
from course_lib.mpi.launcher.ranks import current as current
from course_lib.mpi.model_parallel import ModelParallel as ModelParallel
from course_lib.mpi.rehearsal import compute as compute
from course_lib.mpi.rehearsal import rehearse as rehearse
