"""What a number was measured on. Each probe may fail; the answer is then None, never an error."""

import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.measure.blas import blas_library


@dataclass(frozen=True)
class Machine:
    """This computer, as far as a measurement depends on it. `str()` is short, to stand beneath a timing.

    cpu: the processor's name. logical, physical: its hardware threads and its cores. usable: how many hardware
    threads this process may use (affinity mask and container quota). memory: bytes it may use. None: not known.
    """

    cpu: str | None
    logical: int | None
    physical: int | None
    usable: int | None
    memory: int | None
    blas: str | None
    blas_version: str | None
    blas_threads: int | None
    blas_architecture: str | None
    os: str | None
    python: str | None
    numpy: str | None

    def __str__(self) -> str:
        cores = self._cores()
        if self.physical and self.usable == self.logical:
            cores = f"{self.physical} core{'s' * (self.physical > 1)}"
        threads = f"{self.blas_threads or '?'} BLAS thread{'s' * (self.blas_threads != 1)}"
        return f"{self.cpu or 'unknown processor'}, {cores}, {threads}"

    @property
    def full(self) -> str:
        """All that is known, in one line: once per notebook or report."""
        memory = f"{self.memory / 2**30:.0f} GiB" if self.memory else "memory unknown"
        hardware = [self.cpu or "unknown processor", self._cores(), memory]
        software = [self.os or "unknown system", f"Python {self.python}", f"NumPy {self.numpy}"]
        return ", ".join([*hardware, self._blas(), *software])

    def _cores(self) -> str:
        logical = f"{self.logical or '?'} hardware threads"
        on = f" on {self.physical} core{'s' if self.physical > 1 else ''}" if self.physical else ""
        limit = f" ({self.usable} usable)" if self.usable and self.usable != self.logical else ""
        return logical + on + limit

    def _blas(self) -> str:
        if not self.blas:
            return "BLAS unknown"
        name = " ".join(str(p) for p in (self.blas, self.blas_version, self.blas_architecture) if p)
        if not self.blas_threads:
            return name
        return f"{name} with {self.blas_threads} thread{'s' if self.blas_threads > 1 else ''}"


def machine() -> Machine:
    """Look at this machine (Linux, macOS, Windows). Never raises: what cannot be found out is None."""
    blas: dict[str, Any] = _try(blas_library) or {}
    return Machine(
        cpu=_try(_cpu_name),
        logical=_try(os.cpu_count),
        physical=_try(_physical_cores),
        usable=_try(_usable_cores),
        memory=_try(_memory),
        blas=blas.get("name"),
        blas_version=blas.get("version"),
        blas_threads=blas.get("threads"),
        blas_architecture=blas.get("architecture"),
        os=_try(_system),
        python=_try(platform.python_version),
        numpy=np.__version__,
    )


def _try(probe: Callable[[], Any]) -> Any:
    try:
        return probe()
    except Exception:  # on a strange system: no name is better than no measurement
        return None


_known: dict[str, Any] = {}


def _once(name: str, probe: Callable[[], Any]) -> Any:
    """The probe's answer, asked for once in a process: it costs a subprocess or a long file."""
    if name not in _known:
        _known[name] = probe()
    return _known[name]


def _cpu_name() -> str | None:
    probes = {"linux": _cpu_linux, "darwin": _cpu_macos, "win32": _cpu_windows}
    return _once("cpu", probes.get(sys.platform, _cpu_any))


def _cpu_linux() -> str | None:
    fields = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
    names = {key.strip(): value.strip() for key, _, value in reversed(fields)}
    return names.get("model name") or names.get("Model") or names.get("Hardware") or _cpu_any()


def _cpu_macos() -> str | None:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    return done.stdout.strip() or _cpu_any()


def _cpu_windows() -> str | None:
    import importlib

    winreg: Any = importlib.import_module("winreg")  # exists on Windows alone
    path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
        return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()


def _cpu_any() -> str | None:
    return platform.processor() or platform.machine() or None


def _physical_cores() -> int | None:
    def count() -> int | None:
        import psutil

        return psutil.cpu_count(logical=False)

    return _once("physical", count)


def _usable_cores() -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)
    allowed = len(affinity(0)) if affinity else os.cpu_count()
    quota = _try(_cpu_quota)
    if allowed is None or quota is None:
        return allowed
    return max(1, min(allowed, math.ceil(quota)))


def _cpu_quota() -> float | None:
    """Processors' worth of time that the container may use (cgroup version 2, else 1); None: no limit."""
    both = _read_first("cpu.max").split()
    quota = both[0] if both else _read_first("cpu/cpu.cfs_quota_us") or "-1"
    period = both[1] if both else _read_first("cpu/cpu.cfs_period_us")
    return None if quota in ("max", "-1") else int(quota) / int(period)


def _memory() -> int | None:
    """Bytes of memory this process may use: the machine's, or the container's limit where that is lower."""
    limit = _read_first("memory.max") or _read_first("memory/memory.limit_in_bytes")
    limits = [int(limit)] if limit and limit != "max" else []
    return min([_installed_memory(), *limits])


def _installed_memory() -> int:
    try:
        import psutil

        return int(psutil.virtual_memory().total)
    except ImportError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _read_first(name: str) -> str:
    """The text of a control-group file, of our own group where it is named, else of the root; "" if there is none."""
    root = Path("/sys/fs/cgroup")
    for folder in (root / own for own in _own_groups()):
        if (folder / name).is_file():
            return (folder / name).read_text().strip()
    return ""


def _own_groups() -> list[str]:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    return [line.split(":", 2)[2].lstrip("/") for line in lines if line.startswith("0::")] + [""]


def _system() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]} {platform.machine()}"
    if sys.platform == "linux":
        return f"{_try(_linux_name) or 'Linux'} {platform.machine()}"
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def _linux_name() -> str:
    return platform.freedesktop_os_release()["PRETTY_NAME"]
