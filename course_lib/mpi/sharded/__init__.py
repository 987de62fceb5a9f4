"""Data parallelism whose ranks no longer all keep the same: ZeRO (Rajbhandari et al. 2020, section 5), as FSDP cuts it.

    stage   state       gradients   parameters    a rank sends, of n items        ZeRO's name
    0       whole       whole       whole         2 (p - 1)/p n: one allreduce    baseline
    1       1/p         whole       whole         2 (p - 1)/p n                   P_os
    2       1/p         1/p         whole         2 (p - 1)/p n                   P_os+g
    3       1/p         1/p         1/p           3 (p - 1)/p n                   P_os+g+p

That is without accumulation: with k micro-batches stages 2 and 3 reduce k times, and stage 3 gathers 2 k times.
An allreduce is a reduce-scatter and an allgather. Between the two each sum stands on one rank alone, and this rank can
update its part and send the new parameters round instead of the sums: stages 1 and 2 send nothing more than stage 0.
The unit that is cut is a layer: each rank has a p-th of every layer. FSDP cuts units that its user chooses, of one
layer or several (Zhao et al. 2023, section 3.2.1).

training.py  Sharded: the step, in all stages
paper.py     sent, memory: what a rank sends and keeps, exactly; mixed_precision: ZeRO's own figures
"""

from course_lib.mpi.sharded.paper import STAGES, memory, mixed_precision, sent
from course_lib.mpi.sharded.training import Sharded
