"""README's first screen shows what the course says of three mistakes: it is what the course says."""

from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib import mpi
from course_lib.checks import ch01
from course_lib.checks.kit.messages import CheckFailed
from course_lib.gpu import cpu_engine

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
HOOK = README.partition("## Two commands")[0]
REVERSE = r"""
__global__ void reverse(float *x)
{
    __shared__ float block[64];
    int t = threadIdx.x;
    block[t] = x[t];
    x[t] = block[63 - t];
}
"""


def shown(text):
    return " ".join(text.split()) in " ".join(HOOK.split())


def test_gradient_without_its_mean():
    def mse_gradient(X, y, w, b):
        residual = X @ w + b - y
        return 2 * residual @ X, 2 * residual.sum()

    with pytest.raises(CheckFailed) as caught:
        ch01.check_mse_gradient(mse_gradient, seed=4)
    assert shown("\n".join(str(caught.value).splitlines()[:3]))


@needs_compiler
def test_kernel_without_its_barrier():
    report = cpu_engine.trace(REVERSE, "reverse", 1, 64, [np.arange(64, dtype=np.float32)])
    assert [error["tool"] for error in report.errors] == ["racecheck"]
    assert shown(report.errors[0]["message"].partition("\n")[0])


def exchange(comm):
    mine, theirs = np.full(1000, comm.rank), np.empty(1000, int)
    comm.Send(mine, dest=1 - comm.rank)
    comm.Recv(theirs, source=1 - comm.rank)


def test_ranks_that_send_before_they_receive():
    pytest.importorskip("mpi4py")
    line = exchange.__code__.co_firstlineno + 2
    assert shown(str(mpi.rehearse(exchange, 2, show=False)).replace(f"line {line} of", "line 3 of"))
