"""Ranks that wait for each other, or for what never comes."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault


@fault("send to send", "deadlock", words="0 waits for 1")
def both_send_first(comm):
    got = np.empty(3)
    comm.Send(np.ones(3), dest=1 - comm.rank)
    comm.Recv(got, source=1 - comm.rank)


@fault("send to send", "deadlock", n=4, words="a ring")
def a_ring_of_sends(comm):
    comm.send(comm.rank, dest=(comm.rank + 1) % comm.size)
    comm.recv(source=(comm.rank - 1) % comm.size)


@fault("send to send", "deadlock", words="Ssend")
def a_synchronous_send_to_oneself(comm):
    comm.Ssend(np.ones(1), dest=comm.rank)
    comm.Recv(np.empty(1), source=comm.rank)


@fault("receive to receive", "deadlock", words="send first")
def both_receive_first(comm):
    value = comm.recv(source=1 - comm.rank)
    comm.send(value, dest=1 - comm.rank)


@fault("receive to receive", "deadlock", n=3)
def a_ring_of_receives(comm):
    got = np.empty(1)
    comm.Recv(got, source=(comm.rank - 1) % comm.size)
    comm.Send(got, dest=(comm.rank + 1) % comm.size)


@fault("missing send", "deadlock", words="has finished")
def a_receive_that_nobody_serves(comm):
    if comm.rank == 1:
        comm.Recv(np.empty(2), source=0)


@fault("missing send", "deadlock", n=3)
def one_message_too_few(comm):
    if comm.rank == 0:
        return [comm.recv() for _ in range(comm.size)]
    comm.send(comm.rank, dest=0)


@fault("missing receive", "deadlock leftover")
def a_send_that_nobody_takes(comm):
    if comm.rank == 0:
        comm.Send(np.ones(2), dest=1)


@fault("missing receive", "deadlock leftover", eager=64)
def a_short_message_that_nobody_takes(comm):
    if comm.rank == 0:
        comm.send("hello", dest=1)


@fault("other tag", "deadlock", words="tag 1")
def another_tag_on_each_side(comm):
    if comm.rank == 0:
        comm.Send(np.ones(2), dest=1, tag=1)
    else:
        comm.Recv(np.empty(2), source=0, tag=2)


@fault("other tag", "deadlock")
def tags_the_other_way_round(comm):
    if comm.rank == 0:
        comm.Ssend(np.ones(1), dest=1, tag=1)
        comm.Ssend(np.ones(1), dest=1, tag=2)
    else:
        comm.Recv(np.empty(1), source=0, tag=2)
        comm.Recv(np.empty(1), source=0, tag=1)


@fault("other partner", "deadlock", n=3)
def sends_to_the_wrong_neighbour(comm):
    request = comm.Isend(np.ones(1), dest=(comm.rank + 1) % comm.size)
    comm.Recv(np.empty(1), source=(comm.rank + 1) % comm.size)
    request.Wait()


@fault("other partner", "deadlock", n=4)
def pairs_that_do_not_pair(comm):
    partner = comm.rank ^ 1 if comm.rank < 3 else 0
    comm.sendrecv(comm.rank, dest=partner, source=partner)


@fault("other communicator", "deadlock")
def one_side_in_a_copy(comm):
    other = comm.Dup()
    if comm.rank == 0:
        comm.Send(np.ones(1), dest=1)
    else:
        other.Recv(np.empty(1), source=0)


@fault("collective and message", "deadlock")
def a_barrier_between_send_and_receive(comm):
    if comm.rank == 0:
        comm.Send(np.ones(1), dest=1)
        comm.Barrier()
    else:
        comm.Barrier()
        comm.Recv(np.empty(1), source=0)


@fault("collective and message", "deadlock", n=3)
def a_broadcast_before_the_answer(comm):
    if comm.rank == 0:
        values = [comm.recv(source=r) for r in range(1, comm.size)]
        comm.bcast(values)
    else:
        plan = comm.bcast(None)
        comm.send(plan, dest=0)


@fault("collective not by all", "deadlock", n=3, words="will not come")
def a_barrier_without_rank_one(comm):
    if comm.rank != 1:
        comm.Barrier()


@fault("collective not by all", "deadlock", n=3)
def another_number_of_rounds(comm):
    for _ in range(2 + comm.rank):
        comm.allreduce(1)


@fault("collective not by all", "deadlock mismatch", n=3)
def leaves_the_loop_on_its_own(comm):
    loss = 1.0 / (1 + comm.rank)
    while loss > 0.4:
        loss = comm.allreduce(loss) / 10 if comm.rank else 0.0
    comm.Barrier()


@fault("probe", "deadlock", words="Probe")
def probes_for_what_never_comes(comm):
    if comm.rank == 0:
        comm.Probe(source=1)
        comm.recv(source=1)


@fault("request", "deadlock")
def waits_before_its_partner_begins(comm):
    got = np.empty(2)
    request = comm.Irecv(got, source=1 - comm.rank)
    request.Wait()
    comm.Send(np.ones(2), dest=1 - comm.rank)


@fault("request", "deadlock")
def waits_for_all_in_the_wrong_place(comm):
    other = 1 - comm.rank
    MPI.Request.Waitall([comm.Issend(np.ones(1), dest=other)])
    comm.Irecv(np.empty(1), source=other).Wait()


@fault("persistent request", "deadlock")
def a_persistent_send_that_never_starts(comm):
    x = np.ones(2)
    if comm.rank == 0:
        comm.Send_init(x, dest=1).Wait()
    else:
        comm.Recv(x, source=0)


@fault("loop", "timeout", timeout=0.3)
def polls_forever(comm):
    if comm.rank == 0:
        while not comm.Iprobe(source=1):
            pass
