"""`course bench gpu`: options, what is written where, and in which form it is printed."""

import argparse
from pathlib import Path
from typing import Any

from course_lib.bench import files
from course_lib.bench.files import RESULTS, folder, interpreter, read, say, slug, warn_if_busy
from course_lib.bench.gpu_measuring import QUICK, SCHEMA, Settings, failures, measure_gpu
from course_lib.errors import BadInput

DOCUMENT = Path("docs/bench-gpu.md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench gpu`."""
    parser.description = (
        "The CPU engine, plain and traced, beside Numba's CUDA simulator, vgre and one BLAS thread; where a GPU is, "
        "every rung of the ladder beside cuBLAS, copies and launches, and Net-1h and Net-2h trained on the GPU beside "
        "NumPy, threads and PyTorch. In one run; about 7 minutes."
    )
    add = parser.add_argument
    add(
        "--quick",
        action="store_true",
        help="under a minute: 64^3 and few runs. A glance, not a measurement",
    )
    add("--json", action="store_true", help="print the JSON instead of the tables")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where <device>.json and the figures go (default: "
        "benchmarks/results/own in a clone, else bench-gpu)",
    )
    add(
        "--record",
        action="store_true",
        help=f"write to {RESULTS} and rewrite the made blocks of {DOCUMENT}",
    )
    add(
        "--reuse",
        type=Path,
        metavar="FILE",
        help="measure nothing: make tables and document from this JSON",
    )
    add(
        "--peers-python",
        metavar="PATH",
        help="a Python with vgre and PyTorch, if they are not in this one",
    )


def command(options: argparse.Namespace) -> int:
    """Run it; 0 when everything was measured or said to be missing, 1 where something failed."""
    source = read(options.reuse, "gpu", SCHEMA) if options.reuse else _settings(options)
    out = folder(
        "gpu", options.record, options.out, "--record"
    )  # before the measuring: nobody waits in vain
    if options.record and isinstance(source, Settings) and source.quick:
        raise BadInput("--record keeps whole runs: leave out --quick")
    made = measure_gpu(source) if isinstance(source, Settings) else source
    path = out / f"{slug(made['device'])}.json"
    path.write_text(text(made), encoding="utf-8")
    _draw(made, out)
    result = read(path, "gpu", SCHEMA)  # the six digits that are kept, not those that are lost
    if options.record:
        write_document()
    from course_lib.bench.gpu_docs import report

    print(text(result) if options.json else report(result))
    for line in failures(result):
        say("gpu", line)
    say("gpu", f"{path.name} is in {out}")
    return 1 if failures(result) else 0


def _draw(result: dict[str, Any], out: Path) -> None:
    """The figures of the training, where there was a GPU."""
    from course_lib.bench.gpu_training_tables import training_figures

    for name, figure in training_figures(result).items():
        figure.save(out / name)


def text(result: dict[str, Any]) -> str:
    """The result as it is kept, its targets judged."""
    from course_lib.bench.gpu_targets import targets

    return files.text(result, targets)


def recorded() -> list[dict[str, Any]]:
    """All results of `bench gpu` in benchmarks/results, by file name."""
    return files.recorded("gpu", SCHEMA)


def write_document() -> None:
    """docs/bench-gpu.md, its blocks made anew from all recorded results."""
    from course_lib.bench.gpu_docs import blocks

    files.rewrite(DOCUMENT, blocks(recorded()), {})


def _settings(options: argparse.Namespace) -> Settings:
    python = interpreter("--peers-python", options.peers_python)
    warn_if_busy("gpu")
    return Settings(peers_python=python, **(QUICK if options.quick else {}))
