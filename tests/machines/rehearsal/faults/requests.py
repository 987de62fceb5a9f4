"""Requests: never waited for, started twice, never begun."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("missing wait", "leftover", words="never waits")
def an_isend_is_forgotten(comm):
    if comm.rank == 0:
        comm.Isend(np.ones(2), dest=1)
    else:
        comm.Recv(np.empty(2), source=0)


@fault("missing wait", "leftover")
def an_irecv_is_forgotten(comm):
    got = np.zeros(2)
    if comm.rank == 0:
        comm.Irecv(got, source=1)
    else:
        comm.Send(np.ones(2), dest=0)


@fault("missing wait", "leftover")
def a_sum_is_forgotten(comm):
    comm.Iallreduce(np.ones(2), np.empty(2))


@fault("missing wait", "leftover")
def the_last_of_a_list_is_forgotten(comm):
    if comm.rank == 0:
        requests = [comm.isend(k, dest=1, tag=k) for k in range(3)]
        MPI.Request.waitall(requests[:-1])
    else:
        return [comm.recv(source=0, tag=k) for k in range(3)]


@fault("missing wait", "leftover")
def only_the_first_of_two_is_waited_for(comm):
    other = 1 - comm.rank
    got = [np.empty(1), np.empty(1)]
    requests = [comm.Irecv(got[k], source=other, tag=k) for k in range(2)]
    for k in range(2):
        comm.Send(np.ones(1), dest=other, tag=k)
    MPI.Request.Waitany(requests)


@fault("missing wait", "leftover")
def a_test_that_said_no(comm):
    if comm.rank == 0:
        request = comm.irecv(source=1)
        request.test()
        comm.send("go", dest=1)
    else:
        comm.recv(source=0)
        comm.send("gone", dest=0)


@fault("missing wait", "leftover", words="Ibarrier")
def a_barrier_begun_and_left(comm):
    comm.Ibarrier()


@fault("missing receive", "leftover deadlock")
def a_receive_too_few(comm):
    if comm.rank == 0:
        requests = [comm.isend(k, dest=1) for k in range(2)]
        MPI.Request.waitall(requests[:1])
    else:
        comm.recv(source=0)


@fault("persistent request", "leftover", words="never waits")
def a_persistent_request_is_not_waited_for(comm):
    x = np.ones(2)
    if comm.rank == 0:
        comm.Send_init(x, dest=1).Start()
    else:
        comm.Recv(x, source=0)


@fault("persistent request", "exception", words="under way already")
def started_twice(comm):
    x = np.ones(2)
    make = comm.Send_init if comm.rank == 0 else comm.Recv_init
    request = make(x, 1 - comm.rank)
    request.Start()
    request.Start()
    request.Wait()


@fault("persistent request", "exception", words="freed")
def started_after_its_end(comm):
    request = comm.Recv_init(np.empty(1), source=1 - comm.rank)
    request.Free()
    request.Start()


@fault("buffered send", "exception", words="Attach_buffer")
def a_buffered_send_without_a_buffer(comm):
    if comm.rank == 0:
        comm.Bsend(np.ones(2), dest=1)
    else:
        comm.Recv(np.empty(2), source=0)


@fault("buffered send", "exception", words="Attach_buffer")
def a_buffer_that_is_too_short(comm):
    MPI.Attach_buffer(bytearray(8 + MPI.BSEND_OVERHEAD))
    if comm.rank == 0:
        comm.Bsend(np.ones(1000), dest=1)
    else:
        comm.Recv(np.empty(1000), source=0)


@fault("ready send", "early", words="ready send")
def a_ready_send_that_is_not(comm):
    if comm.rank == 0:
        comm.Rsend(np.ones(1), dest=1)
    else:
        comm.recv(source=0) if comm.rank > 1 else comm.Recv(np.empty(1), source=0)
