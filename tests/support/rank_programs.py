"""Programs that must give the same on real ranks and in rehearsal: functions of comm alone, results of plain data.

Run under mpiexec with a file name, rank 0 writes there {name: list of results in rank order}.
"""

import pickle
import sys

import numpy as np
from mpi4py import MPI


def mine(comm, n=5, dtype=np.float64):
    return (np.arange(n) * (comm.rank + 1) + comm.rank).astype(dtype)


def raised(call, *args, **named):
    """The kind of exception that a call raises, for MPI's own with its class; or what it returns."""
    try:
        return "returned", call(*args, **named)
    except MPI.Exception as error:
        return "MPI", error.Get_error_class()
    except Exception as error:
        return type(error).__name__, None if isinstance(error, TypeError) else str(error).partition(
            " ("
        )[0]


def ring(comm):
    got = np.zeros(5)
    comm.Sendrecv(
        mine(comm),
        dest=(comm.rank + 1) % comm.size,
        recvbuf=got,
        source=(comm.rank - 1) % comm.size,
    )
    return got


def odd_and_even(comm):
    got, right, left = np.zeros(5), comm.rank + 1, comm.rank - 1
    status = MPI.Status()
    if comm.rank % 2 == 0:
        if right < comm.size:
            comm.Send(mine(comm), right, 7)
            comm.Recv(got, right, 8, status)
    else:
        comm.Recv(got, source=left, tag=7, status=status)
        comm.Send(mine(comm), dest=left, tag=8)
    done = status.Get_count(MPI.DOUBLE) if got.any() else 0
    return got, done, (status.source, status.tag) if done else None


def a_line_with_null_ends(comm):
    left = comm.rank - 1 if comm.rank else MPI.PROC_NULL
    right = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    got, status = np.full(5, -1.0), MPI.Status()
    comm.Sendrecv(mine(comm), dest=right, recvbuf=got, source=left, status=status)
    comm.Send(mine(comm), dest=MPI.PROC_NULL)
    comm.Recv(got, source=MPI.PROC_NULL)
    return (
        got,
        status.Get_source() == left,
        status.Get_count(MPI.BYTE),
        comm.recv(source=MPI.PROC_NULL),
    )


def shorter_than_the_buffer(comm):
    got, status = np.full(6, -1.0), MPI.Status()
    request = comm.Irecv(got, source=(comm.rank - 1) % comm.size)
    comm.Isend(mine(comm, 4), dest=(comm.rank + 1) % comm.size).Wait()
    request.Wait(status)
    return got, status.Get_count(MPI.DOUBLE)


def specs(comm):
    got, to, source = (
        np.zeros((3, 4), np.float32),
        (comm.rank + 1) % comm.size,
        (comm.rank - 1) % comm.size,
    )
    data = mine(comm, 12, np.float32).reshape(3, 4)
    parts = [
        ([data, MPI.FLOAT], [got, MPI.FLOAT]),
        ([data, 5], [got, 5]),
        ([data, 3, MPI.FLOAT], [got, 3, "f"]),
        ([data, (2, 6), MPI.FLOAT], [got, (2, 1), MPI.FLOAT]),
        (data.T, got),
        (data[1:], [got, 8]),
        ([data, 4, 2, MPI.FLOAT], got),
        (bytearray(b"abc"), bytearray(3)),
    ]
    out = []
    for send, receive in parts:
        got[:] = 0
        comm.Sendrecv(send, dest=to, recvbuf=receive, source=source)
        out.append(got.copy() if not isinstance(receive, bytearray) else bytes(receive))
    return out


def requests(comm):
    others = [r for r in range(comm.size) if r != comm.rank]
    got = np.zeros((comm.size, 5))
    pending = [comm.Irecv(got[r], source=r, tag=3) for r in others]
    pending += [comm.Isend(mine(comm), dest=r, tag=3) for r in others]
    MPI.Request.Waitall(pending)
    objects = [comm.irecv(source=r, tag=4) for r in others]
    sends = [comm.isend({"rank": comm.rank, "to": r}, dest=r, tag=4) for r in others]
    said = MPI.Request.waitall(objects)
    MPI.Request.waitall(sends)
    return got, said


def any_source(comm):
    if comm.rank:
        comm.send(comm.rank**2, dest=0, tag=comm.rank)
        return None
    status, got = MPI.Status(), []
    for _ in range(comm.size - 1):
        value = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        got.append((status.Get_source(), status.Get_tag(), value))
    return sorted(got)


def probed(comm):
    if comm.rank:
        comm.Send(mine(comm, comm.rank + 2), dest=0, tag=5)
        return None
    out, status = [], MPI.Status()
    for r in range(1, comm.size):
        comm.Probe(source=r, tag=5, status=status)
        got = np.empty(status.Get_count(MPI.DOUBLE))
        comm.Recv(got, source=r, tag=5)
        out.append(got)
    return out, comm.Iprobe()


def in_order(comm):
    """Messages of one sender with one tag are taken in the order in which they were sent."""
    got, to = [], (comm.rank + 1) % comm.size
    sends = [comm.isend(k, dest=to, tag=k % 2) for k in range(6)]
    for tag in (1, 0, 0, 1, 1, 0):
        got.append(comm.recv(source=(comm.rank - 1) % comm.size, tag=tag))
    MPI.Request.waitall(sends)
    return got


def broadcasts(comm):
    root, out = comm.size - 1, []
    data = mine(comm) if comm.rank == root else np.zeros(5)
    comm.Bcast(data, root=root)
    out.append(comm.bcast({"x": comm.rank}, root))
    out.append(data)
    few = np.full(5, comm.rank, np.int32)
    comm.Bcast([few, 2, MPI.INT], 0)
    return [*out, few]


def scattered(comm):
    p, r = comm.size, comm.rank
    whole = np.arange(3.0 * p) if r == 0 else None
    part = np.zeros(3)
    comm.Scatter(whole, part)
    counts = [1 + k for k in range(p)]
    starts = [sum(counts[:k]) for k in range(p)]
    uneven = np.zeros(counts[r], np.float32)
    data = np.arange(sum(counts), dtype=np.float32) if r == 0 else None
    comm.Scatterv([data, counts, starts, MPI.FLOAT], uneven, root=0)
    second = np.zeros(counts[r], np.float32)
    comm.Scatterv([data, counts, MPI.FLOAT] if r == 0 else None, second)
    rest = np.zeros((2 * p + 1) // p + ((2 * p + 1) % p > r))
    comm.Scatterv(np.arange(2.0 * p + 1) if r == 0 else None, rest)
    back = np.zeros(sum(counts), np.float32) if r == 0 else None
    comm.Gatherv(uneven, [back, counts, starts, MPI.FLOAT] if r == 0 else None)
    return part, uneven, second, rest, back, comm.scatter(list(range(p)) if r == 0 else None)


def gathered(comm):
    p, r, root = comm.size, comm.rank, comm.size // 2
    rows = np.zeros((p, 5)) if r == root else None
    comm.Gather(mine(comm), rows, root=root)
    everything = np.zeros((p, 5))
    comm.Allgather(mine(comm), everything)
    own = np.zeros((p, 2))
    own[r] = r + 1
    comm.Allgather(MPI.IN_PLACE, own)
    counts = [k + 1 for k in range(p)]
    uneven = np.zeros(sum(counts))
    comm.Allgatherv(np.full(r + 1, float(r)), [uneven, counts])
    in_place = np.full((p, 2), float(r))
    comm.Gather(MPI.IN_PLACE if r == 0 else in_place[0], in_place if r == 0 else None)
    return rows, everything, own, uneven, in_place, comm.gather(r), comm.allgather((r, "x"))


def reduced(comm):
    out = []
    for op in (MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN):
        total = np.zeros(5)
        comm.Allreduce(mine(comm), total, op=op)
        out.append(total)
    whole = mine(comm, dtype=np.int64)
    comm.Allreduce(MPI.IN_PLACE, whole)
    only = np.full(5, -1.0)
    comm.Reduce(mine(comm), only if comm.rank == 0 else None)
    place = mine(comm)
    comm.Reduce(
        MPI.IN_PLACE if comm.rank == 0 else place, place if comm.rank == 0 else None, MPI.MAX, 0
    )
    logic = np.array([comm.rank > 0, True])
    comm.Allreduce(MPI.IN_PLACE, logic, MPI.LAND)
    return [
        *out,
        whole,
        only,
        place,
        logic,
        comm.allreduce(comm.rank),
        comm.reduce(comm.rank + 1, MPI.PROD),
        comm.allreduce((comm.rank % 2, comm.rank), MPI.MAXLOC),
        comm.allreduce([comm.rank]),
    ]


def parts_of_sums(comm):
    p, r = comm.size, comm.rank
    block, whole = np.zeros(2), np.arange(2.0 * p) + r
    comm.Reduce_scatter_block(whole, block)
    comm.Reduce_scatter_block(MPI.IN_PLACE, whole)
    counts = [k + 1 for k in range(p)]
    uneven = np.zeros(r + 1)
    comm.Reduce_scatter(np.arange(float(sum(counts))), uneven, counts)
    swapped = np.zeros((p, 2))
    comm.Alltoall(np.arange(2.0 * p).reshape(p, 2) + 100 * r, swapped)
    upto, before = np.zeros(2), np.full(2, -1.0)
    comm.Scan(np.full(2, r + 1.0), upto)
    comm.Exscan(np.full(2, r + 1.0), before)
    return (
        block,
        whole[:2],
        uneven,
        swapped,
        upto,
        before if r else None,
        comm.alltoall(list(range(p))),
        comm.scan(r),
    )


def without_waiting(comm):
    total, data = np.zeros(5), mine(comm)
    first = comm.Iallreduce(mine(comm), total)
    second = comm.Ibcast(data, root=0)
    third = comm.Ibarrier()
    MPI.Request.Waitall([second, third, first])
    place = mine(comm)
    request = comm.Iallreduce(MPI.IN_PLACE, place, MPI.MAX)
    while not request.Test():
        pass
    return total, data, place


def split(comm):
    half = comm.Split(comm.rank % 2, -comm.rank)
    total = np.zeros(1)
    half.Allreduce(np.full(1, comm.rank + 1.0), total)
    none = comm.Split(0 if comm.rank == 0 else MPI.UNDEFINED, 0)
    other = comm.Dup()
    requests = [comm.isend("world", dest=comm.rank), other.isend("copy", dest=comm.rank)]
    said = other.recv(), comm.recv()
    MPI.Request.waitall(requests)
    return (
        half.rank,
        half.size,
        total,
        none == MPI.COMM_NULL,
        said,
        half.allgather(comm.rank),
        other.Get_size(),
    )


def refused(comm):
    x, p = np.zeros(4), comm.size
    calls = [
        (comm.Send, x, p),
        (comm.Send, x, -7),
        (comm.Send, x, 0, -3),
        (comm.Recv, x, p),
        (comm.Bcast, x, p),
        (comm.Send, [1.0, 2.0], 0),
        (comm.Send, 3, 0),
        (comm.Send, x[::2], 0),
        (comm.Send, x, "a"),
        (comm.Recv, np.frombuffer(b"12345678"), 0),
        (comm.Allreduce, x, np.zeros(3)),
        (comm.Allreduce, x, np.zeros(4, np.float32)),
        (comm.Allreduce, x, x),
        (comm.Send, None, 0),
        (comm.Send, [x, 2, 1, 0, 0], 0),
        (comm.Send, [x, -2], 0),
        (comm.Send, [x, "nonsense"], 0),
        (comm.Send, [x[:1], MPI.BYTE, 3], 0),
    ]
    said = [raised(*call) for call in calls]
    if comm.rank == 0:
        said += [raised(comm.scatter, list(range(p + 1))) if p == 1 else None]
    return said


def too_long(comm):
    if comm.rank == 0:
        comm.Isend(np.arange(4.0), dest=0)
        return raised(comm.Recv, np.zeros(3), 0)
    return None


def world(comm):
    return MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.size, MPI.COMM_WORLD.allreduce(1)


PROGRAMS = [
    ring,
    odd_and_even,
    a_line_with_null_ends,
    shorter_than_the_buffer,
    specs,
    requests,
    any_source,
    probed,
    in_order,
    broadcasts,
    scattered,
    gathered,
    reduced,
    parts_of_sums,
    without_waiting,
    split,
    refused,
    too_long,
    world,
]

if __name__ == "__main__":
    found = {}
    for program in PROGRAMS:
        found[program.__name__] = MPI.COMM_WORLD.gather(program(MPI.COMM_WORLD))
        MPI.COMM_WORLD.Barrier()
    if MPI.COMM_WORLD.rank == 0:
        with open(sys.argv[1], "wb") as file:
            pickle.dump(found, file)
