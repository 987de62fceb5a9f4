"""`course bench WHAT`: side-by-side measurements, with the machine named. Results go to benchmarks/results/.

threads_command.py   `bench threads`: options and files; measuring.py runs it all
catalogue.py         the nets, the ways to train, the rates
gpu_command.py       `bench gpu`: options and files; gpu_measuring.py runs it all; gpu_catalogue.py sizes, shapes, ways
mpi_command.py       `bench mpi`: options and files; mpi_measuring.py runs it all; mpi_catalogue.py sizes and schemes
mpi_ranks.py         the parent's end of a group of ranks, mpi_worker.py a rank's; desk_ranks.py what all ranks do there
mpi_predictions.py   what the cost model says; mpi_targets.py, mpi_tables.py, mpi_docs.py
products.py          products checked and timed; gpu_pycuda.py, gpu_cupy.py a GPU through either library
processes.py         the parent's end of a worker process, worker.py the child's; desk*.py what each library does there
files.py             where results go and are read again
rounds.py            runs interleaved, round after round
schemes.py           leapfrogging and deferred gradients; predictions.py what the formulas say
grid_profile.py      the parts of GridStep's step
summary.py           medians, quartiles, ratios; targets.py met or not
report.py, tables.py, profile_tables.py, scaling_tables.py, figures.py, docs.py, dump.py     what is shown and written
gpu_targets.py, gpu_tables.py, gpu_docs.py     the same of `bench gpu`
training.py          training measured, for both; gpu_training.py on a GPU, gpu_training_tables.py what is shown of it
gpu_workers.py       the workers of `bench gpu`
grade/               `bench grade`
"""

import argparse

BENCHES = {
    "threads": (
        ".threads_command",
        "training steps: loops, NumPy, threads, GridStep, PyTorch, scikit-learn",
    ),
    "mpi": (
        ".mpi_command",
        "allreduces and schemes of training on 1, 2 and 4 ranks, beside MPI's own and PyTorch DDP",
    ),
    "papers": (
        "course_tools.bench.papers.command",
        "every number of the five texts, listed and measured again",
    ),
    "gpu": (
        ".gpu_command",
        "the CPU engine beside Numba's simulator, vgre, BLAS; on a GPU cuBLAS and training",
    ),
    "grade": (".grade.command", "seconds and memory of `course grade`, beside nbval and nbgrader"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bench`: one subcommand for each benchmark."""
    import importlib

    parser.description = "Measure side by side; results name the machine."
    what = parser.add_subparsers(dest="what", required=True, metavar="{" + ",".join(BENCHES) + "}")
    for name, (module, text) in BENCHES.items():
        commands = importlib.import_module(module, __name__)
        commands.add_arguments(what.add_parser(name, help=text))


def command(options: argparse.Namespace) -> int:
    """Run the benchmark that was asked for; return its exit status."""
    import importlib

    return importlib.import_module(BENCHES[options.what][0], __name__).command(options)
