"""What a scheme costs: messages, bytes and, from alpha (seconds a message) and beta (seconds a byte), time.

A model: it knows nothing of shared cores, contention or caches. Bytes are those that one rank sends in a step.
"""

import math
import time

import numpy as np

from course_lib.errors import BadInput, check_count


def ring(p, n):
    """(messages, bytes) that a rank sends in a ring allreduce of n bytes, n divisible by p: exact."""
    return 2 * (p - 1), 2 * (p - 1) * n / p


def doubling(p, n):
    """(messages, bytes) of the busiest rank in a recursive doubling of n bytes: exact."""
    q = 1 << (p.bit_length() - 1)
    count = q.bit_length() - 1 + (p > q)
    return count, count * n


def seconds(p, n, alpha, beta, allreduce="ring"):
    """Predicted time of an allreduce of n bytes over p ranks."""
    rounds = math.ceil(math.log2(p))
    if allreduce == "ring":
        return 2 * (p - 1) * (alpha + beta * n / p)
    if allreduce in ("doubling", "tree"):
        extra = 2 if allreduce == "doubling" and p & (p - 1) else 0
        rounds = 2 * rounds if allreduce == "tree" else p.bit_length() - 1 + extra
        return rounds * (alpha + beta * n)
    raise BadInput(f"allreduce must be ring, doubling or tree, not {allreduce!r}")


def step_bytes(net, B, data, model, itemsize=4):
    """Bytes that a rank sends in one step on a grid data x model, ring allreduces, parts of equal size.

    Gradients: those of the rank's weights, over `data` ranks. Model: the output of each row layer, and dA of each
    column layer but the first, B/data rows, over `model` ranks. model = 1 is data parallelism, data = 1 model
    parallelism: for two layers 2 (p - 1)/p B nL items, [003] section 4.3.
    """
    items = wide = 0.0
    for layer, (n_in, n_out) in enumerate(zip(net.sizes, net.sizes[1:], strict=False)):
        row = (net.n_layers - 1 - layer) % 2 == 0
        items += n_in * n_out / model + (n_out if row else n_out / model)
        wide += n_out if row else n_in * (layer > 0)
    return itemsize * (ring(data, items)[1] + ring(model, B / data * wide)[1])


def best_grid(net, B, p):
    """(data, model) with data * model = p that sends the fewest bytes."""
    splits = [(p // m, m) for m in range(1, check_count("p", p) + 1) if p % m == 0 and p // m <= B]
    return min(splits, key=lambda split: step_bytes(net, B, *split))


def ping_pong(comm, sizes, repeats=50):
    """Seconds of one message of each size (bytes) between ranks 0 and 1: half a round trip, the best; 0 elsewhere."""
    best = []
    for size in sizes:
        data, times = np.zeros(size, np.uint8), []
        for _ in range(repeats if comm.rank < 2 else 0):
            start = time.perf_counter()
            for sender in (0, 1):
                comm.Send(data, dest=1 - comm.rank) if comm.rank == sender else comm.Recv(data, source=1 - comm.rank)
            times.append((time.perf_counter() - start) / 2)
        best.append(min(times, default=0.0))
        comm.Barrier()
    return best


def fit(sizes, times):
    """(alpha, beta) of times = alpha + beta sizes; relative errors are least, so that short messages count as well."""
    A = np.stack([np.ones(len(sizes)), np.asarray(sizes, float)], axis=1) / np.asarray(times)[:, None]
    alpha, beta = np.linalg.lstsq(A, np.ones(len(sizes)))[0]
    return max(float(alpha), 0.0), max(float(beta), 0.0)
