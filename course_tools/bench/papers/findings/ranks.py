"""What the part `ranks` says: [003]'s and [004]'s ways to share the work over MPI processes, timed and counted."""

from collections.abc import Iterator

from course_lib.mpi import cost
from course_tools.bench.frame import digits, median, ratio, runs
from course_tools.bench.mpi.predictions import epoch_seconds
from course_tools.bench.papers.arithmetic import MB, NET
from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings.wording import each_case

SPLITS = {"data-mpi": lambda p: (p, 1), "model": lambda p: (1, p)}


def schemes(made: Part, *, each: str, whole: str = "{told}") -> str:
    """The words `each` for each batch size and number of ranks, with the numbers of `_case`."""
    cases = [_case(made, case, p) for case in made["training"] for p in (2, 4)]
    told = each_case(each, cases, "no such scheme ran")
    return whole.format(told=told, cores=made["settings"]["cores"], MB=MB * NET.n_params)


def _case(made: Part, case: Part, p: int) -> Part:
    """times: as fast as serial, by scheme; share: of a step, its allreduce; kB a rank sends, s an epoch takes."""
    step = median(runs(case, f"data-mpi-{p}"))
    allreduce = median(case["parts"].get(str(p), {}).get("allreduce"))
    found: Part = {"where": f"{p} ranks, B = {case['B']:,}", "share": None}
    if step and allreduce:
        found["share"] = allreduce / (step * case["B"] / made["settings"]["epoch"])
    for scheme in ("data-mpi", "model", "master"):
        seconds = runs(case, f"{scheme}-{p}")
        found[f"{scheme} times"] = ratio(runs(case, "serial-1"), seconds)
        found[f"{scheme} s"] = digits(median(seconds)) or None
    for scheme, split in SPLITS.items():
        found[f"{scheme} kB"] = cost.step_bytes(NET, case["B"], *split(p)) / 1e3
    return found


def predicted(made: Part, *, each: str) -> str:
    """The cost model's seconds beside the measured ones."""
    return f"predicted: {each_case(each, _predictions(made), 'no scheme ran')}"


def _predictions(made: Part) -> Iterator[Part]:
    for case in made["training"]:
        for key in (f"{scheme}-{p}" for p in (2, 4) for scheme in SPLITS):
            if found := median(runs(case, key)):
                said = digits(epoch_seconds(made, case, key))
                yield {"way": key, "said": said, "found": digits(found)}
