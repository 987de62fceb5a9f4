"""Mixes of model parallelism, a pipeline, data parallelism and shards: what a step of each costs, and keeps.

Model parallelism inside a node, pipelines over nodes, copies over the rest: so advise Narayanan et al. (2021,
Megatron-LM, section 3). Ranks t q k to t q k + t q - 1 hold copy k, t neighbours each of its q stages.
"""

from typing import Any, NamedTuple

from course_lib.errors import BadInput, check_count, check_number
from course_lib.mpi.model_parallel import kinds, most_ranks
from course_lib.mpi.pipeline.orders import schedule
from course_lib.mpi.pipeline.stages import layer_flops, layers_of, split
from course_lib.mpi.sharded.paper import STAGES
from course_lib.mpi.simulate.collectives import ring_allreduce
from course_lib.mpi.simulate.events import Cluster, Program, simulate
from course_lib.mpi.simulate.training import pipeline
from course_lib.mpi.two_levels import flat_ring

# what all shards' messages of a step are, in allreduces of all gradients, with m micro-batches: `sharded.paper.sent`
ROUNDS = (lambda m: 1, lambda m: 1, lambda m: (m + 1) / 2, lambda m: 3 * m / 2)


class Mix(NamedTuple):
    """Each layer over `model` ranks, the layers over `pipeline` stages, the rows over `data` copies; ZeRO's stage."""

    model: int
    pipeline: int
    data: int
    stage: int = 0


class Work(NamedTuple):
    """A step to be done: B rows of a net, by ranks that do `rate` flops a second and have room for `room` bytes.

    rows: of a micro-batch, at most. slots: arrays of state a parameter: 0 SGD, 1 momentum, 2 Adam.
    """

    net: Any
    B: int
    rate: float
    room: float
    rows: int = 2048
    slots: int = 2
    itemsize: int = 4

    def check(self):
        """The same; BadInput for numbers that are none of their kind."""
        for name, least in (("B", 1), ("rows", 1), ("slots", 0), ("itemsize", 1)):
            check_count(name, getattr(self, name), least)
        for name in ("rate", "room"):
            check_number(name, getattr(self, name))
        return self


class Price(NamedTuple):
    """What a mix costs: {cause: seconds of a step}, and the bytes of the fullest rank."""

    mix: Mix
    causes: dict
    kept: float

    @property
    def seconds(self):
        """Seconds of a step."""
        return sum(self.causes.values())


class Stage(NamedTuple):
    """Of one stage, for each of its t ranks: seconds of forward and backward and of the sums in its layers, for a
    micro-batch; parameters; numbers that it keeps of a row."""

    forward: float
    backward: float
    sums: float
    params: float
    kept: float


def mixes(work, cluster):
    """All mixes that use every rank of the cluster: t divides a node's ranks, a stage has at least two layers (or what
    an odd number leaves to the first), a copy at least one row."""
    found, widest = [], min(cluster.per_node, most_ranks(work.net))
    for t in (t for t in range(1, widest + 1) if cluster.per_node % t == 0):
        for q in range(1, len(_pairs(work.net)) + 1):
            d, left = divmod(cluster.ranks, t * q)
            if not left and d <= work.B:
                found += [Mix(t, q, d, stage) for stage in (STAGES if d > 1 else [0])]
    return found


def price(work, cluster, mix):
    """The Price of a mix: a sum of five causes, in closed form.

    computing: of the slowest stage, all micro-batches. sums in layers: its allreduces of activations over t ranks
    (chapter 12; Shoeybi et al. 2019, section 3). bubble: the other stages, once, as 1F1B waits (Narayanan et al. 2021,
    section 2.2.1). messages: between stages, each rank 1/t of the activations (section 4.1); 1F1B has q micro-batches
    on the way, so every q-th waits for a way up and down. weights: rings over d copies, more with each shard (ZeRO,
    Rajbhandari et al. 2020, section 7). Exact, by our simulators, for equal stages and where q divides m.
    kept: weights, gradients and state, by the shards' stage, and the activations of 1F1B, min(q - s, m) on stage s.
    """
    (_, q, d, stage), (m, rows) = mix, micro_batches(work, mix)
    parts = stages(work, cluster, mix)
    slowest = max(parts, key=_busy)
    weights = work.itemsize * max(part.params for part in parts)
    trips = 2 * max(1.0, m / q + (q - 2) / (q - 1)) if q > 1 else 0.0
    causes = {
        "computing": m * (slowest.forward + slowest.backward),
        "sums in layers": m * slowest.sums,
        "bubble": sum(map(_busy, parts)) - _busy(slowest),
        "messages": trips * _trip(work, cluster, mix, rows),
        "weights": ROUNDS[stage](m) * flat_ring(d, weights, *_ring_link(cluster, mix)),
    }
    cut = [d if stage >= least else 1 for least in (3, 2, 1)]
    states = weights * (1 / cut[0] + 1 / cut[1] + work.slots / cut[2])
    flight = max(min(q - s, m) * part.kept for s, part in enumerate(parts))
    return Price(mix, causes, states + work.itemsize * rows * flight)


def micro_batches(work, mix):
    """(m, rows of the largest): how a copy's part of the batch is cut."""
    mine = -(-work.B // mix.data)
    m = -(-mine // work.rows)
    return m, -(-mine // m)


def stages(work, cluster, mix):
    """[Stage], split by cost between pairs of layers: inside a pair the activations are cut, not whole."""
    flops, of, size = layer_flops(work.net), kinds(work.net), work.net.sizes
    rows, t, found = micro_batches(work, mix)[1], mix.model, []
    for layers in _layers(work.net, mix.pipeline):
        widths = [size[l + 1] for l in layers if of[l] == "row"]
        widths += [size[l] for l in layers if l and of[l] == "column"]
        sums = sum(flat_ring(t, work.itemsize * rows * n, *cluster.inside) for n in widths)
        outputs = sum(size[l + 1] / (t if of[l] == "column" else 1) for l in layers)
        seconds = [rows * sum(flops[l][k] for l in layers) / work.rate / t for k in range(3)]
        params = sum((size[l] + 1) * size[l + 1] for l in layers) / t
        kept = size[layers[0]] + 2 * outputs
        found.append(Stage(seconds[0], seconds[1] + seconds[2], sums, params, kept))
    return found


def run_mix(work, cluster, mix, allreduce=ring_allreduce):
    """The Run of a step of this mix, event by event: one rank stands for the t of a stage, which do the same at once.

    Its messages are those of one of them; sums in layers are time alone, and keep no message waiting. allreduce: of the
    gradients; with thousands of copies a tree, for a ring over d of them has 2 d (d - 1) messages.
    Raises BadInput for stages 2 and 3, which send in each micro-batch.
    """
    if mix.stage > 1:
        raise BadInput(f"stage {mix.stage} sends in each micro-batch: only 0 and 1 are simulated")
    (t, q, d, _), (m, rows) = mix, micro_batches(work, mix)
    parts, plan, program = stages(work, cluster, mix), schedule("1f1b", q, m), Program()
    sizes = [n / t for n in _boundaries(work, mix, rows)]

    def seconds(task):
        part = parts[task.stage]
        return (part.forward if task.kind == "forward" else part.backward) + part.sums / 2

    places = [range(k * q, k * q + q) for k in range(d)]
    ends = [pipeline(program, plan, ranks, seconds, sizes) for ranks in places]
    for s, part in enumerate(parts):
        copies, after = [ranks[s] for ranks in places], [end[s] for end in ends]
        allreduce(program, copies, work.itemsize * part.params, after)
    return simulate(program, _of_groups(cluster, t))


def _of_groups(cluster, t):
    """The Cluster of which each rank stands for t: a link that several of them share is as many times as slow."""
    share = cluster.per_node // cluster.links
    alpha, beta = cluster.between
    per_node = cluster.per_node // t
    links = per_node // max(1, share // t)
    between = alpha, beta * min(t, share)
    return Cluster(cluster.ranks // t, per_node, cluster.inside, between, links)


def _pairs(net):
    """Layers between which activations are whole: a "column" and the "row" after it, or the first "row" alone."""
    odd = net.n_layers % 2
    return [(0,)] * odd + [(layer, layer + 1) for layer in range(odd, net.n_layers, 2)]


def _layers(net, q):
    """[the layers of each of q stages]."""
    pairs, flops = _pairs(net), layer_flops(net)
    lengths = split([sum(sum(flops[layer]) for layer in pair) for pair in pairs], q)
    return [
        [layer for pair in pairs[i.start : i.stop] for layer in pair] for i in layers_of(lengths)
    ]


def _busy(part):
    return part.forward + part.backward + part.sums


def _boundaries(work, mix, rows):
    """Bytes of a micro-batch's activations between each stage and the next."""
    firsts = [layers[0] for layers in _layers(work.net, mix.pipeline)[1:]]
    return [work.itemsize * rows * work.net.sizes[layer] for layer in firsts]


def _trip(work, cluster, mix, rows):
    """Seconds of the messages from the first stage to the last: t ranks send at once, a t-th of each boundary."""
    t, seconds = mix.model, 0.0
    alpha, beta = cluster.between
    far = alpha, beta * min(t, _share(cluster))
    for s, n in enumerate(_boundaries(work, mix, rows)):
        alpha, beta = far if (s + 1) * t % cluster.per_node == 0 else cluster.inside
        seconds += alpha + beta * n / t
    return seconds


def _ring_link(cluster, mix):
    """(alpha, beta) of the slowest hop of a ring over copies: t q neighbours send to the next node at once."""
    if cluster.ranks == cluster.per_node:
        return cluster.inside
    alpha, beta = cluster.between
    return alpha, beta * min(mix.model * mix.pipeline, _share(cluster))


def _share(cluster):
    """How many ranks share a link to other nodes."""
    return cluster.per_node // cluster.links
