"""The looks at the machine: one function a topic, each returns a `Finding`.

Nothing is imported here that a crashed driver or a half-installed package could take down: such things are asked for in
a process of their own. NumPy itself may be missing.
"""

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from course_tools.doctor.finding import NO, UNKNOWN, YES, Finding, ask
from course_tools.text import count

if TYPE_CHECKING:
    from course_lib.measure import Machine

ROOT = Path(__file__).resolve().parents[2]
SET_UP = f"{'py' if os.name == 'nt' else 'python3'} start.py lab"
# As in machines/cpu_engine/compiler.py, whose choice is told
GCC_VERSION = re.compile(r"\S*[gc]\+\+\S* \(.*?\) (\d+)\.")
MANAGERS = {"apt-get": "install", "dnf": "install", "pacman": "-S", "zypper": "install"}


def installed(package: str) -> str | None:
    """The version of an installed Python package, without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def system_package(**names: str) -> str:
    """The command that installs a system package here; names by package manager, "default" for the others."""
    for manager, verb in MANAGERS.items():
        if shutil.which(manager):
            sudo = "" if getattr(os, "geteuid", lambda: 1)() == 0 else "sudo "
            name = names.get(manager.replace("-", "_"), names["default"])
            return f"{sudo}{manager} {verb} {name}"
    return ""


def python() -> Finding:
    ours = Path(sys.prefix).resolve() == ROOT / ".venv"
    here = "the course's environment" if ours else sys.prefix
    good = (3, 11) <= sys.version_info[:2] <= (3, 13)
    add = "" if good else "install Python 3.11, 3.12 or 3.13"
    return Finding("Python", YES if good else NO, f"{platform.python_version()} in {here}", add)


def this_machine() -> "Machine | None":
    """`course_lib.measure.machine()`; None where NumPy is missing, which that module needs."""
    if installed("numpy") is None:
        return None
    from course_lib.measure import machine

    return machine()


def processor() -> Finding:
    known = this_machine()
    name = (known and known.cpu) or platform.processor() or platform.machine()
    return Finding("processor", YES, name)


def cores() -> Finding:
    known, affinity = this_machine(), getattr(os, "sched_getaffinity", None)
    logical = os.cpu_count() or 1
    usable = (known and known.usable) or (len(affinity(0)) if affinity else logical)
    physical = (known and known.physical) or logical
    text = f"{logical} hardware threads"
    text += f" on {physical} cores" if physical != logical else ""
    text += f", {usable} of them usable" if usable != logical else ""
    return Finding("cores", YES, text, facts={"usable": usable, "logical": logical})


def memory() -> Finding:
    known = this_machine()
    if known is None or not known.memory:
        return Finding("memory", UNKNOWN, "not known")
    gib = known.memory / 2**30
    # MNIST in float32 takes 0.2 GB; a chapter's kernel stays under 1 GB, JupyterLab and a browser need the rest.
    text = f"{gib:.1f} GiB" + ("" if gib >= 2 else " (2 GiB are needed)")
    return Finding("memory", YES if gib >= 2 else NO, text, facts={"gib": round(gib, 1)})


def blas() -> Finding:
    this = this_machine()
    if this is None:
        return Finding("BLAS", NO, "NumPy is not installed", SET_UP)
    facts = {"numpy": this.numpy}
    if not this.blas:
        return Finding(
            "BLAS", UNKNOWN, "NumPy is installed, but its BLAS could not be identified", "", facts
        )
    threads = count(this.blas_threads, "thread")
    text = f"{this.blas} {this.blas_version or ''}".strip() + f" with {threads}, NumPy {this.numpy}"
    return Finding("BLAS", YES, text, "", {"name": this.blas, "threads": this.blas_threads} | facts)


def compilers() -> Finding:
    """A C++ compiler for the CPU engine of the GPU chapters: g++ or clang++, else the one in the package ziglang."""
    said = {name: (ask(name, "--version") or "").partition("\n")[0] for name in ("g++", "clang++")}
    usable = {name: text for name, text in said.items() if text and not too_old(text)}
    texts = [*usable.values()]
    texts += [
        f"{text}, which is too old for the CPU engine" for text in said.values() if too_old(text)
    ]
    if zig := installed("ziglang"):
        usable["ziglang"] = f"ziglang {zig}"
        texts.append(usable["ziglang"])
    if nvcc := re.search(r"release ([\d.]+)", ask("nvcc", "--version") or ""):
        texts.append(f"nvcc {nvcc[1]}")
    facts = {"name": next(iter(usable), ""), "nvcc": bool(nvcc)}
    if usable:
        return Finding("C++ compiler", YES, "; ".join(texts), "", facts)
    add = system_package(default="gcc-c++", apt_get="g++", pacman="gcc") or pip_install("ziglang")
    text = "; ".join(texts) or "no g++, clang++ or ziglang"
    return Finding("C++ compiler", NO, text, add, facts)


def too_old(said: str) -> bool:
    """Is it a g++ before 11, by what it says of its version?"""
    gcc = GCC_VERSION.match(said)
    return gcc is not None and int(gcc[1]) < 11


def pip_install(requirement: str) -> str:
    """The command that adds a package to the environment that runs the doctor."""
    quoted = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f'{quoted} -m pip install "{requirement}"'


CUDA_QUESTION = """
import ctypes, sys
cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
version, count, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(100)
assert cuda.cuInit(0) == 0
cuda.cuDriverGetVersion(ctypes.byref(version))
cuda.cuDeviceGetCount(ctypes.byref(count))
cuda.cuDeviceGetName(name, 100, 0)
if count.value:
    print(name.value.decode(), f"CUDA {version.value // 1000}.{version.value % 1000 // 10}", sep=", ")
"""
PYCUDA = "import pycuda.driver as d; d.init(); d.Device(0)"


def gpu() -> Finding:
    """An NVIDIA GPU whose driver answers, and whether PyCUDA can use it (asked in other processes: drivers crash)."""
    query = "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"
    smi = ask("nvidia-smi", *query) or ""
    name = ask(sys.executable, "-c", CUDA_QUESTION) or ""
    if not name:
        text = f"the driver of {smi.splitlines()[0]} does not start" if smi else "no NVIDIA GPU"
        text += "; the GPU chapters use the CPU engine"
        return Finding("GPU", NO, text, facts={"name": "", "pycuda": False})
    text = name + (f" (driver {smi.split(',')[1].strip()})" if smi.count(",") >= 2 else "")
    facts = {"name": name.split(",")[0], "pycuda": ask(sys.executable, "-c", PYCUDA) is not None}
    if facts["pycuda"]:
        return Finding("GPU", YES, f"{text}, PyCUDA {installed('pycuda')}", "", facts)
    add = pip_install("pycuda>=2025.1.2") + "   (docs/gpu.md: it needs nvcc and g++)"
    return Finding("GPU", YES, f"{text}, but PyCUDA does not work here", add, facts)


MPI_QUESTION = """
from mpi4py import MPI
total = MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print(total, MPI.Get_library_version())
"""


def mpi() -> Finding:
    """mpi4py and the mpiexec beside it: two ranks are started and add up."""
    mpi4py = f"mpi4py {installed('mpi4py')}"
    if installed("mpi4py") is None:
        return Finding("MPI", NO, "mpi4py is not installed", SET_UP)
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    mpiexec = beside or shutil.which("mpiexec")
    if not mpiexec:
        return Finding("MPI", NO, f"{mpi4py}, but no mpiexec", SET_UP)
    said = ask(mpiexec, "-n", "2", sys.executable, "-c", MPI_QUESTION, seconds=15) or ""
    if not said.startswith("2 "):
        text = f"{mpi4py}, but {mpiexec} could not start two ranks that answer"
        return Finding("MPI", NO, text, SET_UP)
    library = " ".join(said[2:].split("\n")[0].replace("Version:", "").split())
    text = f"{library}, {mpi4py}; two ranks of {mpiexec} answered"
    return Finding("MPI", YES, text, facts={"library": library, "mpiexec": mpiexec})


SANDBOX_QUESTION = """
from course_tools.grading.sandbox import sandbox
print(sandbox.available() or "made")
"""


def sandbox() -> Finding:
    """Can the rooms be made in which submissions are graded? (One is made, in a process of its own.)"""
    if sys.platform != "linux":
        return Finding("sandbox", NO, f"none on {platform.system()}: grade on Linux")
    said = ask(sys.executable, "-c", SANDBOX_QUESTION) or "the process that tested it failed"
    if said != "made":
        add = "allow user namespaces, or see --isolation none in docs/grading-details.md"
        return Finding("sandbox", NO, f"submissions cannot be sandboxed here: {said}", add)
    return Finding("sandbox", YES, "Linux namespaces, in which submissions are graded")


def jupyter() -> Finding:
    names = ("jupyterlab", "ipykernel", "nbval", "ipyparallel", "jupytext")
    there = {name: number for name in names if (number := installed(name))}
    missing = [name for name in names if name not in there]
    text = ", ".join(f"{name} {number}" for name, number in there.items())
    if not missing:
        return Finding("Jupyter", YES, text, facts={"missing": missing})
    text = "; ".join(filter(None, [text, f"not installed: {', '.join(missing)}"]))
    return Finding("Jupyter", NO, text, SET_UP, {"missing": missing})


def disk() -> Finding:
    free = shutil.disk_usage(ROOT).free / 2**30
    text = f"{free:.1f} GiB free in {ROOT}" + ("" if free >= 1 else " (1 GiB is needed)")
    return Finding("disk", YES if free >= 1 else NO, text, facts={"free_gib": round(free, 1)})


PROBES: dict[str, Callable[[], Finding]] = {
    "Python": python,
    "processor": processor,
    "cores": cores,
    "memory": memory,
    "BLAS": blas,
    "C++ compiler": compilers,
    "GPU": gpu,
    "MPI": mpi,
    "sandbox": sandbox,
    "Jupyter": jupyter,
    "disk": disk,
}
