"""The checks of chapter 11 against what students write: other ways accepted, wrong ones refused with their cause."""

import hashlib
import zlib

import numpy as np
import pytest

from course_lib import serial
from course_lib.checks import ch11
from course_lib.checks.kit.core import CheckFailed
from course_lib.mpi.flat import pack, shard, unpack


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


# Other right ways ---------------------------------------------------------------------------------------------------


def mean_by_gathered_pairs(comm, mean, n):
    """Everybody computes the same sum from all parts, in rank order."""
    pairs = [(m, k) for m, k in comm.allgather((mean, n)) if k]
    B = np.float32(sum(k for _, k in pairs))
    return sum(m * np.float32(k) for m, k in pairs) / B


def mean_by_one_message(comm, mean, n):
    """The number of rows travels behind the sums."""
    mine = np.zeros(len(mean) + 1, mean.dtype)
    if n:
        mine[:-1], mine[-1] = n * mean, n
    total = np.empty_like(mine)
    comm.Allreduce(mine, total)
    return total[:-1] / total[-1]


def mean_by_reduce_and_bcast(comm, mean, n):
    B = comm.allreduce(n)
    mine = np.nan_to_num(mean) * np.float32(n / B)
    total = np.empty_like(mine)
    comm.Reduce(mine, total if comm.rank == 0 else None, root=0)
    comm.Bcast(total, root=0)
    return total


def mean_in_place(comm, mean, n):
    from mpi4py import MPI

    total = np.where(n > 0, mean, 0).astype(np.float32) * np.float32(n)
    comm.Allreduce(MPI.IN_PLACE, total)
    return total / np.float32(comm.allreduce(n))


def gradients_by_split(comm, grads):
    parts = [part for pair in grads for part in pair]
    flat = np.concatenate([part.ravel() for part in parts])
    total = np.empty_like(flat)
    comm.Allreduce(flat, total)
    pieces = np.split(total, np.cumsum([part.size for part in parts])[:-1])
    pieces = [piece.reshape(part.shape) for piece, part in zip(pieces, parts, strict=True)]
    return [(pieces[i], pieces[i + 1]) for i in range(0, len(pieces), 2)]


def gradients_by_the_library(comm, grads):
    from mpi4py import MPI

    flat = pack(grads)
    comm.Allreduce(MPI.IN_PLACE, flat)
    return unpack(flat, grads)


def gradients_biases_behind(comm, grads):
    """Another order in the message, and the same on the way back."""
    flat = np.concatenate([*(dW.ravel() for dW, _ in grads), *(db for _, db in grads)])
    total, at = np.empty_like(flat), 0
    comm.Allreduce(flat, total)
    weights = []
    for dW, _ in grads:
        weights.append(total[at : at + dW.size].reshape(dW.shape))
        at += dW.size
    summed = []
    for dW, (_, db) in zip(weights, grads, strict=True):
        summed.append((dW, total[at : at + db.size]))
        at += db.size
    return summed


def step_with_zeros(comm, net, params, X, Y, eta):
    rows = shard(len(X), comm.size, comm.rank)
    mine = np.zeros(net.n_params, np.float32)
    if rows.stop > rows.start:
        mine += pack(serial.gradients(net, params, X[rows], Y[rows])) * np.float32(
            (rows.stop - rows.start) / len(X)
        )
    total = np.empty_like(mine)
    comm.Allreduce(mine, total)
    serial.sgd_step(params, unpack(total, params), eta)


def step_array_by_array(comm, net, params, X, Y, eta):
    """More messages than needed, and right: the step's task sets no limit."""
    rows = shard(len(X), comm.size, comm.rank)
    n = rows.stop - rows.start
    grads = (
        serial.gradients(net, params, X[rows], Y[rows])
        if n
        else [(0 * W, 0 * b) for W, b in params]
    )
    for pair, mine in zip(params, grads, strict=True):
        for part, gradient in zip(pair, mine, strict=True):
            total = np.empty_like(gradient)
            comm.Allreduce(np.ascontiguousarray(gradient * np.float32(n / len(X))), total)
            part -= eta * total


def agree_by_crc(comm, params):
    crc = 0
    for W, b in params:
        crc = zlib.crc32(b.tobytes(), zlib.crc32(W.tobytes(), crc))
    return len(set(comm.allgather(crc))) == 1


def agree_with_rank_0_then_all(comm, params):
    mine = hashlib.blake2b(b"".join(part.tobytes() for pair in params for part in pair)).hexdigest()
    first = comm.bcast(mine, root=0)
    return comm.allreduce(int(mine != first)) == 0


def agree_by_a_byte_array(comm, params):
    mine = np.frombuffer(hashlib.sha256(pack(params).tobytes()).digest(), np.uint8)
    all_of = np.empty((comm.size, 32), np.uint8)
    comm.Allgather(mine, all_of)
    return bool((all_of == all_of[0]).all())


def agree_where_a_name_shadows_pythons_hash(comm, params):
    hash = hashlib.sha256(pack(params).tobytes())
    return len(set(comm.allgather(hash.digest()))) == 1


def agree_with_the_neighbour_then_all(comm, params):
    mine = hashlib.md5(pack(params).tobytes()).digest()
    left = comm.sendrecv(mine, dest=(comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    return comm.allreduce(int(left == mine)) == comm.size


def mended_with_strided_shards(comm, net, X, Y, B, steps, eta, seed):
    """Every p-th row of the batch, and small letters: slow, and right."""
    params, rng = net.init_params(seed), np.random.default_rng([seed, 0])
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)[comm.rank :: comm.size]
        mine = pack(serial.gradients(net, params, X[rows], Y[rows])) * np.float32(len(rows) / B)
        serial.sgd_step(params, unpack(comm.allreduce(mine), params), eta)
    return params


def mended_with_a_broadcast(comm, net, X, Y, B, steps, eta, seed):
    """Rank 0 decides: start and batches are sent. Fixed order of the sum on every rank."""
    params = comm.bcast(net.init_params(seed) if comm.rank == 0 else None, root=0)
    rng = np.random.default_rng([seed, 0])
    for _ in range(steps):
        batch = comm.bcast(rng.choice(len(X), B, replace=False) if comm.rank == 0 else None, root=0)
        rows = batch[shard(B, comm.size, comm.rank)]
        mine = pack(serial.gradients(net, params, X[rows], Y[rows])) * np.float32(len(rows) / B)
        serial.sgd_step(params, unpack(sum(comm.allgather(mine)), params), eta)
    return params


def overlapped_in_place(comm, L, gradient):
    from mpi4py import MPI

    totals, flying = {}, []
    for layer in range(L - 1, -1, -1):
        totals[layer] = gradient(comm, layer)
        flying.append(comm.Iallreduce(MPI.IN_PLACE, totals[layer]))
    MPI.Request.Waitall(flying)
    return [totals[layer] for layer in range(L)]


def overlapped_with_tests(comm, L, gradient):
    totals, flying = [], []
    for layer in reversed(range(L)):
        mine = gradient(comm, layer)
        totals.insert(0, np.empty_like(mine))
        flying.append(comm.Iallreduce(mine, totals[0]))
        for request in flying:
            request.Test()
    for request in reversed(flying):
        request.Wait()
    return totals


def bytes_in_floats(p, n, B, s):
    rows = [B // p + (r < B % p) for r in range(p)]
    return float(sum(n + rows[r] * s for r in range(1, p))), float(n * (p - 1)), n * 2 * (1 - 1 / p)


def efficiency_by_math(p, B, n, row, update, alpha, beta):
    import math

    one = B * row + update
    t = (
        math.ceil(B / p) * row
        + update
        + (2 * (p - 1) * alpha + 2 * (p - 1) / p * n * beta if p > 1 else 0)
    )
    return t, one / t, one / t / p


RIGHT = [
    *(
        (ch11.check_mean_of_means, fn)
        for fn in (
            mean_by_gathered_pairs,
            mean_by_one_message,
            mean_by_reduce_and_bcast,
            mean_in_place,
        )
    ),
    *(
        (ch11.check_sum_gradients, fn)
        for fn in (gradients_by_split, gradients_by_the_library, gradients_biases_behind)
    ),
    *((ch11.check_parallel_step, fn) for fn in (step_with_zeros, step_array_by_array)),
    *(
        (ch11.check_replicas_agree, fn)
        for fn in (
            agree_by_crc,
            agree_with_rank_0_then_all,
            agree_by_a_byte_array,
            agree_where_a_name_shadows_pythons_hash,
            agree_with_the_neighbour_then_all,
        )
    ),
    *(
        (ch11.check_mended_training, fn)
        for fn in (mended_with_a_broadcast, mended_with_strided_shards)
    ),
    *((ch11.check_overlapped_sum, fn) for fn in (overlapped_in_place, overlapped_with_tests)),
    (ch11.check_step_bytes, bytes_in_floats),
    (ch11.check_predict_efficiency, efficiency_by_math),
]


@pytest.mark.parametrize(("check", "right"), RIGHT, ids=[fn.__name__ for _, fn in RIGHT])
def test_another_right_answer_is_accepted(check, right, capsys):
    for seed in (1, 2):
        check(right, seed=seed)
        assert "✔" in capsys.readouterr().out


# Wrong ones ---------------------------------------------------------------------------------------------------------


def mean_with_small_letters_on_arrays(comm, mean, n):
    return comm.allreduce([mean * n])[0] / comm.allreduce(n)


def mean_of_the_root(comm, mean, n):
    return comm.bcast(mean, root=0)


def mean_only_where_there_are_rows(comm, mean, n):
    """A rank without rows sends nothing: the others wait for it."""
    if n == 0:
        return mean
    B = comm.allreduce(n)
    return comm.allreduce(mean * np.float32(n / B))


def mean_spoils_its_argument(comm, mean, n):
    B = comm.allreduce(n)
    mean *= np.float32(n / B)
    total = np.empty_like(mean)
    comm.Allreduce(np.nan_to_num(mean), total)
    return total


def gradients_into_the_old_ones(comm, grads):
    from mpi4py import MPI

    flat = pack(grads)
    comm.Allreduce(MPI.IN_PLACE, flat)
    for (dW, db), (W, b) in zip(grads, unpack(flat, grads), strict=True):
        dW[:], db[:] = W, b
    return grads


def gradients_at_the_root(comm, grads):
    flat = pack(grads)
    total = np.empty_like(flat)
    comm.Reduce(flat, total, root=0)
    return unpack(total, grads)


def step_by_root(comm, net, params, X, Y, eta):
    if comm.rank == 0:
        serial.sgd_step(params, serial.gradients(net, params, X, Y), eta)


def step_of_the_sum_of_squares(comm, net, params, X, Y, eta):
    """2 eta, as in a loss without its 1/2."""
    step_with_zeros(comm, net, params, X, Y, 2 * eta)


def step_of_averaged_parameters(comm, net, params, X, Y, eta):
    """Each makes its own step, then the parameters are averaged: the plain average of the shards' means."""
    rows = shard(len(X), comm.size, comm.rank)
    if rows.stop > rows.start:
        serial.sgd_step(params, serial.gradients(net, params, X[rows], Y[rows]), eta)
    mine, total = pack(params), np.empty(net.n_params, np.float32)
    comm.Allreduce(mine, total)
    for (W, b), (new_W, new_b) in zip(
        params, unpack(total / np.float32(comm.size), params), strict=True
    ):
        W[:], b[:] = new_W, new_b


def agree_always(comm, params):
    return True


def agree_by_shapes(comm, params):
    return len(set(comm.allgather(str([W.shape for W, _ in params])))) == 1


def salted(data):
    return hash(data)


def agree_by_a_helper_that_is_salted(comm, params):
    return len(set(comm.allgather(salted(pack(params).tobytes())))) == 1


def agree_by_a_lambda_that_is_salted(comm, params):
    return len(set(comm.allgather((lambda data: hash(data))(pack(params).tobytes())))) == 1


def agree_by_what_is_printed(comm, params):
    """Large arrays are printed with three dots in the middle."""
    return len(set(comm.allgather(hashlib.sha256(str(params).encode()).digest()))) == 1


def agree_by_first_and_last(comm, params):
    """Looks at two ranks only."""
    mine = hashlib.sha256(pack(params).tobytes()).digest()
    return comm.bcast(mine, root=0) == comm.bcast(mine, root=comm.size - 1)


def agree_without_the_first_b(comm, params):
    (W, _), *others = params
    rest = pack(others).tobytes() if others else b""
    return len(set(comm.allgather(hashlib.sha256(W.tobytes() + rest).digest()))) == 1


def gradients_with_a_small_letter(comm, grads):
    return unpack(comm.allreduce(pack(grads)), grads)


def step_weighed_after_the_sum(comm, net, params, X, Y, eta):
    rows = shard(len(X), comm.size, comm.rank)
    n = rows.stop - rows.start
    grads = (
        serial.gradients(net, params, X[rows], Y[rows])
        if n
        else [(0 * W, 0 * b) for W, b in params]
    )
    serial.sgd_step(
        params, unpack(comm.allreduce(pack(grads)) * np.float32(n / len(X)), params), eta
    )


def mended_by_doing_all_of_it_everywhere(comm, net, X, Y, B, steps, eta, seed):
    params, rng = net.init_params(seed), np.random.default_rng([seed, 0])
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)
        serial.sgd_step(params, serial.gradients(net, params, X[rows], Y[rows]), eta)
    return params


def mended_by_half(comm, net, X, Y, B, steps, eta, seed):
    """Weights and sum are right; start and batches are each rank's own."""
    params, rng = net.init_params(seed + comm.rank), np.random.default_rng([seed, comm.rank])
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)[shard(B, comm.size, comm.rank)]
        mine = pack(serial.gradients(net, params, X[rows], Y[rows])) * np.float32(len(rows) / B)
        serial.sgd_step(params, unpack(comm.allreduce(mine), params), eta)
    return params


def overlapped_in_one_message_at_the_end(comm, L, gradient):
    grads = [gradient(comm, layer) for layer in reversed(range(L))][::-1]
    flat = np.concatenate(grads)
    total = np.empty_like(flat)
    comm.Iallreduce(flat, total).Wait()
    return np.split(total, np.cumsum([len(g) for g in grads])[:-1])


def efficiency_against_one_without_update(p, B, n, row, update, alpha, beta):
    t = efficiency_by_math(p, B, n, row, update, alpha, beta)[0]
    return t, B * row / t, B * row / t / p


def mended_but_averaging_parameters(comm, net, X, Y, B, steps, eta, seed):
    params, rng = net.init_params(seed), np.random.default_rng([seed, 0])
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)[shard(B, comm.size, comm.rank)]
        serial.sgd_step(params, serial.gradients(net, params, X[rows], Y[rows]), eta)
    mine, total = pack(params), np.empty(net.n_params, np.float32)
    comm.Allreduce(mine, total)
    return unpack(total / np.float32(comm.size), params)


def overlapped_with_one_buffer(comm, L, gradient):
    """All layers into one array: the later sums write over the earlier ones."""
    buffer, totals, flying = np.empty(1000, np.float32), [None] * L, []
    for layer in reversed(range(L)):
        mine = gradient(comm, layer)
        totals[layer] = buffer[: len(mine)]
        flying.append(comm.Iallreduce(mine, totals[layer]))
    for request in flying:
        request.Wait()
    return totals


def overlapped_first_then_rest(comm, L, gradient):
    """Only the last layer travels while the others are computed."""
    mine = gradient(comm, L - 1)
    last = np.empty_like(mine)
    request = comm.Iallreduce(mine, last)
    totals = []
    for layer in reversed(range(L - 1)):
        mine = gradient(comm, layer)
        totals.insert(0, np.empty_like(mine))
        comm.Allreduce(mine, totals[0])
    request.Wait()
    return [*totals, last]


WRONG = [
    (ch11.check_mean_of_means, mean_with_small_letters_on_arrays, "rehearsals not right yet"),
    (ch11.check_mean_of_means, mean_of_the_root, "rehearsals not right yet"),
    (ch11.check_mean_of_means, mean_only_where_there_are_rows, "a rank without rows"),
    (ch11.check_mean_of_means, mean_spoils_its_argument, "mean"),
    (ch11.check_sum_gradients, gradients_into_the_old_ones, "grads"),
    (ch11.check_sum_gradients, gradients_at_the_root, "rank 1"),
    (ch11.check_parallel_step, step_by_root, "rank 1"),
    (ch11.check_parallel_step, step_of_the_sum_of_squares, "`2` times too large"),
    (ch11.check_parallel_step, step_of_averaged_parameters, "right only for equal shards"),
    (ch11.check_replicas_agree, agree_always, "got True"),
    (ch11.check_replicas_agree, agree_by_shapes, "got True"),
    (ch11.check_mended_training, mended_but_averaging_parameters, "rehearsals not right yet"),
    (ch11.check_replicas_agree, agree_by_a_helper_that_is_salted, "a different salt"),
    (ch11.check_replicas_agree, agree_by_a_lambda_that_is_salted, "a different salt"),
    (ch11.check_replicas_agree, agree_by_what_is_printed, "printed text leaves out numbers"),
    (ch11.check_replicas_agree, agree_by_first_and_last, "got True"),
    (ch11.check_replicas_agree, agree_without_the_first_b, "the first b is left out"),
    (ch11.check_sum_gradients, gradients_with_a_small_letter, "use a capital A"),
    (ch11.check_parallel_step, step_weighed_after_the_sum, "before the sum"),
    (
        ch11.check_mended_training,
        mended_by_doing_all_of_it_everywhere,
        "serial training, p times over",
    ),
    (ch11.check_mended_training, mended_by_half, "draws its own batches"),
    (ch11.check_overlapped_sum, overlapped_in_one_message_at_the_end, "do not overlap"),
    (
        ch11.check_predict_efficiency,
        efficiency_against_one_without_update,
        "makes an update too",
    ),
    (ch11.check_overlapped_sum, overlapped_with_one_buffer, "rehearsals not right yet"),
    (ch11.check_overlapped_sum, overlapped_first_then_rest, "do not overlap"),
]


@pytest.mark.parametrize(
    ("check", "wrong", "words"), WRONG, ids=[fn.__name__ for _, fn, _ in WRONG]
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(check, wrong, words):
    for seed in (1, 2):
        text = told(check, wrong, seed)
        assert words in text, f"seed {seed}: {text}"


@pytest.mark.parametrize("name", ch11.__all__)
def test_what_is_no_function_is_refused_and_breaks_nothing(name):
    for value in (None, 3, [1, 2]):
        with pytest.raises(CheckFailed):
            getattr(ch11, name)(value, seed=1)
