"""The tables of `bench gpu`, from the JSON's dict alone."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.bench.gpu_catalogue import PEERS, WAY
from course_lib.bench.gpu_targets import cublas, seconds, targets
from course_lib.bench.summary import quartiles, ratio
from course_lib.bench.tables import Table, digits
from course_lib.measure import format_seconds

WORDS = {True: "met", False: "NOT MET", None: "not measured"}


def target_table(result: dict[str, Any]) -> Table:
    """Each target, met or not; those of a GPU are not measured where there is none."""
    no_gpu = "not measured: no GPU" if "error" in result["gpu"] else WORDS[None]
    lines = [
        (
            t.what,
            t.where,
            t.want,
            digits(t.got),
            no_gpu if t.met is None and "on the GPU" in t.where else WORDS[t.met],
        )
        for t in targets(result)
    ]
    return Table("Targets", ("target", "where", "wanted", "found", ""), lines)


def product_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each size on the CPU."""
    header = (
        "way",
        "threads",
        "a product",
        "quartiles",
        "GFLOP/s",
        "x BLAS's time",
        "Numba's time over it",
    )
    for case in result["products"]:
        n = case["n"]
        lines = [_product_row(case, key, row) for key, row in case["ways"].items()]
        yield Table(
            f"{n} x {n} x {n} on the CPU, from NumPy arrays to a NumPy array", header, lines
        )


def _product_row(case: dict[str, Any], key: str, row: dict[str, Any]) -> tuple[str, ...]:
    head, runs = (WAY[key].label, str(row["threads"])), row.get("seconds")
    if not runs:
        return (*head, row["error"])
    middle, low, high = quartiles(runs)
    label = f"{head[0]} ({row['note']})" if row["note"] else head[0]
    own = WAY[key].library == "numba-sim"
    slower = "" if own else digits(ratio(seconds(case, f"numba-{WAY[key].kernel}"), runs))
    spread = f"{format_seconds(low)} to {format_seconds(high)}"
    rate = digits(2 * case["n"] ** 3 / middle / 1e9)
    return (
        label,
        head[1],
        format_seconds(middle),
        spread,
        rate,
        digits(ratio(runs, seconds(case, "blas"))),
        slower,
    )


def scaling_table(result: dict[str, Any]) -> Table:
    """Medians by size, and how the time grows: exponent 3 is time in proportion to the operations."""
    sizes = [case["n"] for case in result["products"]]
    lines = []
    for key, way in WAY.items():
        found = [
            quartiles(runs)[0] if (runs := seconds(case, key)) else None
            for case in result["products"]
        ]
        if any(found):
            times = ["" if one is None else format_seconds(one) for one in found]
            lines.append(
                (f"{way.label}, {_threads(result, way.threads)}", *times, _exponent(sizes, found))
            )
    return Table(
        "Time of a product by size", ("way", *(f"{n}^3" for n in sizes), "grows as n to the"), lines
    )


def _exponent(sizes: Sequence[int], found: Sequence[float | None]) -> str:
    """The slope of log time over log n, by least squares."""
    known = [(n, t) for n, t in zip(sizes, found, strict=True) if t]
    if len(known) < 2:
        return ""
    return f"{np.polyfit(np.log([n for n, _ in known]), np.log([t for _, t in known]), 1)[0]:.1f}"


def _threads(result: dict[str, Any], threads: str) -> str:
    count = result["settings"]["threads"] if threads == "T" else 1
    return f"{count} thread{'s' if count > 1 else ''}"


def engine_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Barriers and cold compiles."""
    lines: list[tuple[str, ...]] = []
    for block, row in result["barrier"].items():
        runs = row.get("seconds")
        numbers = map(digits, (1e9 * v for v in quartiles(runs))) if runs else None
        lines.append((block, *_spread(*numbers)) if numbers else (block, row["error"]))
    yield Table(
        "A barrier of the engine, ns a thread", ("threads of a block", "median", "quartiles"), lines
    )
    for case in result["compile"]:
        yield _compile_table(case)


def _spread(middle: str, low: str, high: str) -> tuple[str, str]:
    return middle, f"{low} to {high}"


def _compile_table(case: dict[str, Any]) -> Table:
    name = case.get("compiler", case["which"]) + (
        ", of the package ziglang" if case["which"] == "ziglang" else ""
    )
    if "error" in case:
        return Table(f"Compiling with {name}", ("kernel", ""), [("", case["error"])])
    own = ("the engine's own parts, plain and traced, once", format_seconds(case["seconds"]), "")
    lines: list[tuple[str, ...]] = [own]
    for rung, kinds in case["kernels"].items():
        lines.append(
            (
                f"gemm_{rung}",
                *(format_seconds(quartiles(kinds[kind])[0]) for kind in ("plain", "traced")),
            )
        )
    return Table(f"Compiling with {name}, nothing cached", ("kernel", "plain", "traced"), lines)


def gpu_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Products, copies and launches on the GPU; nothing where there is none."""
    for case in result["gpu"].get("products", []):
        yield _gpu_table(case)
    if "transfers" in result["gpu"]:
        yield _transfer_table(result["gpu"]["transfers"])
    if "launches" in result["gpu"]:
        found = result["gpu"]["launches"]
        lines = [
            ("in a row, not waited for", format_seconds(found["in_a_row"])),
            ("each waited for", format_seconds(found["waited_for"])),
        ]
        yield Table("A launch of an empty kernel, as the host sees it", ("", "a launch"), lines)


def _gpu_table(case: dict[str, Any]) -> Table:
    M, N, K = case["shape"]
    lines: list[tuple[str, ...]] = []
    for key, row in case["ways"].items():
        label, runs = PEERS.get(key, f"gemm_{key}"), row.get("seconds")
        if not runs:
            lines.append((label, row["error"]))
            continue
        middle, low, high = quartiles(runs)
        share = ratio(cublas(case), runs)
        rate = f"{2 * M * N * K / middle / 1e12:.2f}"
        spread = f"{format_seconds(low)} to {format_seconds(high)}"
        lines.append(
            (
                label,
                format_seconds(middle),
                spread,
                rate,
                "" if share is None else f"{100 * share:.0f} %",
            )
        )
    header = ("kernel", "a product", "quartiles", "TFLOP/s", "of cuBLAS's rate")
    return Table(
        f"M, N, K = {M}, {N}, {K} on the GPU, float32 without TF32, by events", header, lines
    )


def _transfer_table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = [(pinned, to) for pinned in (False, True) for to in (True, False)]
    found = {
        (row["bytes"], row["pinned"], row["to_device"]): quartiles(row["seconds"])[0]
        for row in rows
    }
    lines = []
    for size in sorted({row["bytes"] for row in rows}):
        times = [found[size, *column] for column in columns]
        lines.append(
            (f"{size:,}", *(f"{format_seconds(t)}, {size / t / 1e9:.2f} GB/s" for t in times))
        )
    names = ("pageable, to the GPU", "pageable, back", "pinned, to the GPU", "pinned, back")
    return Table("Copies between host and GPU, each waited for", ("bytes", *names), lines)


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


def noise_note(result: dict[str, Any]) -> str:
    """How even the machine was: one BLAS thread's product, in the same rounds as everything on the CPU."""
    values = [v for case in result["products"] for v in case["rates"]["sgemm-1"] if v is not None]
    middle, low, high = quartiles(values)
    before, after = result["load"]["before"], result["load"]["after"]
    load = "unknown" if before is None else f"{before:g} before, {after:g} after"
    text = (
        f"Noise: over all rounds sgemm (1024^3) on one thread ran at {middle:.0f} GFLOP/s (quartiles {low:.0f} to "
        f"{high:.0f}, extremes {min(values):.0f} to {max(values):.0f}); load average {load}."
    )
    spread = (high - low) / middle
    return text + (
        f" The quartiles lie {100 * spread:.0f} % apart: take differences below that as noise."
        if spread > 0.05
        else ""
    )
