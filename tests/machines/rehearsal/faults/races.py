"""Programs that go wrong in some orders of arrival."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("race of messages", "deadlock", n=4, words="in an order")
def the_first_and_then_by_name(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    first = comm.recv()
    for r in range(2, comm.size):
        comm.recv(source=r)
    return first


@fault("race of messages", "deadlock", n=3)
def an_open_receive_takes_anothers_message(comm):
    got = np.empty(1)
    if comm.rank == 0:
        comm.Recv(got, source=MPI.ANY_SOURCE)
        comm.Recv(got, source=2)
    else:
        comm.Send(got, dest=0)


@fault("race of messages", "truncation", n=3)
def long_and_short_messages(comm):
    if comm.rank == 0:
        comm.Recv(np.empty(2), source=MPI.ANY_SOURCE)
        comm.Recv(np.empty(5), source=MPI.ANY_SOURCE)
    else:
        comm.Send(np.ones(2 if comm.rank == 1 else 5), dest=0)


@fault("race of messages", "type", n=3)
def floats_and_whole_numbers(comm):
    if comm.rank == 0:
        comm.Recv(np.empty(2), source=MPI.ANY_SOURCE)
        comm.Recv(np.empty(2, np.int64), source=MPI.ANY_SOURCE)
    else:
        comm.Send(np.ones(2) if comm.rank == 1 else np.ones(2, np.int64), dest=0)


@fault("race of messages", "exception", n=4)
def believes_in_the_order_of_ranks(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    seen = [comm.recv() for _ in range(comm.size - 1)]
    assert seen == sorted(seen)


@fault("race of messages", "exception", n=3)
def a_number_where_a_stop_may_come(comm):
    if comm.rank == 0:
        first, second = comm.recv(), comm.recv()
        return first + 1, second
    comm.send(5 if comm.rank == 1 else None, dest=0)


@fault("race of messages", "deadlock", n=3)
def a_message_overtakes(comm):
    """Only where sends are buffered: rank 2 answers rank 1 before rank 0 has taken rank 1's first message."""
    if comm.rank == 0:
        comm.recv()
        comm.recv(source=2)
    elif comm.rank == 1:
        comm.send("first", dest=0)
        comm.send("go", dest=2)
    else:
        comm.recv(source=1)
        comm.send("second", dest=0)


@fault("race of messages", "deadlock", n=3)
def a_probe_that_believes_in_rank_one(comm):
    if comm.rank == 0:
        status = MPI.Status()
        comm.Probe(source=MPI.ANY_SOURCE, status=status)
        comm.recv(source=status.source)
        comm.recv(source=2)
    else:
        comm.send(comm.rank, dest=0)


@fault("race of messages", "exception", n=3)
def the_first_request_is_done_first(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    requests = [comm.irecv(source=r) for r in (1, 2)]
    index, value = MPI.Request.waitany(requests)
    assert index == 0, "rank 1 is the first"
    MPI.Request.waitall(requests)
    return value


@fault("race of messages", "deadlock", n=4)
def a_master_who_stops_too_soon(comm):
    if comm.rank == 0:
        while comm.recv(source=MPI.ANY_SOURCE) != "stop":
            pass
    else:
        comm.send("stop" if comm.rank == 3 else "work", dest=0)


@fault("race of messages", "deadlock", n=5)
def two_servers_with_one_bell(comm):
    if comm.rank < 2:
        got = comm.recv(source=MPI.ANY_SOURCE)
        comm.send(got, dest=4)
        comm.recv(source=3)
    elif comm.rank == 4:
        return [comm.recv(source=0), comm.recv(source=1)]
    else:
        for r in (0, 1):
            comm.send(comm.rank, dest=r)


@fault("race of tags", "deadlock", n=3)
def any_tag_takes_the_wrong_one(comm):
    if comm.rank == 0:
        comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
        comm.recv(source=MPI.ANY_SOURCE, tag=2)
    else:
        comm.send(comm.rank, dest=0, tag=comm.rank)


@fault("race of results", "race", n=3, words="depends on the order")
def rows_in_the_order_of_arrival(comm):
    if comm.rank:
        return comm.Send(np.full(2, float(comm.rank)), dest=0)
    rows = np.empty((comm.size - 1, 2))
    for row in rows:
        comm.Recv(row, source=MPI.ANY_SOURCE)
    return rows


@fault("race of results", "race", n=3)
def a_difference_of_two_messages(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    return comm.recv(source=MPI.ANY_SOURCE) - comm.recv(source=MPI.ANY_SOURCE)
