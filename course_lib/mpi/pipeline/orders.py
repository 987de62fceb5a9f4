"""The orders in which published pipelines do their tasks. All train alike: they differ in waiting and in memory."""

from functools import lru_cache

from course_lib.errors import BadInput, check_choice, check_count
from course_lib.mpi.pipeline.schedule import PipelineSchedule, Task


def schedule(name, p, m, v=1):
    """The PipelineSchedule of this name (NAMES) for p ranks and m micro-batches; v stages a rank, if interleaved.

    Raises BadInput for p, m or v below 1, v > 1 where it is not interleaved, and m that p does not divide where it is.
    """
    check_choice("name", name, NAMES)
    return _made(name, check_count("p", p), check_count("m", m), check_count("v", v))


@lru_cache(128)  # who looks for a plan tries the same schedules with many costs
def _made(name, p, m, v):
    if name == "interleaved":
        if m % p:
            raise BadInput(f"interleaved needs a multiple of p = {p} micro-batches, not m = {m}")
        tasks = [task for rank in range(p) for task in _interleaved(p, m, v, rank)]
    elif v > 1:
        raise BadInput(f"{name} has one stage a rank, not v = {v}: only interleaved has more")
    else:
        tasks = [Task(r, kind, r, i) for r in range(p) for kind, i in ONE_STAGE[name](p, m, r)]
    return PipelineSchedule(tasks, p, m, v)


def _gpipe(p, m, rank):
    """GPipe (Huang et al. 2019, section 2): all forwards, then all backwards, the last micro-batch first."""
    yield from (("forward", i) for i in range(m))
    yield from (("backward", i) for i in reversed(range(m)))


def _1f1b(p, m, rank):
    """PipeDream-flush (Narayanan et al. 2021, "Memory-efficient pipeline-parallel DNN training", section 3.2): the
    1F1B of PipeDream (Narayanan et al. 2019, section 3.2), with a flush at the end of each step.

    Rank r starts p - r forwards, one for each stage from its own to the last. From then on a backward makes room for
    each forward: it never keeps more than p - r micro-batches.
    """
    started = min(p - rank, m)
    yield from (("forward", i) for i in range(started))
    for i in range(m):
        yield "backward", i
        if started + i < m:
            yield "forward", started + i


def _interleaved(p, m, v, rank):
    """Megatron-LM (Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters", section
    2.2.2): p micro-batches go through one chunk, then through the next.

    The order of 1F1B, over m v pieces; a rank starts 2 (p - rank - 1) + (v - 1) p + 1 of them.
    """
    pieces = [(chunk, i) for at in range(0, m, p) for chunk in range(v) for i in range(at, at + p)]
    forward = [Task(rank, "forward", rank + p * chunk, i) for chunk, i in pieces]
    backward = [Task(rank, "backward", rank + p * (v - 1 - chunk), i) for chunk, i in pieces]
    started = min(2 * (p - rank - 1) + (v - 1) * p + 1, m * v)
    yield from forward[:started]
    for n, task in enumerate(backward):
        yield task
        yield from forward[started + n : started + n + 1]


def _zero_bubble(m, started, late):
    """1F1B whose backward is cut in two: each delta at once, each grad `late` micro-batches after its delta."""
    started = min(started, m)
    yield from (("forward", i) for i in range(started))
    for i in range(m):
        yield "delta", i
        if i >= late:
            yield "grad", i - late
        if started + i < m:
            yield "forward", started + i
    yield from (("grad", i) for i in range(max(m - late, 0), m))


def _zb_h1(p, m, rank):
    """ZB-H1 (Qi et al. 2023, section 2.1): 1F1B's forwards; no rank keeps more than p micro-batches.

    Rank r has p - r forwards in flight, which leaves room for r grads that wait: they fill the bubble at the end.
    """
    return _zero_bubble(m, p - rank, rank)


def _zb_h2(p, m, rank):
    """ZB-H2 (Qi et al. 2023, section 2.2): more forwards fill the bubble at the start too; up to 2 p - 1 kept."""
    return _zero_bubble(m, 2 * (p - rank) - 1, 2 * rank)


ONE_STAGE = {"gpipe": _gpipe, "1f1b": _1f1b, "zb-h1": _zb_h1, "zb-h2": _zb_h2}
NAMES = ("gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2")
