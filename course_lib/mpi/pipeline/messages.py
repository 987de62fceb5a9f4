"""What goes from stage to stage: A upwards, dA back, without waiting for anybody who need not be waited for."""

from typing import Any

import numpy as np

from course_lib.mpi.flat import length
from course_lib.mpi.pipeline.stages import check_lengths


def step_sent(schedule, net, lengths, B, itemsize=4):
    """[(messages, bytes) that each rank sends in a step of B rows]: exact. Over a boundary B rows of A, and of dA."""
    counts = [[0, 0] for _ in range(schedule.p)]
    widths = [net.sizes[some.start] for some in check_lengths(lengths, schedule.S, net.n_layers)]
    for task in schedule:
        result = task.comes_in(schedule.S)
        if result and schedule.p > 1:
            width = widths[max(task.stage, result[1])]
            count = counts[result[1] % schedule.p]
            count[0] += 1
            count[1] += itemsize * width * length(B, schedule.m, task.micro)
    return [tuple(count) for count in counts]


class Messages:
    """The messages of one rank in one step.

    A send is an Isend: the rank goes on, and the array stays alive until it is gone. The receive that comes next is
    posted while the rank still computes. blocking: Send and Recv instead: a rank may wait until it is received.
    """

    def __init__(self, comm, schedule, layers, net, B, dtype, blocking=False):
        self.comm, self.schedule, self.blocking = comm, schedule, blocking
        self.widths = [net.sizes[some.start] for some in layers]  # of each stage's input
        self.B, self.dtype, self.sent = B, dtype, []
        wanted = [task.comes_in(schedule.S) for task in schedule.of(comm.rank)]
        self.wanted = iter([what for what in wanted if what and what[1] % comm.size != comm.rank])
        self.own = dict[tuple[str, int, int], np.ndarray]()  # from a stage of this rank to another
        self.next: Any = None
        if not blocking:
            self._post()

    def _post(self):
        """The Irecv of the next message, in the order in which the tasks take them."""
        self.next = None
        if (result := next(self.wanted, None)) is not None:
            room = self._room(result)
            self.next = room, self.comm.Irecv(room, *self._from(result))

    def take(self, result):
        """The array of this result, (what, stage, micro), of the neighbouring stage."""
        if result in self.own:
            return self.own.pop(result)
        if self.blocking:
            room = self._room(result)
            self.comm.Recv(room, *self._from(result))
            return room
        room, request = self.next
        request.Wait()
        self._post()
        return room

    def send(self, what, key, array):
        """The result of key, (stage, micro), to the rank whose stage needs it."""
        dest = (key[0] + (1 if what == "forward" else -1)) % self.schedule.p
        array, tag = np.ascontiguousarray(array), self._tag(what, *key)
        if dest == self.comm.rank:
            self.own[what, *key] = array
            return
        if self.blocking:
            self.comm.Send(array, dest, tag)
            return
        self.sent = [(a, request) for a, request in self.sent if not request.Test()]
        self.sent.append((array, self.comm.Isend(array, dest, tag)))

    def end(self):
        """All that was sent has left."""
        for _, request in self.sent:
            request.Wait()

    def _from(self, result):
        return result[1] % self.schedule.p, self._tag(*result)

    def _tag(self, what, stage, micro):
        """Its own number for each message: a schedule may take them in another order than they are sent."""
        return (stage * self.schedule.m + micro) * 2 + (what == "delta")

    def _room(self, result):
        """An empty array for it: A of stage s is the input of s + 1, dA of stage s that of its own input."""
        what, stage, micro = result
        width = self.widths[stage + (what == "forward")]
        return np.empty((length(self.B, self.schedule.m, micro), width), self.dtype)
