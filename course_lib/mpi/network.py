"""What a message costs on this machine: alpha and beta from a ping-pong, LogGP's terms from it and a flood.

Between ranks 0 and 1; other ranks wait at a barrier. Figures of other networks, from documents, for models.
"""

import time
from typing import NamedTuple

import numpy as np

SMALL = 8  # bytes of a message that measures what does not depend on its length


class Interconnect(NamedTuple):
    """alpha: seconds a message; beta: seconds a byte; source: the document that the figures stand in."""

    alpha: float
    beta: float
    source: str


NETWORKS = {
    "40 Gbit/s Ethernet": Interconnect(1.93e-6, 8 / 37.23e9, "J. Squyres, MPI over 40Gb Ethernet, Cisco blog, 2014: "
                          "measured with Open MPI, without TCP, between two machines, without a switch"),
    "200 Gbit/s InfiniBand": Interconnect(0.6e-6, 8 / 200e9, "NVIDIA, ConnectX-6 user manual, introduction: the best "
                             "that the adapter can do, without MPI and switches"),
}  # fmt: skip


class LogGP(NamedTuple):
    """Alexandrov et al. (1995), in seconds. L: latency of the network; o: a processor's work to send a message, or to
    receive one; g: the least time between two messages of one sender; G: a byte more of a long message."""

    L: float
    o: float
    g: float
    G: float

    def message(self, n):
        """One message of n bytes, from the call that sends it to the data at the receiver: o + (n - 1) G + L + o."""
        return 2 * self.o + self.L + max(n - 1, 0) * self.G

    def flood(self, count, n=SMALL):
        """`count` messages of n bytes, one after the other, until the last has come."""
        return self.message(n) + (count - 1) * max(self.g, self.o + max(n - 1, 0) * self.G)


def ping_pong(comm, sizes, repeats=50):
    """Seconds of one message of each size (bytes) between ranks 0 and 1: half a round trip, the best; 0 elsewhere."""
    best = []
    for size in sizes:
        data, times = np.zeros(size, np.uint8), []
        for _ in range(repeats if comm.rank < 2 else 0):
            start = time.perf_counter()
            for sender in (0, 1):
                if comm.rank == sender:
                    comm.Send(data, dest=1 - sender)
                else:
                    comm.Recv(data, source=sender)
            times.append((time.perf_counter() - start) / 2)
        best.append(min(times, default=0.0))
        comm.Barrier()
    return best


def flood(comm, count, repeats=20):
    """(seconds, seconds of the fastest Isend) of `count` small messages from rank 0 to 1, and one back; 0 elsewhere."""
    data, times, calls = np.zeros(SMALL, np.uint8), [], []
    for _ in range(repeats if comm.rank < 2 else 0):
        start, requests = time.perf_counter(), []
        for _ in range(count):
            before = time.perf_counter()
            if comm.rank == 0:
                requests.append(comm.Isend(data, dest=1))
            else:
                requests.append(comm.Irecv(np.empty_like(data), source=0))
            calls.append(time.perf_counter() - before)
        for request in requests:
            request.Wait()
        comm.Recv(np.empty_like(data), source=1) if comm.rank == 0 else comm.Send(data, dest=0)
        times.append(time.perf_counter() - start)
    comm.Barrier()
    return min(times, default=0.0), min(calls, default=0.0)


def fit(sizes, times):
    """(alpha, beta) of times = alpha + beta sizes; relative errors are least, so that short messages count as well."""
    A = np.stack([np.ones(len(sizes)), np.asarray(sizes, float)], axis=1)
    A /= np.asarray(times)[:, None]
    alpha, beta = np.linalg.lstsq(A, np.ones(len(sizes)))[0]
    return max(float(alpha), 0.0), max(float(beta), 0.0)


def fit_loggp(sizes, times, floods):
    """LogGP's terms from ping_pong(sizes) and floods: {count: (seconds, seconds of an Isend)} of two counts."""
    alpha, beta = fit(sizes, times)
    (few, (short, call)), (many, (long, _)) = sorted(floods.items())
    o = min(call, alpha / 2)
    return LogGP(alpha - 2 * o, o, max((long - short) / (many - few), 0.0), beta)
