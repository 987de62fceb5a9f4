"""What `python3 start.py test` runs: the tests in some processes, then, one by one, those that measure.

python3 start.py test                      all but the tests marked `slow`
python3 start.py test --all                all, and chapters and corpus of kernels by ziglang's compiler
python3 start.py test PATH... [options]    just these, whatever their marks, in one process
python3 start.py test -k WORDS             pytest's options go to both runs
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MORE = 2  # processes beyond the cores: of the time that tests take, more than half is waiting
MEMORY = 2 << 30  # bytes for a process with its kernels and ranks
ONCE = ("-h", "--help", "--version", "-V", "--co", "--collect-only", "--markers", "--fixtures")
CORPUS = "tests/machines/cpu_engine/test_cpu_engine_corpus.py"
ZIGLANG = {"COURSE_SLOW": "3", "COURSE_GPU": "cpu", "COURSE_CXX": "ziglang"}
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def workers():
    """A process for each core that we may use, and MORE, as tests wait; as far as there is memory."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return cores + MORE
    return max(1, min(cores + MORE, memory // MEMORY))


def runs(arguments):
    """(options, variables) of each run of pytest that these arguments of `start.py test` ask for."""
    rest = [word for word in arguments if word != "--all"]
    picked = any((ROOT / word.split("::")[0]).exists() for word in rest if word[:1] != "-")
    if picked or any(word in ONCE or word == "-m" for word in rest):
        return [(rest, {})]
    beside = ["-n", str(workers()), "--dist", "loadfile", "--no-loadscope-reorder"]
    pinned = {name: os.environ.get(name, "1") for name in BLAS}  # a BLAS must not take all cores
    measuring = alone_files()
    if "--all" not in arguments:
        return [
            ([*beside, "-m", "not slow and not alone", *rest], pinned),
            ([*measuring, "-m", "not slow and alone", *rest], {}),
        ]
    kernels = (
        [*(str(path.relative_to(ROOT)) for path in gpu_notebooks()), CORPUS]
        if os.name == "posix"
        else []
    )
    return [
        ([*beside, "-m", "not alone", *rest], pinned),
        ([*measuring, "-m", "alone", *rest], {}),
        *([([*beside, *kernels, *rest], pinned | ZIGLANG)] if kernels else []),
    ]


def alone_files():
    """The files with tests that run alone: to collect all others again, for nothing, takes long."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    marked = [path for path in files if "pytest.mark.alone" in path.read_text(encoding="utf-8")]
    return [str(path.relative_to(ROOT)) for path in marked]


def gpu_notebooks():
    """Chapters with kernels, once more where there is no compiler but that of the package ziglang.

    The lectures 08 and 09 are not among them: they compile most, and their kernels are in the solutions and the corpus.
    """
    lectures = (ROOT / "notebooks").glob("0[5-7]-*.ipynb")
    return sorted([*lectures, *(ROOT / "solutions").glob("0[5-9]-*.ipynb")])


def environment(variables):
    """The variables of a run: our own, and these."""
    env = {**os.environ, **variables}
    # Thousands of processes import the course: it is compiled once, not in each of them.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    path = [str(ROOT / "tests" / "no_network"), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return env


def main(arguments):
    """Run all; the exit status is the first that is not 0. In later runs no test at all (5) is no failure."""
    found = []
    for number, (options, variables) in enumerate(runs(arguments)):
        command = [sys.executable, "-m", "pytest", *options]
        status = subprocess.run(command, cwd=ROOT, env=environment(variables)).returncode
        found.append(0 if number and status == 5 else status)
        if status == 2:  # interrupted
            break
    return next((status for status in found if status), 0)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
