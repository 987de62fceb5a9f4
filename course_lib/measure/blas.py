"""Which BLAS NumPy calls, and with how many threads."""

import sys
import warnings
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.errors import check_count


def blas_library() -> dict[str, Any]:
    """NumPy's own BLAS: dict with name, version, threads, architecture (None where it does not tell).

    SciPy's wheel brings a second copy of OpenBLAS into the process; NumPy's products never use that one.
    """
    found = _loaded()
    if found:
        known = ("internal_api", "version", "num_threads", "architecture")
        told = [found[0].get(name) for name in known]
    else:
        built: Any = np.show_config(mode="dicts")
        blas = built["Build Dependencies"]["blas"]
        told = [blas.get("name"), blas.get("version"), None, None]
    return dict(zip(("name", "version", "threads", "architecture"), told, strict=True))


@contextmanager
def blas_threads(n: int):
    """Inside `with blas_threads(n):` BLAS uses n threads; afterwards as many as before.

    Yields the number it really uses (a BLAS built for fewer threads gives fewer), or None where the library cannot
    be told (Accelerate on macOS, a BLAS built without threads), with a warning the first time in a process.
    Raises BadInput for n < 1.

    >>> with blas_threads(1):                                # doctest: +SKIP
    ...     print(time_it(np.dot, A, B))
    """
    n = check_count("n", n)
    if not _loaded():
        _warn_once()
        yield None
        return
    with _controller(len(sys.modules)).limit(limits=n, user_api="blas"):
        yield blas_library()["threads"]


_warned = False


def _warn_once() -> None:
    """Once in a process, not once in each cell that pins its threads: there would be a dozen in a lecture."""
    global _warned
    if not _warned:
        _warned, name = True, blas_library()["name"]
        text = f"NumPy's BLAS ({name}) cannot be told its number of threads"
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _loaded() -> list[dict[str, Any]]:
    """The BLAS libraries of this process as threadpoolctl sees them, NumPy's own first."""
    known = _controller(len(sys.modules)).info()
    found = [info for info in known if info.get("user_api") == "blas"]
    return sorted(found, key=lambda info: "numpy" not in str(info.get("filepath")))


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Looks for the libraries of this process: 0.3 ms, so only again when more modules have been imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
