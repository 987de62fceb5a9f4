"""Collectives that do not fit each other."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("other collective", "mismatch", words="another collective")
def a_barrier_meets_a_broadcast(comm):
    if comm.rank == 0:
        comm.Barrier()
        comm.bcast(1)
    else:
        comm.bcast(None)
        comm.Barrier()


@fault("other collective", "mismatch", n=3)
def the_root_gathers_and_the_others_reduce(comm):
    if comm.rank == 0:
        comm.gather(1)
    else:
        comm.reduce(1)


@fault("other collective", "mismatch")
def capital_and_small_letters(comm):
    if comm.rank == 0:
        comm.bcast(np.ones(2))
    else:
        comm.Bcast(np.empty(2))


@fault("other collective", "mismatch")
def one_waits_and_one_does_not(comm):
    out = np.empty(1)
    if comm.rank == 0:
        comm.Iallreduce(np.ones(1), out).Wait()
    else:
        comm.Allreduce(np.ones(1), out)


@fault("other root", "mismatch", words="another root")
def everybody_is_root(comm):
    comm.bcast(comm.rank, root=comm.rank)


@fault("other root", "mismatch", n=3)
def a_root_computed_by_each(comm):
    totals = np.zeros(2)
    comm.Reduce(np.ones(2), totals, root=min(comm.rank, 1))


@fault("other operation", "mismatch", words="another op")
def a_sum_and_a_maximum(comm):
    comm.allreduce(comm.rank, op=MPI.SUM if comm.rank else MPI.MAX)


@fault("other operation", "mismatch")
def a_product_on_one_rank(comm):
    comm.Allreduce(np.ones(2), np.empty(2), op=MPI.PROD if comm.rank == 1 else MPI.SUM)


@fault("other size", "mismatch", words="another size")
def a_longer_array_on_one_rank(comm):
    n = 3 + comm.rank
    comm.Allreduce(np.ones(n), np.empty(n))


@fault("other size", "mismatch")
def a_shorter_array_to_broadcast_into(comm):
    comm.Bcast(np.zeros(4 if comm.rank == 0 else 3))


@fault("other size", "mismatch", n=3, words="another size")
def parts_that_do_not_fill_the_table(comm):
    table = np.empty((3, 4)) if comm.rank == 0 else None
    comm.Gather(np.ones(4 if comm.rank < 2 else 3), table)


@fault("other size", "mismatch", n=3)
def counts_of_another_split(comm):
    counts = [2, 2, 3]
    data = np.arange(7.0) if comm.rank == 0 else None
    mine = np.empty(counts[::-1][comm.rank])
    comm.Scatterv([data, counts], mine)


@fault("other type", "mismatch", words="float32")
def halves_and_doubles(comm):
    kind = np.float32 if comm.rank else np.float64
    comm.Allgather(np.ones(2, kind), np.empty((comm.size, 2), kind))


@fault("other type", "mismatch", words="int64")
def whole_numbers_meet_floats(comm):
    kind = np.int64 if comm.rank else np.float64
    comm.Allreduce(np.ones(2, kind), np.empty(2, kind))


@fault("other type", "exception", words="datatypes")
def sums_into_another_type(comm):
    comm.Allreduce(np.ones(3, np.float32), np.zeros(3))


@fault("other order", "mismatch", words="different orders")
def sums_begun_in_another_order(comm):
    a, b = np.full(1, 1.0 + comm.rank), np.full(1, 100.0 * (1 + comm.rank))
    sum_a, sum_b = np.empty(1), np.empty(1)
    if comm.rank == 0:
        first = comm.Iallreduce(a, sum_a)
        second = comm.Iallreduce(b, sum_b)
    else:
        second = comm.Iallreduce(b, sum_b)
        first = comm.Iallreduce(a, sum_a)
    MPI.Request.Waitall([first, second])
    return sum_a[0], sum_b[0]


@fault("other order", "mismatch", words="different orders")
def layers_in_an_order_of_its_own(comm):
    grads = [np.full(3, float(k)) for k in range(3)]
    sums = [np.empty(3) for _ in grads]
    order = range(3) if comm.rank else reversed(range(3))
    MPI.Request.Waitall([comm.Iallreduce(grads[k], sums[k]) for k in order])
    return sums


@fault("other order", "mismatch")
def two_sums_swapped(comm):
    loss, right = 1.0, 5.0
    if comm.rank == 0:
        loss = comm.allreduce(loss)
        right = comm.allreduce(right)
    else:
        right = comm.allreduce(right)
        loss = comm.allreduce(loss)
    return loss, right


@fault("other order", "mismatch", n=3)
def broadcasts_swapped(comm):
    weights, bias = np.full(2, 1.0), np.full(2, 2.0)
    if comm.rank < 2:
        MPI.Request.Waitall([comm.Ibcast(weights), comm.Ibcast(bias)])
    else:
        MPI.Request.Waitall([comm.Ibcast(bias), comm.Ibcast(weights)])
    return weights, bias


@fault("other order", "mismatch deadlock", n=4)
def rows_and_columns_of_a_grid(comm):
    row, column = comm.Split(comm.rank // 2), comm.Split(comm.rank % 2)
    if comm.rank in (0, 3):
        row.Barrier()
        column.Barrier()
    else:
        column.Barrier()
        row.Barrier()


@fault("other number", "mismatch")
def a_collective_in_a_branch(comm):
    if comm.rank == 0:
        comm.bcast("only the root says so")
    comm.Barrier()
    comm.Barrier()


@fault("other order", "mismatch")
def rows_of_a_matrix_in_another_order(comm):
    G = np.arange(4.0).reshape(2, 2) + comm.rank
    order = (0, 1) if comm.rank == 0 else (1, 0)
    MPI.Request.Waitall([comm.Iallreduce(MPI.IN_PLACE, G[k]) for k in order])
    return G


@fault("other order", "mismatch")
def blocking_sums_in_another_order(comm):
    grads = {"W": np.full(2, 1.0 + comm.rank), "b": np.full(2, 10.0)}
    for name in sorted(grads, reverse=comm.rank == 1):
        comm.Allreduce(MPI.IN_PLACE, grads[name])
    return grads


@fault("other collective", "mismatch")
def a_copy_and_a_split(comm):
    comm.Dup() if comm.rank else comm.Split(0)
