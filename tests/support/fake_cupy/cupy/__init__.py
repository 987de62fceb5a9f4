"""A stand-in for CuPy 14: the names that course_tools.bench.gpu.with_cupy relies on, on NumPy arrays, and no GPU.

$FAKE_CUPY: no-device; inexact: products as with TF32. `calls` records what was compiled and launched.
"""

import os
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # tests/
from fake_gemm import _rounded, run_gemm

from cupy import cuda  # noqa: F401

__version__ = "14.2.0"
SCENE = os.environ.get("FAKE_CUPY", "")
calls: list = []


class ndarray(np.ndarray):
    def set(self, host):
        self[...] = host

    def get(self, out=None):
        out[...] = self
        return out


def _wrap(X):
    return np.ascontiguousarray(X).view(ndarray)


def asarray(X):
    return _wrap(np.array(X))


def full(shape, value, dtype):
    return _wrap(np.full(shape, value, dtype))


def empty(shape, dtype):
    return _wrap(np.empty(shape, dtype))


def asnumpy(X):
    return np.array(X)


def matmul(A, B, out):
    assert os.environ["CUPY_TF32"] == "0"
    A, B = (_rounded(asnumpy(X)) for X in (A, B)) if SCENE == "inexact" else (A, B)
    out[...] = A @ B


class RawModule:
    def __init__(self, code, options=()):
        assert code.startswith('extern "C" {') != ("<mma.h>" in code)
        self.code = code

    def get_function(self, name):
        assert name in self.code
        return lambda grid, block, args: _launch(name, grid, block, args)


def _launch(name, grid, block, args):
    calls.append((name, grid, block))
    assert len(block) == 3 and all(isinstance(arg, np.generic | ndarray) for arg in args)
    if name.startswith("gemm_"):
        run_gemm(args, lambda array, kind: array.reshape(-1))
