"""The tables of `bench gpu` on products, barriers, compiles, copies and launches, and its targets."""

from collections.abc import Iterator

import numpy as np

from course_lib.measure import format_seconds
from course_tools.bench import frame
from course_tools.bench.frame import Result, Runs, Table, digits, quartiles, ratio, runs
from course_tools.bench.gpu.catalogue import HALF, KERNELS, PEERS, RUNGS, WAY

# fmt: off
PRODUCTS = ("way", "threads", "a product", "quartiles", "GFLOP/s", "x BLAS's time", "Numba's time over it")
ON_GPU = ("kernel", "a product", "quartiles", "TFLOP/s", "of cuBLAS's rate")
BEFORE = ("kernel of the engine, without the call around it", "before", "now", "before / now")
COPIES = ("bytes", "pageable, to the GPU", "pageable, back", "pinned, to the GPU", "pinned, back")
LAUNCHES = {"in_a_row": "in a row, not waited for", "waited_for": "each waited for",
            "in_a_graph": "200 as one graph, waited for once"}
# fmt: on
KINDS = {"plain": "all threads", "single": "1 thread", "traced": "traced"}
TWICE = ("plain", "traced")  # how a kernel is compiled


def product_tables(result: Result) -> Iterator[Table]:
    """One table for each size on the CPU."""
    for case in result["products"]:
        n, lines = case["n"], [_product_row(case, key, row) for key, row in case["ways"].items()]
        title = f"{n} x {n} x {n} on the CPU, from NumPy arrays to a NumPy array"
        yield Table(title, PRODUCTS, lines)


def _product_row(case: Result, key: str, row: Result) -> tuple[str, ...]:
    def more(seconds: Runs) -> Iterator[str]:
        yield digits(2 * case["n"] ** 3 / quartiles(seconds)[0] / 1e9)
        yield digits(ratio(seconds, runs(case, "blas")))
        numba = f"numba-{WAY[key].kernel}" if WAY[key].library != "numba-sim" else ""
        yield digits(ratio(runs(case, numba), seconds))

    return frame.timed_row((WAY[key].label, str(row["threads"])), row, more, format_seconds)


def scaling_table(result: Result) -> Table:
    """Medians by size, and how the time grows: exponent 3 is time in proportion to the operations."""
    cases, lines = result["products"], []
    for key, way in WAY.items():
        times = {case["n"]: frame.median(runs(case, key)) for case in cases}
        if any(times.values()):
            threads = result["settings"]["threads"] if way.threads == "T" else 1
            shown = [format_seconds(time) if time else "" for time in times.values()]
            label = f"{way.label}, {frame.count(threads, 'thread')}"
            lines.append((label, *shown, exponent(times)))
    header = ("way", *(f"{case['n']}^3" for case in cases), "grows as n to the")
    return Table("Time of a product by size", header, lines)


def exponent(times: dict[int, float | None]) -> str:
    """The slope of log time over log n, by least squares."""
    known = {n: time for n, time in times.items() if time}
    if len(known) < 2:
        return ""
    return f"{np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]:.1f}"


def engine_tables(result: Result) -> Iterator[Table]:
    """Barriers, kernels and cold compiles."""
    lines: list[tuple[str, ...]] = []
    for block, row in result["barrier"].items():
        ns = [1e9 * seconds for seconds in row.get("seconds", ())]
        lines.append((block, frame.typical(ns), frame.spread(ns)) if ns else (block, row["error"]))
    header = ("threads of a block", "median", "quartiles")
    yield Table("A barrier of the engine, ns per thread", header, lines)
    if "kernels" in result:
        yield _kernel_table(result["kernels"])
    yield from map(_compile_table, result["compile"])


def _kernel_table(kernels: Result) -> Table:
    """The kernels alone; what they were before, where that was measured."""
    lines = []
    for n, kind, rung in KERNELS:
        rows = [kernels.get(f"{kind}-{rung}-{n} {when}", {}) for when in ("before", "now")]
        times = [
            frame.typical(row.get("seconds"), format_seconds) or row.get("error", "")
            for row in rows
        ]
        gain = digits(ratio(*(row.get("seconds") for row in rows)))
        lines.append((f"{n}^3, {rung}, {KINDS[kind]}", *times, gain))
    return Table("Kernels of the engine", BEFORE, lines)


def _compile_table(case: Result) -> Table:
    package = ", of the package ziglang" if case["which"] == "ziglang" else ""
    title = f"Compiling with {case.get('compiler', case['which'])}{package}"
    if "error" in case:
        return Table(title, ("kernel", ""), [("", case["error"])])

    def row(label: str, found: Result) -> tuple[str, ...]:
        return (label, *(frame.typical(found[kind], format_seconds) for kind in TWICE))

    first = "the very first kernel on a machine, with them"
    lines = [row(first, case["first"])] if "first" in case else []
    own = "the engine's own parts, plain and traced, once"
    lines.append((own, format_seconds(case["seconds"]), ""))
    lines += [row(f"gemm_{rung}", found) for rung, found in case["kernels"].items()]
    return Table(f"{title}, nothing cached", ("kernel", *TWICE), lines)


def gpu_tables(result: Result) -> Iterator[Table]:
    """Products, copies and launches on the GPU; nothing where there is none."""
    gpu = result["gpu"]
    yield from map(_gpu_table, gpu.get("products", []))
    if "transfers" in gpu:
        yield _transfer_table(gpu["transfers"])
    if "launches" in gpu:
        known = gpu["launches"]
        lines = [(name, format_seconds(known[k])) for k, name in LAUNCHES.items() if k in known]
        yield Table("A launch of an empty kernel, as the host sees it", ("", "a launch"), lines)
    step = gpu.get("step", {})
    if "launched" in step:
        names = {"launched": "one by one", "graph": "one graph"}
        lines = [(name, format_seconds(step[key])) for key, name in names.items()]
        title = f"The {step['kernels']} kernels of a step of {step['net']}, B = {step['B']}"
        yield Table(f"{title}, until all are done", ("launched", "a step"), lines)


def _gpu_table(case: Result) -> Table:
    M, N, K = case["shape"]

    def more(seconds: Runs) -> Iterator[str]:
        yield f"{2 * M * N * K / quartiles(seconds)[0] / 1e12:.2f}"
        yield frame.percent(ratio(cublas(case), seconds))

    labels = {**PEERS, **HALF}
    lines = [
        frame.timed_row((labels.get(key, f"gemm_{key}"),), row, more, format_seconds)
        for key, row in case["ways"].items()
    ]
    title = f"M, N, K = {M}, {N}, {K} on the GPU, float32 without TF32, by events"
    return Table(title, ON_GPU, lines)


def _transfer_table(rows: list[Result]) -> Table:
    """A row of the result for each size, kind of memory and direction, in that order."""
    lines: dict[int, list[str]] = {}
    for row in rows:
        time = quartiles(row["seconds"])[0]
        cell = f"{format_seconds(time)}, {row['bytes'] / time / 1e9:.2f} GB/s"
        lines.setdefault(row["bytes"], []).append(cell)
    shown = [(f"{size:,}", *cells) for size, cells in lines.items()]
    return Table("Copies between host and GPU, each waited for", COPIES, shown)


def gpu_note(result: Result) -> str:
    """What the GPU is and who launched its kernels, or why nothing was measured."""
    gpu = result["gpu"]
    if "error" in gpu:
        return f"On a GPU: {gpu['error']}."
    known = gpu["attributes"]
    capability = ".".join(map(str, known["compute_capability"]))
    instead = f" ({known['instead_of']})" if known["instead_of"] else ""
    return (
        f"GPU: {known['name']}, {known['multiprocessors']} multiprocessors, compute capability {capability}, "
        f"{known['memory'] / 2**30:.0f} GiB; kernels launched by {known['launched_by']}{instead}."
    )


def targets(result: Result) -> Iterator[frame.Target]:
    """Of products, traces and barriers on the CPU, then of a GPU, in the order of the list in docs/bench-gpu.md."""
    yield from _of_products({case["n"]: case for case in result["products"]})
    for block, row in result["barrier"].items():
        found = frame.alone([1e9 * seconds for seconds in row.get("seconds", ())])
        yield frame.at_most("A barrier, ns per thread", f"{block} threads a block", 20, found)
    yield from _of_kernels(result.get("kernels", {}))
    for case in result["compile"][:1]:
        for kind, seconds in case.get("first", {}).items():
            yield frame.at_most(
                "The first compile on a machine, seconds", kind, 1, frame.alone(seconds)
            )
    yield from _of_gpu(result["gpu"])


def _of_products(sizes: dict[int, Result]) -> Iterator[frame.Target]:
    ways = {key for case in sizes.values() for key in case["ways"]}
    # a result of the day when there were fewer rungs has no targets for the others
    rungs = [rung for rung in RUNGS if f"plain-{rung}" in ways]
    for rung in rungs:
        found = frame.over(runs(sizes.get(512), f"plain-{rung}"), runs(sizes.get(512), "blas"))
        yield frame.at_most(
            "The engine's time over one BLAS thread's", f"512^3, {rung}", 100, found
        )
    for rung in RUNGS[:2]:
        found = frame.over(*(runs(sizes.get(64), f"{way}-{rung}") for way in ("numba", "plain")))
        yield frame.at_least(
            "Numba's simulator's time over the engine's", f"64^3, {rung}", 200, found
        )
    for rung in rungs:
        found = frame.alone(runs(sizes.get(128), f"traced-{rung}"))
        yield frame.at_most("A whole trace, seconds", f"128^3, {rung}", 0.5, found)


def _of_kernels(kernels: Result) -> Iterator[frame.Target]:
    """Their rate against that of another clone's, and what the tracer costs."""

    def seconds(kind: str, rung: str, n: int, when: str = "now") -> Runs | None:
        return kernels.get(f"{kind}-{rung}-{n} {when}", {}).get("seconds")

    for n, kind, rung in KERNELS:
        now, where = seconds(kind, rung, n), f"{n}^3, {rung}"
        if kind == "traced" and f"{kind}-{rung}-{n} now" in kernels:
            found = frame.over(now, seconds("single", rung, n))
            yield frame.at_most("A kernel's time traced over plain", where, 25, found)
        elif n == 256 and (before := seconds(kind, rung, n, "before")):
            where = f"{where}, {KINDS[kind]}"
            yield frame.at_least(
                "A kernel's rate over that before", where, 2, frame.over(before, now)
            )


def cublas(case: Result | None) -> Runs | None:
    """The runs of cuBLAS: of the quicker library, where there are two."""
    return frame.quickest(*(runs(case, key) for key in PEERS))


def _of_gpu(gpu: Result) -> Iterator[frame.Target]:
    cases, large = gpu.get("products", []), [4096, 4096, 4096]
    case = next((case for case in cases if case["shape"] == large), None)
    absent = ("not measured: no GPU",) if "error" in gpu else ()
    name, found = "4096^3 on the GPU", frame.over(cublas(case), runs(case, "warptile"))
    yield frame.at_least("gemm_warptile's rate over cuBLAS's in float32", name, 0.9, found, *absent)
    found = frame.over(runs(case, "shared"), runs(case, "register_16x4"))
    yield frame.at_least("gemm_register_16x4's rate over gemm_shared's", name, 3, found, *absent)
