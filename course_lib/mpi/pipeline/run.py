"""A schedule carried out by ranks: each does its own tasks, in order, and waits for messages alone."""

from course_lib.errors import BadInput, check_array
from course_lib.machines.rehearsal import compute
from course_lib.measure import Span, Timeline
from course_lib.mpi.flat import shard
from course_lib.mpi.pipeline.compute import Stage
from course_lib.mpi.pipeline.messages import Messages
from course_lib.mpi.pipeline.stages import check_lengths, layer_flops, split
from course_lib.serial import LOSSES
from course_lib.serial.minibatch import penalty


class Pipeline:
    """A net over the ranks of comm, by a schedule for as many ranks.

    lengths: how many layers each stage has; None: `split` by flops. recompute: keep inputs alone (see memory.py).
    blocking: by Send and Recv, as a naive pipeline does. costs: Costs that tasks take on a rehearsal's clock.
    After a step, `timeline` holds this rank's tasks as they ran, and peak_bytes the activations that it kept at most.
    Raises BadInput for another number of ranks, a stage without a layer, a schedule that is not complete or waits for
    ever.
    """

    def __init__(
        self, comm, net, schedule, lengths=None, recompute=False, blocking=False, costs=None
    ):
        if comm.size != schedule.p:
            raise BadInput(f"the schedule is for p = {schedule.p} ranks, and there are {comm.size}")
        lengths = split(layer_flops(net), schedule.S) if lengths is None else lengths
        self.layers = check_lengths(lengths, schedule.S, net.n_layers)
        self.comm, self.net, self.schedule = comm, net, schedule.check()
        self.recompute, self.blocking = recompute, blocking
        self.costs = None if costs is None else costs.check(schedule.S)
        self.stages = range(comm.rank, schedule.S, comm.size)
        self.mine = [layer for stage in self.stages for layer in self.layers[stage]]
        self.timeline, self.peak_bytes = Timeline(), 0

    def split(self, params):
        """This rank's layers of whole params: copies, its stages one after the other."""
        return [(params[layer][0].copy(), params[layer][1].copy()) for layer in self.mine]

    def join(self, local):
        """The whole params (or gradients) on every rank, from the parts of all."""
        whole = [None] * self.net.n_layers
        for layers, part in self.comm.allgather((self.mine, local)):
            for layer, pair in zip(layers, part, strict=True):
                whole[layer] = pair
        return whole

    def gradients(self, local, X, Y):
        """(grads, loss): gradients of this rank's layers, of the batch's mean loss, lam included, shaped as local; and
        this rank's summand of the loss (comm.allreduce(loss) is the loss).

        X (B, n0), Y (B, nL): the whole batch, on every rank. Only the first stage reads X, and only the last one Y.
        Raises BadInput for shapes or dtypes that do not fit, and fewer rows than micro-batches.
        """
        self._check(local, X, Y)
        step, self.timeline = _Step(self, local, X, Y), Timeline()
        self.timeline.clock()
        for task in self.schedule.of(self.comm.rank):
            result = task.comes_in(self.schedule.S)
            came = step.messages.take(result) if result else None
            start = self.timeline.clock()
            step.do(task, came)
            self.timeline.append(self.schedule.span(task, start, self.timeline.clock()))
        step.messages.end()
        self.peak_bytes = step.peak_bytes
        grads = [pair for stage in self.stages for pair in step.stages[stage].grads]
        return grads, step.loss + penalty(self.net, local)

    def _check(self, local, X, Y):
        if len(local) != len(self.mine):
            raise BadInput(f"local has {len(local)} layers, and this rank {len(self.mine)}")
        for n, layer in enumerate(self.mine):
            check_array(f"local[{n}][0] (W)", local[n][0], self.net.sizes[layer : layer + 2])
        check_array("X", X, ("B", self.net.sizes[0]), local[0][0].dtype)
        check_array("Y", Y, (len(X), self.net.sizes[-1]), X.dtype)
        if len(X) < self.schedule.m:
            raise BadInput(f"m = {self.schedule.m} micro-batches need as many rows: X has {len(X)}")

    def timelines(self):
        """The Timeline of all ranks' last step, on every rank. Their clocks agree on one machine alone."""
        parts, line = self.comm.allgather((self.timeline.zero, list(self.timeline))), Timeline()
        first = min(zero for zero, _ in parts)
        for zero, spans in parts:
            for rank, kind, micro, start, end in spans:
                line.append(Span(rank, kind, micro, start + zero - first, end + zero - first))
        return line


class _Step:
    """One step of one rank."""

    def __init__(self, pipe, local, X, Y):
        self.pipe, self.X, self.Y, self.kept = pipe, X, Y, {}
        self.loss, self.peak_bytes, parts = 0.0, 0, iter(local)
        self.stages = {
            s: Stage(pipe.net, pipe.layers[s], [next(parts) for _ in pipe.layers[s]])
            for s in pipe.stages
        }
        where = pipe.comm, pipe.schedule, pipe.layers, pipe.net
        self.messages = Messages(*where, len(X), X.dtype, pipe.blocking)

    def do(self, task, came):
        """One task, from the message that came for it, if any, to the one that comes out of it."""
        if self.pipe.costs is not None:
            compute(self.pipe.comm, self.pipe.costs.of(task, self.pipe.recompute))
        key, stage = (task.stage, task.micro), self.stages[task.stage]
        if task.kind == "forward":
            self._forward(key, stage, came)
        if task.kind in ("backward", "delta"):
            dA = self._delta(key, stage, came)
        if task.kind in ("backward", "grad"):
            stage.grad(self.kept.pop(key))
        if task.kind in ("backward", "delta") and task.stage:
            self.messages.send("delta", key, dA)

    def _forward(self, key, stage, A):
        kept = self.kept[key] = stage.forward(self._rows(self.X, key) if A is None else A)
        self._note()
        if key[0] == self.pipe.schedule.S - 1:
            Y = self._rows(self.Y, key)
            value = LOSSES[stage.net.loss].value(kept.Z[-1], kept.A[-1], Y)
            self.loss += value * len(Y) / len(self.Y)
        else:
            self.messages.send("forward", key, kept.A[-1])
        if self.pipe.recompute:
            del kept.A[1:], kept.Z[:]

    def _delta(self, key, stage, dA):
        if self.pipe.recompute:
            self.kept[key] = stage.forward(self.kept[key].A[0])
            self._note()
        kept, dZ = self.kept[key], None
        if dA is None:  # the last stage
            Y = self._rows(self.Y, key)
            dZ = stage.first_delta(kept, Y, len(Y) / len(self.Y))
        dA = stage.delta(kept, dA, dZ)
        self._note()
        return dA

    def _rows(self, array, key):
        return array[shard(len(array), self.pipe.schedule.m, key[1])]

    def _note(self):
        self.peak_bytes = max(self.peak_bytes, sum(kept.nbytes for kept in self.kept.values()))
