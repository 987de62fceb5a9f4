"""Groups of pretend ranks: what MPI.Group is while a rehearsal runs."""

from course_lib.errors import BadInput


class Group:
    """ranks: those of the rehearsal that belong to it, in order; own: the rank that asks."""

    def __init__(self, ranks=(), own=None):
        self.ranks, self._own = list(ranks), own

    size = property(lambda self: len(self.ranks))
    rank = property(lambda self: self.Get_rank())

    def Get_size(self):
        return len(self.ranks)

    def Get_rank(self):
        from mpi4py import MPI

        return self.ranks.index(self._own) if self._own in self.ranks else MPI.UNDEFINED

    def Free(self):
        """Nothing to give back here."""

    free = Free

    def Dup(self):
        return Group(self.ranks, self._own)

    def Incl(self, ranks):
        return Group([self._at(r) for r in ranks], self._own)

    def Excl(self, ranks):
        out = {self._at(r) for r in ranks}
        return Group([r for r in self.ranks if r not in out], self._own)

    def Range_incl(self, ranks):
        return self.Incl(_ranges(ranks))

    def Range_excl(self, ranks):
        return self.Excl(_ranges(ranks))

    @classmethod
    def Union(cls, group1, group2):
        more = [r for r in group2.ranks if r not in group1.ranks]
        return cls(group1.ranks + more, _own(group1, group2))

    @classmethod
    def Intersection(cls, group1, group2):
        return cls([r for r in group1.ranks if r in group2.ranks], _own(group1, group2))

    Intersect = Intersection

    @classmethod
    def Difference(cls, group1, group2):
        return cls([r for r in group1.ranks if r not in group2.ranks], _own(group1, group2))

    @classmethod
    def Compare(cls, group1, group2):
        from mpi4py import MPI

        if group1.ranks == group2.ranks:
            return MPI.IDENT
        return MPI.SIMILAR if sorted(group1.ranks) == sorted(group2.ranks) else MPI.UNEQUAL

    def Translate_ranks(self, ranks=None, group=None):
        """These ranks of this group, as the other group numbers them."""
        from mpi4py import MPI

        if group is None:
            raise BadInput("a rehearsal's Translate_ranks takes the other group")
        wanted = self.ranks if ranks is None else [self._at(r) for r in ranks]
        return [group.ranks.index(r) if r in group.ranks else MPI.UNDEFINED for r in wanted]

    def __eq__(self, other):
        return isinstance(other, Group) and self.ranks == other.ranks

    __hash__ = object.__hash__

    def _at(self, rank):
        from mpi4py import MPI

        if not 0 <= rank < len(self.ranks):
            raise MPI.Exception(MPI.ERR_RANK)
        return self.ranks[rank]


def _own(group1, group2):
    return group1._own if group1._own is not None else group2._own


def _ranges(triples):
    """The ranks of (first, last, stride), the last one included."""
    found = []
    for first, last, stride in triples:
        found += list(range(first, last + (1 if stride > 0 else -1), stride))
    return found
