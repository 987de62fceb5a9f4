"""Messages that arrive as something else: other types, lengths, orders of elements."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("other type", "type", words="float32")
def floats_of_another_length(comm):
    if comm.rank == 0:
        comm.Send(np.ones(4, np.float32), dest=1)
    else:
        comm.Recv(np.empty(4), source=0)


@fault("other type", "type")
def whole_numbers_as_floats(comm):
    if comm.rank == 0:
        comm.Send(np.arange(4), dest=1)
    else:
        got = np.empty(4)
        comm.Recv(got, source=0)
        return got


@fault("other type", "type")
def another_type_by_name(comm):
    x = np.ones(2)
    if comm.rank == 0:
        comm.Send([x, MPI.DOUBLE], dest=1)
    else:
        comm.Recv([x, MPI.LONG], source=0)


@fault("pickle and buffer", "type truncation", words="pickled object")
def an_object_into_an_array(comm):
    if comm.rank == 0:
        comm.send([1.0, 2.0], dest=1)
    else:
        comm.Recv(np.zeros(64, np.uint8), source=0)


@fault("pickle and buffer", "type", words="send() goes with recv()")
def an_array_as_an_object(comm):
    if comm.rank == 0:
        comm.Send(np.ones(3), dest=1)
    else:
        comm.recv(source=0)


@fault("truncation", "truncation", words="3 float64")
def a_message_longer_than_its_array(comm):
    if comm.rank == 0:
        comm.Send(np.ones(3), dest=1)
    else:
        comm.Recv(np.empty(2), source=0)


@fault("truncation", "truncation")
def an_irecv_that_is_too_short(comm):
    got = np.empty(2)
    request = comm.Irecv(got, source=1 - comm.rank)
    comm.Send(np.ones(5), dest=1 - comm.rank)
    request.Wait()


@fault("truncation", "truncation", n=3)
def uneven_parts_into_even_rows(comm):
    if comm.rank:
        comm.Send(np.ones(2 + comm.rank), dest=0)
    else:
        for r in range(1, comm.size):
            comm.Recv(np.empty(3), source=r)


@fault("order of elements", "layout", words="Fortran order")
def a_transpose_is_sent(comm):
    W = np.arange(6.0).reshape(2, 3)
    if comm.rank == 0:
        comm.Send(W.T, dest=1)
    else:
        got = np.empty((3, 2))
        comm.Recv(got, source=0)
        return got


@fault("order of elements", "layout")
def a_transpose_is_received_into(comm):
    W = np.arange(6.0).reshape(2, 3)
    if comm.rank == 0:
        comm.Send(W, dest=1)
    else:
        got = np.empty((3, 2)).T
        comm.Recv(got, source=0)
        return got


@fault("order of elements", "layout")
def a_transpose_is_summed(comm):
    W = np.arange(6.0).reshape(2, 3)
    total = np.empty((3, 2))
    comm.Allreduce(W.T, total)
    return total


@fault("order of elements", "layout", n=3)
def columns_are_scattered_as_rows(comm):
    A = np.arange(12.0).reshape(4, 3)
    mine = np.empty(4)
    comm.Scatter(A.T if comm.rank == 0 else None, mine)
    return mine


@fault("order of elements", "layout")
def a_transpose_is_broadcast(comm):
    W = np.arange(6.0).reshape(2, 3).T if comm.rank == 0 else np.empty((3, 2))
    comm.Bcast(W)
    return W


@fault("order of elements", "layout")
def parts_in_columns_are_gathered(comm):
    part = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    whole = np.empty((4, 3)) if comm.rank == 0 else None
    comm.Gather(part, whole)
    return whole


@fault("truncation", "truncation", words="irecv")
def a_large_object_into_an_irecv(comm):
    request = comm.irecv(source=1 - comm.rank)
    comm.isend(list(range(20000)), dest=1 - comm.rank).wait()
    return len(request.wait())
