"""What students of chapters 10 to 13 would write, and some of what the public catalogues have beside it."""

import numpy as np
from mpi4py import MPI
from rank_faults import fault, right

SHAPE = 4, 3


@fault("pipeline", "deadlock", n=3)
def a_pipeline_that_forgets_its_last_microbatch(comm):
    count = 4
    for k in range(count):
        x = np.full(SHAPE, float(k)) if comm.rank == 0 else np.empty(SHAPE)
        if comm.rank > 0:
            comm.Recv(x, source=comm.rank - 1, tag=k)
        if comm.rank < comm.size - 1 and k < count - 1:
            comm.Send(x, dest=comm.rank + 1, tag=k)


@fault("pipeline", "leftover deadlock mismatch", n=3)
def the_last_stage_sends_on_round_the_ring(comm):
    x = np.ones(SHAPE)
    if comm.rank > 0:
        comm.Recv(x, source=comm.rank - 1)
    comm.Send(x, dest=(comm.rank + 1) % comm.size)


@fault("pipeline", "deadlock", n=2)
def backward_first_on_one_stage(comm):
    x, g = np.ones(SHAPE), np.empty(SHAPE)
    if comm.rank == 0:
        comm.Recv(g, source=1, tag=1)
        comm.Send(x, dest=1, tag=0)
    else:
        comm.Recv(x, source=0, tag=0)
        comm.Send(x, dest=0, tag=1)


@fault("pipeline", "deadlock mismatch", n=2)
def gradients_come_back_with_the_tag_of_the_last(comm):
    for k in range(3):
        if comm.rank == 0:
            comm.Send(np.ones(2), dest=1, tag=k)
        else:
            comm.Recv(np.empty(2), source=0, tag=k)
    for k in range(3):
        if comm.rank == 1:
            comm.Send(np.ones(2), dest=0, tag=2)
        else:
            comm.Recv(np.empty(2), source=1, tag=k)


@fault("pipeline", "buffer", n=2)
def one_activation_for_all_microbatches_on_their_way(comm):
    x, requests = np.zeros(3), []
    for k in range(3):
        if comm.rank == 0:
            np.add(x, 1.0, out=x)
            requests.append(comm.Isend(x, dest=1, tag=k))
        else:
            comm.Recv(x, source=0, tag=k)
    MPI.Request.Waitall(requests)


@fault("pipeline", "truncation mismatch exception", n=2)
def the_last_microbatch_is_smaller_on_one_side(comm):
    rows = [4, 4, 2]
    for k, count in enumerate(rows):
        if comm.rank == 0:
            comm.Send(np.ones((4, 3)), dest=1, tag=k)
        else:
            comm.Recv(np.empty((count, 3)), source=0, tag=k)


@fault("data parallel", "mismatch deadlock exception", n=2)
def one_rank_has_a_batch_more(comm):
    grad = np.ones(3)
    for _ in range(5 if comm.rank == 0 else 4):
        comm.Allreduce(MPI.IN_PLACE, grad)


@fault("data parallel", "mismatch deadlock", n=3)
def stops_early_by_its_own_loss(comm):
    loss = 1.0
    for _ in range(6):
        loss *= 0.5 + 0.1 * comm.rank
        if loss < 0.1:
            break
        comm.allreduce(loss)


@fault("data parallel", "mismatch deadlock", n=2)
def only_the_root_takes_part_in_the_checkpoint(comm):
    weights = np.full(4, float(comm.rank))
    if comm.rank == 0:
        comm.gather(weights, root=0)
    comm.Barrier()


@fault("data parallel", "buffer", n=2)
def updates_with_a_sum_on_its_way(comm):
    weights, grad = np.ones(3), np.full(3, comm.rank + 1.0)
    total = np.empty(3)
    request = comm.Iallreduce(grad, total)
    weights = weights - 0.1 * total
    request.Wait()
    return weights


@fault("data parallel", "buffer", n=2)
def clears_the_gradients_before_the_wait(comm):
    grads = [np.full(2, k + 1.0) for k in range(3)]
    totals = [np.empty(2) for _ in grads]
    requests = [comm.Iallreduce(g, t) for g, t in zip(grads, totals, strict=True)]
    for g in grads:
        g[:] = 0
    MPI.Request.Waitall(requests)
    return totals


@fault("data parallel", "exception", n=2)
def the_weights_are_made_on_the_root_alone(comm):
    weights = np.ones(3) if comm.rank == 0 else None
    comm.Bcast(weights)


@fault("data parallel", "mismatch", n=2)
def weights_of_another_precision(comm):
    weights = np.ones(4, np.float32 if comm.rank == 0 else np.float64)
    comm.Bcast(weights[:2] if comm.rank else weights)


@fault("sharded", "mismatch exception truncation", n=3)
def shards_that_are_rounded_up(comm):
    share = -(-7 // comm.size) if comm.rank < comm.size - 1 else 7 - 2 * 2
    full = np.empty(7)
    counts = [3, 3, 1]
    comm.Allgatherv(np.ones(share), [full, counts])


@fault("sharded", "mismatch exception truncation", n=2)
def scatters_counts_that_it_alone_knows(comm):
    grad, mine = np.ones(6), np.empty(3)
    counts = [2, 4] if comm.rank == 0 else [3, 3]
    comm.Reduce_scatter(grad, mine[: counts[comm.rank]], counts)


@fault("grid", "deadlock", n=4)
def halos_of_a_periodic_grid_without_the_period(comm):
    row = np.empty(3)
    up = comm.rank - 1 if comm.rank else comm.size - 1
    down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    comm.Sendrecv(np.ones(3), dest=down, recvbuf=row, source=up)


@fault("grid", "mismatch deadlock exception", n=4)
def sums_over_the_rows_on_the_columns_communicator(comm):
    row = comm.Split(comm.rank // 2, comm.rank)
    column = comm.Split(comm.rank % 2, comm.rank)
    x = np.ones(2)
    (row if comm.rank != 3 else column).Allreduce(MPI.IN_PLACE, x)


@fault("master and worker", "deadlock", n=3)
def one_stop_for_two_workers(comm):
    if comm.rank == 0:
        comm.send(None, dest=1)
        return
    while comm.recv(source=0) is not None:
        comm.send(1, dest=0)


@fault("master and worker", "leftover deadlock", n=3)
def the_master_ends_with_results_on_their_way(comm):
    if comm.rank == 0:
        for worker in (1, 2):
            comm.send(worker, dest=worker)
        return comm.recv(source=MPI.ANY_SOURCE)
    comm.send(comm.recv(source=0) ** 2, dest=0)
    return None


@fault("communicator", "mismatch deadlock", n=3)
def a_barrier_of_all_in_a_branch_of_a_half(comm):
    half = comm.Split(comm.rank % 2, comm.rank)
    if comm.rank % 2 == 0:
        half.Barrier()
        comm.Barrier()
    half.Free()


@fault("pipeline", "deadlock", n=3)
def one_forward_one_backward_by_blocking_sends(comm):
    count, kept, done = 5, [], []
    warm = min(count, comm.size - 1 - comm.rank)

    def forward(k):
        x = np.array([float(k)])
        if comm.rank:
            comm.Recv(x, source=comm.rank - 1, tag=k)
        if comm.rank < comm.size - 1:
            comm.Send(x * 2, dest=comm.rank + 1, tag=k)
        kept.append(x)

    def backward(k):
        g = np.ones(1)
        if comm.rank < comm.size - 1:
            comm.Recv(g, source=comm.rank + 1, tag=count + k)
        done.append(float((g * kept[k]).sum()))
        if comm.rank:
            comm.Send(g, dest=comm.rank - 1, tag=count + k)

    for k in range(warm):
        forward(k)
    for k in range(count - warm):
        forward(warm + k)
        backward(k)
    for k in range(count - warm, count):
        backward(k)
    return done


@right("pipeline", n=3)
def one_forward_one_backward(comm):
    count, kept, done, requests = 5, [], [], []
    warm = min(count, comm.size - 1 - comm.rank)

    def forward(k):
        x = np.array([float(k)])
        if comm.rank:
            comm.Recv(x, source=comm.rank - 1, tag=k)
        if comm.rank < comm.size - 1:
            comm.Send(x * 2, dest=comm.rank + 1, tag=k)
        kept.append(x)

    def backward(k):
        g = np.ones(1)
        if comm.rank < comm.size - 1:
            comm.Recv(g, source=comm.rank + 1, tag=count + k)
        done.append(float((g * kept[k]).sum()))
        if comm.rank:
            requests.append(comm.Isend(g, dest=comm.rank - 1, tag=count + k))

    for k in range(warm):
        forward(k)
    for k in range(count - warm):
        forward(warm + k)
        backward(k)
    for k in range(count - warm, count):
        backward(k)
    MPI.Request.Waitall(requests)
    return done


@right("pipeline", n=2)
def two_buffers_take_turns(comm):
    buffers, requests = [np.empty(2), np.empty(2)], [MPI.REQUEST_NULL] * 2
    for k in range(5):
        if comm.rank == 0:
            requests[k % 2].Wait()
            buffers[k % 2][:] = k
            requests[k % 2] = comm.Isend(buffers[k % 2], dest=1, tag=k)
        else:
            comm.Recv(buffers[k % 2], source=0, tag=k)
    MPI.Request.Waitall(requests)
    return buffers[0].sum()


@right("pipeline", n=4)
def the_ends_talk_to_nobody(comm):
    up, down = comm.rank - 1, comm.rank + 1
    up = up if up >= 0 else MPI.PROC_NULL
    down = down if down < comm.size else MPI.PROC_NULL
    got = np.full(2, -1.0)
    comm.Sendrecv(np.full(2, float(comm.rank)), down, 0, got, up, 0)
    return got


@right("data parallel", n=3)
def all_stop_by_the_loss_of_all(comm):
    loss, steps = 1.0 + comm.rank, 0
    while comm.allreduce(loss, op=MPI.MAX) > 0.2:
        loss *= 0.5
        steps += 1
    return steps


@right("data parallel", n=2)
def a_sum_of_a_part_in_place(comm):
    flat = np.arange(6.0)
    request = comm.Iallreduce(MPI.IN_PLACE, flat[2:4])
    flat[:2] *= 2.0
    flat[4:] += 1.0
    request.Wait()
    return flat


@right("data parallel", n=3)
def shapes_first_and_then_the_weights(comm):
    made = np.arange(6.0).reshape(2, 3) if comm.rank == 1 else None
    shape = comm.bcast(made.shape if comm.rank == 1 else None, root=1)
    weights = made if comm.rank == 1 else np.empty(shape)
    comm.Bcast(weights, root=1)
    return weights


@right("sharded", n=3)
def uneven_shards_scattered_and_gathered(comm):
    counts = [3, 2, 2]
    mine, full = np.empty(counts[comm.rank]), np.empty(7)
    comm.Reduce_scatter(np.arange(7.0), mine, counts)
    comm.Allgatherv(mine / comm.size, [full, counts])
    return full


@right("master and worker", n=4)
def a_tag_says_stop(comm):
    if comm.rank:
        status, done = MPI.Status(), 0
        while True:
            comm.send(done, dest=0)
            comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
            if status.tag == 9:
                return None
            done += 1
    status, left, working = MPI.Status(), 5, comm.size - 1
    while working:
        comm.recv(source=MPI.ANY_SOURCE, status=status)
        comm.send(left, dest=status.source, tag=1 if left else 9)
        working -= left == 0
        left -= left > 0
    return "done"
