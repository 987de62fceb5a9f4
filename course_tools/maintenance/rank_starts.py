"""How long ranks take to start: ours, ours after an error, plain ipyparallel's, and mpiexec python, in turn.

    .venv/bin/python -m course_tools.maintenance.rank_starts 4 --times 5

Seconds on the clock: median, and the fastest and slowest. On a busy machine they say more of it than of the ranks.
"""

import argparse
import statistics
import subprocess
import sys
import time

from course_lib import mpi
from course_lib.machines.ranks import launch

PLAIN = """
import ipyparallel
with ipyparallel.Cluster(engines="mpi", n={n}, log_level=40) as client:
    client[:].apply_sync(lambda: None)
    print("ready", flush=True)
"""
OURS = """
from course_lib import mpi
with mpi.cluster({n}, progress=False) as ranks:
    ranks.run(lambda comm: None)
    print("ready", flush=True)
"""
MPI = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier(); print('ready', flush=True)"


def first(command):
    """Seconds until a program says that its ranks are ready; what it does afterwards does not count."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        while "ready" not in (line := started.stdout.readline()):  # type: ignore[union-attr]
            if not line:
                raise RuntimeError(f"{command} started no ranks")
        return time.perf_counter() - begin


def after_an_error(n, pause=3.0):
    """Seconds from an error that stops the ranks until the next cell has run. pause: a reader's, before the error."""
    with mpi.cluster(n, progress=False) as ranks:
        ranks.run(lambda comm: None)
        time.sleep(pause)
        try:
            ranks.execute("import os; os._exit(3)")
        except mpi.RankError:
            begin = time.perf_counter()
        ranks.run(lambda comm: None)
        return time.perf_counter() - begin


def ways(n):
    """{name: function that gives seconds}."""
    python = [sys.executable, "-c"]
    mpiexec = [launch.mpiexec(), "-n", str(n), *python, MPI]
    return {
        "mpi.cluster, from a new Python": lambda: first([*python, OURS.format(n=n)]),
        "the next cell after an error": lambda: after_an_error(n),
        "plain ipyparallel, from a new Python": lambda: first([*python, PLAIN.format(n=n)]),
        "mpiexec python, with a barrier": lambda: first(mpiexec),
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n", type=int, help="ranks")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args(argv)
    found: dict = {name: [] for name in ways(asked.n)}
    for _ in range(asked.times):
        for name, measure in ways(asked.n).items():
            found[name].append(measure())
    for name, times in found.items():
        low, high = min(times), max(times)
        print(f"{name:40} {statistics.median(times):6.2f} s ({low:.2f} to {high:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
