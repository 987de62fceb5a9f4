"""A simulator for machines that nobody here has: tasks on up to 100,000 ranks, and the links between them.

events.py       Cluster, Program, simulate: what runs when, from what each task waits for
collectives.py  allreduces as messages of a Program: ring, tree, and first inside each node
training.py     steps of data parallelism and of shards, a pipeline's schedule
mixes.py        mixes of model, pipeline, data and shards: what a step of each costs, and one of them as a Run
search.py       search: the fastest mix that fits, and why its neighbours lose

    work = Work(net, B=1 << 20, rate=100e12, room=40e9)
    print(search(work, Cluster(1024, 8, inside=(1e-6, 4e-12), between=(1e-6, 4e-11), links=8)))
"""

from course_lib.mpi.simulate.collectives import by_nodes, ring_allreduce, ring_half, tree_allreduce
from course_lib.mpi.simulate.events import NOTHING, Cluster, Program, Run, simulate
from course_lib.mpi.simulate.mixes import Mix, Price, Work, mixes, price, run_mix
from course_lib.mpi.simulate.search import Search, search
from course_lib.mpi.simulate.training import overlapped, pipeline, sharded
