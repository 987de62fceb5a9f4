"""What each chapter will run on, given what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course_tools.doctor.finding import NO, YES, Finding
from course_tools.text import count

# number, folder name, what it needs
CHAPTERS = (
    ("00", "start-here", "cpu"),
    ("01", "serial-backprop", "cpu"),
    ("02", "minibatch-and-blas", "cpu"),
    ("03", "thread-data-parallelism", "threads"),
    ("04", "leapfrogging", "threads"),
    ("05", "gpu-first-kernels", "gpu"),
    ("06", "gemm-naive", "gpu"),
    ("07", "gemm-shared-memory", "gpu"),
    ("08", "gemm-register-tiled", "gpu"),
    ("09", "gpu-backprop", "gpu"),
    ("10", "mpi-collectives", "mpi"),
    ("11", "mpi-data-parallelism", "mpi"),
    ("12", "mpi-model-parallelism", "mpi"),
    ("13", "pipelines-and-shards", "mpi"),
    ("14", "capstone", "all"),
    ("15", "half-precision", "gpu"),
)


@dataclass(frozen=True)
class Chapter:
    """here: in this edition; runs: it can run on this machine; on: what it will run on, or what it lacks."""

    number: str
    name: str
    here: bool
    runs: bool
    on: str


def plan(findings: list[Finding], root: Path) -> list[Chapter]:
    """One row for each chapter of the course, those that this edition does not have yet among them."""
    found, rows = {finding.topic: finding for finding in findings}, []
    for number, name, needs in CHAPTERS:
        here = (root / "chapters" / f"{number}-{name}").is_dir()
        rows.append(Chapter(number, name, here, *runs_on(needs, found)))
    return rows


def runs_on(needs: str, found: Mapping[str, Finding]) -> tuple[bool, str]:
    """Can a chapter with these needs run here, and on what?"""
    for topic in ("Python", "BLAS", "Jupyter"):
        if found[topic].there == NO:
            return False, f"cannot run: {found[topic].text}"
    return {"cpu": _cpu, "threads": _threads, "gpu": _gpu, "mpi": _mpi, "all": _all}[needs](found)


def _cpu(found: Mapping[str, Finding]) -> tuple[bool, str]:
    facts = found["BLAS"].facts
    if not facts.get("name"):
        return True, "the CPU"
    return True, f"the CPU: {facts['name']} with {count(facts.get('threads') or 1, 'thread')}"


def _threads(found: Mapping[str, Finding]) -> tuple[bool, str]:
    usable = found["cores"].facts.get("usable")
    if usable == 1:
        return True, "1 CPU thread: results are right, but there can be no speed-up"
    return True, f"{usable} CPU threads" if usable else "CPU threads"


def _gpu(found: Mapping[str, Finding]) -> tuple[bool, str]:
    gpu, compiler = found["GPU"].facts, found["C++ compiler"].facts.get("name")
    if gpu.get("pycuda"):
        return True, f"the GPU: {gpu['name']}"
    idle = f" (the {gpu['name']} stays idle without PyCUDA)" if gpu.get("name") else ""
    if not compiler:
        return False, f"cannot run: the CPU engine needs a C++ compiler{idle}"
    return True, f"the CPU engine, built with {compiler}{idle}"


def _mpi(found: Mapping[str, Finding]) -> tuple[bool, str]:
    if found["MPI"].there != YES:
        return False, f"cannot run: {found['MPI'].text}"
    return True, f"ipyparallel and {found['MPI'].facts.get('library', 'MPI')}"


def _all(found: Mapping[str, Finding]) -> tuple[bool, str]:
    parts = {"GPU part": _gpu(found), "MPI part": _mpi(found)}
    lacking = [name for name, (runs, _) in parts.items() if not runs]
    return True, "everything above" + (f" but the {' and the '.join(lacking)}" if lacking else "")
