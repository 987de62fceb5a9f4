"""`course bench threads`: options, what is written where, and in which form it is printed."""

import argparse
from pathlib import Path
from typing import Any

from course_lib.bench import files
from course_lib.bench.files import RESULTS, folder, interpreter, read, say, warn_if_busy
from course_lib.bench.measuring import SCHEMA, Settings, measure_threads
from course_lib.measure import machine

DOCUMENT = Path("docs/bench-threads.md")
NAME = "threads.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench threads`."""
    parser.description = (
        "Train Net-1h and Net-2h on MNIST in every way of chapters 01 to 04, and with PyTorch and scikit-learn, in one "
        "run on the same cores; compare the schemes of chapter 04 on a deep net; profile GridStep. Up to 10 minutes."
    )
    add = parser.add_argument
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads for all that have several (default: usable processors)",
    )
    add(
        "--batches",
        type=_batches,
        metavar="B,B",
        help="mini-batch sizes (64,256,1024; with --quick 64,256)",
    )
    add(
        "--quick",
        action="store_true",
        help="under a minute: Net-1h, few and short runs. A glance, not a measurement",
    )
    add("--json", action="store_true", help="print the JSON instead of the tables")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where threads.json and the figures go (default: "
        "benchmarks/results/own in a clone, else bench-threads)",
    )
    add("--torch-python", metavar="PATH", help="a Python with PyTorch, if that is not this one")
    add(
        "--docs",
        action="store_true",
        help=f"write to {RESULTS} and rewrite the made blocks of {DOCUMENT}",
    )
    add(
        "--reuse",
        type=Path,
        metavar="FILE",
        help="measure nothing: make tables, figures and docs from this JSON",
    )


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where a way failed."""
    source = read(options.reuse, "threads", SCHEMA) if options.reuse else _settings(options)
    # Before the measuring: nobody waits ten minutes for a folder that cannot be made.
    out = folder("threads", options.docs, options.out)
    _write(measure_threads(source) if isinstance(source, Settings) else source, out)
    # Tables and document from the six digits that are kept, not from those that are lost.
    result = read(out / NAME, "threads", SCHEMA)
    if options.docs:
        from course_lib.bench.docs import BLOCKS

        files.rewrite(DOCUMENT, BLOCKS, result)
    from course_lib.bench.report import report

    print(_text(result) if options.json else report(result))
    say("threads", f"{NAME} and the figures are in {out}")
    return 1 if failures(result) else 0


def failures(result: dict[str, Any]) -> list[str]:
    """What did not work, each in a line; what is not installed or cannot be is no failure."""
    cases = result["training"]
    found = [
        f"{c['net']}, B = {c['B']}: {k}: {w.get('error')}"
        for c in cases
        for k, w in c["ways"].items()
    ]
    found += [
        f"B = {c['B']}: {k}: {r.get('error')}"
        for c in result["schemes"]
        for k, r in c["runs"].items()
    ]
    found += [f"{c.get('B')}: {c.get('error')}" for c in (*result["schemes"], *result["profile"])]
    return [line for line in found if ": failed: " in line]


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of whole numbers such as 64,256,1024"
        ) from None


def _settings(options: argparse.Namespace) -> Settings:
    usable = machine().usable or 1
    threads = usable if options.threads is None else options.threads
    batches = options.batches or ((64, 256) if options.quick else (64, 256, 1024))
    python = interpreter("--torch-python", options.torch_python)
    quick: dict[str, Any] = {}
    if options.quick:
        quick = {
            "nets": ("Net-1h",),
            "rounds": 3,
            "seconds": 0.05,
            "scheme_batches": (128,),
            "quick": True,
        }
    settings = Settings(threads, batches, torch_python=python, **quick)
    _warn(threads, usable)
    return settings


def _warn(threads: int, usable: int) -> None:
    if threads > usable:
        say(
            "threads",
            f"warning: {threads} threads on {usable} usable processors: they will wait for each other",
        )
    warn_if_busy("threads")


def _write(result: dict[str, Any], out: Path) -> None:
    from course_lib.bench.figures import save

    (out / NAME).write_text(_text(result), encoding="utf-8")
    save(result, out)


def _text(result: dict[str, Any]) -> str:
    from course_lib.bench.targets import targets

    return files.text(result, targets)
