"""Chapter 10: right answers in other styles pass, and wrong ones of students get words that help."""

import numpy as np
import pytest

from course_lib.checks import ch10
from course_lib.checks.kit.core import CheckFailed


def told(check, answer, seed=1):
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=seed)
    return " ".join(str(failure.value).split())


# Right, otherwise ---------------------------------------------------------------------------------------------------


def ring_irecv(comm, mine):
    got = np.empty_like(mine)
    request = comm.Irecv(got, source=(comm.rank - 1) % comm.size)
    comm.Send(mine, dest=(comm.rank + 1) % comm.size)
    request.Wait()
    return got


def ring_isend(comm, mine):
    got = np.zeros(len(mine), np.float32)
    request = comm.Isend(mine, (comm.rank + 1) % comm.size)
    comm.Recv(got, comm.rank - 1 if comm.rank else comm.size - 1)
    request.wait()
    return got


def ring_waitall(comm, mine):
    from mpi4py import MPI

    got = np.empty_like(mine)
    MPI.Request.Waitall(
        [
            comm.Irecv(got, source=(comm.rank - 1) % comm.size, tag=7),
            comm.Isend(mine, dest=(comm.rank + 1) % comm.size, tag=7),
        ]
    )
    return got


def ring_by_turns(comm, mine):
    if comm.size == 1:
        return mine.copy()
    got, left = np.empty_like(mine), (comm.rank - 1) % comm.size
    if comm.rank % 2:
        comm.Recv(got, source=left)
    comm.Send(mine, dest=(comm.rank + 1) % comm.size)
    if comm.rank % 2 == 0:
        comm.Recv(got, source=left)
    return got


def ring_replace(comm, mine):
    got = mine.copy()
    comm.Sendrecv_replace(got, dest=(comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    return got


def stream_by_test(comm, make, k, n):
    """Looks, again and again, whether the array is free."""
    if comm.rank == 0:
        arrays, requests = [np.zeros(n), np.zeros(n)], []
        for i in range(k):
            while i > 1 and not requests[i - 2].Test():
                pass
            make(comm, i, arrays[i % 2])
            requests.append(comm.Isend(arrays[i % 2], dest=1, tag=i))
        for request in requests[-2:]:
            request.Wait()
    if comm.rank == 1:
        blocks = np.zeros((k, n))
        for i in range(k):
            comm.Recv(blocks[i], source=0, tag=i)
        return blocks


def stream_swapping(comm, make, k, n):
    if comm.rank > 1:
        return None
    if comm.rank == 1:
        blocks = np.zeros((k, n))
        requests = [comm.Irecv(blocks[i], source=0) for i in range(k)]
        for request in requests:
            request.Wait()
        return blocks
    now, before, going = np.empty(n), np.empty(n), None
    for i in range(k):
        make(comm, i, now)
        if going is not None:
            going.Wait()
        going = comm.Isend(now, dest=1)
        now, before = before, now
    if going is not None:
        going.Wait()
    return None


def scatter_with_displacements(comm, X):
    from mpi4py import MPI

    shape = np.array(X.shape if comm.rank == 0 else (0, 0))
    comm.Bcast(shape)
    n, d = (int(k) for k in shape)
    rows = np.full(comm.size, n // comm.size)
    rows[: n % comm.size] += 1
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    mine = np.empty((rows[comm.rank], d))
    sent = [X, (rows * d).tolist(), (starts * d).tolist(), MPI.DOUBLE] if comm.rank == 0 else None
    comm.Scatterv(sent, mine, root=0)
    return mine


def scatter_flat(comm, X):
    n = comm.bcast(len(X) if comm.rank == 0 else None)
    d = comm.bcast(X.shape[1] if comm.rank == 0 else None)
    counts = [len(part) * d for part in np.array_split(range(n), comm.size)]
    mine = np.empty(counts[comm.rank])
    comm.Scatterv([X, counts] if comm.rank == 0 else None, mine)
    return mine.reshape(-1, d)


def scatter_shape_by_send(comm, X):
    """The shape by messages of its own; counts as a tuple, with a type."""
    from mpi4py import MPI

    if comm.rank == 0:
        n, d = X.shape
        for r in range(1, comm.size):
            comm.send((n, d), dest=r)
    else:
        n, d = comm.recv(source=0)
    rows = [len(part) for part in np.array_split(np.arange(n), comm.size)]
    mine = np.zeros((rows[comm.rank], d))
    comm.Scatterv(
        [X, tuple(k * d for k in rows), None, MPI.DOUBLE] if comm.rank == 0 else None,
        [mine, MPI.DOUBLE],
    )
    return mine


def scatter_of_shapes(comm, X):
    """To each rank the shape of its own part."""
    shapes = [part.shape for part in np.array_split(X, comm.size)] if comm.rank == 0 else None
    mine = np.empty(comm.scatter(shapes))
    comm.Scatterv([X, [n * d for n, d in shapes]] if comm.rank == 0 else None, mine)
    return mine


def mean_in_place(comm, X):
    from mpi4py import MPI

    total = np.zeros(X.shape[1] + 1)
    total[1:] = X.sum(axis=0)
    total[0] = len(X)
    comm.Allreduce(MPI.IN_PLACE, total, op=MPI.SUM)
    return total[1:] / total[0]


def mean_by_ones(comm, X):
    with_ones = np.hstack([X, np.ones((len(X), 1))])
    total = np.empty(X.shape[1] + 1)
    comm.Allreduce(with_ones.sum(axis=0), total)
    return total[:-1] / total[-1]


def tree_by_bits(comm, x):
    total = np.array(x)
    for k in range(comm.size.bit_length()):
        bit = 1 << k
        if comm.rank & bit:
            comm.Send(total, comm.rank ^ bit)
            return
        if comm.rank | bit < comm.size and comm.rank | bit != comm.rank:
            got = np.empty_like(total)
            comm.Recv(got, comm.rank | bit)
            total = total + got
    return total


def tree_from_above(comm, x):
    """Folds the upper half onto the lower half, in each round."""
    total, got, p = x.copy(), np.empty_like(x), comm.size
    while p > 1:
        half = (p + 1) // 2
        if comm.rank >= half:
            comm.Send(total, dest=comm.rank - half)
            return None
        if comm.rank + half < p:
            comm.Recv(got, source=comm.rank + half)
            total += got
        p = half
    return total


def ring_library_style(comm, x):
    if comm.size == 1:
        return
    p, r = comm.size, comm.rank
    ends = [k * len(x) // p for k in range(p + 1)]

    def part(k):
        return x[ends[k % p] : ends[k % p + 1]]

    for s in range(p - 1):
        got = np.empty_like(part(r - s - 1))
        comm.Sendrecv(part(r - s), (r + 1) % p, 0, got, (r - 1) % p, 0)
        part(r - s - 1)[:] += got
    for s in range(p - 1):
        comm.Sendrecv(part(r - s + 1), (r + 1) % p, 0, part(r - s), (r - 1) % p, 0)


def ring_buffer_too_long(comm, x):
    """Receiving a short part into a longer buffer is allowed."""
    p, r = comm.size, comm.rank
    right, left, parts = (r + 1) % p, (r - 1) % p, np.array_split(x, p)
    got = np.empty_like(parts[0])
    for s in range(p - 1):
        target = parts[(r - s - 1) % p]
        comm.Sendrecv(parts[(r - s) % p], dest=right, recvbuf=got, source=left)
        target += got[: len(target)]
    for s in range(p - 1):
        comm.Sendrecv(parts[(r - s + 1) % p], dest=right, recvbuf=parts[(r - s) % p], source=left)


def ring_nonblocking(comm, x):
    p, r = comm.size, comm.rank
    parts = np.array_split(x, p)
    for s in range(2 * (p - 1)):
        first = s < p - 1
        out, into = (parts[(r - s) % p], parts[(r - s - 1) % p])
        got = np.empty_like(into)
        request = comm.Isend(out, dest=(r + 1) % p)
        comm.Recv(got, source=(r - 1) % p)
        request.Wait()
        into[:] = into + got if first else got


RIGHT = {
    "pass_on": (ch10.check_pass_on, [ring_irecv, ring_isend, ring_waitall, ring_by_turns, ring_replace]),
    "stream": (ch10.check_stream, [stream_by_test, stream_swapping]),
    "scatter_rows": (ch10.check_scatter_rows, [scatter_with_displacements, scatter_flat,
                                               scatter_shape_by_send, scatter_of_shapes]),
    "global_mean": (ch10.check_global_mean, [mean_in_place, mean_by_ones]),
    "tree_reduce": (ch10.check_tree_reduce, [tree_by_bits, tree_from_above]),
    "ring": (ch10.check_ring, [ring_library_style, ring_buffer_too_long, ring_nonblocking]),
}  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [pytest.param((check, fn), id=fn.__name__) for check, fns in RIGHT.values() for fn in fns],
)
def test_right_in_another_style(answer):
    check, fn = answer
    for seed in (1, 2):
        check(fn, seed=seed)


def test_numbers_on_paper_may_be_numpy_s_ints_but_no_floats():
    def paper(number):
        return lambda p, n: {
            "root": (p - 1) * n,
            "trees": number(np.log2(p)) * n,
            "doubling": n * number(np.log2(p)),
            "ring": number(2 * (p - 1) / p * n),
        }

    ch10.check_paper(paper(np.int64), seed=3)
    assert "cause `/` and math.log2 give floats" in told(ch10.check_paper, paper(float), seed=3)


def test_who_has_what_may_be_tuples_or_arrays_of_objects():
    have = ((0, 20, 20, None, 63), (1, 20, 21, 6, 63), (2, 20, 22, None, 63))
    ch10.check_who_has_what(lambda: have, seed=1)
    ch10.check_who_has_what(
        lambda: [[np.int64(k) if k is not None else None for k in row] for row in have], seed=1
    )


# Wrong, and told ----------------------------------------------------------------------------------------------------


def wrong_pass_on(way):
    def pass_on(comm, mine):
        got = np.empty_like(mine)
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        if way == "forgets to return":
            comm.Sendrecv(mine, dest=right, recvbuf=got, source=left)
            return None
        if way == "no modulo":
            comm.Sendrecv(mine, dest=comm.rank + 1, recvbuf=got, source=comm.rank - 1)
        if way == "from nobody":
            comm.Sendrecv(mine, dest=right, recvbuf=got, source=comm.rank - 1)
        if way == "into mine":
            comm.Sendrecv(mine.copy(), dest=right, recvbuf=mine, source=left)
            return mine
        if way == "tags differ":
            comm.Sendrecv(mine, dest=right, sendtag=1, recvbuf=got, source=left, recvtag=2)
        return got

    return pass_on


def wrong_tree(way):
    def tree_reduce(comm, x):
        total, got = x.copy(), np.empty_like(x)
        if way == "all receive at the root":
            return comm.reduce(x)
        bit = 1
        while bit < comm.size:
            if comm.rank % (2 * bit):
                comm.Send(total, dest=comm.rank - bit)
                if way == "break, and returns its part":
                    break
                return None
            if comm.rank + bit < comm.size:
                comm.Recv(got, source=comm.rank + bit)
                total = total + (got if way != "maximum" else np.maximum(total, got) - total)
            bit *= 2
        return total if way != "float64" or comm.rank else total.astype(float)

    return tree_reduce


def wrong_ring(way):
    def ring(comm, x):
        p, r = comm.size, comm.rank
        if way == "gathers":
            x[:] = np.sum(comm.allgather(x), axis=0)
            return
        if way == "a new array":
            x = x.copy()
        parts = np.array_split(x, p)
        for s in range(p - 1):
            target = parts[(r - s - 1) % p]
            got = np.empty(len(target) if way != "parts all alike" else len(x) // p, x.dtype)
            comm.Sendrecv(parts[(r - s) % p], dest=(r + 1) % p, recvbuf=got, source=(r - 1) % p)
            target += got[: len(target)]
        for s in range(p - 1):
            comm.Sendrecv(
                parts[(r - s + 1) % p],
                dest=(r + 1) % p,
                recvbuf=parts[(r - s) % p],
                source=(r - 1) % p,
            )

    return ring


def stream_without_the_test(comm, make, k, n):
    """Waits for a request that does not exist yet."""
    if comm.rank == 0:
        both, requests = np.empty((2, n)), [None, None]
        for i in range(k):
            requests[i % 2].Wait()
            make(comm, i, both[i % 2])
            requests[i % 2] = comm.Isend(both[i % 2], dest=1)


def stream_otherwise(way):
    def stream(comm, make, k, n):
        blocks, requests = np.zeros((k, n)), []
        if comm.rank == 0:
            for i in range(k):
                make(comm, i, blocks[i if way != "copies" else 0])
                if way != "all at the end":
                    requests.append(
                        comm.Isend(blocks[i] if way != "copies" else blocks[0].copy(), dest=1)
                    )
            for request in requests:
                request.Wait()
            if way == "all at the end" and k:
                comm.Send(blocks, dest=1)
        if comm.rank == 1:
            for part in blocks if way != "all at the end" else [blocks][:k]:
                comm.Recv(part, source=0)
            return blocks

    return stream


def scatter_after_bcast(comm, X):
    """All rows to all ranks, and a Scatterv for show."""
    X = comm.bcast(X)
    comm.Scatterv([X[:0], [0] * comm.size] if comm.rank == 0 else None, np.empty(0))
    return np.array_split(X, comm.size)[comm.rank]


def tree_of_twice_the_length(comm, x):
    total, bit = np.concatenate([x, x]), 1
    got = np.empty_like(total)
    while bit < comm.size:
        if comm.rank % (2 * bit):
            return comm.Send(total, dest=comm.rank - bit)
        if comm.rank + bit < comm.size:
            comm.Recv(got, source=comm.rank + bit)
            total += got
        bit *= 2
    return total[: len(x)]


def ring_each_to_each(comm, x):
    p, r = comm.size, comm.rank
    parts = np.array_split(x, p)
    for s in range(1, p):
        got = np.empty_like(parts[r])
        request = comm.Isend(parts[(r + s) % p], dest=(r + s) % p)
        comm.Recv(got, source=(r - s) % p)
        request.Wait()
        parts[r] += got
    for s in range(1, p):
        comm.Sendrecv(parts[r], dest=(r + s) % p, recvbuf=parts[(r - s) % p], source=(r - s) % p)


def ring_rebinds(comm, x):
    p, r = comm.size, comm.rank
    parts = np.array_split(x, p)
    for s in range(p - 1):
        got = np.empty_like(parts[(r - s - 1) % p])
        comm.Sendrecv(parts[(r - s) % p], dest=(r + 1) % p, recvbuf=got, source=(r - 1) % p)
        parts[(r - s - 1) % p] = parts[(r - s - 1) % p] + got
    for s in range(p - 1):
        comm.Sendrecv(
            parts[(r - s + 1) % p], dest=(r + 1) % p, recvbuf=parts[(r - s) % p], source=(r - 1) % p
        )


def ring_from_nobody(comm, x):
    p, r = comm.size, comm.rank
    parts = np.array_split(x, p)
    for s in range(p - 1):
        got = np.empty_like(parts[r - s - 1])
        comm.Sendrecv(parts[r - s], dest=(r + 1) % p, recvbuf=got, source=r - 1)
        parts[r - s - 1] += got


def scatter_by_send(comm, X):
    n, d = comm.bcast(X.shape if comm.rank == 0 else None)
    ends = [k * (n // comm.size) + min(k, n % comm.size) for k in range(comm.size + 1)]
    if comm.rank == 0:
        for r in range(1, comm.size):
            comm.Send(X[ends[r] : ends[r + 1]], dest=r)
        return X[: ends[1]]
    mine = np.empty((ends[comm.rank + 1] - ends[comm.rank], d))
    comm.Recv(mine, source=0)
    return mine


WRONG = [
    (ch10.check_pass_on, wrong_pass_on("forgets to return"), "no `return` was reached"),
    (ch10.check_pass_on, wrong_pass_on("no modulo"), "rank"),
    (ch10.check_pass_on, wrong_pass_on("into mine"), "work on a copy"),
    (ch10.check_pass_on, wrong_pass_on("tags differ"), "tag"),
    (ch10.check_tree_reduce, wrong_tree("all receive at the root"), "collective"),
    (ch10.check_tree_reduce, wrong_tree("break, and returns its part"), "only rank 0"),
    (ch10.check_tree_reduce, wrong_tree("maximum"), "not right yet"),
    (ch10.check_tree_reduce, wrong_tree("float64"), "float64"),
    (ch10.check_ring, wrong_ring("gathers"), "allgather"),
    (ch10.check_ring, wrong_ring("a new array"), "x has not changed"),
    (ch10.check_ring, wrong_ring("parts all alike"), "a message that is too long"),
    (ch10.check_ring, ring_rebinds, "makes a new array"),
    (ch10.check_ring, ring_from_nobody, "PROC_NULL"),
    (ch10.check_pass_on, wrong_pass_on("from nobody"), "PROC_NULL"),
    (ch10.check_scatter_rows, scatter_by_send, "one Scatterv"),
    (ch10.check_ring, ring_each_to_each, "only to its right neighbour"),
    (ch10.check_tree_reduce, tree_of_twice_the_length, "bytes"),
    (ch10.check_scatter_rows, scatter_after_bcast, "the shape of X"),
    (ch10.check_stream, stream_without_the_test, "is None"),
    (ch10.check_stream, stream_otherwise("k arrays"), "more than two arrays"),
    (ch10.check_stream, stream_otherwise("copies"), "more than two arrays, or sends copies"),
    (ch10.check_stream, stream_otherwise("all at the end"), "one message per block"),
    (
        ch10.check_stream,
        lambda comm, make, k, n: make(comm, 0, np.empty(n)),
        "rank 0 makes the blocks",
    ),
    (ch10.check_scatter_rows, lambda comm, X: X, "not right yet"),
    (ch10.check_global_mean, lambda comm, X: X.sum(axis=0) / max(len(X), 1), "not right yet"),
    (ch10.check_paper, lambda p, n: 3, "return a dict"),
    (ch10.check_paper, lambda p, n: {"root": n}, "missing from the dict"),
    (ch10.check_who_has_what, lambda: [[0], [1], [2]], "five entries"),
    (ch10.check_who_has_what, lambda: None, "three lists"),
    (ch10.check_ring, 3, "must be a function"),
]


@pytest.mark.parametrize(("check", "answer", "words"), WRONG)
def test_wrong_and_told(check, answer, words):
    assert words in told(check, answer)
