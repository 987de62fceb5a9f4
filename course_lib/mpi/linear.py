"""scatter and gather as Singh 2018 pictures them, from Send and Recv: the root deals with each rank in turn.

Rows are shared by `shard`, so that they need not divide evenly. All of the root's bytes go through its one connection,
rank after rank: (p - 1) alpha + beta n (p - 1)/p. No tree can save the root any of these bytes.
"""

from course_lib.mpi.flat import as_bytes, shard


def linear_scatter(comm, whole, mine, root=0):
    """Rank r's share of the rows of `whole`, which the root alone has (None elsewhere), into `mine`; returns mine."""
    if comm.rank != root:
        comm.Recv(as_bytes(mine), source=root)
        return mine
    for r in range(comm.size):
        rows = whole[shard(len(whole), comm.size, r)]
        if r == root:
            mine[:] = rows
        else:
            comm.Send(as_bytes(rows), dest=r)
    return mine


def linear_gather(comm, mine, whole, root=0):
    """The way back: the shares `mine` of all ranks into the rows of `whole`, on the root; returns whole."""
    if comm.rank != root:
        comm.Send(as_bytes(mine), dest=root)
        return whole
    for r in range(comm.size):
        rows = whole[shard(len(whole), comm.size, r)]
        if r == root:
            rows[:] = mine
        else:
            comm.Recv(as_bytes(rows), source=r)
    return whole
