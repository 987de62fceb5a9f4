"""Persistent requests: Send_init, Recv_init, Allreduce_init and their like; Start begins what they stand for."""

from typing import Any

from course_lib.machines.rehearsal.places import refused
from course_lib.machines.rehearsal.requests import Request


class Idle:
    """What a persistent request is before its Start, and after its Wait: done."""

    finished, value, time = True, None, 0.0


class Prequest:
    """begin(): starts the call and returns its request."""

    inner: Any = Idle()

    def __init__(self, comm, begin):
        self._comm, self._begin, self._freed = comm, begin, False

    def __getattr__(self, name):
        raise refused("a persistent request", name)

    def Start(self):
        if self._freed or not self.inner.finished:
            what = "was freed" if self._freed else "is under way already: wait for it first"
            self._comm._world.raise_mpi("ERR_REQUEST", f"Start of a persistent request that {what}")
        self.inner = self._begin()

    @classmethod
    def Startall(cls, requests):
        for request in requests:
            request.Start()

    def Free(self):
        self._freed = True

    free = Free

    def Wait(self, status=None):
        return True if isinstance(self.inner, Idle) else self.inner.Wait(status)

    def wait(self, status=None):
        self.Wait(status)
        return self.inner.value

    def Test(self, status=None):
        return True if isinstance(self.inner, Idle) else self.inner.Test(status)

    def test(self, status=None):
        return (True, self.inner.value) if self.Test(status) else (False, None)

    def Cancel(self):
        if not self.inner.finished:
            self.inner.Cancel()


for _name in ("Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome"):
    for _spelt in (_name, _name.lower()):
        setattr(Prequest, _spelt, getattr(Request, _spelt))


def begins(name):
    """The method Send_init for Isend, Allreduce_init for Iallreduce."""

    def method(self, *args, **named):
        return Prequest(self, lambda: getattr(self, name)(*args, **named))

    return method
