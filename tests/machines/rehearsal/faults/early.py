"""Memory that belongs to MPI, touched before the Wait."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


def pending(comm, n=3):
    """(array, request) of a receive that is under way; the message is on its way too."""
    got = np.zeros(n)
    request = comm.Irecv(got, source=1 - comm.rank)
    send = comm.Isend(np.arange(float(n)) + comm.rank, dest=1 - comm.rank)
    send.Wait()
    return got, request


@fault("write before wait", "buffer", words="wrote")
def sets_an_element(comm):
    got, request = pending(comm)
    got[0] = 7.0
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def adds_in_place(comm):
    got, request = pending(comm)
    got += 1
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def adds_nothing_in_place(comm):
    got, request = pending(comm)
    got += 0.0
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def scales_in_place(comm):
    got, request = pending(comm)
    got *= 0.5
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def takes_the_maximum_in_place(comm):
    got, request = pending(comm)
    np.maximum(got, 0.0, out=got)
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def takes_the_minimum_of_one_number(comm):
    got, request = pending(comm, 1)
    np.minimum(got, 5.0, out=got)
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def clips_through_a_view(comm):
    grid = np.zeros((2, 4))
    request = comm.Irecv(grid[1], source=1 - comm.rank)
    comm.Isend(np.ones(4), dest=1 - comm.rank).Wait()
    np.clip(grid, 0.0, 1.0, out=grid)
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def sorts_in_place(comm):
    got, request = pending(comm)
    got.sort()
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def fills_with_zeros(comm):
    got, request = pending(comm)
    got.fill(0.0)
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def whole_numbers_in_place(comm):
    got = np.zeros(3, np.int64)
    request = comm.Irecv(got, source=1 - comm.rank)
    comm.Isend(np.arange(3), dest=1 - comm.rank).Wait()
    got |= 1
    request.Wait()


@fault("write before wait", "buffer", words="wrote")
def the_next_message_into_the_same_array(comm):
    other, got = 1 - comm.rank, np.zeros(2)
    first = comm.Irecv(got, source=other, tag=1)
    comm.Isend(np.ones(2), dest=other, tag=1).Wait()
    got[:] = 0
    first.Wait()


@fault("read before wait", "buffer", words="read")
def sums_too_early(comm):
    got, request = pending(comm)
    total = got.sum()
    request.Wait()
    return total


@fault("read before wait", "buffer", words="read")
def prints_too_early(comm):
    got, request = pending(comm)
    print(got)
    request.Wait()


@fault("read before wait", "buffer", words="read")
def reads_and_forgets(comm):
    got, request = pending(comm)
    first = got[0]
    request.Wait()
    del first


@fault("read before wait", "buffer", words="read")
def decides_too_early(comm):
    got, request = pending(comm)
    if got[0] > 10:
        got = got.copy()
    request.Wait()


@fault("read before wait", "buffer", words="read")
def copies_too_early(comm):
    got, request = pending(comm)
    kept = [got.copy()]
    request.Wait()
    return kept


@fault("read before wait", "buffer")
def passes_on_too_early(comm):
    got, request = pending(comm)
    comm.Sendrecv(got, 1 - comm.rank, 5, np.empty(3), 1 - comm.rank, 5)
    request.Wait()


@fault("read before wait", "buffer", words="read")
def reads_a_sum_too_early(comm):
    total = np.zeros(2)
    request = comm.Iallreduce(np.ones(2), total)
    mean = total / comm.size
    request.Wait()
    return mean


@fault("read before wait", "buffer", words="read")
def reads_a_broadcast_too_early(comm):
    weights = np.full(2, float(comm.rank))
    request = comm.Ibcast(weights)
    seen = float(weights[0])
    request.Wait()
    return seen


@fault("read before wait", "buffer", words="read")
def a_test_is_not_a_wait(comm):
    got, request = pending(comm)
    comm.Barrier()
    seen = got.max()
    while not request.Test():
        pass
    return seen


@fault("write before wait", "buffer", words="changed")
def changes_what_is_sent(comm):
    x = np.ones(3)
    if comm.rank == 0:
        request = comm.Isend(x, dest=1)
        x[:] = 2.0
        request.Wait()
    else:
        comm.Recv(x, source=0)


@fault("write before wait", "buffer", words="changed")
def writes_the_same_to_what_is_sent(comm):
    x = np.zeros(3)
    if comm.rank == 0:
        request = comm.Isend(x, dest=1)
        x *= 1.0
        request.Wait()
    else:
        comm.Recv(x, source=0)


@fault("write before wait", "buffer")
def one_array_for_two_messages(comm):
    x = np.zeros(1)
    if comm.rank == 0:
        requests = []
        for k in range(3):
            x[0] = k
            requests.append(comm.Isend(x, dest=1, tag=k))
        MPI.Request.Waitall(requests)
    else:
        for k in range(3):
            comm.Recv(x, source=0, tag=k)


@fault("write before wait", "buffer")
def changes_the_summand(comm):
    x, total = np.ones(2), np.empty(2)
    request = comm.Iallreduce(x, total)
    x -= 0.1
    request.Wait()


@fault("one array, two requests", "buffer", words="receives into")
def two_receives_into_one_array(comm):
    other, got = 1 - comm.rank, np.zeros(2)
    requests = [comm.Irecv(got, source=other, tag=k) for k in range(2)]
    requests += [comm.Isend(np.ones(2), dest=other, tag=k) for k in range(2)]
    MPI.Request.Waitall(requests)


@fault("one array, two requests", "buffer", words="receives into")
def receives_into_what_it_sends(comm):
    other, x = 1 - comm.rank, np.full(2, float(comm.rank))
    request = comm.Isend(x, dest=other)
    comm.Recv(x, source=other)
    request.Wait()


@fault("one array, two requests", "buffer", words="sends from")
def sends_what_it_receives(comm):
    other, x = 1 - comm.rank, np.full(2, float(comm.rank))
    request = comm.Irecv(x, source=other)
    comm.Send(x, dest=other)
    request.Wait()


@fault("one array, two requests", "buffer")
def halves_that_overlap(comm):
    other, row = 1 - comm.rank, np.zeros(4)
    requests = [comm.Irecv(row[:3], source=other, tag=1), comm.Irecv(row[2:], source=other, tag=2)]
    requests += [comm.Isend(np.ones(n), dest=other, tag=t) for n, t in ((3, 1), (2, 2))]
    MPI.Request.Waitall(requests)
