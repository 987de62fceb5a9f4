"""Arguments that MPI does not take: ranks, tags, roots, counts, buffers, types, operations."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("invalid rank", "exception", n=3, words="the ranks are 0 to 2")
def the_last_rank_has_no_right_neighbour(comm):
    comm.Sendrecv(np.ones(2), comm.rank + 1, 0, np.empty(2), comm.rank - 1 if comm.rank else 0)


@fault("invalid rank", "exception", words="dest=-4")
def a_rank_below_zero(comm):
    if comm.rank == 0:
        comm.send("x", dest=-4)
    else:
        comm.recv(source=0)


@fault("invalid rank", "exception", words="source=7")
def a_source_that_is_not_there(comm):
    comm.recv(source=7)


@fault("invalid rank", "exception", words="dest=")
def sends_to_any_source(comm):
    comm.send(comm.rank, dest=MPI.ANY_SOURCE)
    comm.recv()


@fault("invalid tag", "exception", words="tag=-3")
def a_tag_below_zero(comm):
    if comm.rank == 0:
        comm.Send(np.ones(2), dest=1, tag=-3)
    else:
        comm.Recv(np.ones(2), source=0, tag=MPI.ANY_TAG)


@fault("invalid tag", "exception", words="tag=")
def sends_with_any_tag(comm):
    if comm.rank == 0:
        comm.send(1, dest=1, tag=MPI.ANY_TAG)
    else:
        comm.recv(source=0)


@fault("invalid tag", "exception", words="TAG_UB")
def a_tag_beyond_the_upper_bound(comm):
    if comm.rank == 0:
        comm.send(1, dest=1, tag=2**31 - 1)
    else:
        comm.recv(source=0)


@fault("invalid root", "exception", n=3, words="root=3")
def the_root_is_the_number_of_ranks(comm):
    comm.bcast("plan", root=comm.size)


@fault("invalid root", "exception", words="root=-1")
def a_root_below_zero(comm):
    comm.Reduce(np.ones(2), np.empty(2), root=-1)


@fault("invalid buffer", "exception")
def no_array_to_receive_into(comm):
    if comm.rank == 0:
        comm.Send(np.ones(3), dest=1)
    else:
        comm.Recv(None, source=0)


@fault("invalid buffer", "exception")
def a_list_in_the_place_of_an_array(comm):
    comm.Allreduce([1.0, 2.0], np.empty(2))


@fault("invalid buffer", "exception")
def receives_into_read_only_memory(comm):
    got = np.zeros(2)
    got.flags.writeable = False
    if comm.rank == 0:
        comm.Send(np.ones(2), dest=1)
    else:
        comm.Recv(got, source=0)


@fault("invalid buffer", "exception", words="MPI.IN_PLACE")
def sums_into_what_it_sums(comm):
    x = np.ones(3)
    comm.Allreduce(x, x)


@fault("invalid buffer", "exception", words="contiguous")
def sends_a_column(comm):
    A = np.ones((3, 4))
    if comm.rank == 0:
        comm.Send(A[:, 1], dest=1)
    else:
        comm.Recv(np.empty(3), source=0)


@fault("invalid buffer", "buffer", words="receives into the memory that it sends from")
def swaps_in_one_array(comm):
    x = np.full(2, float(comm.rank))
    comm.Sendrecv(x, 1 - comm.rank, recvbuf=x, source=1 - comm.rank)


@fault("invalid count", "exception", words="negative")
def a_count_below_zero(comm):
    if comm.rank == 0:
        comm.Send([np.ones(3), -1, MPI.DOUBLE], dest=1)
    else:
        comm.Recv(np.ones(3), source=0)


@fault("invalid count", "exception", words="beyond its end")
def a_count_longer_than_the_array(comm):
    x = np.ones(3)
    comm.Bcast([x, 4, MPI.DOUBLE])


@fault("invalid count", "exception")
def a_table_that_does_not_divide(comm):
    table = np.arange(7.0) if comm.rank == 0 else None
    comm.Scatter(table, np.empty(3))


@fault("invalid type", "exception", words="")
def a_type_that_was_not_committed(comm):
    column = MPI.DOUBLE.Create_vector(3, 1, 4)
    if comm.rank == 0:
        comm.Send([np.ones((3, 4)), 1, column], dest=1)
    else:
        comm.Recv(np.empty(3), source=0)


@fault("invalid type", "exception")
def no_type_at_all(comm):
    comm.Bcast([np.ones(2), MPI.DATATYPE_NULL])


@fault("invalid operation", "exception", words="BAND takes whole numbers")
def bits_of_floats(comm):
    comm.Allreduce(np.ones(2), np.empty(2), op=MPI.BAND)


@fault("invalid operation", "exception", words="freed")
def an_operation_that_was_freed(comm):
    larger = MPI.Op.Create(lambda a, b, kind: None)
    larger.Free()
    comm.Allreduce(np.ones(2), np.empty(2), op=larger)


@fault("invalid arguments", "exception", words="scatter|expecting")
def a_piece_too_few(comm):
    comm.scatter([1] if comm.rank == 0 else None)


@fault("call after the end", "exception", words="Finalize")
def a_barrier_after_finalize(comm):
    MPI.Finalize()
    comm.Barrier()
