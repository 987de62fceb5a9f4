"""`course bench WHAT`: side-by-side measurements, with the machine named. Results go to benchmarks/results/.

frame/       what every bench has: options, worker processes, rounds, the JSON, targets, tables, the document
training/    the training of a net, measured in one way by threads/, gpu/, mpi/
threads/, gpu/, mpi/, grade/     a catalogue each: bench.py says what is measured, shown and wanted
checks/      the corpus of answers: what each is told
papers/      the claims of the five texts beside what is found: measured in parts, by what the others have
"""

import argparse
import importlib
from typing import Any

BENCHES = {
    "threads": "training steps: loops, NumPy, threads, GridStep, PyTorch, scikit-learn",
    "mpi": "allreduces and schemes of training on 1, 2 and 4 ranks, beside MPI's own and PyTorch DDP",
    "papers": "every number of the five texts, listed and measured again",
    "gpu": "the CPU engine beside Numba's simulator, vgre, BLAS; on a GPU cuBLAS and training",
    "checks": "what the checks say to answers that nobody planted: true cause, another, none",
    "grade": "seconds and memory of `course grade`, beside nbval and nbgrader",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bench`: one subcommand for each benchmark."""
    parser.description = "Measure side by side; results name the machine."
    what = parser.add_subparsers(dest="what", required=True, metavar="{" + ",".join(BENCHES) + "}")
    for name, text in BENCHES.items():
        _bench(name).add_arguments(what.add_parser(name, help=text))


def command(options: argparse.Namespace) -> int:
    """Run the benchmark that was asked for; return its exit status."""
    return _bench(options.what).run(options)


def _bench(name: str) -> Any:
    return importlib.import_module(f"course_tools.bench.{name}.bench").BENCH
