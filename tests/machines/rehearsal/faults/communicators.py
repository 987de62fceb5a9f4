"""Communicators and groups: freed, null, the wrong one."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("freed communicator", "exception", words="freed")
def sums_in_a_freed_communicator(comm):
    half = comm.Split(comm.rank % 2)
    half.Free()
    half.allreduce(1)


@fault("freed communicator", "exception", words="freed")
def sends_in_a_freed_communicator(comm):
    other = comm.Dup()
    other.Free()
    other.sendrecv(1, dest=1 - comm.rank, source=1 - comm.rank)


@fault("freed communicator", "exception", words="freed")
def asks_a_freed_communicator_for_its_rank(comm):
    other = comm.Dup()
    other.Free()
    return other.Get_rank()


@fault("freed communicator", "exception", words="freed")
def frees_twice(comm):
    other = comm.Dup()
    other.Free()
    other.Free()


@fault("freed communicator", "exception", words="COMM_WORLD")
def frees_the_world(comm):
    comm.Free()


@fault("null communicator", "exception", n=3)
def uses_what_split_left_out(comm):
    some = comm.Split(0 if comm.rank < 2 else MPI.UNDEFINED)
    some.Barrier()


@fault("null communicator", "exception", n=3)
def uses_what_create_left_out(comm):
    group = comm.Get_group().Incl([0, 1])
    part = comm.Create(group)
    return part.allreduce(1)


@fault("rank of another communicator", "exception deadlock", n=4)
def a_rank_of_the_world_in_a_half(comm):
    half = comm.Split(comm.rank // 2)
    if comm.rank == 2:
        half.send("x", dest=3)
    elif comm.rank == 3:
        half.recv(source=2)


@fault("other communicator", "deadlock mismatch", n=4)
def one_rank_sums_in_the_world(comm):
    half = comm.Split(comm.rank // 2)
    (comm if comm.rank == 3 else half).allreduce(1)


@fault("collective not by all", "deadlock mismatch", n=3)
def a_split_without_rank_two(comm):
    if comm.rank < 2:
        comm.Split(0)


@fault("grid", "exception", words="grid of 6")
def a_grid_larger_than_the_ranks(comm):
    comm.Create_cart([2, 3])


@fault("grid", "deadlock", n=3)
def shifts_in_one_direction_only(comm):
    ring = comm.Create_cart([comm.size], periods=[True])
    source, dest = ring.Shift(0, 1)
    got = np.empty(1)
    ring.Ssend(np.ones(1), dest=dest)
    ring.Recv(got, source=source)


@fault("group", "exception")
def a_rank_that_is_not_in_the_group(comm):
    comm.Get_group().Incl([0, comm.size])
