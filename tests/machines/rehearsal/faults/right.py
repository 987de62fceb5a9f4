"""Right programs that look as if they were not: a rehearsal must be silent."""

import time

import numpy as np
from mpi4py import MPI
from rank_faults import right


@right("right: requests", n=3)
def work_beside_a_message(comm):
    left, right_ = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    u = np.arange(8.0) + comm.rank
    halo = np.zeros(1)
    requests = [comm.Irecv(halo, source=left), comm.Isend(u[-1:], dest=right_)]
    inner = u[1:-1].sum()
    for _ in range(5):
        inner += u[:4].mean()
    MPI.Request.Waitall(requests)
    u += halo
    return inner, u


@right("right: requests", n=3)
def halves_of_one_array(comm):
    left, right_ = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    u = np.arange(6.0)
    requests = [comm.Irecv(u[:1], source=left), comm.Irecv(u[-1:], source=right_, tag=1)]
    requests += [comm.Isend(u[1:2], dest=left, tag=1), comm.Isend(u[-2:-1], dest=right_)]
    u[2] = -1.0
    seen = u[3]
    MPI.Request.Waitall(requests)
    return u, seen


@right("right: requests")
def a_view_made_early_and_used_late(comm):
    got = np.zeros(4)
    request = comm.Irecv(got, source=1 - comm.rank)
    part, shape = got[1:3], got.shape
    comm.Send(np.arange(4.0), dest=1 - comm.rank) if comm.rank else None
    comm.Isend(np.arange(4.0), dest=1 - comm.rank).Wait() if not comm.rank else None
    request.Wait()
    part += 1
    return part.sum(), shape


@right("right: requests")
def the_same_array_again_and_again(comm):
    got, other = np.zeros(2), 1 - comm.rank
    total = 0.0
    for k in range(4):
        requests = [comm.Irecv(got, source=other), comm.Isend(np.full(2, float(k)), dest=other)]
        MPI.Request.Waitall(requests)
        total += got.sum()
        got[:] = 0
    return total


@right("right: requests")
def times_and_random_numbers(comm):
    got = np.zeros(2)
    request = comm.Irecv(got, source=1 - comm.rank)
    began, noise = time.time(), np.random.default_rng().standard_normal()
    comm.Isend(np.ones(2), dest=1 - comm.rank).Wait()
    took = time.time() - began
    request.Wait()
    print(f"{took:.9f} s, {noise}")
    return took, noise, got.sum()


@right("right: requests")
def sends_one_array_to_all(comm):
    x, got = np.full(2, float(comm.rank)), np.empty((comm.size, 2))
    requests = [comm.Isend(x, dest=r) for r in range(comm.size)]
    requests += [comm.Irecv(got[r], source=r) for r in range(comm.size)]
    MPI.Request.Waitall(requests)
    return got


@right("right: requests", n=3)
def tests_until_all_are_there(comm):
    got = np.zeros((comm.size, 1))
    others = [r for r in range(comm.size) if r != comm.rank]
    requests = [comm.Irecv(got[r], source=r) for r in others]
    requests += [comm.Isend(np.ones(1), dest=r) for r in others]
    while not MPI.Request.Testall(requests):
        pass
    return got.sum()


@right("right: requests", n=4)
def serves_any_rank_that_is_done(comm):
    if comm.rank:
        return comm.Send(np.full(1, float(comm.rank)), dest=0)
    got, total = np.zeros((comm.size, 1)), 0.0
    requests = [comm.Irecv(got[r], source=r) for r in range(1, comm.size)]
    for _ in requests:
        index = MPI.Request.Waitany(requests)
        total += got[1 + index][0]
    return total


@right("right: persistent requests")
def starts_again_and_again(comm):
    out, got, other = np.zeros(2), np.zeros(2), 1 - comm.rank
    requests = [comm.Send_init(out, dest=other), comm.Recv_init(got, source=other)]
    seen = []
    for k in range(3):
        out[:] = k + comm.rank
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        seen.append(got[0])
    for request in requests:
        request.Free()
    return seen


@right("right: orders", n=4)
def a_sum_in_any_order(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    return sum(comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1))


@right("right: orders", n=4)
def rows_by_their_source(comm):
    if comm.rank:
        return comm.Send(np.full(2, float(comm.rank)), dest=0, tag=comm.rank)
    rows, status = np.zeros((comm.size, 2)), MPI.Status()
    row = np.empty(2)
    for _ in range(comm.size - 1):
        comm.Recv(row, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        rows[status.source] = row
    return rows


@right("right: orders", n=4)
def a_farm_of_workers(comm):
    if comm.rank:
        comm.send(None, dest=0)
        while (task := comm.recv(source=0)) is not None:
            comm.send((task, task**2), dest=0)
        return None
    tasks, done, status, idle = list(range(4)), {}, MPI.Status(), 0
    while idle < comm.size - 1:
        answer = comm.recv(source=MPI.ANY_SOURCE, status=status)
        if answer:
            done[answer[0]] = answer[1]
        task = tasks.pop() if tasks else None
        idle += task is None
        comm.send(task, dest=status.source)
    return done


@right("right: orders", n=3)
def probes_and_then_receives(comm):
    if comm.rank:
        return comm.Send(np.ones(comm.rank), dest=0)
    status, seen = MPI.Status(), 0
    for _ in range(comm.size - 1):
        comm.Probe(source=MPI.ANY_SOURCE, status=status)
        got = np.empty(status.Get_count(MPI.DOUBLE))
        comm.Recv(got, source=status.source)
        seen += len(got)
    return seen


@right("right: orders", n=3)
def a_matched_probe(comm):
    if comm.rank:
        return comm.send("x" * comm.rank, dest=0)
    return sorted(comm.mprobe().recv() for _ in range(comm.size - 1))


@right("right: orders", n=3)
def looks_until_something_comes(comm):
    if comm.rank:
        return comm.send(comm.rank, dest=0)
    seen, status = [], MPI.Status()
    while len(seen) < comm.size - 1:
        if comm.Iprobe(source=MPI.ANY_SOURCE, status=status):
            seen.append(comm.recv(source=status.source))
    return sorted(seen)


@right("right: collectives", n=3)
def sums_of_layers_in_one_order(comm):
    grads = [np.full(4, float(k)) for k in range(5)]
    sums = [np.empty(4) for _ in grads]
    requests = [comm.Iallreduce(g, s) for g, s in zip(grads, sums, strict=True)]
    MPI.Request.Waitall(requests)
    return sums


@right("right: collectives", n=3)
def two_arrays_change_places(comm):
    a, b = np.ones(2), np.zeros(2)
    for _ in range(4):
        comm.Iallreduce(a, b).Wait()
        a, b = b, a
    return a


@right("right: collectives", n=3)
def parts_in_an_order_of_their_own(comm):
    parts = np.arange(6.0).reshape(3, 2) + comm.rank
    out = np.empty((3, 2))
    requests = []
    for k in range(comm.size):
        requests.append(comm.Iallreduce(parts[(comm.rank + k) % comm.size].copy(), out[k]))
    MPI.Request.Waitall(requests)
    return out


@right("right: collectives", n=4)
def collectives_of_two_halves(comm):
    half = comm.Split(comm.rank % 2, comm.rank)
    if comm.rank % 2:
        half.Barrier()
    else:
        half.allreduce(1)
    return comm.allreduce(half.size)


@right("right: collectives", n=3)
def an_operation_of_its_own(comm):
    def larger(a, b, kind):
        mine, theirs = np.frombuffer(a), np.frombuffer(b)
        theirs[:] = np.where(abs(mine) > abs(theirs), mine, theirs)

    op = MPI.Op.Create(larger, commute=True)
    out = np.empty(2)
    comm.Allreduce(np.array([comm.rank, -2.0 * comm.rank]), out, op=op)
    op.Free()
    return out


@right("right: types")
def a_column_by_a_type(comm):
    A = np.arange(12.0).reshape(3, 4) * (1 - comm.rank)
    column = MPI.DOUBLE.Create_vector(3, 1, 4).Create_resized(0, 8)
    column.Commit()
    if comm.rank == 0:
        comm.Send([A, 1, column], dest=1)
    else:
        comm.Recv([A, 1, column], source=0)
    column.Free()
    return A


@right("right: types")
def fortran_on_both_sides(comm):
    A = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    if comm.rank == 0:
        comm.Send(A, dest=1)
        return A
    got = np.empty((2, 3), order="F")
    comm.Recv(got, source=0)
    return got


@right("right: types", n=3)
def columns_of_a_fortran_array(comm):
    A = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    mine = np.empty(4)
    comm.Scatter(A if comm.rank == 0 else None, mine)
    return mine


@right("right: types")
def a_square_and_a_vector(comm):
    W, total = np.asfortranarray(np.eye(3)), np.empty((3, 3), order="F")
    comm.Allreduce(W, total)
    return total, comm.bcast(W.T)


@right("right: types")
def a_message_shorter_than_its_array(comm):
    got, status = np.full(5, -1.0), MPI.Status()
    if comm.rank == 0:
        comm.Send(np.ones(3), dest=1)
        return None
    request = comm.Irecv(got, source=0)
    request.Wait(status)
    return got, status.Get_count(MPI.DOUBLE)


@right("right: communicators", n=4)
def a_grid_and_its_rows(comm):
    grid = comm.Create_cart([2, 2], periods=[True, False])
    row = grid.Sub([False, True])
    up, down = grid.Shift(0, 1)
    left, right_ = grid.Shift(1, 1)
    told = grid.sendrecv(grid.rank, dest=down, source=up)
    edge = grid.sendrecv(grid.rank, dest=right_, source=left)
    row.Free()
    return told, edge, grid.Get_coords(grid.rank), grid.dims


@right("right: communicators", n=4)
def groups(comm):
    group = comm.Get_group()
    even = group.Incl(range(0, comm.size, 2))
    odd = MPI.Group.Difference(group, even)
    mine = even if comm.rank % 2 == 0 else odd
    part = comm.Create_group(mine)
    world = comm.Create(group)
    return part.allreduce(comm.rank), mine.Translate_ranks([0], group), world.Get_name()


@right("right: sends")
def a_buffered_send(comm):
    MPI.Attach_buffer(bytearray(1000 + MPI.BSEND_OVERHEAD))
    got = np.empty(2)
    comm.Bsend(np.full(2, float(comm.rank)), dest=1 - comm.rank)
    comm.Recv(got, source=1 - comm.rank)
    MPI.Detach_buffer()
    return got


@right("right: sends")
def a_ready_send_after_a_barrier(comm):
    got = np.empty(2)
    if comm.rank == 1:
        request = comm.Irecv(got, source=0)
        comm.Barrier()
        request.Wait()
    else:
        comm.Barrier()
        comm.Rsend(np.ones(2), dest=1)
    return got


@right("right: sends", n=3)
def a_request_taken_back(comm):
    request = comm.irecv(source=MPI.ANY_SOURCE, tag=99)
    comm.Barrier()
    request.Cancel()
    request.Wait()
    return comm.allreduce(1)


@right("right: orders", n=4)
def a_sum_of_floats_by_arrival(comm):
    if comm.rank:
        return comm.send(0.1 * comm.rank, dest=0)
    return sum(comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1))


@right("right: orders", n=3)
def workers_count_their_tasks(comm):
    if comm.rank:
        done = 0
        comm.send(None, dest=0)
        while comm.recv(source=0) is not None:
            done += 1
            comm.send(done, dest=0)
        return done
    status, left, busy = MPI.Status(), 3, comm.size - 1
    while busy:
        comm.recv(source=MPI.ANY_SOURCE, status=status)
        comm.send(left if left > 0 else None, dest=status.source)
        busy, left = busy - (left <= 0), left - 1
    return "done"
