"""The tables of `bench gpu` on products, barriers, compiles, copies and launches, from the JSON's dict alone."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.measure import format_seconds
from course_tools.bench import frame
from course_tools.bench.frame import Runs, Table, digits, median, quartiles, ratio, runs, typical
from course_tools.bench.gpu.catalogue import HALF, KERNELS, PEERS, WAY
from course_tools.bench.gpu.targets import cublas

PRODUCTS = ("way", "threads", "a product", "quartiles", "GFLOP/s", "x BLAS's time")
KINDS = {"plain": "all threads", "single": "1 thread", "traced": "traced"}
COPIES = ("pageable, to the GPU", "pageable, back", "pinned, to the GPU", "pinned, back")


def product_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each size on the CPU."""
    for case in result["products"]:
        n, lines = case["n"], [_product_row(case, key, row) for key, row in case["ways"].items()]
        title = f"{n} x {n} x {n} on the CPU, from NumPy arrays to a NumPy array"
        yield Table(title, (*PRODUCTS, "Numba's time over it"), lines)


def _product_row(case: dict[str, Any], key: str, row: dict[str, Any]) -> tuple[str, ...]:
    def more(seconds: Runs) -> Sequence[str]:
        numba = f"numba-{WAY[key].kernel}" if WAY[key].library != "numba-sim" else ""
        rate = digits(2 * case["n"] ** 3 / quartiles(seconds)[0] / 1e9)
        slower = digits(ratio(runs(case, numba), seconds))
        return rate, digits(ratio(seconds, runs(case, "blas"))), slower

    return frame.timed_row((WAY[key].label, str(row["threads"])), row, more, format_seconds)


def scaling_table(result: dict[str, Any]) -> Table:
    """Medians by size, and how the time grows: exponent 3 is time in proportion to the operations."""
    cases, lines = result["products"], []
    for key, way in WAY.items():
        times = {case["n"]: median(runs(case, key)) for case in cases}
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


def engine_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Barriers and cold compiles."""
    lines: list[tuple[str, ...]] = []
    for block, row in result["barrier"].items():
        ns = [1e9 * seconds for seconds in row.get("seconds", ())]
        lines.append((block, typical(ns), frame.spread(ns)) if ns else (block, row["error"]))
    header = ("threads of a block", "median", "quartiles")
    yield Table("A barrier of the engine, ns a thread", header, lines)
    if "kernels" in result:
        yield _kernel_table(result["kernels"])
    yield from map(_compile_table, result["compile"])


def _kernel_table(kernels: dict[str, Any]) -> Table:
    """The kernels alone; what they were before, where that was measured."""
    lines = []
    for n, kind, rung in KERNELS:
        now, before = (kernels.get(f"{kind}-{rung}-{n} {when}", {}) for when in ("now", "before"))
        times = [_time(row) for row in (before, now)]
        gain = digits(ratio(before.get("seconds"), now.get("seconds")))
        lines.append((f"{n}^3, {rung}, {KINDS[kind]}", *times, gain))
    header = ("kernel of the engine, without the call around it", "before", "now", "before / now")
    return Table("Kernels of the engine", header, lines)


def _time(row: dict[str, Any]) -> str:
    return typical(row["seconds"], format_seconds) if "seconds" in row else row.get("error", "")


def _compile_table(case: dict[str, Any]) -> Table:
    package = ", of the package ziglang" if case["which"] == "ziglang" else ""
    title = f"Compiling with {case.get('compiler', case['which'])}{package}"
    if "error" in case:
        return Table(title, ("kernel", ""), [("", case["error"])])
    own = "the engine's own parts, plain and traced, once"
    lines: list[tuple[str, ...]] = []
    if "first" in case:
        times = [typical(case["first"][kind], format_seconds) for kind in ("plain", "traced")]
        lines.append(("the very first kernel on a machine, with them", *times))
    lines.append((own, format_seconds(case["seconds"]), ""))
    for rung, found in case["kernels"].items():
        times = [typical(found[kind], format_seconds) for kind in ("plain", "traced")]
        lines.append((f"gemm_{rung}", *times))
    return Table(f"{title}, nothing cached", ("kernel", "plain", "traced"), lines)


def gpu_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Products, copies and launches on the GPU; nothing where there is none."""
    gpu = result["gpu"]
    yield from map(_gpu_table, gpu.get("products", []))
    if "transfers" in gpu:
        yield _transfer_table(gpu["transfers"])
    if "launches" in gpu:
        names = {"in_a_row": "in a row, not waited for", "waited_for": "each waited for"}
        names["in_a_graph"] = "200 as one graph, waited for once"
        known = gpu["launches"]
        lines = [(name, format_seconds(known[key])) for key, name in names.items() if key in known]
        yield Table("A launch of an empty kernel, as the host sees it", ("", "a launch"), lines)
    if "launched" in gpu.get("step", {}):
        yield _step_table(gpu["step"])


def _step_table(step: dict[str, Any]) -> Table:
    """A training step's kernels, one by one and as one graph."""
    names = {"launched": "one by one", "graph": "one graph"}
    lines = [(name, format_seconds(step[key])) for key, name in names.items()]
    title = f"The {step['kernels']} kernels of a step of {step['net']}, B = {step['B']}, until all are done"
    return Table(title, ("launched", "a step"), lines)


def _gpu_table(case: dict[str, Any]) -> Table:
    M, N, K = case["shape"]

    def more(seconds: Runs) -> Sequence[str]:
        share = ratio(cublas(case), seconds)
        rate = f"{2 * M * N * K / quartiles(seconds)[0] / 1e12:.2f}"
        return rate, "" if share is None else f"{100 * share:.0f} %"

    lines = []
    for key, row in case["ways"].items():
        label = {**PEERS, **HALF}.get(key, f"gemm_{key}")
        lines.append(frame.timed_row((label,), row, more, format_seconds))
    header = ("kernel", "a product", "quartiles", "TFLOP/s", "of cuBLAS's rate")
    title = f"M, N, K = {M}, {N}, {K} on the GPU, float32 without TF32, by events"
    return Table(title, header, lines)


def _transfer_table(rows: Sequence[dict[str, Any]]) -> Table:
    """A row of the result for each size, kind of memory and direction, in that order."""
    lines: dict[int, list[str]] = {}
    for row in rows:
        time = quartiles(row["seconds"])[0]
        cell = f"{format_seconds(time)}, {row['bytes'] / time / 1e9:.2f} GB/s"
        lines.setdefault(row["bytes"], []).append(cell)
    shown = [(f"{size:,}", *cells) for size, cells in lines.items()]
    return Table("Copies between host and GPU, each waited for", ("bytes", *COPIES), shown)


def gpu_note(result: dict[str, Any]) -> str:
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
