"""`course bench WHAT`: side-by-side measurements, with the machine named. Results go to benchmarks/results/.

frame/       what every bench has: options, worker processes, rounds, the JSON, targets, tables, the document
training/    the training of a net, measured in one way by threads/, gpu/, mpi/
threads/, gpu/, mpi/, grade/     a catalogue each: bench.py says what is measured, shown and wanted
"""

import argparse
import importlib

BENCHES = {
    "threads": "training steps: loops, NumPy, threads, GridStep, PyTorch, scikit-learn",
    "mpi": "allreduces and schemes of training on 1, 2 and 4 ranks, beside MPI's own and PyTorch DDP",
    "papers": "every number of the five texts, listed and measured again",
    "gpu": "the CPU engine beside Numba's simulator, vgre, BLAS; on a GPU cuBLAS and training",
    "grade": "seconds and memory of `course grade`, beside nbval and nbgrader",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bench`: one subcommand for each benchmark."""
    parser.description = "Measure side by side; results name the machine."
    what = parser.add_subparsers(dest="what", required=True, metavar="{" + ",".join(BENCHES) + "}")
    for name, text in BENCHES.items():
        add, _ = _functions(name)
        add(what.add_parser(name, help=text))


def command(options: argparse.Namespace) -> int:
    """Run the benchmark that was asked for; return its exit status."""
    _, run = _functions(options.what)
    return run(options)


def _functions(name: str):
    """(adds its arguments, runs it) of a bench; papers has both of its own."""
    from functools import partial

    from course_tools.bench.frame import command

    if name == "papers":
        own = importlib.import_module("course_tools.bench.papers.command")
        return own.add_arguments, own.command
    bench = importlib.import_module(f"course_tools.bench.{name}.bench").BENCH
    return partial(command.add_arguments, bench), partial(command.command, bench)
