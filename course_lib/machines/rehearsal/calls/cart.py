"""Ranks on a grid: Create_cart, and the methods of the communicator that it gives."""

import math
from typing import Any

import numpy as np


def plan(comm, dims, periods):
    """What a rank brings to Create_cart. comm: the communicator whose ranks go on the grid, row by row."""
    dims = [int(length) for length in dims]
    given = [False] * len(dims) if periods is None else periods
    periods = [bool(p) for p in ([given] * len(dims) if isinstance(given, bool) else given)]
    if min(dims, default=1) < 1 or math.prod(dims) > comm.size or len(periods) != len(dims):
        text = f"Create_cart({dims}): a grid of {math.prod(dims)} ranks, but there are {comm.size}"
        comm._world.raise_mpi("ERR_DIMS", text)
    inside = comm.rank < math.prod(dims)
    from mpi4py import MPI

    call = comm._plan_of_split(0 if inside else MPI.UNDEFINED, comm.rank)
    make = call.result

    def result(got):
        made = make(got)
        return comm._cart(made, dims, periods) if inside else made

    call.name, call.terms = "Create_cart", {"grid": (tuple(dims), tuple(periods))}
    call.result = result
    return call


class OnGrid:
    """The methods of MPI.Cartcomm. dims, periods: lengths, and which axes are rings."""

    rank: int
    dims: list
    periods: list
    Split: Any
    _cart: Any

    ndim = dim = property(lambda self: len(self.dims))
    coords = property(lambda self: self.Get_coords(self.rank))
    topo = property(lambda self: self.Get_topo())

    def Get_dim(self):
        return len(self.dims)

    def Get_topo(self):
        return self.dims, self.periods, self.coords

    def Get_topology(self):
        from mpi4py import MPI

        return MPI.CART

    def Get_coords(self, rank):
        return [int(at) for at in np.unravel_index(rank, self.dims)]

    def Get_cart_rank(self, coords):
        inside = [
            at % length if ring else at
            for at, length, ring in zip(coords, self.dims, self.periods, strict=True)
        ]
        if not all(0 <= at < length for at, length in zip(inside, self.dims, strict=True)):
            from mpi4py import MPI

            raise MPI.Exception(MPI.ERR_RANK)
        return int(np.ravel_multi_index(inside, self.dims))

    def Shift(self, direction, disp):
        """(rank that one receives from, rank that one sends to)."""
        return self._neighbour(direction, -disp), self._neighbour(direction, disp)

    def _neighbour(self, direction, disp):
        from mpi4py import MPI

        at = self.coords
        at[direction] += disp
        if not self.periods[direction] and not 0 <= at[direction] < self.dims[direction]:
            return MPI.PROC_NULL
        return self.Get_cart_rank(at)

    def Sub(self, remain_dims):
        """The grids of those axes that remain."""
        kept = [bool(kept) for kept in remain_dims]
        colour = [at for at, keep in zip(self.coords, kept, strict=True) if not keep]
        lost = [length for length, keep in zip(self.dims, kept, strict=True) if not keep]
        number = int(np.ravel_multi_index(colour, lost)) if lost else 0
        made = self.Split(number, self.rank)
        dims, periods = (
            [one for one, keep in zip(of, kept, strict=True) if keep]
            for of in (self.dims, self.periods)
        )
        return self._cart(made, dims, periods)
