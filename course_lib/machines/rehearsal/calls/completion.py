"""Waiting and testing: for one request, for all, for any, for some; as methods of a request and of MPI.Request."""

from typing import Any

from course_lib.machines.rehearsal.places import refused


class Completion:
    """The methods of `Request` that end one, or several."""

    rank: Any
    time: Any
    value: Any
    finished: bool
    finish: Any
    world: Any
    peers: Any
    tested: Any

    def __getattr__(self, name):
        raise refused("a request", name)

    def Wait(self, status=None):
        self.rank.enter()
        self.finish(status)
        return True

    def wait(self, status=None):
        self.Wait(status)
        return self.value

    def Test(self, status=None):
        self.rank.enter()
        if self.time is None and not self.finished:
            self.rank.poll()
        if not self.finished and (self.time is None or self.under_way()):
            return False
        self.finish(status)
        return True

    def under_way(self):
        """Is it done later only? Who asks again at the same time waits for it: a loop of Tests must end."""
        again, self.tested = self.tested == self.rank.clock, self.rank.clock
        return self.time > self.rank.clock and not again

    def test(self, status=None):
        return (True, self.value) if self.Test(status) else (False, None)

    def Get_status(self, status=None):
        """Is it done? It stays as it is."""
        self.rank.enter()
        if self.time is None and not self.finished:
            self.rank.poll()
        return self.finished or self.time is not None

    get_status = Get_status

    @classmethod
    def Waitall(cls, requests, statuses=None):
        for request, status in _with_statuses(requests, statuses):
            request.Wait(status)
        return True

    @classmethod
    def waitall(cls, requests, statuses=None):
        cls.Waitall(requests, statuses)
        return [_value(request) for request in requests]

    @classmethod
    def Waitany(cls, requests, status=None):
        from mpi4py import MPI

        requests = list(requests)
        live = _live(requests)
        if not live:
            return MPI.UNDEFINED
        first = _first(live, "Waitany")
        first.finish(status)
        return next(i for i, r in enumerate(requests) if _inner(r) is first)

    @classmethod
    def waitany(cls, requests, status=None):
        index = cls.Waitany(requests, status)
        return index, _value(requests[index]) if index >= 0 else None

    @classmethod
    def Waitsome(cls, requests, statuses=None):
        requests = list(requests)
        live = _live(requests)
        if not live:
            return None
        first = _first(live, "Waitsome")
        order, clock = first.world.order, first.rank.clock
        done = [r for r in live if r is first or (not order and _is_done(r, clock))]
        return _ended(requests, done, statuses)

    @classmethod
    def waitsome(cls, requests, statuses=None):
        return _with_values(requests, cls.Waitsome(requests, statuses))

    @classmethod
    def Testall(cls, requests, statuses=None):
        live = _live(requests)
        if any(request.time is None for request in live):
            live[0].rank.enter()
            live[0].rank.poll()
        if any(request.time is None or request.under_way() for request in live):
            return False
        return cls.Waitall(requests, statuses)

    @classmethod
    def testall(cls, requests, statuses=None):
        done = cls.Testall(requests, statuses)
        return done, [_value(request) for request in requests] if done else None

    @classmethod
    def Testany(cls, requests, status=None):
        from mpi4py import MPI

        requests = list(requests)
        live = _live(requests)
        if not live:
            return MPI.UNDEFINED, True
        done = _tested(live)
        if not done:
            return MPI.UNDEFINED, False
        done[0].finish(status)
        return next(i for i, r in enumerate(requests) if _inner(r) is done[0]), True

    @classmethod
    def testany(cls, requests, status=None):
        index, flag = cls.Testany(requests, status)
        return index, flag, _value(requests[index]) if flag and index >= 0 else None

    @classmethod
    def Testsome(cls, requests, statuses=None):
        requests = list(requests)
        live = _live(requests)
        return _ended(requests, _tested(live), statuses) if live else None

    @classmethod
    def testsome(cls, requests, statuses=None):
        return _with_values(requests, cls.Testsome(requests, statuses))


def _checked(request):
    """The request; raises what mpi4py raises for anything else. MPI.REQUEST_NULL is one."""
    if isinstance(request, Completion) or hasattr(request, "inner") or hasattr(request, "Wait"):
        return request
    raise TypeError(f"expected a request, got {type(request).__name__}")


def _inner(request):
    """What is under way of a request: of a persistent one, what its Start began."""
    return getattr(request, "inner", request)


def _live(requests):
    """Those that are under way: not MPI.REQUEST_NULL, not ended, and started."""
    inner = [_inner(_checked(request)) for request in requests]
    return [r for r in inner if isinstance(r, Completion) and not r.finished]


def _value(request):
    return getattr(_inner(request), "value", None)


def _with_statuses(requests, statuses):
    requests = list(requests)
    statuses = list(statuses or [])
    statuses += [None] * (len(requests) - len(statuses))
    pairs = [(_inner(_checked(r)), status) for r, status in zip(requests, statuses, strict=False)]
    return [(r, status) for r, status in pairs if isinstance(r, Completion)]


def _first(live, name):
    """The first of several that is done; by a search's order of arrival, that which it says."""
    rank, order = live[0].rank, live[0].world.order
    live[0].world.open = live[0].world.open or len(live) > 1
    rank.enter()
    waits = (name, lambda: sorted({peer for r in live for peer in r.peers()}))
    if order:
        return order.any_of(rank, live, waits)
    rank.until(lambda: min((r.time for r in live if r.time is not None), default=None), waits)
    return min((r for r in live if r.time is not None), key=lambda r: r.time)


def _is_done(request, clock):
    return request.time is not None and request.time <= clock


def _tested(live):
    """Those of several that are done, after a look that may fail."""
    rank = live[0].rank
    rank.enter()
    if all(request.time is None for request in live):
        rank.poll()
    return [r for r in live if r.time is not None and not r.under_way()]


def _ended(requests, done, statuses):
    """End these; their places among the requests."""
    for place, request in enumerate(done):
        request.finish(statuses[place] if statuses else None)
    return [i for i, r in enumerate(requests) if any(_inner(r) is one for one in done)]


def _with_values(requests, indices):
    return indices, None if indices is None else [_value(requests[i]) for i in indices]
