"""Training with MPI: ranks in a notebook that never hang, collectives, data and model parallelism, their costs.

machines.ranks       cluster, Cluster, current: real ranks, with a deadline; %%px, c.run; profiles/ (Slurm, PBS)
machines.rehearsal   rehearse: an MPI program on pretend ranks, and what is wrong with it
counting.py          CountingComm: messages, bytes and collectives of a rank
flat.py              shard, pack, unpack: how data is laid out over ranks
tree.py, linear.py   bcast, reduce, allreduce on a tree; scatter and gather rank by rank
collectives.py       allreduce by ring and by doubling, and MPI's own
data_parallel.py     DataParallel; overlapped.py: Overlapped; master_worker.py: master_worker_step
accumulate.py        Accumulated: a large batch as micro-batches, one after the other
sharded/             Sharded: ZeRO's stages, and what each sends and keeps
layers.py            forward and backward one layer at a time, for schemes that send layer by layer
model_parallel.py    ModelParallel; grid.py: Grid, both at once
pipeline/            Pipeline: layers in stages, by GPipe, 1F1B, interleaved and zero-bubble schedules
blocking.py          the box of triples: what each cut of a product moves
cost.py              what each scheme sends, exactly, and the time of an allreduce
two_levels.py        allreduces of large machines: on two trees, and first inside each node
network.py           alpha, beta and LogGP of this machine, and of networks from documents
scaling.py           predict, extrapolate: the time of a step of each scheme on p ranks
simulate/            Program, Cluster, simulate: tasks and messages on up to 100,000 ranks, as a model
checkpoint.py        train: training that may be killed

NumPy alone; mpi4py, ipyparallel and IPython are imported where they are first used.
"""

from course_lib.machines.ranks.errors import RankError
from course_lib.machines.ranks.ranks import Cluster, cluster, current
from course_lib.machines.rehearsal import compute, rehearse
from course_lib.mpi.accumulate import Accumulated
from course_lib.mpi.collectives import (
    doubling_allreduce,
    mpi_allreduce,
    ring_allgather,
    ring_allreduce,
    ring_reduce_scatter,
)
from course_lib.mpi.counting import CountingComm
from course_lib.mpi.data_parallel import DataParallel, local_rank
from course_lib.mpi.grid import Grid
from course_lib.mpi.linear import linear_gather, linear_scatter
from course_lib.mpi.master_worker import master_worker_step
from course_lib.mpi.model_parallel import ModelParallel
from course_lib.mpi.overlapped import Overlapped
from course_lib.mpi.sharded import Sharded
from course_lib.mpi.tree import tree_allreduce, tree_bcast, tree_reduce
