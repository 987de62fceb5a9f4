"""The model's clock: what a message and a collective take, from alpha (seconds a message) and beta (seconds a byte).

A message of n bytes takes alpha + beta n from the moment when both sides are there, and each rank sends one and
receives one message at a time (an eager message asks only for its sender). A collective of p ranks begins when the
last has come, and ends for all at once, after the time of the algorithms that Thakur, Rabenseifner and Gropp (2005)
describe; of several that are under way (Iallreduce) one goes after the other. n: all bytes of one rank's vector, for
Gather, Scatter and Allgather of all ranks; L = ceil(log2 p).

    Barrier                                 L alpha
    Bcast, Reduce, Scan                     L (alpha + beta n)                      binomial tree
    Gather, Scatter                         L alpha + (p - 1)/p beta n              binomial tree
    Allgather, Reduce_scatter, Alltoall     (p - 1) (alpha + beta n/p)              ring, pairwise
    Allreduce                               the shorter of L (alpha + beta n) and 2 (p - 1) (alpha + beta n/p)
"""

import math


class Links:
    """What connects n ranks: each sends one message and receives one at a time."""

    def __init__(self, n, alpha, beta):
        self.alpha, self.beta = alpha, beta
        self.sends, self.receives = [0.0] * n, [0.0] * n  # when each is free again

    def move(self, source, dest, begin, nbytes):
        """(begin, end) of a message that may move from `begin` on; dest: None if it is not waited for."""
        begin = max(begin, self.sends[source], 0.0 if dest is None else self.receives[dest])
        end = begin + self.alpha + self.beta * nbytes
        self.sends[source] = end
        if dest is not None:
            self.receives[dest] = end
        return begin, end

    def together(self, ranks, begin, name, nbytes):
        """(begin, end) of a collective of these ranks, which uses the links of all of them."""
        begin = max(begin, *(max(self.sends[r], self.receives[r]) for r in ranks))
        end = begin + self.collective(name, len(ranks), nbytes)
        for r in ranks:
            self.sends[r] = self.receives[r] = end
        return begin, end

    def collective(self, name, p, n):
        """Seconds of a collective, by its name in MPI's spelling without the I of the non-blocking ones."""
        rounds, beta_n = math.ceil(math.log2(p)), self.beta * n
        tree, ring = rounds * (self.alpha + beta_n), (p - 1) * (self.alpha + beta_n / p)
        if name == "Barrier":
            return rounds * self.alpha
        if name in ("Gather", "Scatter"):
            return rounds * self.alpha + (p - 1) / p * beta_n
        if name in ("Allgather", "Reduce_scatter", "Alltoall"):
            return ring
        return min(tree, 2 * ring) if name == "Allreduce" else tree
