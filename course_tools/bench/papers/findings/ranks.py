"""What the part `ranks` says: [003]'s and [004]'s ways to share the work over MPI processes, timed and counted."""

from collections.abc import Iterator
from typing import Any

from course_lib.mpi import cost
from course_tools.bench.frame import digits, ratio, runs
from course_tools.bench.mpi.predictions import epoch_seconds
from course_tools.bench.papers.arithmetic import NET
from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings.wording import listed, median


def _cases(made: Part) -> Iterator[tuple[dict[str, Any], int, str]]:
    """(case, p, words for both) for each batch size and number of ranks."""
    for case in made["training"]:
        for p in (2, 4):
            yield case, p, f"{p} ranks, B = {case['B']:,}"


def speedups(made: Part, *, scheme: str) -> str:
    """How many times as fast as serial training a scheme is, on each number of ranks."""
    told = [
        f"{value:.2f} times on {where}"
        for case, p, where in _cases(made)
        if (value := ratio(runs(case, "serial-1"), runs(case, f"{scheme}-{p}")))
    ]
    return f"{listed(told, 'no such scheme ran')} ({made['settings']['cores']} cores)"


def overhead(made: Part) -> str:
    """The allreduce of the gradient as a share of a data-parallel step, and its bytes."""
    told = []
    for case, p, where in _cases(made):
        parts, epoch = case["parts"].get(str(p)), runs(case, f"data-mpi-{p}")
        if parts and epoch:
            step = median(epoch) * case["B"] / made["settings"]["epoch"]
            told.append(f"{median(parts['allreduce']) / step:.0%} of a step on {where}")
    shares = listed(told, "no data-parallel step ran")
    return f"{4 * NET.n_params / 1e6:.2f} MB a step; its allreduce takes {shares}"


def model_or_data(made: Part) -> str:
    """Model parallelism beside data parallelism: bytes that a rank sends a step, and seconds an epoch."""
    told = []
    for case, p, where in _cases(made):
        by_data, by_model = runs(case, f"data-mpi-{p}"), runs(case, f"model-{p}")
        if by_data and by_model:
            data, model = (digits(median(seconds)) for seconds in (by_data, by_model))
            sent = [cost.step_bytes(NET, case["B"], *split) / 1e3 for split in ((p, 1), (1, p))]
            told.append(
                f"{where}: {sent[0]:,.0f} kB and {data} s by data, "
                f"{sent[1]:,.0f} kB and {model} s by model"
            )
    return listed(told, "no such scheme ran")


def predicted(made: Part) -> str:
    """The cost model's seconds beside the measured ones."""
    told = []
    for case, p, _ in _cases(made):
        for key in (f"data-mpi-{p}", f"model-{p}"):
            if seconds := runs(case, key):
                said, found = epoch_seconds(made, case, key), median(seconds)
                told.append(f"{key} {digits(said)} s, measured {digits(found)} s")
    return f"predicted: {listed(told, 'no scheme ran')}"
